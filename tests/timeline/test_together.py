"""Several devices in one timeline: exchanges meet on links, in memory and on compute units."""

from __future__ import annotations

from pathlib import Path

import attrs
import pytest
from archex.assembly.links import network
from archex.base.folders import experiments
from archex.cli.timeline import load
from archex.links import plan
from archex.testing.devices import described
from archex.timeline import Builder, Timeline, run
from archex.workloads import machine

GIB = 1 << 30


def ran(work: Builder, device: str = "h200") -> Timeline:
    workload = work.done()
    return run(workload, machine(described(device), workload))


def devices(count: int, each: int = 1) -> Builder:
    return Builder(devices=count, streams={f"{'abc'[k]}{device}": {"device": device} for device in range(count) for k in range(each)})


def took(found: Timeline, kind: str) -> list[float]:
    return [c.ended - c.started for c in found.commands if c.kind == kind]


def streams(count: int, which: str = "a") -> list[str]:
    return [f"{which}{device}" for device in range(count)]


@pytest.mark.parametrize(("device", "count"), [("h200", 2), ("h200", 8), ("mi300x", 8), ("a100", 4)])
def test_an_exchange_alone_takes_its_time(device: str, count: int) -> None:
    found = ran(devices(count).collective("all_reduce", bytes=GIB, streams=streams(count)).sync("all"), device)
    alone = plan(network(described(device), count), "all_reduce", range(count), GIB).alone_ns
    assert all(alone <= each <= alone + 10_000 for each in took(found, "collective"))


def test_two_exchanges_share_the_links() -> None:
    one = ran(devices(4, 2).collective("all_gather", bytes=GIB, streams=streams(4)).sync("all"))
    two = devices(4, 2)
    for which in "ab":
        two.collective("all_gather", bytes=GIB, streams=streams(4, which))
    assert 1.5 * max(took(one, "collective")) < max(took(ran(two.sync("all")), "collective")) < 2.1 * max(took(one, "collective"))


def test_exchanges_of_other_devices_don_t_meet() -> None:
    work = devices(4).collective("all_gather", bytes=GIB, streams=["a0", "a1"]).collective("all_gather", bytes=GIB, streams=["a2", "a3"])
    alone = plan(network(described("h200"), 4), "all_gather", [0, 1], GIB).alone_ns
    assert all(each <= alone + 10_000 for each in took(ran(work.sync("all")), "collective"))


def test_copies_between_devices_share_with_those_that_go_the_same_way() -> None:
    alone, same, other = devices(3, 2), devices(3, 2), devices(3, 2)
    for work, pairs in ((alone, [(0, 1)]), (same, [(0, 1), (0, 2)]), (other, [(0, 1), (1, 0)])):
        for k, (source, target) in enumerate(pairs):
            work.copy("peer", bytes=GIB, source=source, target=target, stream=f"{'ab'[k]}{source}")
        work.sync("all")
    one, two, both = (max(took(ran(work), "copy")) for work in (alone, same, other))
    assert 1.8 * one < two < 2.1 * one
    assert both < 1.05 * one


def test_an_exchange_leaves_a_kernel_fewer_units() -> None:
    """24 compute units of 132 are taken while data are exchanged."""

    def work(exchange: bool) -> Builder:
        found = devices(2, 2).kernel("busy", us=2000, units=132)
        if exchange:
            found.collective("all_reduce", bytes=GIB, streams=streams(2))
        return found.launch("busy", stream="b0").sync("all")

    alone, beside = (took(ran(work(exchange)), "kernel")[0] for exchange in (False, True))
    assert 1.1 * alone < beside < 1.4 * alone


@pytest.mark.parametrize("file", sorted((experiments() / "timelines").glob("*.yaml")), ids=lambda file: file.stem)
def test_shipped_workloads_are_right(file: Path) -> None:
    assert load(file, None).kernels


def test_sums_of_one_half_are_exchanged_beside_the_other() -> None:
    """The shipped example: with its exchanges beside the work it takes less than both one after the other."""
    workload = load(experiments() / "timelines/tensor_parallel.yaml", None)
    given = {name: attrs.evolve(kernel, work_ns=kernel.work_ns or 10_000.0) for name, kernel in workload.kernels.items()}
    found = run(attrs.evolve(workload, kernels=given), machine(described("h200"), workload))
    work = sum(c.ended - c.started for c in found.commands if c.kind == "kernel" and c.device == 0)
    sums = sum(c.ended - c.started for c in found.commands if c.kind == "collective" and c.device == 0)
    assert found.total_ns < 0.95 * (work + sums)
