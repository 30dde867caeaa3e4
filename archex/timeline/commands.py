"""Commands on their way: what each is, when it passed which station, what it waits for.

A command ends once; whoever depends on it is told then.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from archex.timeline.queues import Queue

#: What a command can be. `kernel`, `copy`, `collective` and `prefetch` do work, a `function` on the host; `graph` stands for its nodes;
#: `record` and `wait` only order others; `faults` and `migration` are nobody's commands: what managed memory makes of a kernel or of
#: a prefetch.
KINDS = ("kernel", "copy", "collective", "prefetch", "function", "graph", "record", "wait", "faults", "migration")

#: Copies that an engine of their direction does: from the host, to the host, to another device.
COPYING = ("h2d", "d2h", "peer")


class Command:
    """issued: its call began. submitted: the doorbell. arrived: its packet was fetched. ready: nothing more to wait for. started, ended.

    begin: called when it may start. what: number and name in the rows. waited_for: the command that kept it last, or `host`.
    stalls: from when to when a kernel stood still for pages. engine: who does it, `compute` or a direction of the copy engines; empty for
    what only orders others. looked: when the call of a graph's node would have come in a stream; 0: it is of a stream itself.
    """

    __slots__ = (
        "_open", "about", "alone", "arrived", "begin", "bytes", "decoded", "device", "ended", "engine", "free",
        "gate", "graph", "issued", "kind", "later", "looked", "name", "number", "priority", "queue",
        "ready", "seen", "stalls", "started", "stream", "submitted", "thread", "waited_for", "waits_on",
    )  # fmt: skip

    def __init__(self, number: int, kind: str, name: str, stream: str, device: int) -> None:
        self.number, self.kind, self.name, self.stream, self.device = number, kind, name, stream, device
        self.thread, self.about, self.bytes, self.alone, self.priority = "", "", 0, 0.0, 0
        self.issued = self.submitted = self.arrived = self.looked = self.ready = 0.0
        self.engine = ""
        self.decoded = self.started = self.ended = -1.0
        self.begin: Callable[[Command], None] = _unset
        self.free: Callable[[Command], None] | None = None  # told when nothing is left to wait for, if no queue holds it
        self.queue: Queue | None = None
        self.graph: Command | None = None
        self.gate = ""  # an event not recorded so far that it waits for
        self.waited_for: Command | None = None
        self.waits_on: list[Command] = []
        self.stalls: list[tuple[float, float]] = []
        self.seen: list[Callable[[], None]] = []  # host threads that wait for its end
        self._open = 0
        self.later: list[tuple[Command, float, float]] = []

    @property
    def free_to_start(self) -> bool:
        """Whether all that it waits for has ended."""
        return self._open == 0

    def after(self, other: Command, lag: float, crossing: float = 0.0) -> None:
        """Start no earlier than `lag` after the end of `other`, and `crossing` later if the device looked before that end."""
        if other.ended >= 0:
            self._not_before(other, other.ended + lag)
            return
        self._open += 1
        self.waits_on.append(other)
        other.later.append((self, lag, crossing))

    def hold(self, event: str) -> None:
        """Wait for an event that nobody has recorded yet."""
        self.gate, self._open = event, self._open + 1

    def let(self, other: Command, lag: float, crossing: float = 0.0) -> None:
        """The event is being recorded."""
        self.gate, self._open = "", self._open - 1
        self.after(other, lag, crossing)
        if self._open == 0:
            self.told()

    def _not_before(self, other: Command, time: float) -> None:
        if time > self.ready:
            self.ready, self.waited_for = time, other

    def end(self, now: float) -> None:
        """It is over: who waited for it goes on."""
        self.ended = now
        later, self.later = self.later, []
        for command, lag, crossing in later:
            command._open -= 1
            command._not_before(self, now + lag + (command._crosses(now, crossing) if crossing else 0.0))
        for command, _, _ in later:
            if command._open == 0:
                command.told()
        for tell in self.seen:
            tell()
        self.seen.clear()

    def _crosses(self, now: float, crossing: float) -> float:
        """How much later it starts for having waited until now for another engine.

        What comes when that is done finds nothing to wait for. A graph's node is there all the while; it waits no longer than until a
        stream's call would have come.
        """
        if self.looked > now:
            return min(crossing, self.looked - now)
        return crossing if 0 < (self.looked or self.arrived) <= now else 0.0

    def told(self) -> None:
        """Nothing is left to wait for."""
        if self.queue is not None:
            self.queue.poke()
        elif self.free is not None:
            self.free(self)

    def label(self) -> str:
        """As errors name it."""
        return f"{self.kind} {self.name} on {self.stream}" if self.name else f"{self.kind} on {self.stream}"


def engine_of(do: str, what: str, size: int, small: int) -> str:
    """Who does a command: `compute`, or a direction of the copy engines; empty for what orders others or takes several devices.

    small: copies of fewer bytes to the device need no engine of their own.
    """
    if do == "copy" and what in COPYING:
        return "compute" if what == "h2d" and size < small else what
    return "compute" if do in ("launch", "kernel", "copy", "call", "function") else ""


def _unset(command: Command) -> Any:
    raise AssertionError(f"{command.label()} has nothing to do")
