"""Laws of exchanges on any topology: for all algorithms and protocols, any count of devices, sizes that nothing divides, any root."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from archex.base.errors import RequestError
from archex.links import KINDS, Collective, Network, plan
from hypothesis import given, settings
from hypothesis import strategies as st
from networks import net

#: A device, its links, numbers that differ.
JOINED: dict[str, tuple[str, str | None, dict[str, float | str]]] = {
    "round_numbers": ("tiny", None, {}),
    "switched": ("h200", None, {}),
    "switched_only": ("a100", None, {}),
    "mesh": ("mi300x", None, {}),
    "ring": ("h200", "ring", {}),
    "torus": ("h200", "torus_16", {"columns": 3}),
    "bus": ("h200", "expansion_bus", {}),
    "machines": ("h200", "machines", {"machine": 4, "cards": 2}),
}
ROOTED = ("broadcast", "reduce")
EVERY = st.sampled_from(sorted(JOINED))
COUNTS = st.integers(2, 9)
BETTER: list[dict[str, float | str]] = [{"links": 64}, {"rate": "100 GB/s"}, {"hop": "0 s"}]
BYTES = st.one_of(st.integers(0, 4096), st.integers(1, 1 << 31))


def joined(name: str, devices: int, **numbers: float | str) -> Network:
    device, links, others = JOINED[name]
    return net(device, devices, links, **(others | numbers))


def ways(network: Network, kind: str, size: int, **given: Any) -> list[Collective]:
    """By every algorithm and protocol that the library has; a send goes from the first device to the last."""
    ranks = [0, network.devices - 1] if kind == "send_receive" else range(network.devices)
    found = []
    for algorithm in ("ring", "tree", "direct", "in_switch"):
        for protocol in (*network.library.protocols, "switch"):
            try:
                found.append(plan(network, kind, ranks, size, algorithm=algorithm, protocol=protocol, **given))
            except RequestError:
                continue
    assert found
    return found


def crosses(kind: str, n: int, inside: set[int], size: float, root: int) -> float:
    """Bytes that must enter a group of ranks from outside, whatever the algorithm: what it lacks in the end and nobody in it can make."""
    k = len(inside)
    if not 0 < k < n:
        return 0.0
    return (
        size
        * {
            "all_reduce": 1.0,  # a sum of all that are outside
            "reduce_scatter": k / n,
            "all_gather": (n - k) / n,
            "all_to_all": k * (n - k) / n,
            "broadcast": float(root not in inside),
            "reduce": float(root in inside),
        }[kind]
    )


@given(name=EVERY, n=COUNTS, kind=st.sampled_from(KINDS), size=BYTES, turn=st.integers(0, 8))
@settings(max_examples=150, deadline=None)
def test_no_exchange_beats_a_link_and_every_device_gets_what_it_must(name: str, n: int, kind: str, size: int, turn: int) -> None:
    network, root = joined(name, n), turn % n if kind in ROOTED else 0
    for way in ways(network, kind, size, root=root):
        capacity = dict(zip(network.links, network.capacity(), strict=True))
        assert np.isfinite(way.alone_ns)
        assert way.alone_ns > 0
        for link, sent in way.demands.links.items():
            assert way.alone_ns >= sent / capacity[link] * 1e9 * (1 - 1e-9), (way.algorithm, way.protocol, link)
        for rank in range(n) if kind != "send_receive" else ():
            came = sum(sent for (_, end), sent in way.demands.links.items() if end == rank)
            assert came >= crosses(kind, n, {rank}, size, root) * (1 - 1e-9), (way.algorithm, rank)


@given(n=st.integers(5, 9), kind=st.sampled_from([kind for kind in KINDS if kind != "send_receive"]), size=BYTES, turn=st.integers(0, 8))
@settings(max_examples=60, deadline=None)
def test_no_exchange_beats_what_leads_to_a_switch(n: int, kind: str, size: int, turn: int) -> None:
    """All that some devices need of others passes the links above their switch."""
    network, root = joined("bus", n), turn % n if kind in ROOTED else 0
    for group in (set(range(4)), set(range(4, min(n, 8)))):
        for way in ways(network, kind, size, root=root):
            assert way.alone_ns >= crosses(kind, n, group, size, root) / (4 * network.rate) * 1e9 * (1 - 1e-9)


@given(n=st.integers(5, 9), kind=st.sampled_from([kind for kind in KINDS if kind != "send_receive"]), size=BYTES, turn=st.integers(0, 8))
@settings(max_examples=60, deadline=None)
def test_no_exchange_beats_the_cards_of_a_machine(n: int, kind: str, size: int, turn: int) -> None:
    network, root = joined("machines", n), turn % n if kind in ROOTED else 0
    for group in (set(range(4)), set(range(4, min(n, 8)))):
        for way in ways(network, kind, size, root=root):
            assert way.alone_ns >= crosses(kind, n, group, size, root) / (2 * 48e9) * 1e9 * (1 - 1e-9)


@given(name=EVERY, n=COUNTS, kind=st.sampled_from(KINDS), a=BYTES, b=BYTES)
@settings(max_examples=100, deadline=None)
def test_by_one_way_more_bytes_never_take_less(name: str, n: int, kind: str, a: int, b: int) -> None:
    network = joined(name, n)
    for less, more in zip(ways(network, kind, min(a, b)), ways(network, kind, max(a, b)), strict=True):
        assert less.alone_ns <= more.alone_ns * (1 + 1e-12), (less.algorithm, less.protocol)


@given(name=EVERY, n=COUNTS, kind=st.sampled_from(KINDS), size=BYTES, better=st.sampled_from(BETTER))
@settings(max_examples=80, deadline=None)
def test_better_links_are_never_slower(name: str, n: int, kind: str, size: int, better: dict[str, float | str]) -> None:
    for now, then in zip(ways(joined(name, n), kind, size), ways(joined(name, n, **better), kind, size), strict=True):
        assert then.alone_ns <= now.alone_ns * (1 + 1e-12), (now.algorithm, now.protocol)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["switched", "switched_only", "mesh", "ring", "round_numbers", "machines", "torus"])
def test_sixteen_folded_are_sixteen_in_every_exchange(name: str, kind: str) -> None:
    if kind == "send_receive":
        return
    network = joined(name, 16, **({"columns": 4} if name == "torus" else {}))
    assert network.rotates
    for size in (0, 1, 12345, 1 << 20, (1 << 30) + 7):
        for folded, whole in zip(ways(network, kind, size, folded=True), ways(network, kind, size, folded=False), strict=True):
            assert np.isclose(folded.alone_ns, whole.alone_ns, rtol=1e-12), (folded.algorithm, folded.protocol, size)
            assert np.isclose(folded.demands.memory_bytes, whole.demands.memory_bytes)
            assert not whole.folded


@given(
    name=st.sampled_from(["switched", "switched_only", "mesh", "ring"]), n=COUNTS, kind=st.sampled_from(ROOTED), size=BYTES, data=st.data()
)
@settings(max_examples=50, deadline=None)
def test_roots_are_alike_where_devices_are(name: str, n: int, kind: str, size: int, data: st.DataObject) -> None:
    network, root = joined(name, n), data.draw(st.integers(0, n - 1))
    for first, other in zip(ways(network, kind, size), ways(network, kind, size, root=root), strict=True):
        if (name, first.algorithm) != ("ring", "tree"):  # a tree's branches lie otherwise around a circle, from another root
            assert np.isclose(first.alone_ns, other.alone_ns, rtol=1e-12), first.algorithm


@pytest.mark.parametrize("name", sorted(JOINED))
@pytest.mark.parametrize("devices", [1, 3, 5, 7])
def test_odd_counts_and_single_bytes(name: str, devices: int) -> None:
    network = joined(name, devices)
    for kind in KINDS:
        if kind != "send_receive" or devices > 1:
            ranks = [devices - 1, 0] if kind == "send_receive" else range(devices)
            times = [plan(network, kind, ranks, size).alone_ns for size in (0, 1, 2, 3, 1021, 1 << 20)]
            assert all(a <= b for a, b in pairwise(times))
            assert (times[0] == 0) == (devices == 1)


@given(name=EVERY, n=COUNTS, data=st.data(), kind=st.sampled_from([kind for kind in KINDS if kind != "send_receive"]), size=BYTES)
@settings(max_examples=40, deadline=None)
def test_any_ranks_in_any_order(name: str, n: int, data: st.DataObject, kind: str, size: int) -> None:
    """Some of the devices exchange something: no link beats its rate, none of the others' own is asked for on a switch."""
    network = joined(name, n)
    ranks = data.draw(st.permutations(range(n)))[: data.draw(st.integers(1, n))]
    way = plan(network, kind, ranks, size)
    capacity = dict(zip(network.links, network.capacity(), strict=True))
    assert all(way.alone_ns >= sent / capacity[link] * 1e9 * (1 - 1e-9) for link, sent in way.demands.links.items())
    if name in ("switched", "switched_only", "round_numbers", "bus", "mesh"):
        assert {node for link in way.demands.links for node in link if isinstance(node, int)} <= set(ranks)


# --- what a library does


def test_a_send_does_not_wait_for_who_receives() -> None:
    """Beside its data a send has a beginning and a way; then, as channels begin in step, a handshake a slice, ever less of them."""
    network, mib = net("h200", 2), 1 << 20
    protocol = network.library.protocols["simple"]
    link = network.wire() / (18 * network.rate) * 1e9
    latency = 2 * network.hop_ns

    def beside(size: int) -> float:
        return plan(network, "send_receive", range(2), size, protocol="simple").alone_ns - size * link

    assert np.isclose(beside(1), protocol.base_ns + latency, atol=1)
    shake = protocol.step_ns + latency
    eights = [beside(k * 8 * mib) for k in range(24)]  # of 16 channels a chunk more each, half a slice
    more = [b - a for a, b in pairwise(eights)]
    assert np.isclose(more[0], shake / 2, rtol=1e-3)
    assert all(a > b > 0 for a, b in pairwise(more))
    assert more[12] < 0.45 * more[0]


def test_what_a_pair_receives_last_is_moved_when_nothing_is_left_to_send() -> None:
    """Both ways at once: a message takes a channel's time for it, and its last chunk's way to its place."""
    network, mib = net("h200", 2), 1 << 20
    library = network.library
    begun = library.protocols["simple"].base_ns + 2 * network.hop_ns
    for message in (2 * mib, 5 * mib, 8 * mib, 40 * mib):
        way = plan(network, "all_to_all", range(2), 2 * message, protocol="simple")
        last = min(message / 16, library.peer_chunk) / library.copy_rate * 1e9
        assert np.isclose(way.alone_ns, begun + message / (16 * library.peer_rate) * 1e9 + last)


def test_the_table_of_the_library_decides() -> None:
    """The switch from 2 MiB on, as published; rings of whole lines for as long as the table, not the device, has them ahead."""
    for device in ("h100_sxm", "h200"):
        chosen = [plan(net(device, 8), "all_reduce", range(8), 1 << k) for k in range(10, 30)]
        assert [way.algorithm == "in_switch" for way in chosen] == [k >= 21 for k in range(10, 30)]
    network = net("a100", 8)
    chosen = plan(network, "all_reduce", range(8), 16 << 20)
    simple = plan(network, "all_reduce", range(8), 16 << 20, algorithm="ring", protocol="simple")
    assert chosen.protocol == "flagged_lines"
    assert simple.alone_ns < chosen.alone_ns
    assert plan(network, "all_reduce", range(8), 64 << 20).protocol == "simple"


def test_what_a_group_of_sends_costs_on_the_processor() -> None:
    library = net("h200", 8).library
    calls = {kind: plan(net("h200", 8), kind, range(8 if kind != "send_receive" else 2), 64).call_ns for kind in KINDS}
    assert calls["all_to_all"] == library.call_ns + library.call_group_ns + 16 * library.call_each_ns
    assert calls["send_receive"] == library.call_ns + library.call_group_ns + library.call_each_ns
    assert {calls[kind] for kind in KINDS if kind not in ("all_to_all", "send_receive")} == {library.call_ns}
