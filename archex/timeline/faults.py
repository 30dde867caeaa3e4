"""Faults of devices: they come to who sees to them, group after group, who then has their pages moved.

Where waves are replayed batch by batch, seeing to a group includes moving its pages.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import numpy as np

from archex.timeline.commands import Command
from archex.timeline.moves import Moves


class Handler:
    """Who sees to the faults of a device, one group after the other."""

    def __init__(self) -> None:
        self.waiting: deque[Callable[[], None]] = deque()
        self.busy = False


class Faults:
    """All faults of all devices."""

    def __init__(self, moves: Moves, devices: int) -> None:
        self.moves, self.pages, self.clock = moves, moves.pages, moves.clock
        self.paged = moves.pages.paged
        self._handlers = [Handler() for _ in range(devices)]

    def ask(self, touched: np.ndarray, writes: np.ndarray, pieces: int, device: int, cause: Command, then: Callable[[], None]) -> None:
        """Faults on pages, each touched in so many pieces of 4 KiB; `then` when they are there."""
        self.clock.at(self.clock.now + self.paged.latency, self._arrive, touched, writes, pieces, device, cause, then)

    def _arrive(self, touched: np.ndarray, writes: np.ndarray, pieces: int, device: int, cause: Command, then: Callable[[], None]) -> None:
        handler = self._handlers[device]
        handler.waiting.append(lambda: self._see_to(touched, writes, pieces, device, cause, then))
        self._next(handler)

    def _next(self, handler: Handler) -> None:
        if handler.waiting and not handler.busy:
            handler.busy = True
            handler.waiting.popleft()()

    def _free(self, handler: Handler) -> None:
        handler.busy = False
        self._next(handler)

    def _see_to(self, touched: np.ndarray, writes: np.ndarray, pieces: int, device: int, cause: Command, then: Callable[[], None]) -> None:
        handler, pages, paged = self._handlers[device], self.pages, self.paged
        wanted = pages.wanted(touched, device, writes)  # another kernel may have had some brought since
        if len(wanted) == 0:
            self._free(handler)
            then()
            return
        coming = pages.neighbours(wanted, device)
        before = self.moves.under_way(coming)  # they move on from where they are going
        moved = pages.bring(coming, device, touched[writes])
        group = self.moves.group(coming)
        row = self.moves.row(
            "faults", f"{len(wanted)} faults", cause, device, 0, f"{moved.blocks + moved.still} blocks, {len(coming)} pages"
        )
        assert paged.serve is not None
        row.alone = paged.serve(len(wanted), moved.blocks) + moved.still * paged.block_still + moved.claimed * paged.page_claimed
        row.alone += moved.runs * paged.run_service
        row.alone += (moved.made + moved.came / paged.page) * paged.page_service + moved.mapped * pieces * paged.page_mapped

        left = 3  # the driver makes room while it sees to the faults

        def ready() -> None:
            nonlocal left
            left -= 1
            if left == 0:
                self.moves.carry(moved, device, cause, there, has_room=True)

        def served() -> None:
            row.end(self.clock.now)
            if paged.replay == "each":
                self._free(handler)
            ready()

        def there() -> None:
            self.moves.land(group, coming)
            if paged.replay != "each":
                # Faults behind the batch that are thrown away come again, as far from the driver as the first time.
                again = paged.latency if paged.replay == "batch_flush" else 0.0
                self.clock.at(self.clock.now + again, self._free, handler)
            then()
            self.moves.tell(group)

        self.clock.at(self.clock.now + row.alone, served)
        self.moves.after(before, ready)
        self.moves.move("to_host", moved.written, cause, device, "eviction", ready)
