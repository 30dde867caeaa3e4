"""Jobs on this machine's cores: pebble's pool of processes, one job at a time a process.

A process that dies, runs too long or is ended costs its own job only. Workers are split off one process that has everything imported
(forkserver), and none of them outlives the run, however the run ends.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import resource
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import count, islice
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

import attrs

from archex.base.errors import Problem, RequestError
from archex.sweeps import shelf as shelves
from archex.sweeps.jobs import Job
from archex.sweeps.launchers import Done, Limits
from archex.sweeps.shelf import Shelf
from archex.sweeps.work import do

if TYPE_CHECKING:
    from archex.sweeps.launchers.pool import Pool

#: Jobs at a time a worker: the one it does, and the next, so that it never waits for the parent.
_AHEAD = 2
#: A pool that breaks so often without a job done in between will not come up.
_BREAKS = 3
_PR_SET_PDEATHSIG = 1


def cores() -> int:
    """The cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Local:
    """The launcher `archex`. Without processes of its own where the engine runs uncompiled, which is for debuggers, unless there are limits
    to keep or several workers are asked for."""

    name = "archex"
    notes: Sequence[str] = ()

    def __init__(self, workers: int | None = None, do: Callable[[Any], Any] = do) -> None:
        uncompiled = os.environ.get("ARCHEX_JIT") == "0"
        self.workers = workers or (1 if uncompiled else cores())
        self._do = do
        self._debugging = uncompiled and self.workers == 1
        self._pool: Pool | None = None
        self._size = self._breaks = 0
        self._tokens = count()

    def run(self, jobs: Iterator[Job], shelf: Shelf, limits: Limits) -> Iterator[Done]:
        """Do every job."""
        if self._debugging and limits == Limits():
            shelves.use_folder(str(shelf.path))
            yield from (Done(job, rows=do(job)) for job in jobs)
        elif first := list(islice(jobs, self.workers)):
            size = min(self.workers, len(first))
            if size > self._size:
                self.close(at_once=False)
            yield from self._in_processes(first, jobs, _Setting(size, str(shelf.path), limits))

    def one(self, job: Any, limits: Limits) -> Done:
        """A job by itself, in a process that is kept for the next."""
        return next(self._in_processes([job], iter(()), _Setting(1, "", limits)))

    def _in_processes(self, first: Sequence[Job], jobs: Iterator[Job], setting: _Setting) -> Iterator[Done]:
        ended: SimpleQueue[tuple[int, Any]] = SimpleQueue()
        under_way: dict[int, Job] = {}
        for job in first:
            self._start(job, under_way, ended, setting)
        more = True
        while more or under_way:
            if more and len(under_way) < _AHEAD * setting.size and (ended.empty() or not under_way):
                following = next(jobs, None)
                if following is None:
                    more = False
                else:
                    self._start(following, under_way, ended, setting)
                continue
            token, future = ended.get()
            if token not in under_way:
                continue  # of a pool that broke: its job was given out again
            if done := _done(under_way[token], future, setting.limits):
                del under_way[token]
                self._breaks = 0
                yield done
            else:
                self._again(under_way, ended, setting)

    def _start(self, job: Job, under_way: dict[int, Job], ended: SimpleQueue[tuple[int, Any]], setting: _Setting) -> None:
        token = next(self._tokens)
        under_way[token] = job
        limit = setting.limits.timeout
        if self._pool is None:
            self._pool, self._size = setting.pool(job), setting.size
        try:
            future = self._pool.schedule(self._do, args=(job,), timeout=None if limit is None else limit * len(job.rows))
        except RuntimeError:  # it broke while nobody looked: a worker was ended that had nothing to do
            self._again(under_way, ended, setting)
        else:
            future.add_done_callback(lambda future: ended.put((token, future)))

    def _again(self, under_way: dict[int, Job], ended: SimpleQueue[tuple[int, Any]], setting: _Setting) -> None:
        """A new pool for all that was under way."""
        self._breaks += 1
        self.close(at_once=False)
        if self._breaks > _BREAKS:
            raise RequestError([Problem("workers", self.workers, "end before they do anything; what they said stands above")])
        jobs = list(under_way.values())
        under_way.clear()
        for job in jobs:
            self._start(job, under_way, ended, setting)

    def close(self, at_once: bool) -> None:
        """End the workers. They have nothing to do unless it is to be at once."""
        pool, self._pool, self._size = self._pool, None, 0
        if pool is not None:
            pool.stop()  # type: ignore[no-untyped-call]
        if at_once:
            _end_server()
        if pool is not None:
            pool.join()


@attrs.frozen
class _Setting:
    """How a pool is made: how many workers, where the shelf is, what they may take."""

    size: int
    folder: str
    limits: Limits

    def pool(self, job: Job) -> Pool:
        from archex.sweeps.launchers.pool import Pool

        modules = {name.partition(":")[0] for name in (job.steps.describe, job.steps.assemble, job.steps.simulate)}
        context = _context(sorted({*modules, "pebble.pool.process", __name__}))
        return Pool(self.size, context, _begin, (self.folder, self.limits.memory))


def _done(job: Job, future: Any, limits: Limits) -> Done | None:
    """What became of a job; None if its pool broke, which is not its doing."""
    from concurrent.futures import CancelledError
    from concurrent.futures.process import BrokenProcessPool

    from pebble import ProcessExpired

    try:
        return Done(job, rows=future.result())
    except TimeoutError:
        return Done(job, failed=f"took longer than {limits.timeout:g} s")
    except ProcessExpired as death:
        return Done(job, failed=_cause(death.exitcode))
    except (BrokenProcessPool, CancelledError):
        return None


def _context(preload: Sequence[str]) -> Any:
    """Where processes come from: a server that has imported everything once, or (elsewhere than on Linux) fresh interpreters."""
    if sys.platform != "linux":
        return multiprocessing.get_context("spawn")
    from multiprocessing import forkserver, resource_tracker

    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(list(preload))
    # An interrupt from the terminal is the parent's to handle: all that comes of the server has it blocked, while it imports too.
    resource_tracker.ensure_running()  # which the server needs, and which ends with the signal unblocked
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        forkserver.ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return context


def _end_server() -> None:
    """End what workers come of, and them with it: it may still be importing, and would then start workers of a run that has gone."""
    if sys.platform == "linux":
        from multiprocessing import forkserver

        server: Any = forkserver._forkserver
        if server._forkserver_pid is not None:
            with suppress(ProcessLookupError):
                os.kill(server._forkserver_pid, signal.SIGKILL)


def _begin(folder: str, memory: int | None) -> None:
    """A worker's first steps."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # at once, in the middle of compiled code too
    _die_with_parent()
    shelves.use_folder(folder)
    if memory is not None:
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (memory, hard))


def _die_with_parent() -> None:
    """Whatever ends the run's process ends its workers: the server they come of goes when that process does, and they with the server.

    A thread watches too: there is no such signal elsewhere than on Linux (nor does a thread get a turn within compiled code).
    """
    parent = multiprocessing.parent_process()
    if sys.platform == "linux":
        server = os.getppid()
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != server:  # it went in between
            os._exit(1)
    if parent is not None:
        threading.Thread(target=_watch, args=(parent.sentinel,), daemon=True).start()


def _watch(sentinel: Any) -> None:
    multiprocessing.connection.wait([sentinel])
    os._exit(1)


def _cause(code: int | None) -> str:
    if code is not None and code < 0:
        name = signal.Signals(-code).name
        return f"its process was ended by {name}" + (" (out of memory?)" if name == "SIGKILL" else "")
    return f"its process ended with code {code}"
