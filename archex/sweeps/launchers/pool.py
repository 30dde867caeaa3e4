"""Pebble's pool of processes, and what it lacks for workers that die as soon as they have a job.

A worker acknowledges a job and dies at once: pebble may find it dead before it has read the acknowledgement, and then nobody ever hears of
the job again. Here what dead workers have sent is read first. A worker that ends with code 0 in the middle of a job has died as well.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from pebble import ProcessPool
from pebble.pool.process import PoolManager, WorkerManager, dictionary_values


class Pool(ProcessPool):
    """A pool whose every job comes to an end."""

    def __init__(self, size: int, context: Any, initializer: Callable[..., None], arguments: tuple[Any, ...]) -> None:
        super().__init__(size, context=context, initializer=initializer, initargs=arguments)
        self._pool_manager = _Manager(self._context, context)


class _Manager(PoolManager):
    """One thread reads messages, another looks for dead workers: they take turns."""

    def __init__(self, pool: Any, context: Any) -> None:
        super().__init__(pool, context)
        self.worker_manager = _Workers(pool.workers, pool.worker_parameters, context)
        self._reading = threading.Lock()

    def process_next_message(self, timeout: float) -> None:
        try:
            ready = self._waiting(timeout)
        except OSError:
            ready = True  # closed: pebble says so in its own way
        if ready:
            with self._reading:
                super().process_next_message(0)

    def handle_worker_expiration(self, expiration: tuple[Any, ...]) -> None:
        with self._reading:
            while self._waiting(0):
                super().process_next_message(0)
        super().handle_worker_expiration(expiration)

    def _waiting(self, timeout: float) -> bool:
        channel: Any = self.worker_manager.pool_channel
        return bool(channel.poll(timeout))


class _Workers(WorkerManager):
    def inspect_workers(self) -> tuple[tuple[int | None, int | None], ...]:
        """Every worker that has ended, since none does by itself."""
        ended = [worker for worker in dictionary_values(self.workers) if not worker.is_alive()]
        for worker in ended:
            self.workers.pop(worker.pid, None)
        return tuple((worker.pid, worker.exitcode) for worker in ended)
