"""Workgroups: barriers, dispatch rate, slot re-use, instruction fetch."""

from __future__ import annotations

import numpy as np
import pytest
from archex.base import layout as lay
from tests.engine.synthetic import Wave, device, op, program, simulate

EXIT = op(lay.EXIT, pipe=-1, kind_class="branch")
BARRIER = op(lay.BARRIER, pipe=-1, kind_class="barrier", bytes_of=0)


def blocks(count: int) -> object:
    def make(workgroup: int, wave: int) -> Wave:
        return [(0, 32)] * count + [(1, 32)], [], []

    return make


@pytest.mark.parametrize("waves", [1, 4, 16, 32])
def test_a_barrier_chain_costs_a_base_and_a_share_a_wave(waves: int) -> None:
    engine = simulate(device(schedulers=4), program([BARRIER], [EXIT]), blocks(40), waves=waves)
    assert engine.last_end() / 40 == pytest.approx(12.75 + 2 * waves, rel=0.03)
    assert engine.counters()["barriers"] == 40 * waves


def test_finished_waves_count_as_arrived() -> None:
    def make(workgroup: int, wave: int) -> Wave:
        return ([(0, 32), (1, 32)] if wave else [(1, 32)]), [], []

    assert simulate(device(), program([BARRIER], [EXIT]), make, waves=4).last_end() < 60


def test_dispatch_is_limited_device_wide() -> None:
    tables = device(units=8, slots=16, device_start_interval=5, device_relaunch_cycles=64)
    engine = simulate(tables, program([EXIT]), lambda workgroup, wave: ([(0, 32)], [], []), workgroups=600, per_unit=8)
    assert engine.last_end() == pytest.approx(600 * 5, rel=0.05)


@pytest.mark.parametrize("workgroups", [1, 32, 64, 600])
def test_ends_are_taken_one_after_the_other_device_wide(workgroups: int) -> None:
    """Also of workgroups that all had a place at once; those that wait for one wait for it to be taken."""
    tables = device(units=8, slots=16, device_end_interval=5, device_relaunch_cycles=64)
    engine = simulate(tables, program([EXIT]), lambda workgroup, wave: ([(0, 32)], [], []), workgroups=workgroups, per_unit=8)
    assert engine.last_end() == pytest.approx((workgroups - 1) * 5, rel=0.05, abs=2)


def test_long_workgroups_do_not_wait_for_their_ends_to_be_taken() -> None:
    code = program([op(latency=4, dst=0, src=(0,))] * 100, [EXIT])
    free, taken = (simulate(device(device_end_interval=cost), code, blocks(1), workgroups=9).last_end() for cost in (0, 5))
    assert taken == free


def test_a_slot_runs_again_after_its_relaunch_time() -> None:
    tables = device(device_relaunch_cycles=350, device_launch_cycles=1000)
    engine = simulate(tables, program([op(latency=4, dst=0, src=(0,))] * 10, [EXIT]), blocks(1), workgroups=3)
    each = 9 * 4 + 2
    assert engine.last_end() == 1000 + 3 * each + 2 * 350


def test_a_compute_unit_starts_one_workgroup_after_the_other() -> None:
    tables = device(slots=32)._replace(start_cost=np.array([[1.0, 24.0], [4.0, 30.0]]))
    engine = simulate(tables, program([EXIT]), lambda workgroup, wave: ([(0, 32)], [], []), workgroups=16, per_unit=16)
    assert engine.last_end() == 15 * 24 + 1


FETCH = {
    "fetch_buffer": 1024,
    "fetch_near_bytes": 4096,
    "fetch_middle_bytes": 16384,
    "fetch_near_cycles": 9,
    "fetch_middle_cycles": 18,
    "fetch_far_cycles": 45,
    "fetch_jump_cycles": 10,
    "fetch_cold_cycles": 700,
    "fetch_cold_next": 8,
}


def loop(instructions: int, rounds: int) -> int:
    code = program([op(dst=k % 8) for k in range(instructions)], [EXIT])
    return simulate(device(**FETCH), code, blocks(rounds)).last_end()


def test_the_first_line_is_cold_and_the_rest_streams() -> None:
    assert loop(8, 1) == 700 + 8 + 1  # EXIT lies on the second line, there just in time
    assert loop(64, 1) == pytest.approx(700 + 64, abs=10)


def test_a_loop_in_the_buffer_is_free_and_a_longer_one_pays_each_time() -> None:
    short = loop(48, 41) - loop(48, 1)
    long = loop(80, 41) - loop(80, 1)
    assert short == 40 * 48
    assert long / 40 - 80 == pytest.approx(20, abs=14)


def test_a_first_pass_finds_what_is_kept_of_code_that_is_too_long() -> None:
    """Twice what the middle level holds: where 8 KiB of it are kept, the 64 lines between that and what it holds come from memory too."""
    code = program([op(dst=k % 8) for k in range(2048)], [EXIT])
    all_of_it, some = (simulate(device(**FETCH | {"fetch_kept_bytes": kept}), code, blocks(1)).last_end() for kept in (0, 8192))
    assert some - all_of_it == pytest.approx(64 * (45 - 8), rel=0.05)


def test_code_beyond_the_cache_streams_at_the_next_levels_rate() -> None:
    per_line = (loop(512, 11) - loop(512, 1)) / 10 / 64
    assert per_line == pytest.approx(18, rel=0.15)
