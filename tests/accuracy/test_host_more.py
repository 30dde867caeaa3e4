"""What the device itself takes of commands, and managed memory, against what a second host measured of an H200 (`h200_host`).

Calls of that host are quicker than those of `h200/host.csv`, so only rows are held in which its processor has no part: behind a long
kernel, with long copies side by side, faults.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from statistics import mean
from typing import Any

import pytest
from archex.base import folders
from archex.testing.devices import described
from archex.timeline import Builder, Timeline, run
from archex.workloads import machine
from host_rows import NULL_CYCLES
from machines import ran

KIB, MIB = 1 << 10, 1 << 20


def rows(file: str) -> Iterator[tuple[str, dict[str, str], float]]:
    """Name, parameters, microseconds."""
    with open(folders.reference() / "h200_host" / file, newline="") as source:
        for line in csv.reader(source):
            if len(line) == 4 and line[3] == "us":
                yield line[0], dict(re.findall(r"(\w+)=(\w+)", line[1])), float(line[2])


FUNCTIONS = tuple(rows("functions.csv"))
CALLS, MANAGED = tuple(rows("calls.csv")), tuple(rows("managed.csv"))


def measured(where: tuple[tuple[str, dict[str, str], float], ...], name: str) -> Iterator[tuple[dict[str, str], float]]:
    return ((given, us) for row, given, us in where if row == name)


def behind(*commands: str, size: int, count: int = 20) -> float:
    """Commands in turn behind a long kernel, microseconds for each turn."""
    work = Builder().kernel("null", cycles=NULL_CYCLES).kernel("long", us=5000).launch("long").record("a")
    for _ in range(count):
        for what in commands:
            function = what.endswith("us")
            work = work.launch("null") if what == "kernel" else work.call(what) if function else work.copy(what, bytes=size)
    return ran(work.record("z").sync("main")).elapsed("a", "z") / count / 1e3


def paged(work: Builder) -> Timeline:
    workload = work.done()
    return run(workload, machine(described("h200", {}), workload))


def touched(size: int, us: float = 1, untouched: bool = False, **touch: Any) -> float:
    """A kernel that touches managed memory of the host, or of nobody so far, microseconds between events around it."""
    work = Builder().buffer("x", bytes=size, memory="managed", untouched=untouched).kernel("k", us=us, touches=[{"buffer": "x"} | touch])
    return paged(work.record("a").launch("k").record("z").sync("all")).elapsed("a", "z") / 1e3


@pytest.mark.parametrize(("way", "bound"), [("h2d", 4), ("d2h", 12), ("d2d", 9), ("fill", 9)])
def test_copies_in_a_row_take_what_the_device_takes(way: str, bound: float) -> None:
    found = measured(CALLS, "behind_memset" if way == "fill" else f"behind_{way}")
    assert mean(abs(behind(way, size=int(given["bytes"])) / us - 1) for given, us in found) <= bound / 100


@pytest.mark.parametrize("commands", ["h2d_kernel", "d2h_kernel", "h2d_d2h", "h2d_kernel_d2h", "d2d_kernel"])
def test_another_engine_follows_later(commands: str) -> None:
    """With copies of 1 MiB; with 4 KiB they vary from 2 to 7 us."""
    (us,) = (us for given, us in measured(CALLS, f"behind_{commands}") if given["bytes"] == str(MIB))
    assert behind(*commands.split("_"), size=MIB) == pytest.approx(us, rel=0.07)


@pytest.mark.parametrize("ways", ["h2d", "h2d_h2d", "h2d_d2h", "h2d_d2d"])
@pytest.mark.parametrize("size", [MIB, 16 * MIB])
def test_copies_side_by_side(ways: str, size: int) -> None:
    work = Builder(streams=["a", "b"])
    for _ in range(10):
        for way, stream in zip(ways.split("_"), "ab", strict=False):
            work.copy(way, bytes=size, stream=stream)
    found = ran(work.sync("all"))
    (us,) = (us for given, us in measured(CALLS, f"together_{ways}") if given["bytes"] == str(size))
    assert found.total_ns / 1e3 == pytest.approx(us, rel=0.08)


def test_copies_and_kernels_of_two_streams_overlap() -> None:
    for given, us in measured(CALLS, "together_h2d_kernel_d2h_two_streams"):
        work, size = Builder(streams=["a", "b"]).kernel("spin", us=20, units=1), int(given["bytes"])
        for stream in "ab" * 5:
            work.copy("h2d", bytes=size, stream=stream).launch("spin", stream=stream).copy("d2h", bytes=size, stream=stream)
        assert ran(work.sync("all")).total_ns / 1e3 == pytest.approx(us, rel=0.08)


def test_functions_of_the_host_in_a_row_and_in_turn() -> None:
    """Of 5 us and more; a function that does nothing is 0.9 us in a row, 25.7 us with a kernel before it."""
    found = [(given, us) for given, us in measured(FUNCTIONS, "behind_function") if given["us"] != "0"]
    assert mean(abs(behind(f"{given['us']} us", size=0, count=100) / us - 1) for given, us in found) <= 0.08
    found = list(measured(FUNCTIONS, "behind_kernel_function"))
    assert mean(abs(behind("kernel", f"{given['us']} us", size=0) / us - 1) for given, us in found) <= 0.07
    ((_, us),) = measured(FUNCTIONS, "behind_d2h_function")
    assert behind("d2h", "0 us", size=64 * KIB) == pytest.approx(us, rel=0.08)


@pytest.mark.parametrize("kernels", [1, 2])
def test_functions_of_the_host_in_graphs(kernels: int) -> None:
    name = "_".join(["kernel", "function", "kernel"][: kernels + 1])
    errors = []
    for given, us in measured(FUNCTIONS, "graph_functions_event"):
        if given["graph"] == name:
            work = Builder().kernel("null", cycles=NULL_CYCLES)

            def captured(one: Builder, groups: int = int(given["groups"])) -> Builder:
                for _ in range(groups):
                    one.launch("null").call("0 us")
                    if kernels == 2:
                        one.launch("null")
                return one

            work.capture("g", captured).instantiate("g").record("a").replay("g").record("z").sync("all")
            errors.append(abs(ran(work).elapsed("a", "z") / 1e3 / us - 1))
    assert mean(errors) <= 0.16


@pytest.mark.parametrize(("name", "mode", "bound"), [("um_read_from_host", "read", 20), ("um_write_from_host", "write", 10)])
def test_all_of_a_buffer_is_touched(name: str, mode: str, bound: float) -> None:
    """256 KiB and more; what a kernel takes beside its faults is next to nothing."""
    sizes = [(int(given["bytes"]), us) for given, us in measured(MANAGED, name) if 256 * KIB < int(given["bytes"]) <= 256 * MIB]
    assert mean(abs(touched(size, mode=mode) / us - 1) for size, us in sizes) <= bound / 100


def test_a_kernel_is_the_first_to_touch() -> None:
    """2 MiB and more; smaller ones as those that come from the host."""
    found = [(int(given["bytes"]), us) for given, us in measured(MANAGED, "um_write_never_touched")]
    errors = [abs(touched(size, untouched=True, mode="write") / us - 1) for size, us in found if 2 * MIB <= size <= 256 * MIB]
    assert mean(errors) <= 0.06


def test_a_page_of_each_block_is_touched() -> None:
    found = [(int(given["pages"]), us) for given, us in measured(MANAGED, "um_threads") if given["stride"] == str(2 * MIB)]
    errors = [abs(touched(2 * MIB * pages, stride=2 * MIB) / us - 1) for pages, us in found if 16 <= pages <= 256]
    assert mean(errors) <= 0.12


def test_the_host_reads_back_what_is_on_the_device() -> None:
    """256 KiB and more."""
    errors = []
    for given, us in measured(MANAGED, "um_host_read_back"):
        if (size := int(given["bytes"])) >= 256 * KIB:
            work = Builder().buffer("x", bytes=size, memory="managed", device=0).touch("x")
            errors.append(abs(paged(work).total_ns / 1e3 / us - 1))
    assert mean(errors) <= 0.08


@pytest.mark.parametrize(("to", "bound"), [("host", 10), ("device", 10)])
def test_prefetching_takes_its_time(to: str, bound: float) -> None:
    """4 MiB and more."""
    errors = []
    for given, us in measured(MANAGED, f"um_prefetch_to_{to}_wall"):
        if (size := int(given["bytes"])) >= 4 * MIB:
            work = Builder().buffer("x", bytes=size, memory="managed", **({"device": 0} if to == "host" else {}))
            errors.append(abs(paged(work.prefetch("x", to=to).sync("all")).total_ns / 1e3 / us - 1))
    assert mean(errors) <= bound / 100


@pytest.mark.parametrize(("file", "where"), [("managed.csv", ""), ("waits.csv", "event_before")])
@pytest.mark.parametrize("to", ["host", "device"])
def test_prefetches_of_a_busy_stream_wake_a_thread(file: str, where: str, to: str) -> None:
    """64 KiB and more, between events. These hosts' threads sleep deeper than those that `wake` is from."""
    errors = []
    for given, us in measured(tuple(rows(file)), f"um_prefetch_to_{to}_event" if not where else f"prefetch_to_{to}_event"):
        if (size := int(given["bytes"])) > 64 * KIB and given.get("stream", "") == where:
            work = Builder().buffer("x", bytes=size, memory="managed", **({"device": 0} if to == "host" else {}))
            errors.append(abs(paged(work.record("a").prefetch("x", to=to).record("z").sync("all")).elapsed("a", "z") / 1e3 / us - 1))
    assert mean(errors) <= 0.27


@pytest.mark.parametrize(("kind", "bound"), [("stream_gpu_time", 11), ("graph_gpu_time", 18), ("graph_behind", 12)])
def test_copies_and_kernels_in_turn(kind: str, bound: float) -> None:
    """Streams and graphs of 1 and 8 copies of 4 to 256 KiB with kernels of up to 15 us.

    What waits for another engine is found in a rhythm of 8.19 us: half of that is the mean, and single ones are half as long or twice.
    """
    errors = []
    for commands in ("h2d_kernel", "kernel_d2h", "h2d_kernel_d2h"):
        for given, us in measured(tuple(rows("engines.csv")), f"{kind}_{commands}"):
            if given["times"] in ("1", "8"):
                errors.append(abs(in_turn(kind, commands, *(int(given[key]) for key in ("bytes", "ns", "times"))) / us - 1))
    assert mean(errors) <= bound / 100


def in_turn(kind: str, commands: str, size: int, ns: int, times: int) -> float:
    def steps(b: Builder) -> None:
        for what in commands.split("_") * times:
            b.launch("k") if what == "kernel" else b.copy(what, bytes=size)

    work = Builder().kernel("k", **({"us": ns / 1e3} if ns else {"cycles": NULL_CYCLES})).kernel("long", us=300)
    if kind.startswith("graph"):
        work.capture("g", steps).instantiate("g").sync("main")
    if kind == "graph_behind":
        work.launch("long")
    work.record("a")
    work.replay("g") if kind.startswith("graph") else steps(work)
    return ran(work.record("z").sync("main")).elapsed("a", "z") / 1e3
