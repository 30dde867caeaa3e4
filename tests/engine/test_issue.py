"""Issue: earliest legal cycle, rates of pipes, exact order, stall reasons."""

from __future__ import annotations

import pytest
from archex.base import layout as lay
from tests.engine.synthetic import ALU, FMA, FULL, Wave, device, op, program, simulate

EXIT = op(lay.EXIT, pipe=-1, kind_class="branch")


def straight(blocks: int = 1) -> object:
    def make(workgroup: int, wave: int) -> Wave:
        return [(0, 32)] * blocks + [(1, 32)], [], []

    return make


@pytest.mark.parametrize("latency", [1, 4, 9])
def test_a_dependent_chain_takes_its_latency(latency: int) -> None:
    code = program([op(latency=latency, dst=0, src=[0])] * 50, [EXIT])
    engine = simulate(device(), code, straight())
    assert engine.last_end() == 49 * latency + 2
    assert engine.counters()["stall_dependency"] == 49 * (latency - 1)


@pytest.mark.parametrize(("interval", "waves"), [(1, 8), (2, 8), (4, 4)])
def test_independent_work_reaches_the_pipe_rate(interval: int, waves: int) -> None:
    code = program([op(interval=interval, dst=k % 8) for k in range(40)], [EXIT])
    engine = simulate(device(), code, straight(), waves=waves)
    expected = 40 * interval * waves
    assert abs(engine.last_end() - expected) <= 2 * waves + 4


def test_a_second_pipe_doubles_the_rate() -> None:
    code = program([op(interval=2, alternative=ALU, dst=k % 8) for k in range(40)], [EXIT])
    assert abs(simulate(device(), code, straight(), waves=8).last_end() - 320) <= 20


def test_two_schedulers_issue_side_by_side() -> None:
    code = program([op(dst=k % 8) for k in range(40)], [EXIT])
    one = simulate(device(schedulers=1), code, straight(), waves=8).last_end()
    four = simulate(device(schedulers=4), code, straight(), waves=8).last_end()
    assert abs(one - 328) <= 8
    assert abs(four - 82) <= 4


def test_a_wide_scheduler_needs_different_pipes() -> None:
    both = program([op(pipe=FMA, dst=0), op(pipe=ALU, dst=1)] * 20, [EXIT])
    same = program([op(pipe=FMA, dst=0), op(pipe=FMA, dst=1)] * 20, [EXIT])
    wide = {"unit_issue_period": 4, "unit_issue_width": 5}
    table = device(**wide)
    assert simulate(table, same, straight(), waves=4).last_end() >= 4 * 40 * 4 / 4
    slow = simulate(device(**wide), program([op(pipe=FMA, dst=0, interval=4)] * 40, [EXIT]), straight(), waves=4).last_end()
    fast = simulate(device(**wide), both, straight(), waves=4).last_end()
    assert slow >= 640
    assert fast < slow


def test_a_taken_branch_holds_its_wave_only() -> None:
    code = program([op(dst=0), op(lay.BRANCH, pipe=-1, kind_class="branch")], [EXIT])
    lone = simulate(device(unit_branch_taken=7), code, straight(20))
    assert lone.counters()["stall_dependency"] == 19 * 6, "its time is fixed"
    four = simulate(device(unit_branch_taken=7), code, straight(20), waves=4)
    assert four.last_end() < 1.2 * lone.last_end()


def test_a_dry_trace_changes_nothing() -> None:
    code = program([op(dst=0, src=[0]), op(lay.BRANCH, pipe=-1)], [EXIT])
    tables = device(schedulers=2)
    short = simulate(tables, code, straight(300), workgroups=5, waves=3, per_unit=2, ring=4)
    long = simulate(tables, code, straight(300), workgroups=5, waves=3, per_unit=2, ring=512)
    assert short.last_end() == long.last_end()
    assert short.counters() == long.counters()


def test_lane_instructions_are_counted_from_the_trace() -> None:
    code = program([op(dst=0)] * 3, [EXIT])
    engine = simulate(device(), code, lambda workgroup, wave: ([(0, 7), (1, 32)], [], []))
    assert engine.counters()["lane_instructions"] == 3 * 7 + 32
    assert FULL == 2**32 - 1
