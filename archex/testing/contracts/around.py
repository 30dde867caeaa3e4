"""What the parts around a device keep: more cost never makes a workload quicker, more rate never slower."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import attrs

from archex.describe import DeviceSpec
from archex.testing.change import scaled
from archex.testing.contracts.part import PartContract
from archex.timeline import Builder, Timeline, Workload, run
from archex.workloads import machine


def exercise() -> Workload:
    """Two streams and a graph; every direction of a copy; calls that wait and calls that don't."""
    work = Builder("exercise", streams=["first", "second"]).kernel("some", us=20, units=1).kernel("all", us=5, arguments=512)
    work.record("plain", stream="first", time=False).copy("h2d", bytes=1 << 20, stream="first").launch("some", stream="first").record(
        "made", stream="first"
    )
    work.copy("d2h", bytes=1 << 20, stream="second").wait("made", stream="second").launch("all", stream="second")
    for size in (256, 1 << 20):
        for way in ("h2d", "d2h"):
            work.copy(way, bytes=size, memory="pageable", stream="first")
        work.copy("d2d", bytes=size, stream="second")
    work.sync("all").load("program", instructions=1000).query("made")

    def pieces(b: Builder) -> None:
        b.launch("all", stream="first").record("fork", stream="first").wait("fork", stream="second").launch("some", stream="second")
        b.launch("some", stream="first").record("join", stream="second").wait("join", stream="first").launch("all", stream="first")

    work.capture("pieces", pieces).instantiate("pieces").replay("pieces", stream="first").update("pieces", nodes=1)
    work.repeat(12, lambda b: b.launch("all", stream="second")).sync("first", mode="sleep").sync_event("made").sync("all")
    return work.done()


class AroundContract(PartContract):
    """What is around the device never changes what a kernel does once it runs; what costs more is never quicker."""

    #: Fields of the part of which more is a cost in a workload, and of which more is a gain.
    dearer: tuple[str, ...] = ()
    richer: tuple[str, ...] = ()

    def timeline(self, device: DeviceSpec) -> Timeline:
        """The exercise on a device."""
        work = exercise()
        return run(work, machine(device, work))

    def changed(self, fields: tuple[str, ...], factor: float) -> Iterator[tuple[str, DeviceSpec]]:
        """(field, the device with so many times as much of it), where that is a right one."""
        device, slot = self.described(), self.places[0]
        for field in fields:
            spec = scaled(device[slot], field, factor)
            if spec != device[slot] and not self.part.check(spec):
                yield field, attrs.evolve(device, slots={**device.slots, slot: attrs.evolve(device.slots[slot], spec=spec)})

    def test_a_kernel_runs_the_same_without_it(self) -> None:
        config: dict[str, Any] = self.config()
        device = self.checked(config)
        plain = self.checked({key: value for key, value in config.items() if key != self.places[0]})
        assert plain.kernel_fingerprint == device.kernel_fingerprint
        assert plain.fingerprint != device.fingerprint

    def test_a_workload_takes_the_same_every_time(self) -> None:
        first, second = (self.timeline(self.described()) for _ in range(2))
        assert [command.ended for command in first.commands] == [command.ended for command in second.commands]

    def test_what_costs_more_never_makes_a_workload_quicker(self) -> None:
        before = self.timeline(self.described()).total_ns
        after = {field: self.timeline(device).total_ns for field, device in self.changed(self.dearer, 3)}
        assert {field: total for field, total in after.items() if total < (1 - self.slack) * before} == {}

    def test_what_gives_more_never_makes_a_workload_slower(self) -> None:
        before = self.timeline(self.described()).total_ns
        after = {field: self.timeline(device).total_ns for field, device in self.changed(self.richer, 2)}
        assert {field: total for field, total in after.items() if total > (1 + self.slack) * before} == {}


class HostContract(AroundContract):
    """A stream keeps its queue, which is one of those there are; a call that costs more is never quicker."""

    places = ("host",)
    dearer = (
        "launch", "argument", "copy", "record", "wait", "query", "synchronize", "poll", "wake", "capture", "capture_node", "instantiate",
        "instantiate_node", "update_node", "graph_launch", "graph_launch_node", "graph_launch_copy",
        "copy_within", "record_plain", "load", "compile", "latency",
    )  # fmt: skip
    richer = ("depth",)

    def test_a_queue_is_one_of_those_there_are(self) -> None:
        pick = self.part.function("pick_queue")
        assert pick is not None
        for queues in (1, 2, 7):
            for waiting in ([0] * queues, list(range(queues)), list(range(queues, 0, -1))):
                picked = []
                for _ in range(2):
                    state: list[Any] = []
                    picked.append([pick(stream, queues, waiting, state, self.params()) for stream in range(20)])
                assert picked[0] == picked[1], "the same streams, other queues"
                assert all(isinstance(queue, int) and 0 <= queue < queues for queue in picked[0])


class CommandProcessorContract(AroundContract):
    """What a packet or a dependency costs more is never quicker; more engines or kernels at a time are never slower."""

    places = ("command_processor",)
    dearer = ("packet", "event", "hop", "cross", "graph_start", "graph_node", "graph_issue")
    richer = ("engines", "kernels", "mapped")


class CopyEngineContract(AroundContract):
    """No copy is quicker than its bytes at the link's rate; a faster link is never slower."""

    places = ("copy_engine",)
    dearer = ("setup", "staging", "staging_back", "within_setup", "fill_small", "fill_setup")
    richer = ("rate_to_device", "rate_to_host", "inline_rate", "within_share", "both_ways", "to_device", "to_host")

    def test_bytes_take_their_time(self) -> None:
        device = self.described()
        for command in self.timeline(device).commands:
            if command.kind == "copy" and command.name in ("h2d", "d2h") and command.bytes >= device["copy_engine"].inline:
                rate = device["copy_engine"].rate_to_device if command.name == "h2d" else device["copy_engine"].rate_to_host
                assert command.ended - command.started >= command.bytes / rate * 1e9
