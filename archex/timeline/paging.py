"""Managed memory while a workload runs: what kernels and prefetches make of pages that are elsewhere.

In: commands as they start. Out: their ends, and rows of what was seen to (`faults`) and moved (`moves`) for their sake.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from archex.timeline.commands import Command
from archex.timeline.faults import Faults
from archex.timeline.fluid import Resource
from archex.timeline.model import Kernel
from archex.timeline.moves import Moves
from archex.timeline.paged import Paged
from archex.timeline.pages import HOST, NOWHERE, Pages
from archex.timeline.touches import HostTouches
from archex.timeline.waiting import Waiting

if TYPE_CHECKING:
    from archex.timeline.devices import Device
    from archex.timeline.run import Run


class Paging:
    """Everything about managed memory in a run."""

    def __init__(self, run: Run, paged: Paged) -> None:
        self.run, self.paged, self.clock = run, paged, run.clock
        managed = [buffer for buffer in run.workload.buffers.values() if buffer.memory == "managed"]
        self.pages = Pages(managed, paged)
        self._moves = Moves(run, self.pages)
        self._faults = Faults(self._moves, len(run.devices))
        self.host = HostTouches(run, self._moves)
        self._orders: dict[str, tuple[np.ndarray, np.ndarray]] = {}

    def order(self, kernel: Kernel) -> tuple[np.ndarray, np.ndarray]:
        """Pages that a kernel touches, in the order in which their faults arrive, and which of them it writes."""
        if kernel.name not in self._orders:
            pages, writes = self.pages.order(kernel.touches)
            if self.pages.faults(kernel.touches) == 1:  # each is another wave's: those that are open at a time arrive in any order
                lot = np.random.default_rng(0)
                turn = np.concatenate(
                    [at + lot.permutation(min(self.paged.mixed, len(pages) - at)) for at in range(0, len(pages), self.paged.mixed)]
                )
                pages, writes = pages[turn], writes[turn]
            self._orders[kernel.name] = pages, writes
        return self._orders[kernel.name]

    def kernel(self, command: Command, kernel: Kernel, device: Device, times: tuple[float, float, float], placed: bool) -> None:
        """Start a kernel that touches managed memory; its times: beginning, work, end. placed: it has one of the places for kernels."""
        (begin, work, end), pages = times, self.pages
        touched, writes = self.order(kernel)
        if self.paged.serve is None:
            pages.begin_on_host(touched)
            pages.alone(touched[writes])
            pages.touch(touched, writes & (pages.where[touched] != HOST))
            far = ~pages.holds(touched, device.number)
        else:
            far = pages.stays(touched, device.number)
        size = min(self.paged.page, 4096 * pages.pieces(kernel.touches))
        work, demands = self._from_afar(far, writes, size, device, work, device.needs(kernel))
        if self.paged.serve is None:
            device.work(command, begin + work + end, demands, command.priority, placed)
        else:
            times, many = (begin, work, end), (pages.faults(kernel.touches), pages.pieces(kernel.touches))
            Waiting(self._faults, command, (touched, writes), device, times, demands, placed, *many)

    def _from_afar(
        self, far: np.ndarray, writes: np.ndarray, size: int, device: Device, work: float, demands: Mapping[Resource, float]
    ) -> tuple[float, dict[Resource, float]]:
        """A kernel of whose pages some stay where they are: loads come over the link, stores go over it; `size` bytes of each page."""
        paged, copies = self.paged, self.run.machine.copies
        if paged.remote_rate is None or not far.any():
            return work, dict(demands)
        took = {side: int((far & mask).sum()) * size / paged.remote_rate for side, mask in (("to_device", ~writes), ("to_host", writes))}
        whole = max(work, *took.values()) + paged.remote_latency
        found = {resource: wants if resource.pooled else wants * work / whole for resource, wants in demands.items()}
        for side, time in took.items():
            share = time / whole * min(1.0, paged.remote_rate / getattr(copies, f"rate_{side}"))
            found[device.ways[side]] = share
            found[device.both] = found.get(device.both, 0.0) + share
        return whole, found

    def advise(self, buffer: str, advice: str) -> float:
        """A call that advises; what it costs: pages that are the host's lose what they are mapped with, or are mapped."""
        paged, pages = self.paged, self.pages.of(buffer)
        self.pages.advised.set(pages, advice)
        each = {"read_mostly": paged.advise_copies, "prefer_host": paged.advise_stay, "map_host": paged.advise_stay + paged.advise_map}
        return paged.advise_call + int((self.pages.where[pages] == HOST).sum()) * each.get(advice, 0.0)

    def prefetched(self, buffer: str, target: int) -> float:
        """What of a prefetch to a device the caller does."""
        coming = self.pages.absent(buffer, target)
        made = int((self.pages.where[coming] == NOWHERE).sum())
        return (len(coming) - made) * self.paged.prefetch_page + made * self.paged.prefetch_made

    def prefetch(self, command: Command, buffer: str, target: int) -> None:
        """A command that moves a buffer's pages, as much at a time as there is room for."""
        copies, host = self.run.machine.copies, self.run.machine.host
        command.started = self.clock.now
        wanted = self.pages.absent(buffer, target)
        blocks = wanted // self.pages.per
        room = self.paged.room[target] if target != HOST else len(blocks) + 1
        pieces = deque(wanted[(np.searchsorted(np.unique(blocks), blocks) // room) == n] for n in range(-(-len(np.unique(blocks)) // room)))
        setup = copies.setup + (2 * host.latency if target != HOST else host.latency)

        def go() -> None:
            if not pieces:
                command.end(self.clock.now)
                return
            piece = pieces.popleft()
            moved = self.pages.bring(piece, target, forced=True)
            command.bytes += moved.came
            group = self._moves.group(piece)

            def there() -> None:
                self._moves.land(group, piece)
                self._moves.tell(group)
                go()

            self._moves.carry(moved, target, command, there)

        self.clock.at(self.clock.now + (setup if pieces else 0.0), go)
