"""Laws of exchanges between devices: bounds, conservation, monotony, folding, mistakes."""

from __future__ import annotations

import time
from itertools import pairwise

import numpy as np
import pytest
from archex.assembly.links import network
from archex.base.errors import RequestError
from archex.links import KINDS, Call, Collective, Network, match, peer_access_rate, peer_copy, plan, round_trip_ns
from archex.testing.devices import described
from networks import net

MACHINES = [
    ("tiny", 4, None),
    ("h200", 8, None),
    ("mi300x", 8, None),
    ("mi300a", 4, None),
    ("h200", 8, "expansion_bus"),
    ("h200", 6, "ring"),
]
SIZES = [0, 1, 1000, 1 << 16, 1 << 20, (1 << 24) + 8, 1 << 30]


def ranks(kind: str, network: Network) -> range:
    return range(2 if kind == "send_receive" else network.devices)


def ways(network: Network, kind: str, size: int) -> list[Collective]:
    """By every algorithm and protocol that the library has."""
    found = []
    for algorithm in ("ring", "tree", "direct", "in_switch"):
        for protocol in (*network.library.protocols, "switch"):
            try:
                found.append(plan(network, kind, ranks(kind, network), size, algorithm=algorithm, protocol=protocol))
            except RequestError:
                continue
    assert found
    return found


@pytest.mark.parametrize(("name", "devices", "links"), MACHINES)
@pytest.mark.parametrize("kind", KINDS)
def test_no_exchange_beats_its_links(name: str, devices: int, links: str | None, kind: str) -> None:
    network = net(name, devices, links)
    spec, n = described(name)["link"], devices
    best = spec.links * network.rate if links is None else 18 * 25e9
    for size in SIZES:
        for way in ways(network, kind, size):
            capacity = dict(zip(network.links, network.capacity(), strict=True))
            assert all(way.alone_ns >= sent / capacity[link] * 1e9 * (1 - 1e-9) for link, sent in way.demands.links.items())
            least = {"all_reduce": 2 * (n - 1) / n, "broadcast": 1, "reduce": 1, "send_receive": 1}.get(kind, (n - 1) / n)
            if way.algorithm == "in_switch":  # a rank sends all it has, or gets all of the sum
                least = {"all_reduce": 1 + 1 / n}.get(kind, 1)
            assert way.alone_ns >= least * size / best * 1e9


@pytest.mark.parametrize(("name", "devices", "links"), MACHINES)
@pytest.mark.parametrize("kind", KINDS)
def test_more_bytes_never_take_less(name: str, devices: int, links: str | None, kind: str) -> None:
    network = net(name, devices, links)
    times = [plan(network, kind, ranks(kind, network), size).alone_ns for size in sorted({*SIZES, *(1 << k for k in range(4, 33, 2))})]
    assert all(a <= b for a, b in pairwise(times))


@pytest.mark.parametrize(("name", "devices", "links"), MACHINES)
@pytest.mark.parametrize("kind", KINDS)
def test_what_leaves_a_device_arrives_at_another(name: str, devices: int, links: str | None, kind: str) -> None:
    network = net(name, devices, links)
    for way in ways(network, kind, 1 << 22):
        if way.algorithm != "in_switch":
            left = sum(v for (start, _), v in way.demands.links.items() if isinstance(start, int))
            came = sum(v for (_, end), v in way.demands.links.items() if isinstance(end, int))
            assert np.isclose(left, came)


def test_a_ring_sends_what_the_formula_says() -> None:
    network = net("h200", 8)
    way = plan(network, "all_reduce", range(8), 1 << 30, algorithm="ring", protocol="simple")
    for device in range(8):
        assert np.isclose(way.demands.links[device, "switch"], 2 * 7 / 8 * (1 << 30) * network.wire())


def test_one_rank_costs_nothing_but_the_call() -> None:
    way = plan(net("h200", 8), "all_reduce", [3], 1 << 30)
    assert (way.alone_ns, way.call_ns) == (0, net("h200", 8).library.call_ns)


@pytest.mark.parametrize("links", [None, "ring"])
@pytest.mark.parametrize("kind", ["all_reduce", "reduce_scatter", "all_gather", "all_to_all"])
def test_sixteen_folded_are_sixteen(kind: str, links: str | None) -> None:
    network = net("h200", 16, links)
    for size in SIZES:
        for protocol in network.library.protocols:
            for algorithm in ("direct",) if kind == "all_to_all" else ("ring",):
                folded, whole = (
                    plan(network, kind, range(16), size, algorithm=algorithm, protocol=protocol, folded=yes) for yes in (True, False)
                )
                assert folded.folded
                assert not whole.folded
                assert np.isclose(folded.alone_ns, whole.alone_ns, rtol=1e-12)


def test_a_thousand_devices_take_seconds_at_most() -> None:
    described("h200")
    for links in (None, "torus_16"):
        begun = time.process_time()
        for algorithm in ("ring", None):
            way = plan(net("h200", 1024, links), "all_reduce", range(1024), 1 << 28, algorithm=algorithm)
            assert way.alone_ns > 0
        assert time.process_time() - begun < 5


@pytest.mark.parametrize("name", ["mi300x", "mi300a"])
def test_rings_of_a_mesh_share_no_link(name: str) -> None:
    for devices in (2, 3, 4, 5, 6, 7, 8, 9, 12):
        orders = network(described(name), devices).rings(devices)
        arcs = [pair for order in orders for pair in pairwise([*order, order[0]])]
        assert len(set(arcs)) == len(arcs)
        assert devices == 1 or len(orders) >= min(devices - 2, 10)


@pytest.mark.parametrize("devices", [256, 1024])
def test_rings_of_a_torus_use_every_link_once(devices: int) -> None:
    network = net("h200", devices, "torus_16")
    arcs = [pair for order in network.rings(devices) for pair in pairwise([*order, order[0]])]
    assert len(set(arcs)) == len(arcs) == 4 * devices
    assert all(len(network.way(*arc)) == 1 for arc in arcs)


def test_neighbours_on_a_bus_don_t_meet_others() -> None:
    """Below one switch the rate of a link; over the root all share what leads there."""
    network = net("h200", 8, "expansion_bus")
    near = plan(network, "all_to_all", range(4), 1 << 26).bus_rate
    far = plan(network, "all_to_all", [0, 4, 1, 5, 2, 6], 1 << 26).bus_rate
    assert far < near < network.rate


def test_the_switch_is_used_where_it_pays() -> None:
    network = net("h200", 8)
    assert plan(network, "all_reduce", range(8), 1 << 28).algorithm == "in_switch"
    assert plan(network, "all_reduce", range(8), 1 << 14).protocol == "flagged_words"
    assert plan(network, "all_reduce", range(2), 1 << 28).algorithm != "in_switch"


def test_what_channels_move_alone_hides_behind_others_ever_more() -> None:
    """A gather's marginal time begins at the links' and a channel's own, and comes down to the links' alone."""
    network, mib = net("h200", 2), 1 << 20
    ends = [plan(network, "all_gather", range(2), size * mib, algorithm="ring", protocol="simple").alone_ns for size in (48, 96)]
    late = [plan(network, "all_gather", range(2), size * mib, algorithm="ring", protocol="simple").alone_ns for size in (8192, 16384)]
    links = mib / 2 * network.wire() / (18 * network.rate) * 1e9
    own = mib / 2 / (network.library.channels * network.library.copy_rate) * 1e9
    assert np.isclose((ends[1] - ends[0]) / 48, links + own)
    assert links < (late[1] - late[0]) / 8192 < links + own / 4


def test_pairs_share_channels() -> None:
    """Two ranks have half of them for each other, long messages all; eight fill their links."""
    library, mib = net("h200", 2).library, 1 << 20
    short, long = (plan(net("h200", 2), "all_to_all", range(2), 2 * size * mib) for size in (200, 400))
    assert short.alone_ns > 200 * mib / (16 * library.peer_rate) * 1e9
    assert long.alone_ns < 400 * mib / (16 * library.peer_rate) * 1e9
    assert plan(net("h200", 8), "all_to_all", range(8), 1 << 30).bus_rate > 340e9


def test_two_ranks_send_much_by_a_ring() -> None:
    assert {plan(net("h200", 2), "all_reduce", range(2), 1 << k).algorithm for k in range(18, 33)} == {"ring"}


def test_a_copy_and_a_load_from_another_device() -> None:
    network = net("h200", 2)
    copy = peer_copy(network, 0, 1, 1 << 30)
    assert 390e9 < (1 << 30) / (copy.alone_ns - network.copy_setup_ns) * 1e9 < 402e9
    local = 373 / 1.98
    assert np.isclose(round_trip_ns(network, 0, 1, local), 1866 / 1.98, rtol=0.01)
    few, many = (peer_access_rate(network, 0, 1, units, 32 * 1024, local) for units in (4, 132))
    assert np.isclose(few, 4 * 32 * 1024 / round_trip_ns(network, 0, 1, local) * 1e9)
    assert 366e9 < many < 374e9


def test_ranks_that_disagree_are_named() -> None:
    calls = {0: Call("all_reduce", 1024), 1: Call("all_reduce", 2048), 2: Call("all_gather", 1024)}
    with pytest.raises(RequestError) as error:
        match(calls, range(4))
    assert [str(problem) for problem in error.value.problems] == [
        "collective.rank 3: calls nothing while the others wait for it",
        "collective.rank 2.kind: all_gather must be all_reduce, as ranks 0, 1 call it",
        "collective.rank 1.bytes: 2048 must be 1024, as ranks 0, 2 call it",
    ]
    assert match({rank: Call("broadcast", 8, 1) for rank in range(4)}, range(4)) == Call("broadcast", 8, 1)


@pytest.mark.parametrize(
    ("kind", "those", "size", "root", "said"),
    [
        ("all_reduced", [0, 1], 8, 0, "collective.kind: all_reduced is not a known choice; did you mean all_reduce?"),
        ("all_reduce", [0, 0], 8, 0, "collective.ranks: [0, 0] must be different devices, 0 to 7"),
        ("all_reduce", [0, 8], 8, 0, "collective.ranks: [0, 8] must be different devices, 0 to 7"),
        ("all_reduce", [0, 1], -1, 0, "collective.bytes: -1 must be at least 0"),
        ("send_receive", [0, 1, 2], 8, 0, "collective.ranks: [0, 1, 2] must be two: who sends, who receives"),
        ("broadcast", [0, 1], 8, 2, "collective.root: 2 must be a position among the ranks, 0 to 1"),
    ],
)
def test_a_wrong_request_is_refused(kind: str, those: list[int], size: int, root: int, said: str) -> None:
    with pytest.raises(RequestError) as error:
        plan(net("h200", 8), kind, those, size, root=root)
    assert str(error.value.problems[0]).startswith(said)


def test_an_algorithm_that_isn_t_there_is_named_with_those_that_are() -> None:
    with pytest.raises(RequestError) as error:
        plan(net("a100", 8), "all_gather", range(8), 8, algorithm="in_switch")
    assert str(error.value.problems[0]) == (
        "collective.algorithm: in_switch with any protocol is nothing that this network's library has for all_gather: ring; "
        "flagged_words, flagged_lines, simple, and switch for in_switch"
    )


def test_a_device_without_links_says_so() -> None:
    spec = described("tiny")
    with pytest.raises(RequestError, match="link: is missing"):
        network(type(spec)(spec.name, spec.vocabulary, {k: v for k, v in spec.slots.items() if k != "link"}, spec.memory_path), 2)
