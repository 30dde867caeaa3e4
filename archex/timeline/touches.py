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
        pages, paged = self._pages, self._pages.paged
        order, writes = pages.order((touch,))
        if paged.serve is None:
            pages.begin_on_host(order)
            pages.alone(order[writes])
            yield partial(self._from_afar, order, touch.writes)
            return ""
        at, faults, came, pieces = 0, 0, 0, pages.pieces((touch,))
        while True:
            found = self._missing(order, writes, at)
            stores = pages.stored(order[at:found][writes[at:found]]) * pieces
            if stores:
                yield self._clock.now + stores * paged.host_store
            if found >= len(order):
                return f"{faults} faults, {came} pages" if faults else ""
            at, page, written = found, order[found : found + 1], writes[found : found + 1]
            if pages.coming(page, HOST)[0]:
                yield partial(self._moves.when_there, page)
            elif pages.holds(page, HOST)[0]:  # others have copies: each piece that is written takes theirs away
                pages.bring(page, HOST, page)
                faults += pieces
                yield self._clock.now + pieces * paged.host_claim
            else:
                yield self._clock.now + paged.host_fault
                if not pages.coming(page, HOST)[0] and pages.lacks(page, HOST, written)[0]:
                    coming = pages.neighbours(page, HOST)
                    faults, came = faults + 1, came + len(coming)
                    yield partial(self._bring, coming, page[written], cause)

    def _missing(self, order: np.ndarray, writes: np.ndarray, at: int) -> int:
        """The next touch that faults, or finds its page under way."""
        pages, many = self._pages, 64
        while at < len(order):
            some = slice(at, at + many)
            found = np.flatnonzero(pages.lacks(order[some], HOST, writes[some]) | pages.coming(order[some], HOST))
            if len(found):
                return at + int(found[0])
            at, many = at + many, 4 * many
        return at

    def _bring(self, coming: np.ndarray, written: np.ndarray, cause: Command, then: Callable[[], None]) -> None:
        """Pages of one fault, after those of them that are under way are where they go."""
        paged, before = self._pages.paged, self._moves.under_way(coming)
        moved = self._pages.bring(coming, HOST, written)
        took = moved.made * paged.host_made + moved.new * paged.host_block
        if moved.came:
            took += paged.host_move + moved.came / paged.page * paged.host_page + moved.again * paged.host_return
        group = self._moves.group(coming)

        def there() -> None:
            self._moves.land(group, coming)
            then()
            self._moves.tell(group)

        def go() -> None:
            self._clock.at(self._clock.now + took, self._moves.carry, moved, HOST, cause, there)

        self._moves.after(before, go)

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
