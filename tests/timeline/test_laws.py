"""What holds of every timeline, whatever the device."""

from __future__ import annotations

import time
from itertools import pairwise, product

import pytest
from archex.timeline import Builder, Timeline
from archex.timeline.spent import spent
from machines import changed, mixed, ran

DEVICES = ("tiny", "h200", "mi300x")


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("seed", range(8))
def test_streams_never_reorder_and_nobody_passes_a_station_too_early(device: str, seed: int) -> None:
    found = ran(mixed(seed), device)
    for stream in found.workload.streams:
        own = [command for command in found.commands if command.stream == stream]
        assert all(before.ended <= after.started + 1e-6 for before, after in pairwise(own))
    for c in found.commands:
        assert c.issued <= c.submitted <= c.arrived <= c.started <= c.ended
        assert c.ended - c.started >= c.alone - 1e-6


@pytest.mark.parametrize("device", DEVICES)
def test_no_device_is_quicker_than_its_busiest_resource(device: str) -> None:
    for seed in range(4):
        found = ran(mixed(seed), device)
        machine = found.machine
        kernels = [(c, found.workload.kernels[c.name]) for c in found.commands if c.kind == "kernel"]
        units = sum(c.alone * min(k.units or machine.units, machine.units) for c, k in kernels) / machine.units
        memory = sum(c.alone * k.memory_share for c, k in kernels)
        for way, rate in (("h2d", machine.copies.rate_to_device), ("d2h", machine.copies.rate_to_host)):
            moved = sum(c.bytes for c in found.commands if c.kind == "copy" and c.name == way and c.bytes >= machine.copies.inline)
            assert found.total_ns >= moved / rate
        assert found.total_ns >= max(units, memory)


@pytest.mark.parametrize("device", DEVICES)
def test_the_same_workload_takes_the_same(device: str) -> None:
    first, second = (ran(mixed(3), device) for _ in range(2))
    assert [(c.started, c.ended) for c in first.commands] == [(c.started, c.ended) for c in second.commands]


@pytest.mark.parametrize("device", DEVICES)
def test_where_the_time_went_adds_up(device: str) -> None:
    for seed in range(4):
        found = ran(mixed(seed), device)
        assert sum(part.ns for part in spent(found)) == pytest.approx(found.total_ns)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("nodes", [1, 2, 7, 40])
def test_a_graph_never_costs_more_than_its_stream(device: str, nodes: int) -> None:
    def timed(graph: bool) -> Timeline:
        work = Builder().kernel("k", us=3)
        if graph:
            work.capture("g", lambda b: b.repeat(nodes, lambda c: c.launch("k"))).instantiate("g")
        work.record("begin")
        work.replay("g") if graph else work.repeat(nodes, lambda b: b.launch("k"))
        return ran(work.record("end").sync("main"), device)

    assert timed(True).elapsed("begin", "end") <= timed(False).elapsed("begin", "end") + 1e-6


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("width", [2, 8])
def test_a_graph_that_forks_never_costs_more_than_its_streams(device: str, width: int) -> None:
    def pieces(b: Builder) -> None:
        b.launch("k", stream="s0").record("fork", stream="s0", time=False)
        for n in range(1, width):
            b.wait("fork", stream=f"s{n}")
        for n in range(width):
            b.launch("k", stream=f"s{n}")
        for n in range(1, width):
            b.record(f"join{n}", stream=f"s{n}", time=False).wait(f"join{n}", stream="s0")
        b.launch("k", stream="s0")

    def timed(graph: bool) -> Timeline:
        work = Builder(streams=[f"s{n}" for n in range(width)]).kernel("k", us=3, units=1)
        if graph:
            work.capture("g", pieces).instantiate("g")
        work.record("begin", stream="s0")
        work.replay("g", stream="s0") if graph else pieces(work)
        return ran(work.record("end", stream="s0").sync("all"), device)

    graph = timed(True)
    assert len([c for c in graph.commands if c.graph is not None]) == width + 2
    assert graph.elapsed("begin", "end") <= timed(False).elapsed("begin", "end")


def test_a_full_queue_makes_the_host_wait_and_loses_nothing() -> None:
    work = Builder().kernel("long", us=500).kernel("short", us=1)
    work = work.launch("long").repeat(50, lambda b: b.launch("short")).sync("main").done()
    free, tight = (ran(work, changed("h200", "host", depth=depth)) for depth in (1024, 8))
    assert [c.name for c in tight.commands] == [c.name for c in free.commands]
    assert max(queue.most for queue in tight.devices[0].queues) == 8
    assert max(free.spans("launch")) < 5_000 < 400_000 < max(tight.spans("launch"))
    assert tight.total_ns == pytest.approx(free.total_ns, rel=0.1)


def test_pageable_copies_move_all_their_bytes() -> None:
    """A command for each pinned buffer; the bytes add up, whichever the direction and the size."""
    for way in ("h2d", "d2h"):
        for size in (70_000, 1 << 20, (1 << 20) + 1, 5_000_000):
            found = ran(Builder().copy(way, bytes=size, memory="pageable").sync("main"))
            assert sum(c.bytes for c in found.commands) == size
            assert found.total_ns >= size / max(point.rate for point in found.machine.host.copies)


def test_a_faster_link_is_never_slower() -> None:
    for seed in range(4):
        totals = [ran(mixed(seed), changed("tiny", "copies", rate_to_device=rate, rate_to_host=rate)).total_ns for rate in (5, 10, 20, 40)]
        assert totals == sorted(totals, reverse=True)


def test_kernels_that_fill_part_of_a_device_share_it() -> None:
    def total(streams: int, units: int) -> float:
        work = Builder(streams=[f"s{n}" for n in range(streams)]).kernel("spin", us=1000, units=units)
        for n in range(streams):
            work.launch("spin", stream=f"s{n}")
        return ran(work.sync("all")).total_ns / 1e6

    assert total(4, 33) == pytest.approx(1.0, rel=0.05)
    assert total(4, 66) == pytest.approx(2.0, rel=0.05), "two rounds"
    assert total(4, 132) == pytest.approx(4.0, rel=0.05)


def test_higher_priority_takes_compute_units_first() -> None:
    work = Builder(streams={"low": {}, "high": {"priority": 1}}).kernel("all", us=100)
    work.launch("all", stream="low").launch("all", stream="high").sync("all")
    low, high = ran(work).commands
    assert high.ended < low.ended
    assert low.ended == pytest.approx(high.ended + 100_000, rel=0.1)


def test_bandwidth_is_shared_evenly() -> None:
    work = Builder(streams=["a", "b"]).kernel("stream", us=100, units=10, memory=0.8)
    work.launch("stream", stream="a").launch("stream", stream="b").sync("all")
    assert ran(work).total_ns == pytest.approx(160_000, rel=0.1)


def test_queues_shared_by_streams_hold_each_other_up() -> None:
    """A head that waits for another stream's event holds up who stands behind it, and nobody in a queue of its own."""

    def waits(queues: int) -> float:
        work = Builder(streams=["a", "b", "c"]).kernel("long", us=200, units=1).kernel("short", us=1, units=1)
        work.launch("long", stream="a").record("e", stream="a").wait("e", stream="b").launch("short", stream="b").launch(
            "short", stream="c"
        )
        found = ran(work.sync("all"), changed("h200", "host", queues=queues))
        return next(c.started for c in found.commands if c.kind == "kernel" and c.stream == "c")

    assert waits(3) < 50_000 < 200_000 < waits(1)


def test_kernel_mode_costs_a_system_call_a_command() -> None:
    work = Builder().kernel("k", us=1).repeat(10, lambda b: b.launch("k")).sync("main").done()
    user, kernel = ran(work), ran(work, changed("h200", "host", submission="kernel_mode", system_call=2000.0))
    assert sum(kernel.spans("launch")) == pytest.approx(sum(user.spans("launch")) + 10 * 2000)


def test_a_hundred_thousand_events_take_seconds() -> None:
    work = Builder(streams=["a", "b", "c", "d"]).kernel("k", us=2, units=33, memory=0.2)

    def some(b: Builder) -> None:
        for stream in "abcd":
            b.launch("k", stream=stream).record("e", stream=stream)
        b.copy("h2d", bytes=4096, stream="a").wait("e", stream="b")

    built = work.repeat(2500, some).sync("all").done()
    began = time.process_time()
    found = ran(built)
    assert len(found.commands) + len(found.calls) >= 50_000
    assert time.process_time() - began < 5


#: What a stream can be given: kernels, copies by way and bytes.
WORK = ("k1", "k100", "h2d 4", "h2d 65536", "d2h 4", "d2h 1048576", "d2d 4", "d2d 1048576", "fill 4", "fill 65536")


@pytest.mark.parametrize("device", ["h200", "a100", "mi210", "mi300x", "tiny"])
@pytest.mark.parametrize("times", [1, 3])
def test_a_graph_costs_its_host_no_more_than_its_stream(device: str, times: int) -> None:
    """From the first call until the host knows that all is done, whatever two things follow each other, however often."""

    def given(work: Builder, names: tuple[str, ...]) -> Builder:
        for name in names:
            way, _, size = name.partition(" ")
            work.copy(way, bytes=int(size), stream="a") if size else work.launch(name, stream="a")
        return work

    def base() -> Builder:
        return Builder(streams=["a"]).kernel("k1", us=1).kernel("k100", us=100)

    found = {}
    for names in [*((name,) for name in WORK), *product(WORK, WORK)]:
        stream = ran(base().repeat(times, lambda b, names=names: given(b, names)).sync("a"), device)
        graph = base().capture("g", lambda b, names=names: given(b, names)).instantiate("g")
        replayed = ran(graph.repeat(times, lambda b: b.replay("g", stream="a")).sync("a"), device)
        took = [one.calls[-1].ended - one.calls[first].begun for one, first in ((stream, 0), (replayed, 2))]
        if took[1] > took[0] + 1e-3:
            found[names] = took
    assert found == {}
