"""Rings and the processor that reads them: back-pressure, doorbells, fetching, decoding, heads that wait.

A command's packet is in its ring from its call until the processor starts it. The processor decodes the head of a ring, and starts it once
all that it depends on has ended; what stands behind it waits. A full ring makes the host wait, and nothing is lost.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable
from math import inf
from typing import Any

from archex.timeline.clock import Clock
from archex.timeline.commands import COPYING, Command


class Engine:
    """One that takes packets: the queue that it is at, those that ask for it, all that it has."""

    def __init__(self) -> None:
        self.at: Queue | None = None
        self.until = 0.0  # it is on its way from a queue
        self.line: deque[Queue] = deque()
        self.queues: list[Queue] = []


class Engines:
    """The command processor of a device: engines that each are at one queue at a time, and the queues that hardware holds.

    An engine stays at a queue while there is something to do, then goes to the one that asked first. It comes at once to a queue whose
    command has just arrived; to one that waited, or that asked while it was elsewhere, after a `turn`.
    """

    def __init__(self, clock: Clock, processor: Any) -> None:
        self._clock, self._spec = clock, processor
        self._engines = [Engine() for _ in range(processor.engines)]
        self._mapped: OrderedDict[int, None] = OrderedDict()
        self.running = 0
        self.full: deque[Queue] = deque()

    def add(self, queue: Queue) -> Engine:
        """A queue is dealt to an engine."""
        engine = self._engines[queue.number % len(self._engines)]
        engine.queues.append(queue)
        return engine

    def decoded(self, queue: int) -> float:
        """When the packet at the head of a queue has been decoded."""
        took = self._spec.packet
        if queue in self._mapped:
            self._mapped.move_to_end(queue)
        else:
            if len(self._mapped) >= self._spec.mapped:
                self._mapped.popitem(last=False)
                took += self._spec.remap
            self._mapped[queue] = None
        return float(self._clock.now + took)

    def come(self, queue: Queue) -> float:
        """When a queue's engine is there; before that the queue must wait, and infinity is for being called."""
        engine = queue.engine
        if engine.at is queue:
            return queue.taken
        if engine.at is not None:
            if not queue.asked:
                queue.asked = True
                engine.line.append(queue)
            return inf
        engine.at, queue.taken = queue, self._clock.now
        others = self._others(queue) if queue.waited else []
        if others:
            queue.taken = max(queue.taken, engine.until) + self._turn(others)
        return queue.taken

    def _others(self, queue: Queue) -> list[Queue]:
        return [other for other in queue.engine.queues if other is not queue and other.wanted]

    def _turn(self, others: list[Queue]) -> float:
        return float(
            self._spec.turn
            + self._spec.look / 2 * sum(other.waited and not other.asked and other.held[0].kind == "wait" for other in others)
        )

    def leave(self, queue: Queue) -> None:
        """There is nothing to do at a queue now: its engine goes to the next that asked."""
        engine = queue.engine
        if engine.at is not queue:
            return
        engine.at, engine.until = None, self._clock.now + (self._spec.leave if queue.waited else 0.0)
        if engine.line:
            engine.at = then = engine.line.popleft()
            then.asked = False
            then.taken = engine.until + self._turn(self._others(then))
            self._clock.at(then.taken, then.poke)

    @property
    def has_place(self) -> bool:
        """Whether another kernel may run."""
        return bool(self.running < self._spec.kernels)

    def end(self) -> None:
        """A kernel has ended: a queue that waited for its place goes on."""
        self.running -= 1
        if self.full:
            self.full.popleft().poke()


class Queue:
    """A ring. fetch_ns: from a doorbell until the packet is there."""

    def __init__(self, number: int, clock: Clock, engines: Engines, depth: int, fetch_ns: float) -> None:
        self.number, self._clock, self._engines, self._depth, self._fetch = number, clock, engines, depth, fetch_ns
        self.held: deque[Command] = deque()
        self.engine = engines.add(self)
        self.taken = 0.0  # when its engine is there
        self.asked = self.waited = False  # its engine has been asked for; its head has been seen and found to wait
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

    @property
    def wanted(self) -> bool:
        """Whether it holds what its engine has to see to: neither copies of other engines, nor the end of what runs."""
        return bool(self.held) and self.held[0].engine not in COPYING and (self.held[0].kind != "record" or len(self.held) > 1)

    def poke(self) -> None:
        """See to the head."""
        time = self._next()
        if time is not None and time > self._clock.now:
            self._again(time)

    def _next(self) -> float | None:
        """Do what can be done now; when there is more to do, if a time is known for it."""
        engines = self._engines
        while self.held:
            head, now = self.held[0], self._clock.now
            if head.arrived > now:
                engines.leave(self)
                return head.arrived
            # Copies have engines of their own, and the end of a kernel is written by who runs it.
            apart = head.engine in COPYING or (head.kind == "record" and head.decoded >= 0)
            if not apart and (head.decoded < 0 or (head.free_to_start and head.ready <= now)) and (there := engines.come(self)) > now:
                return there if there < inf else None
            if head.decoded < 0:
                head.decoded = engines.decoded(self.number)
            if head.decoded > now:
                return head.decoded
            if not head.free_to_start or head.ready > now:
                self.waited = not apart and head.kind != "record"
                engines.leave(self)
                return head.ready if head.free_to_start else None
            if head.kind in ("kernel", "collective"):
                if not engines.has_place:
                    engines.full.append(self)
                    engines.leave(self)
                    return None
                engines.running += 1
            self.held.popleft()
            self.waited = False
            if self._waiting:
                self._waiting.popleft()()
            head.begin(head)
        engines.leave(self)
        return None

    def _again(self, time: float) -> None:
        if self._due != time:
            self._due = time
            self._clock.at(time, self.poke)
