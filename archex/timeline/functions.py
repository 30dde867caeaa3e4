"""Functions of the host in streams: a command that a thread of the driver does while the stream waits.

In: commands that a device has come to. Out: their ends. One thread does all of them, one after another. It sleeps while there is none: a
device that worked when the function was called wakes it by an interrupt; one whose stream is idle is handed over by its caller.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from archex.timeline.clock import Clock
from archex.timeline.commands import Command

KIND = "function"


class Functions:
    """The thread that does functions."""

    def __init__(self, clock: Clock, host: Any) -> None:
        self._clock, self._host = clock, host
        self._waiting: deque[tuple[Command, float]] = deque()
        self._busy = False

    def come(self, command: Command, took: float) -> None:
        """The stream has come to a function that takes so long."""
        now, before = self._clock.now, command.waited_for
        command.started, command.alone = now, took
        if before is not None and before.kind == KIND and before.ended == now:
            way = self._host.function_next
        elif before is not None and before.ended > command.issued:
            way = self._host.latency + self._host.wake
        else:
            way = self._host.function_handed
        self._clock.at(now + way, self._there, command, took)

    def _there(self, command: Command, took: float) -> None:
        self._waiting.append((command, took))
        if not self._busy:
            self._next()

    def _next(self) -> None:
        self._busy = bool(self._waiting)
        if self._waiting:
            command, took = self._waiting.popleft()
            self._clock.at(self._clock.now + took, self._over, command)

    def _over(self, command: Command) -> None:
        command.end(self._clock.now)
        self._next()

    def wakes(self, then: Callable[[Command], None], took: float) -> Callable[[Command], None]:
        """Has a busy stream wake a thread of the driver's when it comes to a command: the thread takes so long, then `then` begins."""
        way = self._host.latency + self._host.wake + took + self._host.function_back
        return lambda command: self._clock.at(self._clock.now + way, then, command)

    def lag(self, before: Command, kind: str) -> float:
        """Until the device goes on behind a command, where that is a function."""
        return float(self._host.function_back) if before.kind == KIND != kind else 0.0
