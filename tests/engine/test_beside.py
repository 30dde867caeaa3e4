"""Matrix products, and copies by lane: what a wave starts beside itself, and the waits for it."""

from __future__ import annotations

import pytest
from archex.base import layout as lay
from archex.engine import tables as tab
from tests.engine.synthetic import MEMORY, SPECIAL, Wave, affine, device, op, program, simulate

EXIT = op(lay.EXIT, pipe=-1, kind_class="branch")
COMMIT = op(lay.GROUP_COMMIT, -1, latency=0, offset=lay.GROUP_MATRIX, kind_class="other")
STEPS = 40
A, B = 16 * 16 * 2, 16 * 2  # bytes of a wave's rows; of one column of the other operand


def wait(kind: int, under_way: int) -> list[int]:
    return op(lay.GROUP_WAIT, -1, latency=0, offset=kind, bytes_of=under_way, kind_class="other")


def matrix(dst: int, **more: int) -> list[int]:
    return op(lay.MATRIX, SPECIAL, 6, 24, dst, (dst,), kind_class="matrix", **more)


def beside(columns: int, least: int, bytes_of: int) -> list[int]:
    row = op(lay.MATRIX, SPECIAL, max(least, columns // 2), 40, kind_class="matrix", flags=lay.BESIDE, bytes_of=bytes_of)
    return row


def once(workgroup: int, wave: int) -> Wave:
    return [(0, 32), (1, 32)], [], []


def test_a_chain_of_products_takes_latency_after_latency() -> None:
    engine = simulate(device(), program([matrix(0)] * STEPS, [EXIT]), once)
    assert engine.last_end() == pytest.approx(STEPS * 24, abs=24)
    counters = engine.counters()
    assert counters["matrix_instructions"] == STEPS
    assert counters["matrix_cycles"] == STEPS * 6
    assert counters["stall_dependency"] == pytest.approx(STEPS * 23, abs=24), "its time is fixed"


@pytest.mark.parametrize("waves", [4, 8, 12])
def test_four_chains_or_more_reach_the_units_rate(waves: int) -> None:
    engine = simulate(device(), program([matrix(0)] * STEPS, [EXIT]), once, waves=waves)
    assert engine.last_end() == pytest.approx(waves * STEPS * 6, rel=0.02)


def test_a_wave_keeps_its_own_products_apart_though_one_can_wait_at_the_unit() -> None:
    code = program([matrix(0), matrix(1), EXIT])
    tables = device()
    tables.pipes[SPECIAL, tab.PIPE_QUEUE] = 1
    engine = simulate(tables, code, lambda workgroup, wave: ([(0, 32)], [], []))
    assert engine.counters()["stall_dependency"] == 5, "the second product, 6 cycles behind the first"


@pytest.mark.parametrize("columns", [8, 16, 32, 64, 128, 256])
@pytest.mark.parametrize("where", ["local", "registers"])
@pytest.mark.parametrize("groups", [1, 2])
def test_products_beside_four_waves(columns: int, where: str, groups: int) -> None:
    bytes_of = columns * B // 4 + (A if where == "local" else 0)
    code = program([beside(columns, 13, bytes_of)] * STEPS + [COMMIT, wait(lay.GROUP_MATRIX, 0)], [EXIT])
    engine = simulate(device(schedulers=4), code, once, waves=4 * groups)
    if bytes_of % 128 == 0:
        assert engine.counters()["local_memory_wavefronts"] == 4 * groups * STEPS * bytes_of / 128
    each = max(columns / 2, 16 + columns / 4) if where == "local" else max(13, columns / 2)
    assert engine.last_end() == pytest.approx(groups * STEPS * each + 40, rel=0.02)


@pytest.mark.parametrize("under_way", [0, 1, 2, 3])
def test_a_wait_holds_until_all_but_so_many_groups_are_done(under_way: int) -> None:
    body = [beside(256, 0, 0), COMMIT] * 4
    code = program([*body, wait(lay.GROUP_MATRIX, under_way), op(dst=0)], [EXIT])
    tables = device()
    tables.pipes[SPECIAL, tab.PIPE_QUEUE] = 4
    engine = simulate(tables, code, once)
    assert engine.last_end() == pytest.approx((4 - under_way) * 128 + 40, abs=12)
    assert engine.counters()["stall_matrix"] > 0


def test_waiting_for_all_includes_what_no_group_has_closed() -> None:
    code = program([beside(256, 0, 0), COMMIT, beside(256, 0, 0), wait(lay.GROUP_MATRIX, -1)], [EXIT])
    assert simulate(device(), code, once).last_end() == pytest.approx(2 * 128 + 40, abs=5)
    code = program([beside(256, 0, 0), COMMIT, beside(256, 0, 0), wait(lay.GROUP_MATRIX, 0)], [EXIT])
    assert simulate(device(), code, once).last_end() == pytest.approx(128 + 40, abs=5)


def copies(number: int, width: int = 16, flags: int = lay.BYPASS) -> list[list[int]]:
    return [op(lay.ASYNC_COPY, MEMORY, 1, 0, record=2 * k, bytes_of=width, flags=flags, kind_class="async_copy") for k in range(number)]


def sources(number: int, width: int = 16) -> list[tuple[int, int, int, int]]:
    return [record for k in range(number) for record in (affine((1 << 30) + 4096 * k, width), affine(32 * width * k, width))]


def test_copies_by_lane_arrive_a_loads_latency_later() -> None:
    commit = op(lay.GROUP_COMMIT, -1, latency=0, offset=lay.GROUP_COPIES, kind_class="other")
    code = program([*copies(1), commit, wait(lay.GROUP_COPIES, 0)], [EXIT])
    engine = simulate(device(aside_small_extra=28), code, lambda workgroup, wave: ([(0, 32), (1, 32)], sources(1), []))
    assert engine.last_end() == pytest.approx(500 + 28 + 4, abs=6)
    counters = engine.counters()
    assert counters["global_load_requests"] == 1
    assert counters["global_load_sectors"] == 16
    assert counters["dram_read_bytes"] == 512
    assert counters["stall_memory"] > 500


@pytest.mark.parametrize(("flags", "interval"), [(0, "small"), (lay.BYPASS, "past")])
def test_narrow_copies_hold_the_way_as_long_as_wide_ones(flags: int, interval: str) -> None:
    times = {}
    for width in (4, 16):
        commit = op(lay.GROUP_COMMIT, -1, latency=0, offset=lay.GROUP_COPIES, kind_class="other")
        code = program([*copies(32, width, flags), commit, wait(lay.GROUP_COPIES, 0)], [EXIT])
        tables = device(**{f"aside_{interval}_interval": 6.0, "unit_queue_entries": 64})
        times[width] = simulate(tables, code, lambda workgroup, wave, w=width: ([(0, 32), (1, 32)], sources(32, w), [])).last_end()
    assert times[4] == pytest.approx(times[16], rel=0.1)
    assert times[4] > 32 * 6.0


def local_loads(number: int) -> tuple[list[list[int]], list[tuple[int, int, int, int]]]:
    rows = [op(lay.LOCAL_LOAD, MEMORY, 1, 0, 2 + k % 4, record=k, bytes_of=16, kind_class="local_load") for k in range(number)]
    return rows, [affine(512 * k, 16) for k in range(number)]


def test_products_come_first_at_local_memory() -> None:
    """Measured: loads beside products that read local memory for 48 of 64 cycles get what is left, and products take no longer."""
    loads, records = local_loads(64)
    product = beside(128, 13, 3 * 512)
    code = program([product] * STEPS, loads, [EXIT])

    def make(workgroup: int, wave: int) -> Wave:
        return ([(0, 32), (2, 32)], [], []) if wave < 4 else ([(1, 32), (2, 32)], records, [])

    both = simulate(device(schedulers=4, unit_queue_entries=4), code, make, waves=8)
    alone = simulate(device(schedulers=4, unit_queue_entries=4), code, lambda g, wave: ([(1, 32), (2, 32)], records, []), waves=4)
    assert alone.last_end() == pytest.approx(4 * 64 * 4, rel=0.1)
    assert both.last_end() == pytest.approx(STEPS * 64, rel=0.15)
    waited = [found.counters()["stall_memory_queue"] + found.counters()["stall_local_memory"] for found in (both, alone)]
    assert waited[0] > 1.5 * waited[1]


def test_what_copies_write_makes_loads_wait() -> None:
    """Half a cycle for each that a store of the same bytes takes, at twice the banks' width: four waves fill the port with loads."""
    loads, records = local_loads(64)
    times = {}
    for number in (0, 32):
        rows = copies(number)
        placed = [[*row[: lay.RECORD], 64 + row[lay.RECORD], *row[lay.RECORD + 1 :]] for row in rows]
        code = program([*placed, *loads], [EXIT])
        tables = device(aside_write_bytes=256, unit_queue_entries=4)
        every = records + sources(number)
        engine = simulate(tables, code, lambda workgroup, wave, r=every: ([(0, 32), (1, 32)], r, []), waves=4)
        times[number] = engine.last_end()
    assert 0.5 * 4 * 32 * 2 < times[32] - times[0] < 1.5 * 4 * 32 * 2


def test_a_product_holds_its_wave_where_its_result_is_wanted_behind_it() -> None:
    free = simulate(device(), program([matrix(0), op(dst=1)], [EXIT]), once)
    held = simulate(device(), program([matrix(0, offset=15), op(dst=1)], [EXIT]), once)
    assert held.last_end() - free.last_end() == 14
    assert held.counters()["stall_dependency"] - free.counters()["stall_dependency"] == 14


def test_a_pipeline_of_copies_waits_for_its_oldest_stage_only() -> None:
    """Stages under way hide the latency: the time of a step falls with them until nothing but the work is left."""
    commit = op(lay.GROUP_COMMIT, -1, latency=0, offset=lay.GROUP_COPIES, kind_class="other")
    steps, work = 24, 100
    times = []
    for stages in (1, 2, 4):
        fill = [*copies(1), commit]
        body = [*copies(1), commit, wait(lay.GROUP_COPIES, stages - 1), *[op(dst=0, src=(0,))] * (work // 4)]

        def make(workgroup: int, wave: int, stages: int = stages) -> Wave:
            records = [r for k in range(stages - 1 + steps) for r in (affine((1 << 30) + 4096 * k, 16), affine(0, 16))]
            return [(0, 32)] * (stages - 1) + [(1, 32)] * steps + [(2, 32)], records, []

        times.append(simulate(device(), program(fill, body, [EXIT]), make).last_end() / steps)
    assert times[0] == pytest.approx(500 + work, rel=0.05)
    assert times[1] == pytest.approx((500 + work) / 2, rel=0.15)
    assert times[2] < times[1]
