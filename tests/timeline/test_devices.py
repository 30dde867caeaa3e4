"""Several devices: copies and exchanges share links with each other, and compute units and memory with kernels."""

from __future__ import annotations

from collections.abc import Callable

import attrs
import pytest
from archex.base.errors import RequestError
from archex.reports.timelines import where_it_went
from archex.testing.devices import compose, described, installed
from archex.timeline import Builder, run
from archex.timeline.model import Step
from archex.timeline.run import Timeline
from archex.workloads import machine


def several(devices: int) -> Builder:
    return Builder(devices=devices, streams={f"{kind}{n}": {"device": n} for n in range(devices) for kind in ("s", "k")})


def on(device: str, work: Builder) -> Timeline:
    workload = work.done()
    return run(workload, machine(described(device), workload))


@pytest.mark.parametrize("device", ["h200", "mi300x", "tiny"])
def test_an_all_reduce_takes_no_less_than_its_links(device: str) -> None:
    size = 64 << 20
    found = on(device, several(4).collective("all_reduce", bytes=size, streams=[f"s{n}" for n in range(4)]).sync("all"))
    link = described(device)["link"]
    took = max(c.ended - c.started for c in found.commands)
    assert took >= size / (link.links * link.rate) * 1e9, "in a switch each byte leaves once"
    assert len({c.about for c in found.commands}) == 1


def test_exchanges_and_kernels_share_compute_units() -> None:
    def total(with_exchange: bool) -> float:
        work = several(2).kernel("all", us=500)
        for n in range(2):
            work.launch("all", stream=f"k{n}")
        if with_exchange:
            work.collective("all_reduce", bytes=64 << 20, streams=["s0", "s1"])
        return on("h200", work.sync("all")).total_ns

    alone = on("h200", several(2).collective("all_reduce", bytes=64 << 20, streams=["s0", "s1"]).sync("all")).total_ns
    assert max(total(False), alone) < total(True) <= 1.05 * (total(False) + alone)


def test_copies_between_devices_share_a_link() -> None:
    def total(ways: list[tuple[int, int]]) -> float:
        work = several(3)
        for place, (source, target) in enumerate(ways):
            work.copy("peer", bytes=256 << 20, source=source, target=target, stream=f"{'sk'[place]}{source}")
        return on("h200", work.sync("all")).total_ns

    one, apart, together = total([(0, 1)]), total([(0, 1), (1, 2)]), total([(0, 1), (0, 2)])
    assert apart == pytest.approx(one, rel=0.1)
    assert together == pytest.approx(2 * one, rel=0.1)


def test_a_device_without_links_says_so() -> None:
    from archex.describe import describe

    config = compose("tiny")
    del config["link"]
    workload = several(2).collective("all_reduce", bytes=4, streams=["s0", "s1"]).done()
    with pytest.raises(RequestError, match="link: is missing"):
        machine(describe(config, installed()), workload)


def test_a_broadcast_from_another_root() -> None:
    """On a bus of two switches it matters from where; a root beside the others takes no longer than one apart."""

    def took(root: int) -> tuple[float, str]:
        work = several(4).collective("broadcast", bytes=16 << 20, streams=[f"s{n}" for n in range(4)], root=root).sync("all")
        found = on("h200", work)
        return found.total_ns, found.commands[0].about

    assert took(0)[0] == pytest.approx(took(3)[0], rel=1e-6), "all devices are alike to a switch"


def exchange(graph: str, size: int = 64 << 20, device: str = "h200") -> Timeline:
    """A copy between two kernels, as a stream, as a captured graph or as nodes with names."""
    work = several(2).kernel("k", us=100)

    def steps(b: Builder) -> None:
        b.launch("k", stream="s0").copy("peer", bytes=size, source=0, target=1, stream="s0").launch("k", stream="s0")

    if graph == "captured":
        work.capture("g", steps)
    if graph == "named":
        copy = {"copy": "peer", "bytes": size, "source": 0, "target": 1, "after": ["first"]}
        work.graph("g", {"first": {"launch": "k"}, "copy": copy, "last": {"launch": "k", "after": ["copy"]}})
    if graph != "stream":
        work.instantiate("g").sync("s0")
    work.record("a", stream="s0")
    steps(work) if graph == "stream" else work.replay("g", stream="s0")
    return on(device, work.record("z", stream="s0").sync("all"))


@pytest.mark.parametrize("device", ["h200", "mi300x", "tiny"])
@pytest.mark.parametrize("size", [4096, 64 << 20])
def test_a_copy_between_devices_in_a_graph_takes_no_longer_than_in_its_stream(device: str, size: int) -> None:
    stream, captured, named = (exchange(graph, size, device) for graph in ("stream", "captured", "named"))
    took = [[c for c in found.commands if c.name == "peer"] for found in (stream, captured, named)]
    assert [len(copies) for copies in took] == [1, 1, 1]
    assert [c.ended - c.started for (c,) in took] == pytest.approx([took[0][0].alone] * 3)
    assert captured.elapsed("a", "z") == pytest.approx(named.elapsed("a", "z"))
    assert captured.elapsed("a", "z") <= stream.elapsed("a", "z")


def test_copies_of_a_graph_share_the_link_with_others() -> None:
    work = several(3).capture("g", lambda b: b.copy("peer", bytes=256 << 20, source=0, target=1, stream="s0")).instantiate("g")
    one = on("h200", work.replay("g", stream="s0").sync("all"))
    work = several(3).capture("g", lambda b: b.copy("peer", bytes=256 << 20, source=0, target=1, stream="s0")).instantiate("g")
    two = on("h200", work.replay("g", stream="s0").copy("peer", bytes=256 << 20, source=0, target=2, stream="k0").sync("all"))
    first, second = (next(c for c in found.commands if c.name == "peer") for found in (one, two))
    assert second.ended - second.started == pytest.approx(2 * (first.ended - first.started), rel=0.1)


@pytest.mark.parametrize("device", ["h200", "mi300x", "tiny"])
def test_nothing_takes_no_longer_than_something(device: str) -> None:
    def total(size: int) -> float:
        work = several(2)
        for way in ("h2d", "d2h", "d2d", "fill"):
            work.copy(way, bytes=size, stream="s0")
        work.copy("h2d", bytes=size, stream="s0", memory="pageable").copy("d2h", bytes=size, stream="s0", memory="pageable")
        work.copy("peer", bytes=size, source=0, target=1, stream="s0")
        for kind in ("all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce", "all_to_all"):
            work.collective(kind, bytes=size, streams=["s0", "s1"])
        return on(device, work.sync("all")).total_ns

    assert 0 < total(0) <= total(1) <= total(1 << 20)


def test_a_table_of_many_devices_shows_those_that_look_alike_together() -> None:
    def lines(devices: int, busy: Callable[[int], float]) -> list[str]:
        work = several(devices)
        for n in range(devices):
            work.kernel(f"kernel{n}", us=busy(n)).launch(f"kernel{n}", stream=f"k{n}")
        shown = where_it_went(on("h200", work.sync("all")), "")
        return list(dict.fromkeys(shown.columns[0]._cells))  # type: ignore[arg-type]

    assert lines(8, lambda n: 500) == [str(n) for n in range(8)]
    assert lines(16, lambda n: 50_000 * (n % 2 + 1)) != [str(n) for n in range(16)]
    many = lines(40, lambda n: 100 * (n + 1))
    assert many[-1] == "..."
    assert len(many) == 9


def test_kernels_in_each_other_s_memory_share_the_links() -> None:
    """Loads of both devices: a direction carries the data of one and the requests of the other."""

    def took(*devices: int, out: float = 30.0, back: float = 330.0) -> float:
        work = several(2).kernel("far", us=500).sync("all").done()
        far = attrs.evolve(work.kernels["far"], peers={1: (out, back)})
        steps = (*(Step("launch", "far", f"k{n}") for n in devices), *work.threads["main"])
        workload = attrs.evolve(work, kernels={"far": far}, threads={"main": steps})
        found = run(workload, machine(described("h200"), workload))
        return max(c.ended - c.started for c in found.commands)

    capacity = 18 * 25 * 0.93
    alone = took(0)
    assert took(0, 1) == pytest.approx(alone, rel=1e-3)
    assert took(0, 1, out=90.0, back=capacity) > 1.15 * alone
