"""Managed memory while a workload runs: kernels that wait for pages, groups of faults, what moves over the link.

A kernel with managed buffers goes on in portions: the next touches among which a group of faults is full. A portion is computed when its
pages are there and the ones before it are done; the next portions' faults are open meanwhile, as many as the part allows. A device sees to
one group after the other; where waves are replayed batch by batch that includes moving its pages.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from archex.timeline.commands import Command
from archex.timeline.fluid import Activity, Resource
from archex.timeline.model import Kernel
from archex.timeline.pages import HOST, Moved, Paged, Pages

if TYPE_CHECKING:
    from archex.timeline.devices import Device
    from archex.timeline.run import Run


class Handler:
    """Who sees to the faults of a device, one group after the other."""

    def __init__(self) -> None:
        self.waiting: deque[Callable[[], None]] = deque()
        self.busy = False


class Paging:
    """Everything about managed memory in a run."""

    def __init__(self, run: Run, paged: Paged) -> None:
        self.run, self.paged, self.clock = run, paged, run.clock
        managed = [buffer for buffer in run.workload.buffers.values() if buffer.memory == "managed"]
        self.pages = Pages(managed, paged)
        self._handlers = [Handler() for _ in run.devices]
        self._orders: dict[str, tuple[np.ndarray, np.ndarray]] = {}
        self._groups = 0
        self._flying: dict[int, list[Callable[[], None]]] = {}

    def order(self, kernel: Kernel) -> tuple[np.ndarray, np.ndarray]:
        """Pages that a kernel touches, in order, and which of them it writes."""
        if kernel.name not in self._orders:
            self._orders[kernel.name] = self.pages.order(kernel.touches)
        return self._orders[kernel.name]

    # --- rows

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
        back = self.paged.page_back / self.paged.page
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

    # --- faults

    def ask(self, wanted: np.ndarray, device: int, cause: Command, then: Callable[[], None]) -> None:
        """Faults on pages; `then` when they are there."""
        self.clock.at(self.clock.now + self.paged.latency, self._arrive, wanted, device, cause, then)

    def _arrive(self, wanted: np.ndarray, device: int, cause: Command, then: Callable[[], None]) -> None:
        handler = self._handlers[device]
        handler.waiting.append(lambda: self._see_to(wanted, device, cause, then))
        self._next(handler)

    def _next(self, handler: Handler) -> None:
        if handler.waiting and not handler.busy:
            handler.busy = True
            handler.waiting.popleft()()

    def _free(self, handler: Handler) -> None:
        handler.busy = False
        self._next(handler)

    def _see_to(self, wanted: np.ndarray, device: int, cause: Command, then: Callable[[], None]) -> None:
        handler, pages, paged = self._handlers[device], self.pages, self.paged
        wanted = pages.wanted(wanted, device)  # another kernel may have had some brought since
        if len(wanted) == 0:
            self._free(handler)
            then()
            return
        coming = pages.neighbours(wanted, device)
        moved = pages.bring(coming, device)
        self._groups += 1
        group = self._groups
        pages.due[coming], self._flying[group] = group, []
        row = self.row("faults", f"{len(wanted)} faults", cause, device, 0, f"{moved.blocks} blocks, {len(coming)} pages")
        assert paged.serve is not None
        row.alone = paged.serve(len(wanted), moved.blocks) + len(coming) * paged.page_service

        left = 2  # the driver makes room while it sees to the faults

        def ready() -> None:
            nonlocal left
            left -= 1
            if left == 0:
                self.carry(moved, device, cause, there, has_room=True)

        def served() -> None:
            row.end(self.clock.now)
            if paged.replay == "each":
                self._free(handler)
            ready()

        def there() -> None:
            pages.due[coming[pages.due[coming] == group]] = 0
            if paged.replay != "each":
                # Faults behind the batch that are thrown away come again, as far from the driver as the first time.
                again = paged.latency if paged.replay == "batch_flush" else 0.0
                self.clock.at(self.clock.now + again, self._free, handler)
            then()
            for tell in self._flying.pop(group):
                tell()

        self.clock.at(self.clock.now + row.alone, served)
        self.move("to_host", moved.written, cause, device, "eviction", ready)

    def when_there(self, touched: np.ndarray, then: Callable[[], None]) -> None:
        """Call `then` when none of the pages is under way."""
        groups = [group for group in np.unique(self.pages.due[touched]).tolist() if group]
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

    # --- commands

    def kernel(self, command: Command, kernel: Kernel, device: Device, times: tuple[float, float, float], placed: bool) -> None:
        """Start a kernel that touches managed memory; its times: beginning, work, end. placed: it has one of the places for kernels."""
        demands = device.needs(kernel)
        if self.paged.serve is None:
            begin, work, end = times
            work, demands = self._from_afar(kernel, device, work, demands)
            device.work(command, begin + work + end, demands, command.priority, placed)
        else:
            Faulting(self, command, self.order(kernel), device, times, demands, placed, self.pages.faults(kernel.touches))

    def _from_afar(
        self, kernel: Kernel, device: Device, work: float, demands: Mapping[Resource, float]
    ) -> tuple[float, dict[Resource, float]]:
        """A kernel whose pages stay where they are: loads come over the link, stores go over it."""
        paged, copies = self.paged, self.run.machine.copies
        touched, writes = self.order(kernel)
        self.pages.touch(touched, writes & (self.pages.where[touched] != HOST))
        far = self.pages.where[touched] != device.number
        if paged.remote_rate is None or not far.any():
            return work, dict(demands)
        took = {
            side: int((far & mask).sum()) * paged.page / paged.remote_rate for side, mask in (("to_device", ~writes), ("to_host", writes))
        }
        whole = max(work, *took.values()) + paged.remote_latency
        found = {resource: wants if resource.pooled else wants * work / whole for resource, wants in demands.items()}
        for side, time in took.items():
            share = time / whole * min(1.0, paged.remote_rate / getattr(copies, f"rate_{side}"))
            found[device.ways[side]] = share
            found[device.both] = found.get(device.both, 0.0) + share
        return whole, found

    def prefetch(self, command: Command, buffer: str, target: int) -> None:
        """A command that moves a buffer's pages, as much at a time as there is room for."""
        copies, host = self.run.machine.copies, self.run.machine.host
        command.started = self.clock.now
        wanted = self.pages.wanted(self.pages.of(buffer), target)
        blocks = wanted // self.pages.per
        room = self.paged.room[target] if target != HOST else len(blocks) + 1
        pieces = deque(wanted[(np.searchsorted(np.unique(blocks), blocks) // room) == n] for n in range(-(-len(np.unique(blocks)) // room)))
        setup = copies.setup + (2 * host.latency if target != HOST else host.latency)

        def go() -> None:
            if not pieces:
                command.end(self.clock.now)
                return
            piece = pieces.popleft()
            self._groups += 1
            group = self._groups
            moved = self.pages.bring(piece, target)
            command.bytes += moved.came
            self._flying[group] = []
            if target != HOST:
                self.pages.due[piece] = group

            def there() -> None:
                self.pages.due[piece[self.pages.due[piece] == group]] = 0
                for tell in self._flying.pop(group):
                    tell()
                go()

            self.carry(moved, target, command, there)

        self.clock.at(self.clock.now + (setup if pieces else 0.0), go)


class Faulting:
    """A kernel that waits for its pages."""

    def __init__(
        self,
        paging: Paging,
        command: Command,
        order: tuple[np.ndarray, np.ndarray],
        device: Device,
        times: tuple[float, float, float],
        demands: Mapping[Resource, float],
        placed: bool,
        faults: int,
    ) -> None:
        self._paging, self._command, self._device, self._times = paging, command, device, times
        self._pages, self._writes = order
        self._next = 0  # the first touch that no portion has
        self._portions: deque[list[Any]] = deque()  # [share of the work, whether its pages are there], those not computed
        self._computing, self._placed, self._stalled = False, placed, -1.0
        paged, room = paging.paged, paging.paged.room[device.number]
        batch = max(1, paged.batch // faults)  # pages, of which each makes so many faults
        self._most = min(batch, room)
        self._open = max(1, max(1, paged.outstanding // faults) // self._most) if self._most == batch else 1
        command.started = paging.clock.now
        # A beginning that costs nothing would end before it has a place.
        self._activity = paging.run.fluid.begin(max(times[0], 1e-3), demands, self._done, command.priority, self._more)

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
            activity.held, self._stalled = True, self._paging.clock.now
        return True

    def _give(self) -> None:
        last = self._next == len(self._pages) and len(self._portions) == 1
        self._activity.held = False
        self._activity.work = self._portions[0][0] * self._times[1] + (self._times[2] if last else 0.0)

    def _raise(self) -> None:
        """Open the faults of further portions."""
        while self._next < len(self._pages) and len(self._portions) < self._open:
            pages, device = self._paging.pages, self._device.number
            end = self._end()
            span = slice(self._next, end)
            touched, self._next = self._pages[span], end
            portion: list[Any] = [len(touched) / len(self._pages), False]
            self._portions.append(portion)
            wanted = pages.wanted(touched, device)
            pages.touch(touched, self._writes[span])
            arrived = partial(self._paging.when_there, touched, partial(self._there, portion))
            if len(wanted):
                self._paging.ask(wanted, device, self._command, arrived)
            else:
                arrived()

    def _end(self) -> int:
        """Where a portion ends: where a group of faults is full, and, if not all memory fits, not later than waves can be ahead."""
        if not self._paging.pages.fits:
            return min(len(self._pages), self._next + self._most)
        ahead, where = 2 * self._most, self._paging.pages.where
        while True:
            missing = np.flatnonzero(where[self._pages[self._next : self._next + ahead]] != self._device.number)
            if len(missing) > self._most:
                return self._next + int(missing[self._most])
            if self._next + ahead >= len(self._pages):
                return len(self._pages)
            ahead *= 4

    def _there(self, portion: list[Any]) -> None:
        portion[1] = True
        if self._activity.held and self._portions[0] is portion:
            self._command.stalls.append((self._stalled, self._paging.clock.now))
            self._give()
            self._paging.run.fluid.change(self._activity)

    def _done(self) -> None:
        if self._activity.begun > self._command.started:
            self._command.started = self._activity.begun
        self._command.end(self._paging.clock.now)
        if self._placed:
            self._device.engines.leave()
