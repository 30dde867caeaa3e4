"""A device as the event engine sees it: its queues, what its commands take of it, how they start and end."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from archex.timeline.clock import Clock
from archex.timeline.commands import Command
from archex.timeline.fluid import Fluid, Resource
from archex.timeline.machine import Machine
from archex.timeline.model import Kernel
from archex.timeline.queues import Engines, Queue

if TYPE_CHECKING:
    from archex.timeline.paging import Paging

#: Directions of a copy, and the field of the copy engine that counts its engines.
DIRECTIONS = {"h2d": "to_device", "d2h": "to_host"}


class Device:
    """One device of a machine."""

    def __init__(
        self, number: int, clock: Clock, fluid: Fluid, machine: Machine, links: Mapping[str, Resource], streams: Sequence[str]
    ) -> None:
        self.number, self._clock, self._fluid, self.machine, self._links = number, clock, fluid, machine, links
        self.engines = Engines(clock, machine.processor)
        fetch = self.fetch = 3 * machine.host.latency + machine.host.packet / machine.copies.rate_to_device
        self.queues = [Queue(q, clock, self.engines, machine.host.depth, fetch) for q in range(machine.host.queues)]
        self.paging: Paging | None = None
        self._state: list[Any] = []
        self._queue_of: dict[str, Queue] = {}
        self._place = {stream: place for place, stream in enumerate(streams)}
        self._node_free = 0.0
        self.units = Resource("units", float(machine.units), pooled=True)
        self.issue = Resource("issue", 1.0)
        self.memory = Resource("memory", 1.0)
        self.ways = {side: Resource(side, 1.0) for side in DIRECTIONS.values()}
        self.both = Resource("both directions", 2 * machine.copies.both_ways)
        self.copiers = {
            side: Resource(f"engines {side}", float(getattr(machine.copies, side)), pooled=True) for side in DIRECTIONS.values()
        }

    def queue(self, stream: str) -> Queue:
        """The queue of a stream, picked when it is first used; streams count in the order in which they are made."""
        if stream not in self._queue_of:
            waiting = [len(queue.held) for queue in self.queues]
            picked = self.machine.pick_queue(self._place[stream], len(self.queues), waiting, self._state)
            if not 0 <= picked < len(self.queues):
                raise ValueError(f"pick_queue returned {picked} of {len(self.queues)} queues")
            self._queue_of[stream] = self.queues[picked]
        return self._queue_of[stream]

    # --- what commands do

    def kernel(self, kernel: Kernel, priority: int = 0) -> tuple[float, Callable[[Command], None]]:
        """(time alone, what starts it) of a kernel from a queue."""
        times = self.machine.launch_ns, self.body(kernel), self.machine.drain_ns
        return sum(times), lambda command: self._run(command, kernel, times, priority, placed=True)

    def _run(self, command: Command, kernel: Kernel, times: tuple[float, float, float], priority: int, placed: bool = False) -> None:
        """Start a kernel; times: its beginning, its work, its end."""
        if kernel.touches:
            assert self.paging is not None
            self.paging.kernel(command, kernel, self, times, placed)
        else:
            self.work(command, sum(times), self.needs(kernel), priority, placed)

    def body(self, kernel: Kernel) -> float:
        """A kernel's time from its first instruction to its last."""
        assert kernel.work_ns is not None, kernel.name
        return kernel.work_ns

    def needs(self, kernel: Kernel) -> dict[Resource, float]:
        """What a kernel takes of the device while it runs."""
        units = self.machine.units if kernel.units is None else min(kernel.units, self.machine.units)
        taken = {self.units: float(units), self.issue: kernel.issue_share, self.memory: kernel.memory_share}
        for distance, (out, back) in kernel.peers.items():
            assert self.machine.way is not None
            peer = (self.number + distance) % self.machine.devices
            for name, rate in (
                *((name, out) for name in self.machine.way(self.number, peer)),
                *((name, back) for name in self.machine.way(peer, self.number)),
            ):
                taken[self._links[name]] = taken.get(self._links[name], 0.0) + rate
        return taken

    def node(self, kernel: Kernel, whole: bool, priority: int = 0) -> tuple[float, Callable[[Command], None]]:
        """A kernel as a node of a graph: only what follows no other kernel costs a whole start."""
        begin, end = (self.machine.launch_ns, self.machine.drain_ns) if whole else (0.0, 0.0)
        times = begin, self.body(kernel), end
        return sum(times), lambda command: self._run(command, kernel, times, priority)

    def issue_node(self, time: float) -> float:
        """When a node that is free at `time` starts: one after the other."""
        self._node_free = max(time, self._node_free) + self.machine.processor.graph_issue
        return self._node_free - float(self.machine.processor.graph_issue)

    def node_lag(self, kernels: bool) -> float:
        """Between nodes of a graph that follow one another: never more than in a stream, where only kernels stand apart."""
        machine = self.machine
        whole = machine.launch_ns + machine.drain_ns
        return float(min(machine.processor.graph_node, machine.gap_ns + whole if kernels else whole))

    def copy(self, way: str, size: int, memory: str) -> tuple[float, Callable[[Command], None]]:
        """A copy between host and device, or within the device."""
        copies, host = self.machine.copies, self.machine.host
        if way in ("d2d", "fill"):
            return self.within(way, size, True)
        side = DIRECTIONS[way]
        rate = getattr(copies, f"rate_{side}")
        begin = copies.setup + (2 * host.latency if way == "h2d" else host.latency)
        if memory == "inline":  # read from the ring behind its packet
            work = size / copies.inline_rate
            return work, lambda command: self.work(command, work, {})
        work = begin + size / rate
        demands = {self.copiers[side]: 1.0, self.ways[side]: 1.0, self.both: 1.0}
        return work, lambda command: self.work(command, work, demands)

    def within(self, way: str, size: int, whole: bool) -> tuple[float, Callable[[Command], None]]:
        """A copy within the device, or a fill, by a kernel; whole: with its start."""
        copies = self.machine.copies
        if way == "fill" and size < copies.fill_inline:
            return copies.fill_small, lambda command: self.work(command, copies.fill_small, {})
        # A copy reads and writes.
        setup, share, bytes_ = (
            (copies.fill_setup, copies.fill_share, size) if way == "fill" else (copies.within_setup, copies.within_share, 2 * size)
        )
        moving = bytes_ / (self.machine.memory_rate * share)
        work = setup + moving + (self.machine.launch_ns + self.machine.drain_ns if whole else 0.0)
        return work, lambda command: self.work(command, work, {self.memory: share * moving / work})

    def mark(self, command: Command) -> None:
        """Start of a command that only orders others."""
        now = self._clock.now
        command.started = now
        took = self.machine.processor.event if command.about == "timed" else 0.0
        self._clock.at(now + took, lambda: command.end(self._clock.now))

    def work(self, command: Command, work: float, demands: Mapping[Resource, float], priority: int = 0, placed: bool = False) -> None:
        """Start what takes `work` nanoseconds alone."""
        command.started = self._clock.now

        def done() -> None:
            if activity.begun > command.started:
                command.started = activity.begun  # until then others had what it needs
            command.end(self._clock.now)
            if placed:
                self.engines.end()

        activity = self._fluid.begin(work, demands, done, priority)


def host_rate(host: Any, size: int, back: bool = False) -> float:
    """Bytes a nanosecond of the processor's own copies of a size, into pinned buffers or `back` from there."""
    point = next((point for point in host.copies if size <= point.size), host.copies[-1])
    return float(point.back if back else point.rate)
