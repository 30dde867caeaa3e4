"""What a host thread makes of managed memory: it touches pages, and those that lie on a device fault on the processor and come back.

In: a `Touch`. Out: what the thread pauses for. One thread has one fault at a time and sees to it itself: what comes along is the same
choice as for a device, within the block of the page that it touched.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from archex.timeline.commands import Command
from archex.timeline.fluid import Resource
from archex.timeline.model import Touch
from archex.timeline.moves import Moves
from archex.timeline.pages import HOST

if TYPE_CHECKING:
    from archex.timeline.run import Run


class HostTouches:
    """Touches of host threads."""

    def __init__(self, run: Run, moves: Moves) -> None:
        self._run, self._moves, self._pages, self._clock = run, moves, moves.pages, moves.clock

    def go(self, touch: Touch, cause: Command) -> Generator[float | Callable[[Callable[[], None]], None], None, str]:
        """The thread's pauses until it has touched everything; what came back, in words. cause: stands for its call in the rows."""
        order, _ = self._pages.order((touch,))
        if self._pages.paged.serve is None:
            yield partial(self._from_afar, order, touch.writes)
            return ""
        at, faults, came = self._missing(order, 0), 0, 0
        while at < len(order):
            page = order[at : at + 1]
            if self._pages.due[page[0]]:
                yield partial(self._moves.when_there, page)
            else:
                yield self._clock.now + self._pages.paged.host_fault
                if not self._pages.due[page[0]] and len(self._pages.wanted(page, HOST)):
                    coming = self._pages.neighbours(page, HOST)
                    faults, came = faults + 1, came + len(coming)
                    yield partial(self._bring, coming, cause)
            at = self._missing(order, at)
        return f"{faults} faults, {came} pages" if faults else ""

    def _missing(self, order: np.ndarray, at: int) -> int:
        """The next touch that finds its page elsewhere or under way."""
        where, due, many = self._pages.where, self._pages.due, 64
        while at < len(order):
            some = order[at : at + many]
            found = np.flatnonzero((where[some] != HOST) | (due[some] > 0))
            if len(found):
                return at + int(found[0])
            at, many = at + len(some), 4 * many
        return at

    def _bring(self, coming: np.ndarray, cause: Command, then: Callable[[], None]) -> None:
        """Pages of one fault, after those of them that are under way are where they go."""
        before = self._moves.under_way(coming)
        moved = self._pages.bring(coming, HOST)
        group = self._moves.group(coming)

        def there() -> None:
            self._moves.land(group, coming)
            then()
            self._moves.tell(group)

        self._moves.after(before, lambda: self._moves.carry(moved, HOST, cause, there))

    def _from_afar(self, order: np.ndarray, writes: bool, then: Callable[[], None]) -> None:
        """Pages stay: what lies on a device is read, or written, over its link, one device after the other."""
        paged, copies = self._pages.paged, self._run.machine.copies
        sources = [int(source) for source in np.unique(self._pages.where[order]) if source != HOST]
        if paged.remote_rate is None or not sources:
            self._clock.at(self._clock.now, then)
            return
        side, rate = ("to_device", copies.rate_to_device) if writes else ("to_host", copies.rate_to_host)

        def go(place: int) -> None:
            if place == len(sources):
                then()
                return
            assert paged.remote_rate is not None
            device = self._run.devices[sources[place]]
            took = int((self._pages.where[order] == sources[place]).sum()) * paged.page / paged.remote_rate
            whole = took + paged.remote_latency
            share = took / whole * min(1.0, paged.remote_rate / rate)
            demands: Mapping[Resource, float] = {device.ways[side]: share, device.both: share}
            self._run.fluid.begin(whole, demands, lambda: go(place + 1))

        go(0)
