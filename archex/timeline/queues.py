"""Rings and the processor that reads them: back-pressure, doorbells, fetching, decoding, heads that wait.

A command's packet is in its ring from its call until the processor starts it. The processor decodes the head of a ring, and starts it once
all that it depends on has ended; what stands behind it waits. A full ring makes the host wait, and nothing is lost.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable
from typing import Any

from archex.timeline.clock import Clock
from archex.timeline.commands import Command


class Engines:
    """The command processor of a device: engines that each take one packet after another, and the queues that hardware holds."""

    def __init__(self, clock: Clock, processor: Any) -> None:
        self._clock, self._spec = clock, processor
        self._free = [0.0] * processor.engines
        self._mapped: OrderedDict[int, None] = OrderedDict()
        self.running = 0
        self.full: deque[Queue] = deque()

    def decode(self, queue: int) -> float:
        """When the packet at the head of a queue has been decoded."""
        engine, took = queue % len(self._free), self._spec.packet
        if queue in self._mapped:
            self._mapped.move_to_end(queue)
        else:
            if len(self._mapped) >= self._spec.mapped:
                self._mapped.popitem(last=False)
                took += self._spec.remap
            self._mapped[queue] = None
        self._free[engine] = max(self._clock.now, self._free[engine]) + took
        return self._free[engine]

    @property
    def has_place(self) -> bool:
        """Whether another kernel may run."""
        return bool(self.running < self._spec.kernels)

    def leave(self) -> None:
        """A kernel has ended: a queue that waited for its place goes on."""
        self.running -= 1
        if self.full:
            self.full.popleft().poke()


class Queue:
    """A ring. fetch_ns: from a doorbell until the packet is there."""

    def __init__(self, number: int, clock: Clock, engines: Engines, depth: int, fetch_ns: float) -> None:
        self.number, self._clock, self._engines, self._depth, self._fetch = number, clock, engines, depth, fetch_ns
        self.held: deque[Command] = deque()
        self.reserved = 0
        self.most = 0
        self._last = 0.0
        self._waiting: deque[Callable[[], None]] = deque()
        self._due = -1.0

    @property
    def has_room(self) -> bool:
        """Whether another packet may be written."""
        return len(self.held) + self.reserved < self._depth

    def when_room(self, then: Callable[[], None]) -> None:
        """Call once a packet has left the ring."""
        self._waiting.append(then)

    def put(self, command: Command) -> None:
        """A packet is written and its doorbell rung, now. Doorbells arrive in the order in which they are rung."""
        command.queue, command.submitted = self, self._clock.now
        self._last = command.arrived = max(self._last, self._clock.now + self._fetch)
        self.held.append(command)
        self.most = max(self.most, len(self.held))
        if len(self.held) == 1:
            self.poke()

    def poke(self) -> None:
        """See to the head."""
        while self.held:
            head, now = self.held[0], self._clock.now
            if head.arrived > now:
                return self._again(head.arrived)
            if head.decoded < 0:
                head.decoded = self._engines.decode(self.number)
            if head.decoded > now:
                return self._again(head.decoded)
            if not head.free_to_start:
                return None
            if head.ready > now:
                return self._again(head.ready)
            if head.kind in ("kernel", "collective"):
                if not self._engines.has_place:
                    self._engines.full.append(self)
                    return None
                self._engines.running += 1
            self.held.popleft()
            if self._waiting:
                self._waiting.popleft()()
            head.begin(head)
        return None

    def _again(self, time: float) -> None:
        if self._due != time:
            self._due = time
            self._clock.at(time, self.poke)
