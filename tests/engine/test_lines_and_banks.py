"""The engine keeps to what a coalescing and a bank rule say, where they differ from the textbook's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from archex.base import layout as lay
from archex.engine.patterns import P_PASSES
from archex.engine.run import Engine
from archex.testing.devices import installed
from tests.engine.synthetic import FULL, MEMORY, Wave, affine, device, op, policies, program, simulate

EXIT = op(lay.EXIT, pipe=-1, kind_class="branch")
BUFFER = 1 << 30


def by_group(tables: Any, lanes: int) -> Any:
    function = installed().parts["coalescing", "by_group"].part.coalesce  # type: ignore[attr-defined]
    return policies(tables, coalesce=function, line_params=np.array([float(lanes)]), coalesce_standard=False)


def run(kind: int, records: list[tuple[int, int, int, int]], bytes_of: int, chosen: Any, tables: Any) -> Engine:
    rows = [op(kind, MEMORY, 1, 0, k, (), k, bytes_of) for k in range(len(records))]
    code = program([*rows, op(dst=len(records), src=(len(records) - 1,))], [EXIT])

    def make(workgroup: int, wave: int) -> Wave:
        return [(0, 32), (1, 32)], list(records), []

    return simulate(tables, code, make, chosen=chosen)


@pytest.mark.parametrize("lanes", [1, 4, 16, 32])
@pytest.mark.parametrize("stride", [0, 4, 12, 256])
def test_groups_look_up_more_and_fetch_the_same(lanes: int, stride: int) -> None:
    tables = device(l0_lines_per_cycle=1)
    records = [affine(BUFFER, stride), affine(BUFFER + 65536, 0)]  # the second waits for the port
    plain = run(lay.LOAD, records, 4, policies(tables), tables)
    grouped = run(lay.LOAD, records, 4, by_group(tables, lanes), tables)
    a, b = plain.counters(), grouped.counters()
    assert b["l2_read_sectors"] == a["l2_read_sectors"]
    assert b["dram_read_bytes"] == a["dram_read_bytes"]
    assert b["vector_cache_lookups"] - b["vector_cache_hits"] == a["vector_cache_lookups"] - a["vector_cache_hits"]
    named = {line for first in range(0, 32, lanes) for line in {(first, (first + lane) * stride // 128) for lane in range(lanes)}}
    distinct = {line for _, line in named}
    assert grouped.last_end() - plain.last_end() == pytest.approx(len(named) - len(distinct), abs=1), "a tag look-up a cycle"


def test_groups_write_each_line_once_a_group() -> None:
    tables = device()
    whole = run(lay.STORE, [affine(BUFFER)], 4, by_group(tables, 32), tables).counters()
    halves = run(lay.STORE, [affine(BUFFER)], 4, by_group(tables, 16), tables).counters()
    assert whole["l2_write_sectors"] == halves["l2_write_sectors"] == 4
    assert whole["global_store_sectors"] == halves["global_store_sectors"] == 4


def test_a_pattern_seen_before_takes_as_many_passes() -> None:
    """Patterns of many lanes, moved and met again, with lanes missing: as if each were asked for anew."""
    generator = np.random.default_rng(5)
    shapes = [generator.integers(0, 64, 32) * 4 for _ in range(24)] + [np.arange(32) * 4 * step % 512 for step in (1, 2, 3, 33)]
    pool = []
    for k in range(120):
        row = shapes[int(generator.integers(len(shapes)))] + 4 * int(generator.integers(0, 3)) + 128 * int(generator.integers(0, 9))
        pool.append(np.where(generator.random(32) < 0.2 * (k % 2), -1, row).tolist())
    kinds = (lay.LOCAL_LOAD, lay.LOCAL_STORE)
    code = program([op(kinds[k % 3 == 0], MEMORY, 1, 0, -1, (), k, (4, 8)[k % 5 == 0]) for k in range(40)], [EXIT])
    mask = (1 << 32) - 1

    def make(workgroup: int, wave: int) -> Wave:
        return [(0, 32)] * 3 + [(1, 32)], [(lay.SCATTERED, 0, 0, mask)] * 120, [list(row) for row in pool]

    tables = device()
    remembered, asked = (simulate(tables, code, make, chosen=chosen) for chosen in (policies(tables), policies(tables, local_period=0)))
    assert remembered.counters() == asked.counters()
    assert remembered.cycles() == asked.cycles()
    assert (remembered.memory.patterns[:, P_PASSES] > 0).sum() > 8
    assert not asked.memory.patterns.any()


@pytest.mark.parametrize("kind", [lay.LOAD, lay.STORE, lay.ATOMIC, lay.LOCAL_LOAD, lay.LOCAL_STORE, lay.LOCAL_ATOMIC])
def test_lanes_in_rows_cost_what_their_addresses_one_by_one_do(kind: int) -> None:
    start = BUFFER if kind in (lay.LOAD, lay.STORE, lay.ATOMIC) else 4096
    shapes = [
        (bits, along, step, start + 12 * k) for k in range(2) for bits in (2, 3, 4) for along in (0, 4, -8) for step in (64, 132, -256)
    ]
    lanes = np.arange(32)
    pool = [(base + (lanes & ((1 << bits) - 1)) * along + (lanes >> bits) * step).tolist() for bits, along, step, base in shapes]
    rows = [(lay.ROWS + bits, base, (step << lay.ROW_SHIFT) | (along & 0xFFFF_FFFF), FULL) for bits, along, step, base in shapes]
    code = program([op(kind, MEMORY, 1, 0, -1, (), k, 4) for k in range(len(shapes))], [EXIT])
    tables = device()
    found = []
    for records, rest in ((rows, []), ([(lay.SCATTERED, 0, 0, FULL)] * len(shapes), pool)):
        blocks = [(0, 32), (0, 32), (1, 32)]
        found.append(simulate(tables, code, lambda *_, r=records, p=rest, b=blocks: (list(b), 2 * r, 2 * list(map(list, p)))))
    assert found[0].counters() == found[1].counters()
    assert found[0].cycles() == found[1].cycles()


def test_passes_of_a_swizzle_depend_on_the_row() -> None:
    """Word r of row r is in bank 0 in every row; a row further on it is in bank r xor (r + 1), of which half are 1."""
    part = installed().parts["bank_conflict", "swizzled"].part
    tables = device()
    chosen = policies(tables, access_cycles=part.access_cycles, local_period=part.period(None, 32, 4))  # type: ignore[attr-defined]
    for base, expected in ((0, 32), (128, 16), (32 * 128, 32), (33 * 128, 16)):
        engine = run(lay.LOCAL_LOAD, [affine(base, 132), affine(0, 4), affine(base, 132)], 4, chosen, tables)
        assert engine.counters()["local_memory_wavefronts"] == 2 * expected + 1


def test_a_rule_without_a_period_is_asked_every_time() -> None:
    part = installed().parts["bank_conflict", "hashed_banks"].part
    tables = device()
    chosen = policies(tables, access_cycles=part.access_cycles)  # type: ignore[attr-defined]
    found = [
        run(lay.LOCAL_LOAD, [affine(0, 4), affine(128 * row, 256)], 4, chosen, tables).counters()["local_memory_wavefronts"] - 1
        for row in range(40)
    ]
    together = run(lay.LOCAL_LOAD, [affine(128 * row, 256) for row in range(40)], 4, chosen, tables).counters()
    assert len(set(found)) > 1
    assert together["local_memory_wavefronts"] == sum(found)
