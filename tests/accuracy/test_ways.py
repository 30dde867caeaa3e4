"""What the device alone takes of commands (`h200_host`): behind a long kernel, so that no host's speed is in it."""

from __future__ import annotations

import csv
from collections.abc import Callable

import pytest
from archex.base import folders
from archex.timeline import Builder
from host_rows import NULL_CYCLES
from machines import changed, ran

COUNT = 100


def measured() -> dict[tuple[str, str], float]:
    with open(folders.reference() / "h200_host/ways.csv", newline="") as file:
        return {(line["name"], line["params"]): float(line["value"]) for line in csv.DictReader(file, ("name", "params", "value", "unit"))}


def behind(step: Callable[[Builder], object], times: int = COUNT) -> float:
    """Microseconds of a step on the device, events around many of them behind a long kernel on deep rings."""
    work = Builder(streams=["main", "other"]).kernel("long", us=20_000, units=1).kernel("null", cycles=NULL_CYCLES, units=1)
    work.capture("chain", lambda b: b.repeat(10, lambda c: c.launch("null", stream="main")))

    work.instantiate("chain").launch("long", stream="main").record("a", stream="main").repeat(times, step).record("b", stream="main").sync(
        "all"
    )
    return ran(work, changed("h200", "host", depth=1 << 20)).elapsed("a", "b") / 1e3 / times


def hop(b: Builder) -> None:
    for here, there in (("main", "other"), ("other", "main")):
        b.record("e", stream=here, time=False).wait("e", stream=there).launch("null", stream=there)


STEPS: dict[str, Callable[[Builder], object]] = {
    "gpu_record_timing_same_stream,count=200": lambda b: b.record("x", stream="main"),
    "gpu_h2d_4B_same_stream,count=100": lambda b: b.copy("h2d", bytes=4, stream="main"),
    "gpu_d2h_4B_same_stream,count=100": lambda b: b.copy("d2h", bytes=4, stream="main"),
    "gpu_d2d_4B_same_stream,count=100": lambda b: b.copy("d2d", bytes=4, stream="main"),
    "gpu_h2d_4B_then_null,count=100": lambda b: b.copy("h2d", bytes=4, stream="main").launch("null", stream="main"),
    "graph_behind_busy_each,chain nodes=10": lambda b: b.replay("chain", stream="main"),
}


@pytest.mark.parametrize("name", STEPS)
def test_commands_take_what_they_took(name: str) -> None:
    row, _, params = name.partition(",")
    assert behind(STEPS[name]) == pytest.approx(measured()[row, params], rel=0.25)


@pytest.mark.parametrize(
    ("step", "row"),
    [(lambda b: b.launch("null", stream="main"), ("gpu_null_same_stream", "count=200")), (hop, ("gpu_hop_null", "count=100"))],
    ids=["stream", "hop"],
)
def test_empty_kernels_take_a_third_too_long(step: Callable[[Builder], object], row: tuple[str, str]) -> None:
    """Simulated as the first of its kind one fetches its code; the measured ones find it there."""
    assert 1.0 < behind(step) / measured()[row] < 1.38


def test_a_hundred_and_twenty_eight_kernels_run_at_a_time() -> None:
    def total(streams: int) -> float:
        work = Builder(streams=[f"s{n}" for n in range(streams)]).kernel("spin", us=2000, units=1 / 64)
        for n in range(streams):
            work.launch("spin", stream=f"s{n}")
        return ran(work.sync("all"), changed("h200", "host", queues=256)).total_ns / 1e3

    rows = measured()
    for streams in (1, 64, 128, 160, 192):
        assert total(streams) == pytest.approx(rows["concurrent_streams_spin_2ms", f"streams={streams}"], rel=0.12)


def test_both_directions_at_once() -> None:
    work = Builder(streams=["a", "b"]).copy("h2d", bytes=64 << 20, stream="a").copy("d2h", bytes=64 << 20, stream="b").sync("all")
    assert ran(work).total_ns / 1e3 == pytest.approx(measured()["overlap", "h2d+d2h 64MiB two streams"], rel=0.05)
