"""What was measured of the way to a device, as workloads: one for each row of `h200/host.csv`.

In: a row's name and parameters. Out: a workload, and what of its timeline the row says, in microseconds.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from archex.timeline import Builder, Timeline

#: An empty kernel of the H200 runs from its first instruction to its last: 3,078 cycles less its start and end.
NULL_CYCLES = 528
REPEATS = 200


class Row(NamedTuple):
    """A measured row."""

    name: str
    given: dict[str, str]
    us: float


def rows(path: Path) -> Iterator[Row]:
    """The rows of a file that are to be compared."""
    with open(path, newline="") as file:
        for line in csv.DictReader(file):
            given = dict(re.findall(r"(\w+)=(\w+)", line["params"]))
            if line["unit"] == "us" and not (line["name"].startswith("ptx_jit_first") and given.get("run") == "0"):
                yield Row(line["name"], given, float(line["value"]))


def modelled(row: Row, run: Callable[[Builder], Timeline]) -> float:
    """The same by the model, in microseconds."""
    plain = {
        "launch_cpu_time": lambda: _mean_call("launch", lambda b: b.launch("null"), run),
        "launch_cpu_time_3000B_args": lambda: _mean_call("launch", lambda b: b.launch("null", arguments=3000), run),
        "stream_back_to_back_null_kernel": lambda: _back_to_back(run),
        "launch_and_stream_sync_round_trip": lambda: _round_trip(_plain().launch("null"), run),
        "idle_stream_sync": lambda: _mean_call("sync", lambda b: b.sync("main"), run),
        "event_record_cpu": lambda: _mean_call("record", lambda b: b.record("e"), run),
        "event_query_cpu": lambda: _mean_call("query", lambda b: b.query("e"), run, _plain().record("e").sync("main")),
        "cross_stream_dependency_hop": lambda: _hop(run),
        "ptx_jit_first_2000_instructions": lambda: run(_plain().load("m", instructions=2000)).spans("load")[0],
        "ptx_jit_cached": lambda: run(_plain().load("m", instructions=2000, cache="hit")).spans("load")[0],
        "host_device_mapped_round_trip": lambda: 3 * run(_plain().work("1 us")).machine.host.latency,
        "copy_compute_serial": lambda: _serial(row, run),
    }
    if row.name in plain:
        return plain[row.name]() / 1e3
    if row.name == "concurrent_partial_device":
        return _concurrent(int(row.given["streams"]), int(row.given["blocks"]), int(row.given["spin_cycles"]), run) / 1e3
    if row.name.startswith("graph_"):
        return _graph(row.name.removeprefix("graph_"), int(row.given["nodes"]), run) / 1e3
    way, kind = re.fullmatch(r"((?:h2d|d2h|d2d)(?:_pinned|_pageable)?)_(event|wall)", row.name).groups()  # type: ignore[union-attr]
    return _copy(way, kind, int(row.given["bytes"]), run) / 1e3


def _plain() -> Builder:
    return Builder().kernel("null", cycles=NULL_CYCLES)


def _mean_call(what: str, step: Callable[[Builder], object], run: Callable[[Builder], Timeline], before: Builder | None = None) -> float:
    spans = run((before or _plain()).repeat(REPEATS, step)).spans(what)[-REPEATS:]
    return sum(spans) / len(spans)


def _round_trip(work: Builder, run: Callable[[Builder], Timeline], calls: int = 2) -> float:
    """The last calls of a workload, a synchronisation behind them."""
    found = run(work.sync("main")).calls[-calls:]
    return found[-1].ended - found[0].begun


def _back_to_back(run: Callable[[Builder], Timeline]) -> float:
    found = run(_plain().repeat(REPEATS, lambda b: b.launch("null")).sync("main"))
    return (found.calls[-1].ended - found.calls[0].begun) / REPEATS


def _hop(run: Callable[[Builder], Timeline]) -> float:
    work = Builder(streams=["a", "b"]).kernel("null", cycles=NULL_CYCLES)

    def there_and_back(b: Builder) -> None:
        for here, there in (("a", "b"), ("b", "a")):
            b.launch("null", stream=here).record("e", stream=here).wait("e", stream=there)

    found = run(work.repeat(REPEATS // 2, there_and_back).sync("all"))
    return (found.calls[-1].ended - found.calls[0].begun) / REPEATS


def _serial(row: Row, run: Callable[[Builder], Timeline]) -> float:
    work = Builder().kernel("spin", cycles=int(row.given["spin_cycles"]))
    found = run(work.copy("h2d", bytes=int(row.given["bytes"])).launch("spin").sync("main"))
    return found.calls[-1].ended - found.calls[0].begun


def _concurrent(streams: int, blocks: int, cycles: int, run: Callable[[Builder], Timeline]) -> float:
    work = Builder(streams=[f"s{n}" for n in range(streams)]).kernel("spin", cycles=cycles, units=blocks)
    for n in range(streams):
        work.launch("spin", stream=f"s{n}")
    found = run(work.sync("all"))
    return found.calls[-1].ended - found.calls[0].begun


def _graph(what: str, nodes: int, run: Callable[[Builder], Timeline]) -> float:
    work = _plain().capture("g", lambda b: b.repeat(nodes, lambda c: c.launch("null"))).instantiate("g").replay("g").sync("main")
    if what in ("capture", "instantiate"):
        return run(work).spans(what)[0]
    if what == "launch_cpu":
        return run(work.replay("g")).spans("replay")[-1]
    if what == "round_trip":
        return _round_trip(work.replay("g"), run)
    assert what == "gpu_time", what
    return run(work.record("a").replay("g").record("b").sync("main")).elapsed("a", "b")


def _copy(way: str, kind: str, size: int, run: Callable[[Builder], Timeline]) -> float:
    to, _, memory = way.partition("_")
    work = Builder().record("a").copy(to, bytes=size, **({"memory": memory} if memory else {})).record("b").sync("main")
    found = run(work)
    return found.elapsed("a", "b") if kind == "event" else found.calls[-1].ended - found.calls[0].begun
