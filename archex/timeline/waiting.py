"""A kernel that waits for its pages.

It goes on in portions: the next touches among which a group of faults is full. A portion is computed when its pages are there and the ones
before it are done; the next portions' faults are open meanwhile, as many as the part allows.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from archex.timeline.commands import Command
from archex.timeline.faults import Faults
from archex.timeline.fluid import Activity, Resource

if TYPE_CHECKING:
    from archex.timeline.devices import Device


class Waiting:
    """A kernel of which a part may stand still."""

    def __init__(
        self,
        faults: Faults,
        command: Command,
        order: tuple[np.ndarray, np.ndarray],
        device: Device,
        times: tuple[float, float, float],
        demands: Mapping[Resource, float],
        placed: bool,
        each: int,
        pieces: int,
    ) -> None:
        self._faults, self._command, self._device, self._times = faults, command, device, times
        self._pieces = pieces
        self._fluid = faults.moves.run.fluid
        self._pages, self._writes = order
        self._next = 0  # the first touch that no portion has
        self._portions: deque[list[Any]] = deque()  # [share of the work, whether its pages are there], those not computed
        self._computing, self._placed, self._stalled = False, placed, -1.0
        paged, room = faults.paged, faults.paged.room[device.number]
        batch = max(1, paged.batch // each)  # pages, of which each makes so many faults
        self._most = min(batch, room)
        self._open = max(1, max(1, paged.outstanding // each) // self._most) if self._most == batch else 1
        command.started = faults.clock.now
        # A beginning that costs nothing would end before it has a place.
        self._activity = self._fluid.begin(max(times[0], 1e-3), demands, self._done, command.priority, self._more)

    def _more(self, activity: Activity) -> bool:
        """The beginning, or a portion, is done."""
        if self._computing:
            self._portions.popleft()
        self._computing = True
        self._raise()
        if not self._portions:
            return False
        if self._portions[0][1]:
            self._give()
        else:
            activity.held, self._stalled = True, self._faults.clock.now
        return True

    def _give(self) -> None:
        last = self._next == len(self._pages) and len(self._portions) == 1
        self._activity.held = False
        self._activity.work = self._portions[0][0] * self._times[1] + (self._times[2] if last else 0.0)

    def _raise(self) -> None:
        """Open the faults of further portions."""
        while self._next < len(self._pages) and len(self._portions) < self._open:
            pages, device = self._faults.pages, self._device.number
            end = self._end()
            span = slice(self._next, end)
            touched, self._next = self._pages[span], end
            portion: list[Any] = [len(touched) / len(self._pages), False]
            self._portions.append(portion)
            lacks = pages.lacks(touched, device, self._writes[span])
            pages.touch(touched, self._writes[span])
            arrived = partial(self._faults.moves.when_there, touched, partial(self._there, portion))
            if lacks.any():
                self._faults.ask(touched[lacks], self._writes[span][lacks], self._pieces, device, self._command, arrived)
            else:
                arrived()

    def _end(self) -> int:
        """Where a portion ends: where a group of faults is full, and, if not all memory fits, not later than waves can be ahead."""
        if not self._faults.pages.fits:
            return min(len(self._pages), self._next + self._most)
        ahead, pages = 2 * self._most, self._faults.pages
        while True:
            span = slice(self._next, self._next + ahead)
            missing = np.flatnonzero(pages.lacks(self._pages[span], self._device.number, self._writes[span]))
            if len(missing) > self._most:
                return self._next + int(missing[self._most])
            if self._next + ahead >= len(self._pages):
                return len(self._pages)
            ahead *= 4

    def _there(self, portion: list[Any]) -> None:
        portion[1] = True
        if self._activity.held and self._portions[0] is portion:
            self._command.stalls.append((self._stalled, self._faults.clock.now))
            self._give()
            self._fluid.change(self._activity)

    def _done(self) -> None:
        if self._activity.begun > self._command.started:
            self._command.started = self._activity.begun
        self._command.end(self._faults.clock.now)
        if self._placed:
            self._device.engines.end()
