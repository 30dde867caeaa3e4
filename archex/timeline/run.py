"""Runs a workload on a machine: threads of the host, devices, what connects them.

In: a checked `Workload` whose kernels have their times, a `Machine`. Out: a `Timeline`. A workload that comes to a stop is a
`DeadlockError` that names who waits for whom.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import attrs

from archex.timeline.calls import Thread
from archex.timeline.clock import Clock
from archex.timeline.commands import COPYING, Command, engine_of
from archex.timeline.deadlock import DeadlockError, explain
from archex.timeline.devices import Device
from archex.timeline.fluid import Fluid, Resource
from archex.timeline.functions import KIND, Functions
from archex.timeline.machine import Machine
from archex.timeline.meeting import Meeting
from archex.timeline.model import Node, Step, Workload
from archex.timeline.pages import Pages
from archex.timeline.paging import Paging
from archex.timeline.walks import flat


@attrs.frozen
class Call:
    """Something a host thread did: `what` it called, on `name`, from when to when. answer: what a query said."""

    number: int
    thread: str
    what: str
    name: str
    begun: float
    ended: float
    answer: str = ""


class Event:
    """An event of the workload: the commands that recorded it, and who waits for the first one."""

    def __init__(self) -> None:
        self.records: list[Command] = []
        self.gates: list[Command] = []
        self.threads: list[Callable[[], None]] = []


@attrs.frozen(eq=False)
class Timeline:
    """What happened. Times in nanoseconds from the start of the host's first call."""

    workload: Workload
    machine: Machine
    commands: Sequence[Command]
    calls: Sequence[Call]
    devices: Sequence[Device]
    total_ns: float
    pages: Pages | None = None

    def happened(self, event: str) -> list[float]:
        """When an event happened, each time."""
        return [c.ended for c in self.commands if c.kind == "record" and c.name == event]

    def elapsed(self, begin: str, end: str) -> float:
        """From the last time of one event to the last time of another, as a device's clock says it."""
        return self.happened(end)[-1] - self.happened(begin)[-1]

    def spans(self, what: str, name: str = "") -> list[float]:
        """How long each call of a kind took."""
        return [call.ended - call.begun for call in self.calls if call.what == what and name in ("", call.name)]


class Run:
    """A workload while it runs."""

    def __init__(self, workload: Workload, machine: Machine) -> None:
        self.workload, self.machine = workload, machine
        self.clock = Clock()
        self.fluid = Fluid(self.clock)
        self.links = {name: Resource(name, capacity) for name, capacity in machine.links.items()}
        made: list[list[str]] = [[] for _ in range(workload.devices)]
        for name, stream in workload.streams.items():
            made[stream.device].append(name)
        self.devices = [Device(n, self.clock, self.fluid, machine, self.links, streams) for n, streams in enumerate(made)]
        self.paging = Paging(self, machine.paged) if machine.paged is not None else None
        for device in self.devices:
            device.paging = self.paging
        self.functions = Functions(self.clock, machine.host)
        self.commands: list[Command] = []
        self.calls: list[Call] = []
        self.last: dict[str, Command] = {}
        self.events: dict[str, Event] = {}
        self.meetings: dict[tuple[str, int], Meeting] = {}
        self._rounds: dict[tuple[str, int], int] = {}
        self._engines: dict[str, str] = {}  # of each stream, who does its last command
        self.one_by_one: dict[str, float] = {}  # of each stream, when calls of its own would have given what its graphs hold
        self.loaded: set[str] = set()
        self.to_capture = {step.what for steps in workload.threads.values() for step in flat(steps) if step.do == "capture"}
        self.ready_graphs: set[str] = set()
        self._number = 0
        self.threads = [Thread(name, steps, self) for name, steps in workload.threads.items()]

    def go(self) -> Timeline:
        """Everything, until nothing is left to happen."""
        for thread in self.threads:
            self.clock.at(0.0, thread.go_on)
        self.clock.run()
        if any(not thread.over for thread in self.threads) or any(command.ended < 0 for command in self.commands):
            raise DeadlockError(explain(self))
        total = max([0.0, *(call.ended for call in self.calls), *(command.ended for command in self.commands)])
        pages = self.paging.pages if self.paging is not None else None
        return Timeline(self.workload, self.machine, self.commands, self.calls, self.devices, total, pages)

    def number(self) -> int:
        """Of the next row."""
        self._number += 1
        return self._number - 1

    def event(self, name: str) -> Event:
        """An event by name."""
        return self.events.setdefault(name, Event())

    @property
    def managed(self) -> Paging:
        """Managed memory; a workload that has some has this."""
        assert self.paging is not None
        return self.paging

    # --- commands

    def command(self, kind: str, name: str, stream: str, thread: Thread) -> Command:
        """A command of a stream, behind the one before it."""
        where = self.workload.streams[stream]
        made = Command(self.number(), kind, name, stream, where.device)
        made.thread, made.priority, made.issued = thread.name, where.priority, self.clock.now
        self.commands.append(made)
        return made

    def follow(self, command: Command) -> None:
        """The command is the next of its stream: it starts after the one before."""
        before, stream = self.last.get(command.stream), command.stream
        first = last = self._engine(command.kind, command.name, command.bytes)
        if command.kind == "graph":
            first, last = self._ends(command.name)
        if before is not None:
            kernels = before.kind == command.kind == "kernel"
            lag = self.machine.gap_ns if kernels else self.functions.lag(before, command.kind)
            command.after(before, lag, self._crossing(self._engines.get(stream, ""), first))
        command.engine = self._engines[stream] = last or self._engines.get(stream, "")
        self.last[stream] = command

    def _ends(self, graph: str) -> tuple[str, str]:
        """Engines of the first and the last node of a graph."""
        nodes = self.workload.graphs[graph]
        first, *_, last = [self._doer(node) for node in nodes] * 2 or ["", ""]
        return first, last

    def _engine(self, do: str, what: str, size: int) -> str:
        return engine_of(do, what, size, self.machine.copies.small)

    def _doer(self, node: Node) -> str:
        return self._engine(node.step.do, node.step.what, node.step.given.get("bytes", 0))

    def pieces(self, graph: str) -> int:
        """What of a graph is handed over by itself: copies by an engine, functions, and kernels that follow one."""
        nodes = self.workload.graphs[graph]
        copies = [self._doer(node) in COPYING or node.step.do == "call" for node in nodes]
        return sum(copy or any(copies[other] for other in node.after) for node, copy in zip(nodes, copies, strict=True))

    def _crossing(self, before: str, then: str) -> float:
        """What it takes longer to follow a command of another engine."""
        return float(self.machine.processor.cross) if before and then and before != then else 0.0

    def from_afar(self, record: Command, waits: Command) -> float:
        """The same of a wait in another stream for what was recorded behind an engine's work."""
        return self._crossing(record.engine, self._engines.get(waits.stream, "") or "compute")

    def lag(self, record: Command, waits: Command) -> float:
        """From an event to who waited for it: longer into another queue."""
        same = self.devices[record.device].queue(record.stream) is self.devices[waits.device].queue(waits.stream)
        return 0.0 if same else float(self.machine.processor.hop)

    def joins(self, command: Command, step: Step, name: str, rank: int, ranks: int) -> None:
        """The command is a rank's part of a collective: the n-th of a name is that of the others' n-th."""
        turn = self._rounds[name, rank] = self._rounds.get((name, rank), -1) + 1
        meeting = self.meetings.setdefault((name, turn), Meeting(name, ranks))
        command.bytes = step.given["bytes"]
        meeting.ask(rank, ranks, step.what, command.bytes, step.given.get("root", 0), command)
        command.begin = lambda one: meeting.come(rank, one, self)

    def peer(self, command: Command, source: int, target: int) -> float:
        """A copy from device to device; what its call costs."""
        assert self.machine.peer is not None
        found = self.machine.peer(source, target, command.bytes)
        demands = {self.links[name]: share for name, share in found.links.items()}
        for device in sorted({source, target}):
            demands[self.devices[device].memory] = found.memory_share
        command.alone, command.about = found.alone_ns, found.about
        command.begin = lambda one: self.devices[one.device].work(one, found.alone_ns, demands)
        return found.call_ns

    def called(self, number: int, thread: str, step: Step, begun: float, answer: str) -> None:
        """A call has come back."""
        self.calls.append(Call(number, thread, step.do, step.what, begun, self.clock.now, answer))

    def graph(self, command: Command) -> None:
        """Start of a graph: its nodes in the order of what they depend on."""
        nodes: Sequence[Node] = self.workload.graphs[command.name]
        device, processor = self.devices[command.device], self.machine.processor
        command.started = self.clock.now
        begin = max(self.clock.now, command.arrived + processor.graph_start)  # it is made out while others run
        made: list[Command] = []
        left, looked = len(nodes), command.looked + processor.graph_start  # of the node at hand

        def one_less() -> None:
            nonlocal left
            left -= 1
            if left == 0:
                command.end(self.clock.now)

        followers = Counter(other for node in nodes for other in node.after)
        for node in nodes:
            # What follows an engine's copy is handed over by itself, and starts as in a stream.
            behind = [made[other].engine in COPYING for other in node.after]
            one = self._node(node, command, device, whole=not node.after or any(behind))
            # Calls of a stream come one by one: an order that they would find open costs a graph nothing either.
            behind_call = self.machine.host.launch_behind if one.kind == "kernel" else 0.0  # its doorbell rings before its call is over
            looked += self.call_of(node) - behind_call if made else 0.0
            one.looked = max(looked, command.arrived)
            looked += behind_call
            for other, apart in zip(node.after, behind, strict=True):
                plain = not (apart or one.engine in COPYING or KIND in (one.kind, made[other].kind) or self._at_once(node))
                lag = device.node_lag(made[other].kind == one.kind == "kernel") if plain else self.functions.lag(made[other], one.kind)
                lag += processor.graph_wide if followers[other] > processor.graph_fan else 0.0
                one.after(made[other], lag, self._crossing(made[other].engine, one.engine))
            made.append(one)
            one.seen.append(one_less)
        if not made:
            self.clock.at(begin, lambda: command.end(self.clock.now))
        # Roots are dealt out to rings, which the processor takes up one by one.
        for place, one in enumerate(one for one, node in zip(made, nodes, strict=True) if not node.after):
            one.ready = begin + min(place, len(device.queues) - 1) * processor.turn
            self._issue(one, device)

    def _at_once(self, node: Node) -> bool:
        """Whether the front end does it itself: a small copy to the device, a small fill."""
        inline = node.step.what == "fill" and node.step.given["bytes"] < self.machine.copies.fill_inline
        return node.step.do == "copy" and (inline or node.step.what == "h2d")

    def call_of(self, node: Node) -> float:
        """What the call of a node's step costs the processor, where it is no part of a graph."""
        host, what, given = self.machine.host, node.step.what, node.step.given
        if what == "peer" and self.machine.peer is not None:
            return self.machine.peer(given["source"], given["target"], given["bytes"]).call_ns
        if node.step.do == "call":
            return float(host.function)
        return float(host.launch) if node.step.do != "copy" else self.copy_call(what, given["bytes"])

    def copy_call(self, way: str, size: int) -> float:
        """What the call of a copy or a fill costs the processor; small fills are no kernels."""
        host = self.machine.host
        filled = host.fill if size >= self.machine.copies.fill_inline else host.copy
        return float({"d2d": host.copy_within, "fill": filled}.get(way, host.copy))

    def _node(self, node: Node, graph: Command, device: Device, whole: bool) -> Command:
        step = node.step
        kind = {"launch": "kernel", "collective": "collective", "call": KIND}.get(step.do, "copy")
        made = Command(self.number(), kind, step.what, graph.stream, device.number)
        made.thread, made.priority, made.issued, made.graph = graph.thread, graph.priority, graph.issued, graph
        made.submitted, made.arrived, made.engine = graph.submitted, graph.arrived, self._doer(node)
        self.commands.append(made)
        if kind == "kernel":
            made.alone, made.begin = device.node(self.workload.kernels[step.what], whole, graph.priority)
        elif kind == "collective":
            self.joins(made, step, step.given["name"], step.given["rank"], step.given["ranks"])
        elif kind == KIND:
            made.begin = lambda one: self.functions.come(one, step.given["ns"])
        elif step.what == "peer":
            made.bytes = step.given["bytes"]
            self.peer(made, step.given["source"], step.given["target"])
        else:
            made.bytes = step.given["bytes"]
            inside = step.what in ("d2d", "fill")
            found = device.within(step.what, made.bytes, whole) if inside else device.copy(step.what, made.bytes, "pinned")
            made.alone, made.begin = found
        made.free = lambda command: self._issue(command, device)
        return made

    def _issue(self, command: Command, device: Device) -> None:
        """A node is free: it starts when the processor gets to it."""
        self.clock.at(command.ready, lambda: self.clock.at(device.issue_node(self.clock.now), command.begin, command))


def run(workload: Workload, machine: Machine) -> Timeline:
    """What happens when, and why; DeadlockError where it never ends."""
    return Run(workload, machine).go()
