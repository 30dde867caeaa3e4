"""Several devices: copies and exchanges share links with each other, and compute units and memory with kernels."""

from __future__ import annotations

import pytest
from archex.base.errors import RequestError
from archex.testing.devices import compose, described, installed
from archex.timeline import Builder, run
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
