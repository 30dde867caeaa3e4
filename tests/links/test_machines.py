"""Devices of several machines: what goes over cards, what a library's handshakes take there, how far kernels and engines reach."""

from __future__ import annotations

import time
from itertools import pairwise

import numpy as np
import pytest
from archex.assembly.exchanges import exchanges
from archex.assembly.peers import peer_tables
from archex.base.errors import RequestError, UnsupportedError
from archex.links import KINDS, plan
from networks import device, net

CARD = 48e9


def test_one_machine_is_what_it_is_without_a_network() -> None:
    for kind in KINDS:
        for algorithm in ("ring", "tree", "direct"):
            for protocol in ("flagged_words", "flagged_lines", "simple"):
                for size in (1, 100_000, 1 << 28):
                    times = []
                    for links in (None, "machines"):
                        try:
                            ranks = range(2 if kind == "send_receive" else 8)
                            found = plan(net("h200", 8, links), kind, ranks, size, algorithm=algorithm, protocol=protocol)
                            times.append(found.alone_ns)
                        except RequestError:
                            times.append(0.0)
                    assert times[0] == times[1]


def test_rings_leave_and_enter_by_every_card_once() -> None:
    network = net("h200", 32, "machines")
    arcs = [pair for order in network.rings(32) for pair in pairwise([*order, order[0]])]
    leaving = [(a, b) for a, b in arcs if a // 8 != b // 8]
    assert sorted(a for a, _ in leaving) == sorted(b for _, b in leaving) == list(range(32))


def test_many_bytes_go_at_the_rate_of_all_cards_or_of_the_links() -> None:
    """Rings of two machines: at most what cards carry; with half of them half of it."""
    size = 32 << 30
    full, half = (plan(net("h200", 16, "machines", cards=cards), "all_reduce", range(16), size, algorithm="ring") for cards in (8, 4))
    assert full.bus_rate < 8 * CARD
    assert full.bus_rate > 0.85 * 372e9
    assert 0.9 < half.bus_rate / (4 * CARD) < 1


def test_everybody_with_everybody_is_bound_by_the_own_card() -> None:
    way = plan(net("h200", 16, "machines"), "all_to_all", range(16), 4 << 30)
    assert np.isclose(way.alone_ns, (4 << 30) * 8 / 16 / CARD * 1e9, rtol=0.01)


def test_a_small_ring_takes_the_steps_of_the_table() -> None:
    """Steps within machines and between them as the library's table has them, whichever edge a part leaves out."""
    network = net("h200", 64, "machines")
    base, within, between = 6.6e3, 0.22e3 + 2 * network.hop_ns, 2.7e3
    found = plan(network, "all_gather", range(64), 1, algorithm="ring", protocol="flagged_words").alone_ns
    crossed = [base + k * between + (63 - k) * within for k in (7, 8)]
    assert crossed[0] < found < crossed[1] + 1.1e3  # the last receive's way to its place


@pytest.mark.parametrize(("protocol", "between"), [("flagged_words", 5.0), ("flagged_lines", 8.5), ("simple", 14.0)])
def test_a_tree_adds_machines_by_doubling(protocol: str, between: float) -> None:
    """Eight machines have trees three deep, sixteen four: up and down two handshakes between machines more."""
    times = [plan(net("h200", n, "machines"), "all_reduce", range(n), 1, algorithm="tree", protocol=protocol).alone_ns for n in (56, 120)]
    assert np.isclose(times[1] - times[0], 2 * between * 1e3, rtol=0.01)


def test_a_thousand_devices_in_machines_of_eight_take_seconds_at_most() -> None:
    device("h200", "machines")
    begun = time.process_time()
    for kind in KINDS:
        ranks = (0, 1023) if kind == "send_receive" else range(1024)
        assert plan(net("h200", 1024, "machines"), kind, ranks, 1 << 28).alone_ns > 0
    assert time.process_time() - begun < 5


def test_kernels_and_engines_reach_the_own_machine() -> None:
    spec = device("h200", "machines")
    assert peer_tables(spec, 1.98e9, 16, [7])["peer_latency"] > 0
    with pytest.raises(UnsupportedError, match="devices of other machines"):
        peer_tables(spec, 1.98e9, 16, [8])
    assert exchanges(spec, 16).peer(0, 7, 64).alone_ns > 0
    with pytest.raises(RequestError, match=r"target: 8 is in another machine than device 0"):
        exchanges(spec, 16).peer(0, 8, 64)


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        ({"cards": 3}, "link.cards: 3 must divide the machine's 8 devices"),
        ({"cards": 16}, "link.cards: 16 must divide the machine's 8 devices"),
        ({"cards": 0}, "link.cards: 0 must be at least 1"),
        ({"machine": 0}, "link.machine: 0 must be at least 1"),
        ({"machine": 2.5}, "link.machine: 2.5"),
        ({"card_rate": "0 GB/s"}, "link.card_rate"),
        ({"card_rate": 48}, "link.card_rate: 48 needs a unit"),
        ({"card_way": "-1 us"}, "link.card_way"),
        ({"card_way": "1 GB/s"}, "link.card_way"),
        ({"reduces": True}, "link.reduces: True must be false: what adds in one machine's switch"),
    ],
)
def test_wrong_machines_are_refused(numbers: dict[str, float], said: str) -> None:
    with pytest.raises(RequestError) as error:
        device("h200", "machines", **numbers)
    assert any(str(problem).startswith(said) for problem in error.value.problems), [str(problem) for problem in error.value.problems]
