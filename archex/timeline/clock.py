"""What happens when: a heap of calls to come, in the order of their times; of equal times, in the order in which they were asked for."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from typing import Any


class Clock:
    """`now` in nanoseconds from the workload's start."""

    def __init__(self) -> None:
        self.now = 0.0
        self._next = 0
        self._heap: list[tuple[float, int, Callable[..., None], tuple[Any, ...]]] = []

    def at(self, time: float, do: Callable[..., None], *given: Any) -> None:
        """Call `do` at `time`, or now if that has passed."""
        self._next += 1
        heappush(self._heap, (time if time > self.now else self.now, self._next, do, given))

    def run(self) -> None:
        """Until nothing is left to happen."""
        while self._heap:
            self.now, _, do, given = heappop(self._heap)
            do(*given)
