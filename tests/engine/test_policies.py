"""Policies: exact issue order, feedback, what happens to wrong ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from archex.base import layout as lay
from archex.base.jit import COMPILED
from archex.engine import policies as policies_module
from archex.engine import standard
from archex.engine.policies import FILLED, HIT, ISSUED, MISSED, PolicyError, compile_policy
from tests.engine.synthetic import MEMORY, Wave, affine, device, op, policies, program, simulate

from archex_plugins.scheduling.greedy_then_oldest import GreedyThenOldest

EXIT = op(lay.EXIT, pipe=-1, kind_class="branch")
BUFFER = 1 << 30
STEPS = 6


def log_issue(event: Any, state: Any, params: Any) -> int:
    """Word 0 counts events, the slots follow."""
    state[0] += 1
    state[state[0]] = event.slot
    return 0


def order(pick: Any) -> list[int]:
    """Slots in the order in which three waves of independent instructions issue."""
    tables = device(slots=4)
    chosen = policies(tables, pick_wave=pick, note_wave=log_issue, wave_state=64, wave_feedback=ISSUED)
    code = program([op(dst=k) for k in range(STEPS)], [EXIT])
    engine = simulate(tables, code, lambda workgroup, wave: ([(0, 32), (1, 32)], [], []), waves=3, chosen=chosen)
    return engine.state.wave_state[1 : 1 + engine.state.wave_state[0]].tolist()


def test_oldest_first_stays_with_a_wave_and_round_robin_takes_turns() -> None:
    assert order(standard.pick_oldest) == [0] * (STEPS + 1) + [1] * (STEPS + 1) + [2] * (STEPS + 1)
    assert order(standard.pick_round_robin) == [0, 1, 2] * (STEPS + 1)


def test_a_scheduler_hears_of_misses_and_fills() -> None:
    tables = device()
    rows = [op(lay.LOAD, MEMORY, 1, 0, 0, (), 0, 4), op(dst=1, src=(0,)), op(lay.LOAD, MEMORY, 1, 0, 2, (1,), 1, 4)]

    def make(workgroup: int, wave: int) -> Wave:
        return [(0, 32), (1, 32)], [affine(BUFFER), affine(BUFFER)], []

    def count(event: Any, state: Any, params: Any) -> int:
        state[event.what] += 1
        return 0

    chosen = policies(tables, note_wave=count, wave_state=8, wave_feedback=MISSED | FILLED)
    state = simulate(tables, program(rows, [EXIT]), make, chosen=chosen).state.wave_state
    assert state[MISSED] == state[FILLED] == 1
    assert state[ISSUED] == 0


def test_replacement_hears_of_hits() -> None:
    tables = device()
    rows = [row for k in range(4) for row in (op(lay.LOAD, MEMORY, 1, 0, 0, (), k, 4), op(dst=1, src=(0,)))]

    def make(workgroup: int, wave: int) -> Wave:
        return [(0, 32), (1, 32)], [affine(BUFFER)] * 4, []

    def count(view: Any, state: Any, params: Any) -> int:
        state[view.what] += 1
        return 0

    chosen = policies(tables, note_set=count, victim_state=(8, 8), victim_feedback=(HIT, 0))
    assert simulate(tables, program(rows, [EXIT]), make, chosen=chosen).memory.set_state[0, HIT] == 3


def test_a_policy_of_the_wrong_form_is_refused() -> None:
    with pytest.raises(PolicyError, match=r"pick_wave \(.*<lambda>\): takes \(view\), expected \(view, state, params\)"):
        compile_policy(lambda view: 0, "pick_wave")


def test_a_slot_that_cannot_issue_is_refused() -> None:
    def stubborn(view: Any, state: Any, params: Any) -> int:
        return 3

    tables = device(slots=4)
    code = program([op(dst=0)], [EXIT])
    with pytest.raises(PolicyError, match=r"returned 3; a slot whose bit is set in view\.ready, or -1"):
        simulate(tables, code, lambda workgroup, wave: ([(0, 32), (1, 32)], [], []), chosen=policies(tables, pick_wave=stubborn))


def every_other(view: Any, state: Any, params: Any) -> int:
    """Slot 0 on even cycles."""
    return 0 if view.cycle % 2 == 0 else -1


def test_idle_turns_are_allowed() -> None:
    tables = device(slots=4)
    code = program([op(dst=k % 8) for k in range(20)], [EXIT])
    chosen = policies(tables, pick_wave=every_other)
    engine = simulate(tables, code, lambda workgroup, wave: ([(0, 32), (1, 32)], [], []), chosen=chosen)
    assert engine.last_end() == 2 * 20 + 1


def test_state_and_parameters_reach_a_policy() -> None:
    def bounded(address: int, params: Any) -> int:
        return int(params[2])

    tables = device(dram_channels=4, dram_bytes=4)
    rows = [op(lay.LOAD, MEMORY, 1, 0, k, (), k, 4) for k in range(8)] + [op(dst=8, src=(7,))]

    def make(workgroup: int, wave: int) -> Wave:
        return [(0, 32), (1, 32)], [affine(BUFFER + 4096 * k) for k in range(8)], []

    one = policies(tables, map_address=bounded, address_params=np.array([4.0, 512.0, 2.0]))
    narrow = simulate(tables, program(rows, [EXIT]), make, chosen=one).last_end()
    spread = simulate(tables, program(rows, [EXIT]), make).last_end()
    assert narrow > spread + 300  # all on one channel of a byte a cycle


@pytest.mark.skipif(not COMPILED, reason="nothing is compiled")
def test_built_in_policies_are_kept_on_disk_and_no_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policies_module, "_compiled", {})
    for pick in (standard.pick_oldest, GreedyThenOldest.pick_wave):
        compile_policy(pick, "pick_wave")
        policies_module._compiled.clear()  # as in another process
        assert sum(compile_policy(pick, "pick_wave").stats.cache_hits.values()) == 1
    assert not compile_policy(log_issue, "note_wave").stats.cache_path
