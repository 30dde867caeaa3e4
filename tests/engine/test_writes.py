"""Writes and atomics on their way to the second level: masks of sectors written in part, entries, serialisation on an address."""

from __future__ import annotations

import pytest
from archex.base import layout as lay
from archex.engine import tables as tab
from tests.engine.synthetic import FULL, MEMORY, Wave, affine, device, op, program, simulate

EXIT = op(lay.EXIT, pipe=-1, kind_class="branch")
BUFFER = 1 << 30
ROUNDS = 128


def taken(row: list[int], stride: int, step: int, mask: int, rounds: int, **changes: float) -> float:
    """When the port is free again after an instruction repeated by one wave, each time `step` bytes on."""

    def make(workgroup: int, wave: int) -> Wave:
        return [(0, 32)] * rounds + [(1, 32)], [affine(BUFFER + k * step, stride, mask) for k in range(rounds)], []

    return float(simulate(device(**changes), program([row], [EXIT]), make).state.ports[0, 0])


def repeated(row: list[int], stride: int, step: int, mask: int = FULL, **changes: float) -> float:
    """Cycles of the port each further instruction takes, once all entries are in use."""
    return (taken(row, stride, step, mask, 2 * ROUNDS, **changes) - taken(row, stride, step, mask, ROUNDS, **changes)) / ROUNDS


def store(bytes_of: int) -> list[int]:
    return op(lay.STORE, MEMORY, 1, 0, -1, (), 0, bytes_of, kind_class="global_store")


def reduction(flags: int = 0) -> list[int]:
    return op(lay.REDUCE, MEMORY, 1, 0, -1, (), 0, 4, flags, kind_class="atomic")


@pytest.mark.parametrize(("bytes_of", "stride", "sectors", "partial"), [(4, 4, 4, 0), (4, 128, 32, 32), (16, 16, 16, 0), (16, 32, 32, 32)])
def test_a_sector_written_in_part_takes_its_mask_along(bytes_of: int, stride: int, sectors: int, partial: int) -> None:
    plain = repeated(store(bytes_of), stride, 4096, l0_store_line_cycles=0, l0_banks=0, l1_partial=1, l1_pending_writes=128)
    masked = repeated(store(bytes_of), stride, 4096, l0_store_line_cycles=0, l0_banks=0, l1_partial=2, l1_pending_writes=128)
    assert plain == pytest.approx(sectors, rel=0.1)  # 32 bytes a cycle
    assert masked == pytest.approx(sectors + partial, rel=0.1)


def test_an_unaligned_run_is_whole_but_for_its_ends() -> None:
    masked = repeated(store(4), 4, 4096 + 16, l0_store_line_cycles=0, l0_banks=0, l1_partial=2, l1_pending_writes=128)
    # every other start lies in the middle of a sector: 5 sectors, two of them in part, so 7; else 4
    assert masked == pytest.approx((4 + 7) / 2, rel=0.1)


@pytest.mark.parametrize("entries", [16, 32])
def test_writes_on_their_way_are_limited_by_entries(entries: int) -> None:
    """Little's law: entries / time on the way, in sectors a cycle."""
    cycles = repeated(store(4), 4, 128, l1_latency=600, l1_port_write=0, l1_pending_writes=entries, l0_store_line_cycles=1)
    assert 4 / cycles == pytest.approx(entries / (600 / 3), rel=0.1)


@pytest.mark.parametrize(("entries", "cycles"), [(256, 8 * 4), (16, 8 * 200)])
def test_a_burst_of_stores_is_posted(entries: int, cycles: int) -> None:
    """As long as all of it may be on its way, a burst holds the port for its passes through the banks, however long the way is."""
    posted = taken(store(16), 16, 512, FULL, 8, l1_latency=600, l1_port_write=0, l1_pending_writes=entries, l0_store_line_cycles=1)
    none = taken(store(16), 16, 512, FULL, 0, l1_latency=600, l1_port_write=0, l1_pending_writes=entries, l0_store_line_cycles=1)
    assert posted - none == pytest.approx(cycles, rel=0.3)


PASSES = {
    "l1_slices": 1,
    "l1_atomic_least": 3,
    "l1_atomic_sector": 2,
    "l1_atomic_same": 4,
    "l1_atomic_compare": 5,
    "l0_store_line_cycles": 0,
}


@pytest.mark.parametrize(
    ("flags", "stride", "cycles"),
    [(0, 4, 4 * 2), (0, 16, 16 * 4), (0, 128, 32 * 4), (lay.COMPARE_AND_SWAP, 4, 4 * 5), (lay.COMPARE_AND_SWAP, 16, 16 * 5)],
)
def test_atomics_cost_a_slice_a_pass_for_each_sector(flags: int, stride: int, cycles: int) -> None:
    """Whole sectors, some words of sectors, a line each; compare-and-swap."""
    assert repeated(reduction(flags), stride, 4096, **PASSES) == pytest.approx(cycles, rel=0.1)


@pytest.mark.parametrize(("words", "cycles"), [(8, 4 * 2), (4, 8 * 4), (1, 32 * 4)])
def test_lanes_on_some_words_of_a_sector_take_a_pass_for_each_that_repeats(words: int, cycles: int) -> None:
    """Lanes on all its words go along with one another: a pass over the whole sector is the cheapest."""

    def made(rounds: int) -> float:
        def make(workgroup: int, wave: int) -> Wave:
            addresses = [[BUFFER + 4 * (lane % words) for lane in range(32)]] * rounds
            return [(0, 32)] * rounds + [(1, 32)], [(lay.SCATTERED, 0, 0, FULL)] * rounds, addresses

        return float(simulate(device(**PASSES), program([reduction()], [EXIT]), make).cycles())

    assert (made(96) - made(32)) / 64 == pytest.approx(cycles, rel=0.1)


@pytest.mark.parametrize(("apart", "cycles"), [(32, 5 * 32), (4, 11 * 32)])
def test_floating_point_waits_for_the_sector_before(apart: int, cycles: int) -> None:
    """Two addresses by turns: on two sectors at the pace of integers, on one sector each behind the other."""
    costs = {"l1_slices": 1, "l1_atomic_least": 1, "l1_atomic_same": 5, "l1_atomic_float": 11, "l0_store_line_cycles": 0}

    def made(rounds: int) -> float:
        def make(workgroup: int, wave: int) -> Wave:
            return [(0, 32)] * rounds + [(1, 32)], [affine(apart * (k % 2), 0) for k in range(rounds)], []

        return float(simulate(device(**costs), program([reduction(lay.FLOAT_ATOMIC)], [EXIT]), make).cycles())

    assert (made(48) - made(16)) / 32 == pytest.approx(cycles, rel=0.1)


@pytest.mark.parametrize(
    ("what", "stride", "expected"),
    [(lay.REDUCE, 128, 32), (lay.REDUCE, 0, 32), (lay.ATOMIC, 4, 16), (lay.ATOMIC, 128, 64), (lay.ATOMIC, 0, 64)],
)
def test_results_of_atomics_come_back_by_lane_line_and_repeat(what: int, stride: int, expected: int) -> None:
    row = op(what, MEMORY, 1, 0, -1, (), 0, 4, kind_class="atomic")
    assert repeated(row, stride, 4096, l0_atomic_pass=2, l0_atomic_return=0.5, l0_store_line_cycles=1) == pytest.approx(expected, rel=0.1)


def test_lanes_that_meet_on_some_words_take_their_passes() -> None:
    row = op(lay.REDUCE, MEMORY, 1, 0, -1, (), 0, 4, kind_class="atomic")

    def make(workgroup: int, wave: int) -> Wave:
        return [(0, 32)] * 64 + [(1, 32)], [(lay.SCATTERED, 0, 0, FULL)] * 64, [[BUFFER + 4 * (lane % 4) for lane in range(32)]] * 64

    end = float(simulate(device(l0_atomic_pass=2), program([row], [EXIT]), make).state.ports[0, 0])
    assert end / 64 == pytest.approx(16, rel=0.1)


def test_atomics_on_one_address_go_one_by_one() -> None:
    """Lane by lane, no matter whether the lanes of one wave or successive waves meet; sums in floating point wait on one address only."""
    common = {"l1_slices": 1, "l1_atomic_least": 1, "l1_atomic_same": 5, "l1_atomic_float": 11, "l0_store_line_cycles": 0}
    assert repeated(reduction(), 0, 0, **common) == pytest.approx(5 * 32, rel=0.1)
    assert repeated(reduction(lay.FLOAT_ATOMIC), 0, 0, **common) == pytest.approx(11 * 32, rel=0.1)
    assert repeated(reduction(), 0, 0, mask=1, **common) == pytest.approx(5, rel=0.3)
    assert repeated(reduction(lay.FLOAT_ATOMIC), 0, 0, mask=1, **common) == pytest.approx(11, rel=0.3)
    assert repeated(reduction(lay.FLOAT_ATOMIC), 0, 128, mask=1, **common) == pytest.approx(5, rel=0.3)


@pytest.mark.parametrize(("stride", "counting", "passes"), [(0, 1, 1), (0, 0, 32), (128, 1, 32), (4, 1, 1), (4, 0, 1)])
def test_counting_lanes_of_one_address_are_added_at_once(stride: int, counting: int, passes: int) -> None:
    row = op(lay.LOCAL_ATOMIC, MEMORY, 1, 0, -1, (), 0, 4, lay.COUNTING, kind_class="local_store")

    def make(workgroup: int, wave: int) -> Wave:
        return [(0, 32), (1, 32)], [affine(0, stride)], []

    engine = simulate(device(local_counting=counting), program([row], [EXIT]), make)
    assert engine.counters()["local_memory_wavefronts"] == passes


@pytest.mark.parametrize(("write", "fetched"), [(tab.WRITE_THROUGH, 4), (tab.WRITE_THROUGH_ALLOCATE, 0)])
def test_what_is_stored_hits_where_stores_take_lines(write: int, fetched: int) -> None:
    """A store of a line, then a load of it: nothing to fetch where the store has taken a line."""

    def make(workgroup: int, wave: int) -> Wave:
        return [(0, 32), (1, 32)], [affine(BUFFER, 4), affine(BUFFER, 4)], []

    code = program([store(4), op(lay.LOAD, MEMORY, 1, 0, 1, (), 1, 4, kind_class="global_load")], [EXIT])
    counters = simulate(device(l0_write=write), code, make).counters()
    assert counters["l2_read_sectors"] == fetched
    assert counters["l2_write_sectors"] == 4


@pytest.mark.parametrize(("back", "written"), [(0, 4 * ROUNDS), (1, 0)])
def test_private_stores_reach_the_second_level_only_when_written_through(back: int, written: int) -> None:
    row = op(lay.PRIVATE_STORE, MEMORY, 1, 0, -1, (), -1, 4, kind_class="private")

    def make(workgroup: int, wave: int) -> Wave:
        return [(0, 32)] * ROUNDS + [(1, 32)], [], []

    engine = simulate(device(l0_private_back=back), program([row], [EXIT]), make)
    counters = engine.counters()
    assert counters["private_store_requests"] == ROUNDS
    assert counters["l2_write_sectors"] == written
