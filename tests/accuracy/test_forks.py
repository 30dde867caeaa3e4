"""Streams that fork, join and go round, and graphs that do, against what a fourth host measured of an H200 (`h200_host/forks.csv`).

All behind a long kernel, so that no processor's speed is in it.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from statistics import mean

import pytest
from archex.base import folders
from archex.timeline import Builder
from host_rows import NULL_CYCLES
from machines import changed, ran


def measured(file: str, name: str) -> Iterator[tuple[dict[str, int], float]]:
    """Parameters, microseconds."""
    with open(folders.reference() / f"h200_host/{file}.csv", newline="") as source:
        for line in csv.reader(source):
            if line[0] == name:
                yield {key: int(value) for key, value in (pair.split("=") for pair in line[1].split())}, float(line[2])


def work(ns: int) -> Builder:
    found = Builder(streams=[f"s{n}" for n in range(32)]).kernel("null", cycles=NULL_CYCLES, units=1).kernel("long", us=5000, units=1)
    return found.kernel("k", us=ns / 1e3, units=1) if ns else found.kernel("k", cycles=NULL_CYCLES, units=1)


def behind(ns: int, steps: Callable[[Builder], object], queues: int = 8) -> float:
    """Microseconds between events around steps behind a long kernel."""
    built = work(ns).launch("long", stream="s0").record("a", stream="s0")
    steps(built)
    return ran(built.record("z", stream="s0").sync("all"), changed("h200", "host", queues=queues, depth=1 << 20)).elapsed("a", "z") / 1e3


def ring(streams: int, ns: int, queues: int) -> float:
    """Kernels that go round streams, each behind the one before: microseconds beside the kernel's own."""

    def steps(b: Builder) -> None:
        for n in range(96):
            here, there = f"s{n % streams}", f"s{(n + 1) % streams if n < 95 else 0}"
            b.launch("k", stream=here)
            if streams > 1:
                b.record(f"e{n}", stream=here, time=False).wait(f"e{n}", stream=there)

    return behind(ns, steps, queues) / 96 - ns / 1e3


def lanes(streams: int, queues: int = 8, ns: int = 0, count: int = 30) -> float:
    """Kernels in each of several streams that begin and end together."""

    def steps(b: Builder) -> None:
        b.record("fork", stream="s0", time=False)
        for n in range(1, streams):
            b.wait("fork", stream=f"s{n}")
        for _ in range(count):
            for n in range(streams):
                b.launch("k", stream=f"s{n}")
        for n in range(1, streams):
            b.record(f"join{n}", stream=f"s{n}", time=False).wait(f"join{n}", stream="s0")

    return behind(ns, steps, queues)


def fork(width: int, deep: int, ns: int, graph: bool = False) -> float:
    """From the beginning of an empty kernel over branches to the end of another, as kernels say themselves."""

    def steps(b: Builder) -> None:
        b.launch("null", stream="s0").record("fork", stream="s0", time=False)
        for n in range(1, width):
            b.wait("fork", stream=f"s{n}")
        for n in range(width):
            b.repeat(deep, lambda c, n=n: c.launch("k", stream=f"s{n}"))
        for n in range(1, width):
            b.record(f"join{n}", stream=f"s{n}", time=False).wait(f"join{n}", stream="s0")
        b.launch("null", stream="s0")

    built = work(ns)
    if graph:
        built.capture("g", steps).instantiate("g").sync("s0")
    built.launch("long", stream="s0")
    if graph:
        built.replay("g", stream="s0")
    else:
        steps(built)
    found = ran(built.sync("all"), changed("h200", "host", depth=1 << 20))
    kernels = sorted((c for c in found.commands if c.kind == "kernel" and c.name != "long"), key=lambda c: c.started)
    # Their clocks leave out how the first begins, and how the last ends, where it does as in a stream.
    rest = found.machine.launch_ns + (0.0 if graph else found.machine.drain_ns)
    return (kernels[-1].ended - kernels[0].started - rest) / 1e3


@pytest.mark.parametrize(("file", "queues", "most"), [("forks", 8, 8), ("connections", 32, 32)])
def test_kernels_go_round_streams(file: str, queues: int, most: int) -> None:
    """1 to 32 streams; empty kernels are a tenth too long."""
    errors = [abs(ring(g["streams"], g["ns"], queues) / us - 1) for g, us in measured(file, "ring") if g["streams"] <= most]
    assert mean(errors) <= 0.1


@pytest.mark.parametrize(("file", "queues", "most"), [("forks", 8, 8), ("connections", 32, 16)])
def test_kernels_of_many_streams_side_by_side(file: str, queues: int, most: int) -> None:
    errors = [abs(lanes(g["streams"], queues) / us - 1) for g, us in measured(file, "lanes_of_30_empty") if g["streams"] <= most]
    assert max(errors) <= 0.13


def test_longer_kernels_of_many_streams_side_by_side() -> None:
    """2 to 20 us each, measured when the rest was done."""
    errors = [abs(lanes(g["streams"], ns=g["ns"], count=20) / us - 1) for g, us in measured("wide", "lanes_of_20")]
    assert max(errors) <= 0.07


def test_kernels_in_a_row_while_others_wait() -> None:
    """Streams of the same engine that wait for an event are looked at between two kernels; measured when the rest was done."""

    def row(waiting: int, ns: int) -> float:
        def steps(b: Builder) -> None:
            b.kernel("held", us=9000, units=1).launch("held", stream="s7").record("h", stream="s7", time=False)
            for n in range(1, waiting + 1):
                b.wait("h", stream=f"s{n}").launch("null", stream=f"s{n}")
            for _ in range(48):
                b.launch("k", stream="s0")

        return behind(ns, steps) / 48 - ns / 1e3

    errors = [abs(row(g["waiting"], g["ns"]) / us - 1) for g, us in measured("wide", "in_a_row_beside_waiting")]
    assert mean(errors) <= 0.12


def test_forks_and_joins_of_streams() -> None:
    """2 to 16 branches of one kernel of up to 50 us."""
    errors = [abs(fork(g["width"], 1, g["ns"]) / us - 1) for g, us in measured("forks", "fork_behind_total")]
    assert mean(errors) <= 0.06
    errors = [abs(fork(g["width"], 4, g["ns"]) / us - 1) for g, us in measured("forks", "lanes_behind_total")]
    assert mean(errors) <= 0.09


@pytest.mark.parametrize("file", ["forks", "wide"])
def test_forks_and_joins_of_graphs(file: str) -> None:
    """2 to 32 branches of one kernel, 2 to 16 of four."""
    errors = [abs(fork(g["width"], 1, g["ns"], True) / us - 1) for g, us in measured(file, "fork_graph_behind_total")]
    assert mean(errors) <= 0.08
    errors = [abs(fork(g["width"], 4, g["ns"], True) / us - 1) for g, us in measured(file, "lanes_graph_total")]
    assert mean(errors) <= 0.14


def shape(kind: str, width: int) -> dict[str, dict[str, object]]:
    """Nodes of a graph of empty kernels, as `wide.cu` makes them."""
    nodes: dict[str, dict[str, object]] = {}

    def node(*after: str) -> str:
        nodes[name := f"n{len(nodes)}"] = {"launch": "null", "after": list(after)}
        return name

    def fork_join(first: str) -> str:
        return node(*[node(first) for _ in range(width)])

    if kind == "roots_join":
        node(*[node() for _ in range(width)])
    elif kind.startswith("fork_join"):
        first = node()
        for _ in range(4 if kind.endswith("times") else 1):
            first = fork_join(first)
    elif kind == "tree_of_two":
        leaves = [node()]
        while len(leaves) < width:
            leaves = [node(leaf) for leaf in leaves for _ in range(2)]
    else:
        assert kind == "chains_of_10"
        for _ in range(width):
            last = node()
            for _ in range(9):
                last = node(last)
    return nodes


@pytest.mark.parametrize("kind", ["roots_join", "fork_join", "fork_join_4_times", "chains_of_10", "tree_of_two"])
def test_graphs_of_many_shapes(kind: str) -> None:
    """1 to 16 wide; replayed one behind the other, so that what begins and ends them is in it."""

    def replayed(width: int) -> float:
        built = work(0).graph("g", shape(kind, width)).instantiate("g").sync("s0").launch("long", stream="s0").record("a", stream="s0")
        built.repeat(5, lambda b: b.replay("g", stream="s0"))
        return ran(built.record("z", stream="s0").sync("all")).elapsed("a", "z") / 5e3

    errors = [abs(replayed(g["width"]) / us - 1) for g, us in measured("wide", f"graph_behind_{kind}")]
    assert mean(errors) <= 0.09
