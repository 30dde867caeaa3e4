"""Memory: latencies from issue, coalescing, conflicts, bandwidth against closed formulas, conservation."""

from __future__ import annotations

import numpy as np
import pytest
from archex.base import layout as lay
from archex.engine import tables as tab
from tests.engine.synthetic import FULL, MEMORY, Wave, affine, device, op, policies, program, simulate

EXIT = op(lay.EXIT, pipe=-1, kind_class="branch")
BUFFER = 1 << 30


def load(dst: int = 0, src: tuple[int, ...] = (), record: int = 0, bytes_of: int = 4, flags: int = 0) -> list[int]:
    return op(lay.LOAD, MEMORY, 1, 0, dst, src, record, bytes_of, flags, kind_class="global_load")


def store(record: int = 0, bytes_of: int = 4) -> list[int]:
    return op(lay.STORE, MEMORY, 1, 0, -1, (), record, bytes_of, kind_class="global_store")


def one(*records: tuple[int, int, int, int], pool: list[list[int]] | None = None) -> object:
    def make(workgroup: int, wave: int) -> Wave:
        return [(0, 32), (1, 32)], list(records), [list(row) for row in pool or []]

    return make


def consume(*loads: list[int]) -> tab.ProgramTables:
    """Loads, each followed by a use of its result."""
    rows = []
    for row in loads:
        rows += [row, op(dst=1, src=(0,), latency=0)]
    return program(rows, [EXIT])


def test_latency_of_each_level_is_what_its_table_says() -> None:
    tables = device(l0_latency=30, l1_latency=200, dram_latency=500)
    first = simulate(tables, consume(load()), one(affine(BUFFER)))
    again = simulate(tables, consume(load(), load(record=1)), one(affine(BUFFER), affine(BUFFER)))
    past = simulate(tables, consume(load(), load(record=1, flags=lay.BYPASS)), one(affine(BUFFER), affine(BUFFER)))
    assert first.last_end() == 500 + 2
    assert again.last_end() == 500 + 1 + 30 + 2
    assert past.last_end() == 500 + 1 + 200 + 2
    assert first.counters()["stall_memory"] == 499


@pytest.mark.parametrize(
    ("bytes_of", "stride", "mask", "sectors"),
    [
        (4, 4, FULL, 4),
        (4, 4, 0xFF, 1),
        (4, 8, FULL, 8),
        (4, 128, FULL, 32),
        (16, 16, FULL, 16),
        (4, 0, FULL, 1),
        (1, 1, FULL, 1),
        (8, -8, FULL, 9),
    ],
)
def test_affine_and_scattered_accesses_touch_the_same_sectors(bytes_of: int, stride: int, mask: int, sectors: int) -> None:
    base = BUFFER + 4096
    lanes = [base + lane * stride if (mask >> lane) & 1 else -1 for lane in range(32)]
    code = consume(load(bytes_of=bytes_of))
    straight = simulate(device(), code, one(affine(base, stride, mask))).counters()
    scattered = simulate(device(), code, one((lay.SCATTERED, 0, 0, mask), pool=[lanes])).counters()
    assert straight["global_load_sectors"] == sectors
    assert straight == scattered


def test_misses_to_one_line_are_merged() -> None:
    code = program([load(0), load(1, record=1), op(dst=2, src=(0, 1), latency=0)], [EXIT])
    counters = simulate(device(), code, one(affine(BUFFER), affine(BUFFER))).counters()
    assert counters["dram_read_bytes"] == 128
    assert counters["vector_cache_hits"] == 4
    assert counters["l2_read_sectors"] == 4


@pytest.mark.parametrize(("stride", "passes"), [(4, 1), (8, 2), (12, 1), (16, 4), (64, 16), (128, 32), (132, 1), (0, 1)])
def test_local_memory_conflicts_follow_the_stride(stride: int, passes: int) -> None:
    row = op(lay.LOCAL_LOAD, MEMORY, 1, 0, 0, (), 0, 4, kind_class="local_load")
    engine = simulate(device(local_conflict_extra=1), consume(row), one(affine(0, stride)))
    assert engine.counters()["local_memory_wavefronts"] == passes
    assert engine.counters()["local_memory_conflicts"] == passes - 1
    assert engine.last_end() == 23 + (passes - 1) + 2


@pytest.mark.parametrize(("bytes_of", "stride", "passes"), [(8, 8, 2), (16, 16, 4), (8, 16, 4), (16, 32, 8), (8, 0, 1), (16, 0, 2)])
def test_wide_local_accesses_go_in_phases(bytes_of: int, stride: int, passes: int) -> None:
    row = op(lay.LOCAL_LOAD, MEMORY, 1, 0, 0, (), 0, bytes_of, kind_class="local_load")
    assert simulate(device(), consume(row), one(affine(0, stride))).counters()["local_memory_wavefronts"] == passes


@pytest.mark.parametrize(("port", "passes"), [(-1, 0), (0, 3), (1, 3)])
def test_cross_lane_operations_pass_the_local_memorys_banks(port: int, passes: int) -> None:
    code = program([op(lay.CROSS_LANE, MEMORY, 1, 24, t, (), kind_class="cross_lane") for t in range(3)], [EXIT])
    counters = simulate(device(unit_cross_lane_port=port), code, one()).counters()
    assert counters["local_memory_wavefronts"] == passes
    assert counters["local_memory_conflicts"] == 0


def test_a_gather_takes_the_larger_of_tags_and_banks() -> None:
    lines = [BUFFER + 132 * lane for lane in range(32)]  # 32 lines, 32 banks
    banks = [BUFFER + 128 * lane for lane in range(32)]  # 32 lines, one bank
    rows = [load(k, record=k) for k in range(20)]
    code = program(rows, [EXIT])
    # everything in the vector cache: the same lines again and again; the port is the limit
    quick = simulate(device(), code, one(*[(lay.SCATTERED, 0, 0, FULL)] * 20, pool=[lines] * 20))
    slow = simulate(device(), code, one(*[(lay.SCATTERED, 0, 0, FULL)] * 20, pool=[banks] * 20))
    assert quick.state.ports[0, 0] == pytest.approx(20 * 33 / 4, rel=0.1)
    assert slow.state.ports[0, 0] == pytest.approx(20 * 32, rel=0.05)


def streaming(waves: int, loads: int, units: int = 1, **changes: float) -> float:
    """Bytes a cycle of waves that each read their own lines, `loads` at a time in flight."""
    tables = device(units=units, schedulers=4, slots=16, l0_sets=4, **changes)
    rows = [load(k, record=k) for k in range(loads)] + [op(dst=loads, src=(loads - 1,), latency=0)]
    code = program(rows, [EXIT])
    rounds = 20

    def make(workgroup: int, wave: int) -> Wave:
        start = BUFFER + (workgroup * 64 + wave) * 128 * loads * rounds
        return [(0, 32)] * rounds + [(1, 32)], [affine(start + 128 * k) for k in range(loads * rounds)], []

    engine = simulate(tables, code, make, workgroups=units, waves=waves)
    return engine.counters()["dram_read_bytes"] / engine.last_end()


def test_bandwidth_follows_littles_law_until_the_roof() -> None:
    for waves, loads in [(1, 1), (2, 2), (4, 4)]:
        assert streaming(waves, loads) == pytest.approx(128 * waves * loads / 510, rel=0.08)
    assert streaming(16, 8, dram_bytes=10.0) == pytest.approx(10.0, rel=0.1)


def test_activations_limit_scattered_reads() -> None:
    code = program([load(k, record=k) for k in range(8)] + [op(dst=8, src=(7,), latency=0)], [EXIT])

    def make(workgroup: int, wave: int) -> Wave:
        generator = np.random.default_rng(wave)
        rows = [(BUFFER + 4096 * generator.permutation(1 << 16)[:32]).tolist() for _ in range(80)]
        return [(0, 32)] * 10 + [(1, 32)], [(lay.SCATTERED, 0, 0, FULL)] * 80, rows

    engine = simulate(device(schedulers=4, l0_sets=4, dram_activates=0.5), code, make, waves=8)
    assert engine.counters()["dram_activates"] / engine.last_end() == pytest.approx(0.5, rel=0.1)


def test_an_open_row_is_met_as_often_as_rows_are_open() -> None:
    """Of R rows asked at random, B of them open: an access finds its row open with probability B / R."""
    rows, loads = 64, 80
    code = program([load(k, record=k) for k in range(8)] + [op(dst=8, src=(7,), latency=0)], [EXIT])

    def make(workgroup: int, wave: int) -> Wave:
        generator = np.random.default_rng(wave)
        lines = [(BUFFER + 1024 * generator.integers(0, rows, 32) + 128 * generator.integers(0, 8, 32)).tolist() for _ in range(loads)]
        return [(0, 32)] * 10 + [(1, 32)], [(lay.SCATTERED, 0, 0, FULL)] * loads, lines

    found = []
    for banks in (4, 32):
        tables = device(schedulers=4, l0_sets=1, l0_ways=1, l1_sets=1, l1_ways=1, dram_banks=banks, dram_row=1024, dram_channels=1)
        counters = simulate(tables, code, make, waves=8).counters()
        found.append(counters["dram_activates"] / (counters["dram_read_bytes"] / 32))
    assert found[0] == pytest.approx(1 - 4 / rows, rel=0.1)
    assert found[1] == pytest.approx(1 - 32 / rows, rel=0.25)


def test_stores_leave_at_the_port_rate_and_reach_memory_once() -> None:
    code = program([store(k) for k in range(16)], [EXIT])

    def make(workgroup: int, wave: int) -> Wave:
        start = BUFFER + wave * 128 * 160
        return [(0, 32)] * 10 + [(1, 32)], [affine(start + 128 * k) for k in range(160)], []

    engine = simulate(device(schedulers=4, l1_sets=16, l1_port_write=32), code, make, waves=8)
    counters = engine.counters()
    assert counters["global_store_sectors"] == counters["l2_write_sectors"] == 8 * 160 * 4
    assert 8 * 160 * 128 / engine.last_end() == pytest.approx(32, rel=0.1)
    held = 4 * 16 * 8 * 128  # what the second level still holds, dirty
    assert counters["dram_write_bytes"] >= 8 * 160 * 128 - held


def test_atomics_on_one_address_are_served_one_after_the_other() -> None:
    row = op(lay.REDUCE, MEMORY, 1, 0, -1, (), 0, 4, kind_class="atomic")
    code = program([row], [EXIT])

    def make(workgroup: int, wave: int) -> Wave:
        return [(0, 32)] * 50 + [(1, 32)], [affine(BUFFER, 0)] * 50, []

    engine = simulate(device(l1_atomic_same=2.0, l1_atomic_least=1.0), code, make, waves=4)
    assert engine.last_end() == pytest.approx(4 * 50 * 32 * 2.0, rel=0.08)
    assert engine.counters()["atomic_lanes"] == 4 * 50 * 32


def test_near_copies_make_the_second_read_near() -> None:
    tables = device(l1_partitions=2, l1_far_extra=100, l1_copy_near=1, l0_latency=30)
    bypass = [load(0, flags=lay.BYPASS), op(dst=1, src=(0,), latency=0)]
    rows = [*bypass, load(0, record=1, flags=lay.BYPASS), op(dst=1, src=(0,), latency=0)]
    times = []
    for k in range(16):
        engine = simulate(tables, program(rows, [EXIT]), one(affine(BUFFER + 128 * k), affine(BUFFER + 128 * k)))
        times.append(engine.last_end())
    near, far_first = 500 + 1 + 200 + 2, 500 + 100 + 1 + 200 + 2  # the far way is paid once, then the copy is near
    assert sorted(times) == [near] * 8 + [far_first] * 8
    far = simulate(tables, program(rows, [EXIT]), one(affine(BUFFER), affine(BUFFER + 128)))
    assert far.counters()["far_sectors"] == 4  # of two neighbours one is at home


def test_a_third_level_is_only_a_row_more() -> None:
    tables = device(
        l0_sets=1,
        l1_sets=1,
        l1_slices=1,
        l2_instances=1,
        l2_slices=2,
        l2_sets=512,
        l2_ways=8,
        l2_line=128,
        l2_sector=64,
        l2_latency=350,
        l2_write=tab.WRITE_BACK,
        l2_partitions=1,
    )
    rows = [row for k in range(64) for row in (load(0, record=k), op(dst=1, src=(0,), latency=0))]
    code = program(rows, [EXIT])
    records = [affine(BUFFER + 128 * k) for k in range(32)] * 2
    engine = simulate(tables, code, one(*records))
    counters = engine.counters()
    assert counters["dram_read_bytes"] == 32 * 128
    assert counters["memory_side_cache_hits"] == 32 * 2  # of 64-byte sectors, in the second round
    assert engine.last_end() == 32 * 501 + 32 * 351 + 1


def test_more_ways_never_hit_less_under_lru() -> None:
    generator = np.random.default_rng(5)
    lines = generator.integers(0, 200, 600)
    rows = [row for k in range(600) for row in (load(0, record=k), op(dst=1, src=(0,), latency=0))]
    code = program(rows, [EXIT])
    hits = []
    for ways in (1, 2, 4, 8, 16):
        tables = device(l0_sets=8, l0_ways=ways)
        hits.append(simulate(tables, code, one(*[affine(BUFFER + 128 * int(k)) for k in lines]), ring=1024).counters()["vector_cache_hits"])
    assert hits == sorted(hits)
    assert hits[0] < hits[-1]


def test_private_slots_stay_in_the_vector_cache() -> None:
    save = op(lay.PRIVATE_STORE, MEMORY, 1, 0, -1, (), -1, 4, offset=8, kind_class="private")
    restore = op(lay.PRIVATE_LOAD, MEMORY, 1, 0, 0, (), -1, 4, offset=8, kind_class="private")
    code = program([save, restore, op(dst=1, src=(0,), latency=0)], [EXIT], private_bytes=16)
    engine = simulate(device(l0_private_back=1), code, lambda workgroup, wave: ([(0, 32), (1, 32)], [], []))
    counters = engine.counters()
    assert counters["private_load_requests"] == counters["private_store_requests"] == 1
    assert counters["dram_read_bytes"] == 0
    assert counters["l2_write_sectors"] == 0
    assert engine.last_end() < 50


def test_outstanding_misses_stall_the_port() -> None:
    free, few = (streaming(8, 8, l0_pending=limit) for limit in (0, 4))
    assert free > 10
    assert few == pytest.approx(4 * 128 / 500, rel=0.1)


def test_a_policy_that_returns_nonsense_is_named() -> None:
    def lost(address: int, params: np.ndarray) -> int:
        return 99

    from archex.engine.policies import PolicyError

    tables = device()
    with pytest.raises(PolicyError, match=r"map_address \(.*lost\): returned 99"):
        simulate(tables, consume(load()), one(affine(BUFFER)), chosen=policies(tables, map_address=lost))


def test_caches_can_stay_warm_between_launches() -> None:
    first = simulate(device(), consume(load()), one(affine(BUFFER)))
    second = simulate(device(), consume(load()), one(affine(BUFFER)), caches=first.memory)
    assert second.last_end() == 30 + 2


def test_a_filled_second_level_writes_back_at_once() -> None:
    from archex.engine.run import Engine
    from tests.engine.synthetic import Rings, drive

    tables = device()
    code = program([load(k, record=k) for k in range(8)] + [op(dst=8, src=(7,), latency=0)], [EXIT])
    rings = Rings(one(*[affine(BUFFER + 128 * k) for k in range(8)]), 1, 3)
    rings.records_of = code.block_records
    engine = Engine(tables, policies(tables), code, tab.Geometry(1, 1, 1, 32), rings)
    engine.fill(1, 1.0, 0.5)
    assert drive(engine, rings, 1) == tab.DONE
    assert engine.counters()["dram_write_bytes"] > 0
