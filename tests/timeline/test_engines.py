"""Who waits for whom between engines: places before bandwidth, what follows another engine's work, fills, strides of managed memory."""

from __future__ import annotations

import pytest
from archex.timeline import Builder, Timeline
from machines import changed, ran, shipped
from test_paging import came, on

KIB, MIB = 1 << 10, 1 << 20


def copies(*ways: str, size: int = 64 * MIB) -> float:
    """Copies, each in a stream of its own, until all have ended."""
    work = Builder(streams=[f"s{n}" for n in range(len(ways))])
    for n, way in enumerate(ways):
        work.copy(way, bytes=size, stream=f"s{n}")
    return ran(work.sync("all")).total_ns


def test_a_copy_that_waits_for_an_engine_takes_nothing_of_the_link() -> None:
    """The first has the link for itself; then the second: no more than one behind the other, in whatever stream."""
    one, two = copies("h2d"), copies("h2d", "h2d")
    assert two == pytest.approx(2 * one, rel=0.02)
    both = 2 * 64 * MIB / (shipped("h200").copies.rate_to_device * 2 * shipped("h200").copies.both_ways)
    assert copies("h2d", "d2h") == pytest.approx(both, rel=0.02)


def test_a_kernel_that_waits_for_compute_units_takes_no_bandwidth() -> None:
    def ended(second: bool) -> float:
        work = Builder(streams=["a", "b"]).kernel("k", us=100, memory=0.8).launch("k", stream="a")
        found = ran((work.launch("k", stream="b") if second else work).sync("all"))
        return next(c.ended for c in found.commands if c.kind == "kernel")

    assert ended(True) == pytest.approx(ended(False))


def turns(cross: float, *commands: str, size: int = MIB, busy: bool = True) -> Timeline:
    work = Builder().kernel("k", us=5).kernel("long", us=1000)
    if busy:
        work.launch("long")
    for what in commands:
        work = work.launch("k") if what == "kernel" else work.copy(what, bytes=size)
    return ran(work.sync("main"), changed("h200", "processor", cross=cross))


@pytest.mark.parametrize(
    ("commands", "crossings"),
    [(("h2d", "kernel"), 2), (("d2h", "d2h"), 1), (("h2d", "d2h", "kernel"), 3), (("kernel", "d2d", "fill", "kernel"), 0)],
)
def test_what_follows_another_engine_crosses_once(commands: tuple[str, ...], crossings: int) -> None:
    """Behind a long kernel everything stands waiting; kernels, copies and fills within the device are one engine's."""
    far, near = turns(4000.0, *commands), turns(0.0, *commands)
    assert far.total_ns - near.total_ns == pytest.approx(4000 * crossings)


def test_small_copies_need_no_other_engine() -> None:
    far, near = (turns(cross, "h2d", "kernel", "h2d", size=4) for cross in (4000.0, 0.0))
    assert far.total_ns == pytest.approx(near.total_ns)


def test_what_comes_when_the_other_engine_is_done_crosses_nothing() -> None:
    for cross in (0.0, 4000.0):
        found = turns(cross, "d2h", "kernel", size=4 * KIB, busy=False)
        assert found.total_ns == pytest.approx(turns(0.0, "d2h", "kernel", size=4 * KIB, busy=False).total_ns)


@pytest.mark.parametrize("device", ["h200", "mi300x", "tiny"])
@pytest.mark.parametrize("size", [4 * KIB, MIB])
def test_a_graph_of_copies_and_kernels_never_costs_more_than_its_stream(size: int, device: str) -> None:
    def both(b: Builder) -> None:
        for _ in range(4):
            b.copy("h2d", bytes=size).launch("k").copy("d2h", bytes=size)

    def timed(graph: bool) -> float:
        work = Builder().kernel("k", us=5)
        if graph:
            work.capture("g", both).instantiate("g").sync("main")
        work.record("a")
        work.replay("g") if graph else both(work)
        return ran(work.record("z").sync("main"), device).elapsed("a", "z")

    assert timed(True) <= timed(False)


def test_a_fill_writes_once_what_a_copy_reads_and_writes() -> None:
    def took(way: str, size: int) -> float:
        found = ran(Builder().copy(way, bytes=size).sync("main"))
        return found.commands[0].ended - found.commands[0].started

    assert took("d2d", 1 << 30) > 1.8 * took("fill", 1 << 30)
    assert took("fill", 1 << 30) >= (1 << 30) / shipped("h200").memory_rate
    assert took("fill", 256) < took("fill", 64 * KIB)
    sizes = [took("fill", size) for size in (4, 4 * KIB, MIB, 64 * MIB)]
    assert sizes == sorted(sizes)


def test_touches_that_lie_apart_bring_what_is_near_them() -> None:
    def brought(stride: int) -> int:
        work = Builder().buffer("x", bytes=64 * MIB, memory="managed").kernel("k", us=1, touches=[{"buffer": "x", "stride": stride}])
        return came(on(work.launch("k").sync("all")))

    assert brought(2 * MIB) == 32 * 64 * KIB
    assert brought(MIB) == 64 * 64 * KIB
    assert brought(64 * KIB) == brought(4 * KIB) == 64 * MIB
