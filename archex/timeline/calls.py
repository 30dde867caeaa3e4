"""What a host thread does: each call in turn, with what it costs and what it starts.

A thread is a generator: it yields the time at which it goes on, or a function that is given what to call when it may.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import TYPE_CHECKING, Any

from archex.base.errors import RequestError
from archex.timeline.commands import Command
from archex.timeline.deadlock import EarlyError
from archex.timeline.devices import Device, host_rate
from archex.timeline.model import Step
from archex.timeline.pages import HOST

if TYPE_CHECKING:
    from archex.timeline.run import Run

#: When a thread goes on: a time, or what is handed the thread.
Pause = float | Callable[[Callable[[], None]], None]
#: A call while it goes on.
Going = Generator[Pause, None, None]


class Thread:
    """A thread of the host: its steps, and what it waits for."""

    def __init__(self, name: str, steps: Sequence[Step], run: Run) -> None:
        self.name, self.steps, self._run = name, steps, run
        self._going = self._all(steps)
        self.over = False
        self._answer, self._number = "", 0
        self._moved: Command
        self.waits_for: Any = None  # a command, an event's name or a queue
        self.at: Step | None = None

    def go_on(self) -> None:
        """The next call, until it pauses."""
        self.waits_for = None
        pause = next(self._going, None)
        if pause is None:
            self.over = True
        elif isinstance(pause, float):
            self._run.clock.at(pause, self.go_on)
        else:
            pause(self.go_on)

    def _all(self, steps: Sequence[Step]) -> Going:
        for step in steps:
            self.at = step
            if step.do == "repeat":
                for _ in range(step.given["times"]):
                    yield from self._all(step.steps)
                continue
            begun = self._run.clock.now
            number = self._number = self._run.number()
            self._answer = ""
            yield from getattr(self, f"_{step.do}")(step)
            self._run.called(number, self.name, step, begun, self._answer)

    # --- what calls have in common

    @property
    def _now(self) -> float:
        return self._run.clock.now

    @property
    def _host(self) -> Any:
        return self._run.machine.host

    def _device(self, step: Step) -> Device:
        return self._run.devices[self._run.workload.streams[step.stream].device]

    def _submit(self, command: Command, took: float) -> Going:
        """Build the packet (`took`), wait for room in the ring, ring the doorbell."""
        queue = self._run.devices[command.device].queue(command.stream)
        if self._host.submission == "kernel_mode":
            took += self._host.system_call
        yield self._now + took
        while not queue.has_room:
            self.waits_for = queue
            yield queue.when_room
        self._run.follow(command)
        queue.put(command)

    def _seen(self, command: Command, sleeping: bool) -> Going:
        """Until the host knows that a command has ended."""
        if command.ended < 0:
            self.waits_for = command
            yield command.seen.append
        there = command.ended + self._host.latency
        if there > self._now:
            yield there + (self._host.wake if sleeping else self._host.poll)

    # --- calls that give commands

    def _launch(self, step: Step) -> Going:
        host, device, kernel = self._host, self._device(step), self._run.workload.kernels[step.what]
        if kernel.cache and step.what not in self._run.loaded:
            yield from self._loads(step.what, kernel.cache == "hit", kernel.instructions)
        command = self._run.command("kernel", step.what, step.stream, self)
        command.alone, command.begin = device.kernel(kernel, command.priority)
        size = step.given.get("arguments", kernel.argument_bytes)
        yield from self._submit(command, host.launch - host.launch_behind + size * host.argument)
        yield self._now + host.launch_behind

    def _copy(self, step: Step) -> Going:
        host, copies = self._host, self._run.machine.copies
        way, size, memory = step.what, step.given["bytes"], step.given.get("memory", "pinned")
        if memory == "pageable" and way in ("h2d", "d2h"):
            if way == "h2d" and size < copies.inline:
                yield from self._move(step, way, size, "inline", host.copy + size / host_rate(host, size))
            else:
                yield self._now + host.copy + (copies.staging if way == "h2d" else copies.staging_back)
                yield from (self._staged_in if way == "h2d" else self._staged_out)(step, size)
        elif way == "peer":
            command = self._run.command("copy", way, step.stream, self)
            command.bytes = size
            yield from self._submit(command, self._run.peer(command, step.given["source"], step.given["target"]))
        else:
            yield from self._move(step, way, size, memory, self._run.copy_call(way, size))

    def _move(self, step: Step, way: str, size: int, memory: str, took: float) -> Going:
        """One command that copies."""
        command = self._run.command("copy", way, step.stream, self)
        command.bytes = size
        command.alone, command.begin = self._device(step).copy(way, size, memory)
        self._moved = command
        yield from self._submit(command, took)

    def _chunks(self, size: int) -> list[int]:
        """Pinned buffers that a copy fills, by bytes."""
        chunk = self._run.machine.copies.chunk
        return [min(chunk, size - done) for done in range(0, size, chunk)]

    def _staged_in(self, step: Step, size: int) -> Going:
        """The processor fills buffers in turn, an engine empties them; the call returns when the last is filled."""
        rate, buffers = host_rate(self._host, size), self._run.machine.copies.buffers
        moved: list[Command] = []
        for place, piece in enumerate(self._chunks(size)):
            if place >= buffers:
                yield from self._seen(moved[place - buffers], False)
            yield from self._move(step, "h2d", piece, "pinned", piece / rate)
            moved.append(self._moved)

    def _staged_out(self, step: Step, size: int) -> Going:
        """An engine fills buffers, the processor empties each; the call returns when the last is empty."""
        rate, pieces, buffers = host_rate(self._host, size, back=True), self._chunks(size), self._run.machine.copies.buffers
        moved: list[Command] = []
        for piece in pieces[:buffers]:
            yield from self._move(step, "d2h", piece, "pinned", 0.0)
            moved.append(self._moved)
        for place, piece in enumerate(pieces):
            yield from self._seen(moved[place], False)
            yield self._now + piece / rate
            if place + buffers < len(pieces):
                yield from self._move(step, "d2h", pieces[place + buffers], "pinned", 0.0)
                moved.append(self._moved)

    def _prefetch(self, step: Step) -> Going:
        command = self._run.command("prefetch", step.what, step.stream, self)
        target = HOST if step.given.get("to") == "host" else command.device
        command.begin = lambda one: self._run.managed.prefetch(one, step.what, target)
        paged, caller = self._run.managed.paged, self._run.managed.prefetched(step.what, target)
        last = self._run.last.get(step.stream)
        if last is not None and last.ended < 0 and paged.prefetch_call:
            command.begin = self._run.functions.wakes(command.begin, self._host.copy + paged.prefetch_call)
            yield from self._submit(command, self._host.copy + self._host.function)
            return
        yield from self._submit(command, self._host.copy + paged.prefetch_call)
        if target != HOST:
            yield self._now + caller
        elif paged.page_back:
            yield from self._seen(command, False)

    def _call(self, step: Step) -> Going:
        command = self._run.command("function", step.what, step.stream, self)
        command.begin = lambda one: self._run.functions.come(one, step.given["ns"])
        yield from self._submit(command, self._host.function)

    def _touch(self, step: Step) -> Going:
        # Its rows are those of the call: no command stands for it.
        cause = Command(self._number, "call", step.what, "", HOST)
        cause.thread = self.name
        self._answer = yield from self._run.managed.host.go(step.given["touch"], cause)

    def _advise(self, step: Step) -> Going:
        yield self._now + self._run.managed.advise(step.what, step.given["as"])

    def _record(self, step: Step) -> Going:
        command = self._run.command("record", step.what, step.stream, self)
        command.begin = self._device(step).mark
        timed = step.given.get("time", True)
        command.about = "timed" if timed else ""
        yield from self._submit(command, self._host.record if timed else self._host.record_plain)
        event = self._run.event(step.what)
        event.records.append(command)
        gates, event.gates = event.gates, []
        for gate in gates:
            gate.let(command, self._run.lag(command, gate), self._run.from_afar(command, gate))
        threads, event.threads = event.threads, []
        for tell in threads:
            tell()

    def _wait(self, step: Step) -> Going:
        command = self._run.command("wait", step.what, step.stream, self)
        command.begin = self._device(step).mark
        event = self._run.event(step.what)
        if event.records:
            last = event.records[-1]
            command.after(last, self._run.lag(last, command), self._run.from_afar(last, command))
        else:
            command.hold(step.what)
            event.gates.append(command)
        yield from self._submit(command, self._host.wait)

    def _collective(self, step: Step) -> Going:
        host, given = self._host, step.given
        name = given.get("name") or f"{step.what}@{step.path}#{self._run.number()}"
        streams: Sequence[str] = given.get("streams") or (step.stream,)
        ranks = given.get("ranks", len(streams))
        took = self._called_for(step, streams, ranks) - host.launch_behind
        for place, stream in enumerate(streams):
            command = self._run.command("collective", step.what, stream, self)
            self._run.joins(command, step, name, given.get("rank", 0) + place, ranks)
            yield from self._submit(command, max(took, 0.0) if place == 0 else 0.0)
        yield self._now + host.launch_behind

    def _called_for(self, step: Step, streams: Sequence[str], ranks: int) -> float:
        """What a call of a collective costs, the launch of its kernel included."""
        assert self._run.machine.collective is not None
        here = [self._run.workload.streams[stream].device for stream in streams]
        # A rank alone knows how many others there are; what its call costs depends on no more.
        devices = here if len(here) == ranks else list(range(ranks))
        try:
            found = self._run.machine.collective(step.what, devices, step.given["bytes"], step.given.get("root", 0))
        except RequestError as error:
            raise RequestError([one._replace(path=one.path.replace("collective", step.path, 1)) for one in error.problems]) from None
        return float(found.call_ns)

    # --- graphs

    def _capture(self, step: Step) -> Going:
        self._run.to_capture.discard(step.what)
        yield self._now + self._host.capture + len(self._run.workload.graphs[step.what]) * self._host.capture_node

    def _instantiate(self, step: Step) -> Going:
        self._captured(step)
        self._run.ready_graphs.add(step.what)
        yield self._now + self._host.instantiate + len(self._run.workload.graphs[step.what]) * self._host.instantiate_node

    def _captured(self, step: Step) -> None:
        if step.what in self._run.to_capture:
            raise EarlyError(f"{step.path}: graph {step.what} is not captured before {step.do} needs it")

    def _update(self, step: Step) -> Going:
        self._captured(step)
        nodes = step.given.get("nodes", len(self._run.workload.graphs[step.what]))
        yield self._now + nodes * self._host.update_node

    def _replay(self, step: Step) -> Going:
        if step.what not in self._run.ready_graphs:
            yield from self._instantiate(step)
        command = self._run.command("graph", step.what, step.stream, self)
        command.begin = self._run.graph
        nodes = self._run.workload.graphs[step.what]
        # The doorbell is rung when the first nodes are written; the others follow while those run.
        pieces = self._run.pieces(step.what)
        # Never more than calls of the steps themselves, with which the processor could do the same; nor does the device find in a graph
        # what it would not have found yet if they had come one by one.
        calls = [self._run.call_of(node) for node in nodes]
        begun = max(self._now, self._run.one_by_one.get(step.stream, 0.0))
        self._run.one_by_one[step.stream] = begun + sum(calls)
        took = min(self._host.graph_launch + len(nodes) * self._host.graph_launch_node + pieces * self._host.graph_launch_copy, sum(calls))
        behind = self._host.launch_behind if nodes and nodes[0].step.do == "launch" else 0.0
        by_then = max(sum(calls[:1]) - behind - self._run.machine.processor.graph_start, 0.0)
        command.looked = begun + by_then + self._run.devices[command.device].fetch
        first = min(self._host.graph_launch, by_then)
        yield from self._submit(command, first)
        yield self._now + took - first

    # --- waiting, asking, working

    def _sync(self, step: Step) -> Going:
        streams = list(self._run.workload.streams) if step.what == "all" else [step.what]
        for stream in streams:
            if stream in self._run.last:
                yield from self._seen(self._run.last[stream], step.given.get("mode") == "sleep")
        yield self._now + self._host.synchronize

    def _sync_event(self, step: Step) -> Going:
        event = self._run.event(step.what)
        if not event.records:
            self.waits_for = step.what
            yield event.threads.append
        yield from self._seen(event.records[-1], step.given.get("mode") == "sleep")
        yield self._now + self._host.synchronize

    def _query(self, step: Step) -> Going:
        yield self._now + self._host.query
        records = self._run.event(step.what).records
        seen = bool(records) and 0 <= records[-1].ended <= self._now - self._host.latency
        self._answer = "happened" if seen else "not yet"

    def _work(self, step: Step) -> Going:
        yield self._now + step.given["ns"]

    def _load(self, step: Step) -> Going:
        yield from self._loads(step.what, step.given.get("cache") == "hit", step.given.get("instructions", 0))

    def _loads(self, program: str, hit: bool, instructions: int) -> Going:
        """A program is loaded; where the code cache lacks it, its machine code is made."""
        hit = hit or program in self._run.loaded
        self._run.loaded.add(program)
        yield self._now + self._host.load + (0.0 if hit else instructions * self._host.compile)
        self._answer = "code cache hit" if hit else "compiled"
