"""Pages on their way over links: what goes where, in which order, and who waits until it is there.

In: what `Pages.bring` decided. Out: rows of kind `migration`, and calls when all of it is there. Groups of pages under way have numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from archex.timeline.commands import Command
from archex.timeline.paged import Moved
from archex.timeline.pages import HOST, Pages

if TYPE_CHECKING:
    from archex.timeline.run import Run


class Moves:
    """What is under way."""

    def __init__(self, run: Run, pages: Pages) -> None:
        self.run, self.pages, self.clock = run, pages, run.clock
        self._groups = 0
        self._flying: dict[int, list[Callable[[], None]]] = {}

    # --- groups

    def group(self, coming: np.ndarray) -> int:
        """Pages that are under way from now on."""
        self._groups += 1
        self.pages.fly(coming, self._groups)
        self._flying[self._groups] = []
        return self._groups

    def land(self, group: int, coming: np.ndarray) -> None:
        """They are there."""
        self.pages.land(coming, group)

    def tell(self, group: int) -> None:
        """Whoever waits for them goes on."""
        for tell in self._flying.pop(group):
            tell()

    def under_way(self, pages: np.ndarray) -> list[int]:
        """Groups that bring some of the pages."""
        return [group for group in np.unique(self.pages.due[pages]).tolist() if group]

    def when_there(self, touched: np.ndarray, then: Callable[[], None]) -> None:
        """Call `then` when none of the pages is under way."""
        self.after(self.under_way(touched), then)

    def after(self, groups: list[int], then: Callable[[], None]) -> None:
        """Call `then` when all of the groups are there."""
        left = len(groups)
        if not left:
            then()

        def one_less() -> None:
            nonlocal left
            left -= 1
            if left == 0:
                then()

        for group in groups:
            self._flying[group].append(one_less)

    # --- over links

    def row(self, kind: str, name: str, cause: Command, device: int, size: int, about: str) -> Command:
        """A row of something that begins now, for the sake of a command."""
        now = self.clock.now
        made = Command(self.run.number(), kind, name, cause.stream, device)
        made.thread, made.graph, made.waited_for, made.bytes, made.about = cause.thread, cause.graph, cause, size, about
        made.issued = made.submitted = made.arrived = made.ready = made.started = now
        self.run.commands.append(made)
        return made

    def move(self, side: str, size: int, cause: Command, device: int, about: str, then: Callable[[], None], work: float = 0.0) -> None:
        """Pages over the link of a device, beside what else goes there."""
        if size == 0:
            then()
            return
        at, rate = self.run.devices[device], getattr(self.run.machine.copies, f"rate_{side}")
        made = self.row("migration", side, cause, device, size, about)
        made.alone = work + size / rate
        share = size / rate / made.alone

        def over() -> None:
            made.end(self.clock.now)
            then()

        self.run.fluid.begin(made.alone, {at.ways[side]: share, at.both: share}, over)

    def carry(self, moved: Moved, device: int, cause: Command, then: Callable[[], None], has_room: bool = False) -> None:
        """What `Pages.bring` decided: room is made first, unless it is there (`has_room`), then pages come."""
        back = self.pages.paged.page_back / self.pages.paged.page
        steps: list[tuple[str, int, int, str, float]] = [("to_host", 0 if has_room else moved.written, device, "eviction", 0.0)]
        steps += [("to_host", size, source, "from here", size * back) for source, size in moved.between.items()]
        if device != HOST:
            steps.append(("to_device", moved.came, device, "asked for or beside it", 0.0))

        def go(place: int) -> None:
            if place == len(steps):
                then()
                return
            side, size, at, about, work = steps[place]
            self.move(side, size, cause, at, about, lambda: go(place + 1), work)

        go(0)
