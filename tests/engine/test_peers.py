"""Memory of other devices: earliest legal cycles, the links' bound, conservation of bytes, who shares what."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from archex.base import layout as lay
from archex.engine import tables as tab
from tests.engine.synthetic import FULL, MEMORY, Wave, affine, device, op, program, simulate
from tests.engine.test_memory import EXIT, consume, load, one, store

THERE = 1 << lay.PEER_SHIFT
SECOND = THERE + (1 << lay.PEER_BITS)
WAY, HEADER, RATE = 300, 16, 4.0


def joined(links: int = 2, rate: float = RATE, **changes: Any) -> tab.DeviceTables:
    """A device with two others: both behind its two links, one each way, or (`links` 4) each behind a pair of its own."""
    numbers = np.zeros(tab.LINK_COLUMNS)
    numbers[[tab.LINK_PAYLOAD, tab.LINK_HEADER, tab.LINK_MASK]] = 128, HEADER, 16
    ways = np.array([[[0], [1]], [[links - 2], [links - 1]]])
    return device(**changes)._replace(
        link=numbers, peer_ways=ways, peer_latency=np.full(2, float(WAY)), peer_links=np.full(links, rate, np.float64)
    )


def streams(engine_tables: tab.DeviceTables, base: list[int], code: tab.ProgramTables) -> Any:
    """Waves that go through lines of their own, each access a whole line, in turn in the windows of `base`."""

    def make(workgroup: int, wave: int) -> Wave:
        first = 128 * EACH * (wave + WAVES * workgroup)
        return [(0, 32), (1, 32)], [affine(base[k % len(base)] + first + 128 * (k // len(base))) for k in range(EACH)], []

    return simulate(engine_tables, code, make, workgroups=WORKGROUPS, waves=WAVES, per_unit=1)


EACH, WAVES, WORKGROUPS = 16, 8, 4
LINES = EACH * WAVES * WORKGROUPS
USES = [op(dst=EACH, src=(k,), latency=0) for k in range(EACH)]
READS = program([load(k, record=k) for k in range(EACH)] + USES, [EXIT])
WRITES = program([store(k) for k in range(EACH)], [EXIT])
MIXED = program([load(k, record=k) if k % 2 else store(k) for k in range(EACH)] + USES, [EXIT])
ONE = program([store()], [EXIT])


def test_a_load_takes_as_long_as_there_and_two_ways_more() -> None:
    first = simulate(joined(), consume(load()), one(affine(THERE)))
    again = simulate(joined(), consume(load(), load(record=1)), one(affine(THERE), affine(THERE)))
    past = simulate(joined(), consume(load(), load(record=1, flags=lay.BYPASS)), one(affine(THERE), affine(THERE)))
    assert first.last_end() == 500 + 2 * WAY + 2
    assert again.last_end() == 500 + 2 * WAY + 1 + 30 + 2  # the vector cache keeps it
    assert past.last_end() == 500 + 2 * WAY + 1 + 200 + 2 * WAY + 2  # the other device's second level does, not this one's


def test_what_is_at_home_elsewhere_asks_nothing_of_this_device() -> None:
    counters = streams(joined(), [THERE], READS).counters()
    sectors = 4 * LINES
    assert (counters["peer_read_sectors"], counters["l2_lookups"], counters["dram_read_bytes"]) == (sectors, 0, 0)
    assert counters["link_in_bytes"] == LINES * (128 + HEADER)
    assert counters["link_out_bytes"] == LINES * HEADER


@pytest.mark.parametrize("code", [READS, WRITES], ids=["loads", "stores"])
def test_nothing_beats_the_link(code: tab.ProgramTables) -> None:
    engine = streams(joined(), [THERE], code)
    least = LINES * (128 + HEADER) / RATE
    assert least <= engine.last_end() <= 1.05 * least + WORKGROUPS * (500 + 2 * WAY)


def test_peers_share_a_link_or_not() -> None:
    shared, apart = (streams(joined(links, rate=1.0), [THERE, SECOND], READS).last_end() for links in (2, 4))
    assert shared / apart == pytest.approx(2.0, rel=0.15)


def test_loads_and_stores_of_one_device_go_different_ways() -> None:
    """A store's data go there, a load's come back: only its requests are in the way."""
    engine = streams(joined(rate=1.0), [THERE, THERE + (1 << 24)], MIXED)
    least = LINES / 2 * (128 + 2 * HEADER)
    assert least <= engine.last_end() <= 1.1 * least + WORKGROUPS * (500 + 2 * WAY)


@pytest.mark.parametrize(
    ("stride", "mask", "back"), [(4, FULL, 128), (4, 0xFF, 32), (64, 0b11, 96), (128, 0xF, 4 * (32 + HEADER) - HEADER), (4, 0xFF00FF, 96)]
)
def test_a_packet_holds_what_lies_between_the_first_and_the_last_sector(stride: int, mask: int, back: int) -> None:
    engine = simulate(joined(), consume(load()), one(affine(THERE, stride, mask)))
    assert engine.counters()["link_in_bytes"] == back + HEADER


@pytest.mark.parametrize(("stride", "mask", "sent"), [(4, FULL, 128), (4, 0xFF, 32), (4, 0xF, 32), (8, 0xFFFF, 128 + 16), (4, 0xFFFF, 64)])
def test_a_packet_says_which_bytes_it_writes_where_not_all_of_several_sectors(stride: int, mask: int, sent: int) -> None:
    engine = simulate(joined(), ONE, one(affine(THERE, stride, mask)))
    assert engine.counters()["link_out_bytes"] == sent + HEADER
    assert engine.counters()["peer_written_sectors"] == min(sent, 128) // 32


def test_a_fence_waits_a_way_more_and_the_launch_for_the_answer() -> None:
    fence = op(lay.FENCE, -1, flags=lay.DEVICE_SCOPE, kind_class="fence")
    fenced = program([store(), fence, op(dst=1, latency=2000), op(src=(1,), latency=0)], [EXIT])
    here, there = (simulate(joined(), fenced, one(affine(base))) for base in (1 << 30, THERE))
    assert there.last_end() - here.last_end() == pytest.approx(WAY, abs=2)
    here, there = (simulate(joined(), ONE, one(affine(base))) for base in (1 << 30, THERE))
    assert there.last_end() == pytest.approx(2 * WAY, abs=70)
    assert here.last_end() < 300


@pytest.mark.parametrize(("kind", "back"), [(lay.ATOMIC, 128 + HEADER), (lay.REDUCE, 0)])
def test_an_atomic_goes_there_with_its_operands(kind: int, back: int) -> None:
    atomic = op(kind, MEMORY, 1, 0, 0 if kind == lay.ATOMIC else -1, (), 0, kind_class="atomic")
    engine = simulate(joined(l1_atomic_result=1), program([atomic, op(dst=1, src=(0,), latency=0)], [EXIT]), one(affine(THERE)))
    counters = engine.counters()
    assert (counters["link_out_bytes"], counters["link_in_bytes"], counters["l2_atomic_sectors"]) == (128 + HEADER, back, 0)
    if back:
        assert engine.last_end() >= 500 + 2 * WAY


def test_what_the_other_device_holds_is_found_again_by_the_next_launch() -> None:
    code = consume(load(flags=lay.BYPASS))
    first = simulate(joined(), code, one(affine(THERE)))
    again = simulate(joined(), code, one(affine(THERE)), caches=first.memory)
    alone = simulate(device(), consume(load()), one(affine(1 << 30)), caches=again.memory)
    assert (first.last_end(), again.last_end()) == (500 + 2 * WAY + 2, 200 + 2 * WAY + 2)
    assert alone.last_end() == 500 + 2


def test_a_farther_or_narrower_link_never_makes_a_launch_faster() -> None:
    base = streams(joined(), [THERE], READS).last_end()
    assert streams(joined(rate=RATE / 2), [THERE], READS).last_end() > base
    far = joined()
    assert streams(far._replace(peer_latency=2 * far.peer_latency), [THERE], READS).last_end() >= base


def test_a_device_whose_levels_are_several_each_looks_up_in_memory() -> None:
    tables = joined(l1_instances=2, units=2)
    tables = tables._replace(level_instance=np.array([[0, 1], [0, 1]]))
    twice = consume(load(), load(record=1, flags=lay.BYPASS))
    assert simulate(tables, twice, one(affine(THERE), affine(THERE))).last_end() == 2 * (500 + 2 * WAY) + 2 + 1
