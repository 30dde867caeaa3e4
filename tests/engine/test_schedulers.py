"""Laws of the two-level and the cache-conscious scheduler: exact orders and closed formulas, alone and in the engine."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from archex.assembly.policies import WAVE_FEEDBACK, feedback
from archex.base import layout as lay
from archex.engine import standard
from archex.engine.policies import FILLED, ISSUED, MISSED, NONE, Event, WaveView, compile_policy
from archex.engine.standard import ignore_wave
from archex.testing.devices import installed
from tests.engine.synthetic import MEMORY, SPECIAL, Wave, affine, device, op, policies, program, simulate

EXIT = op(lay.EXIT, pipe=-1, kind_class="branch")
BUFFER = 1 << 30


class Scheduler:
    """A scheduler's functions with its numbers, as the engine holds them."""

    def __init__(self, name: str, slots: int, **numbers: float) -> None:
        part = installed().parts["wave_scheduler", name].part
        spec = part.Spec(**numbers)
        note, self.wanted = feedback(part, WAVE_FEEDBACK, ignore_wave)
        self.functions = {"pick_wave": part.pick_wave, "note_wave": note}
        self.pick, self.note = compile_policy(part.pick_wave, "pick_wave"), compile_policy(note, "note_wave")
        self.words, self.params, self.slots = part.state_words(spec, slots, 1), np.array(part.parameters(spec), dtype=np.float64), slots
        self.state = np.zeros(self.words, dtype=np.int64)

    def choose(self, cycle: int, ready: int, last: int = NONE, memory: int | None = None) -> int:
        view = WaveView(ready, np.arange(self.slots), 0, last, cycle, self.slots, ready if memory is None else memory)
        return int(self.pick(view, self.state, self.params))

    def tell(self, cycle: int, slot: int, what: int, line: int = NONE) -> None:
        self.note(Event(slot, line, cycle, what), self.state, self.params)

    def chosen(self, tables: Any) -> Any:
        return policies(tables, **self.functions, wave_state=self.words, wave_params=self.params, wave_feedback=self.wanted)


def phases(before: int, after: int) -> Any:
    """A program: independent arithmetic, a load, arithmetic of which the first instruction needs it."""
    rows = [op(dst=1) for _ in range(before)]
    rows += [op(lay.LOAD, MEMORY, 1, 0, 0, (), 0, 4), op(dst=2, src=(0,))]
    return program([*rows, *[op(dst=1) for _ in range(after - 1)]], [EXIT])


def cycles(tables: Any, code: Any, waves: int, chosen: Any) -> int:
    def make(workgroup: int, wave: int) -> Wave:
        return [(0, 32), (1, 32)], [affine(BUFFER + 4096 * wave)], []

    return int(simulate(tables, code, make, waves=waves, chosen=chosen).last_end())


def test_one_group_of_all_slots_goes_in_turn() -> None:
    tables, code = device(slots=8), phases(20, 10)
    found = cycles(tables, code, 8, Scheduler("two_level", 8, group=8, patience=4).chosen(tables))
    assert found == cycles(tables, code, 8, policies(tables, pick_wave=standard.pick_round_robin))


def test_groups_go_one_after_the_other() -> None:
    one = Scheduler("two_level", 6, group=2, patience=4)
    assert [one.choose(cycle, 0b111111) for cycle in range(4)] == [0, 1, 0, 1], "in turn within the first group"
    assert [one.choose(cycle, 0b111100) for cycle in range(4, 7)] == [2, 3, 2], "the next one fills the cycles it leaves"
    assert one.choose(7, 0b111111) == 0, "and gives way to it again"
    assert one.choose(10, 0b111100) == 3
    assert one.choose(11, 0b111100) == 2, "patience is over: the second group goes first now"
    assert [one.choose(cycle, 0b111111) for cycle in range(12, 15)] == [3, 2, 3]


@pytest.mark.parametrize("after", [20, 100, 150])
def test_groups_hide_the_load_that_waves_in_turn_all_wait_for(after: int) -> None:
    """In turn, all W waves load at the end of what comes before and wait together. Of groups only the last one's load is seen, as far as
    the others' work behind their loads doesn't cover it."""
    waves, size, before, latency = 8, 2, 200, 700
    tables, code = device(slots=waves, dram_latency=latency), phases(before, after)
    first, second = before + 1, after + 1
    in_turn = cycles(tables, code, waves, policies(tables, pick_wave=standard.pick_round_robin))
    assert in_turn == pytest.approx(waves * (first + second) + latency, abs=20)
    two_level = cycles(tables, code, waves, Scheduler("two_level", waves, group=size, patience=16).chosen(tables))
    assert two_level == pytest.approx(waves * first + max(latency, (waves - size) * second) + size * second, abs=20)


def lose(one: Scheduler, slot: int, times: int, cycle: int = 100) -> None:
    """A line comes for a wave and is missed again, `times` times."""
    for _ in range(times):
        one.tell(cycle, slot, MISSED, 7)
        one.tell(cycle, slot, FILLED, 7)


def test_without_lost_lines_it_is_greedy_then_oldest() -> None:
    tables, code = device(slots=8), phases(20, 10)
    one = Scheduler("cache_conscious", 8, tags=8, rest=100, throttle=8)
    assert one.wanted == ISSUED | MISSED | FILLED
    assert cycles(tables, code, 8, one.chosen(tables)) == cycles(tables, code, 8, policies(tables, pick_wave=standard.pick_oldest))


@pytest.mark.parametrize("lost", [1, 2, 5, 9])
def test_a_score_bars_as_many_waves_from_memory_as_it_is_worth(lost: int) -> None:
    """Score s above rest r of one wave: the min(W - 1, ceil(s / r)) lowest ones may not access memory; s fades by one a cycle."""
    slots, rest, throttle = 8, 100, 2
    one = Scheduler("cache_conscious", slots, tags=4, rest=rest, throttle=throttle)
    issued = 64
    for _ in range(issued):
        one.tell(0, 0, ISSUED)
    lose(one, 3, lost + 1)  # the first miss is of a line that was never here
    score = int(throttle * rest * slots * lost / issued)
    for since in (0, 1, score // 2, score - 1, score, 3 * score):
        barred = {slot for slot in range(slots) if one.choose(100 + since, 1 << slot) == NONE}
        count = min(slots - 1, -(-max(score - since, 0) // rest))
        assert barred == set([slot for slot in range(slots - 1, -1, -1) if slot != 3][:count]), f"the youngest first, {since} cycles later"


def test_a_barred_wave_may_compute() -> None:
    one = Scheduler("cache_conscious", 4, tags=4, rest=100, throttle=100)
    lose(one, 0, 4)
    assert one.choose(101, 0b1000) == NONE
    assert one.choose(101, 0b1000, memory=0) == 3
    assert one.choose(101, 0b1010, memory=0b0010) == 3
    assert one.choose(101, 0b1001) == 0, "the wave with the highest score is never barred"


def test_only_lines_a_wave_had_count_and_tags_are_few() -> None:
    one = Scheduler("cache_conscious", 4, tags=2, rest=100, throttle=100)
    for line in range(40):  # a stream: nothing comes again
        one.tell(10, 1, MISSED, line)
        one.tell(10, 1, FILLED, line)
    one.tell(10, 2, MISSED, 39)  # another wave's line
    one.tell(10, 1, MISSED, 37)  # longer ago than there are tags
    assert one.choose(11, 0b1000) == 3
    one.tell(11, 1, MISSED, 38)
    assert one.choose(12, 0b1000) == NONE


def test_staying_ends_where_a_wave_cannot_go_on_at_once() -> None:
    waiting = Scheduler("greedy_then_waiting", 4)
    order, last = [], NONE
    for cycle in (0, 1, 2):  # all can go on at once
        last = waiting.choose(cycle, 0b1111, last)
        order.append(last)
    for cycle in (4, 6, 8, 10):  # a pipe that takes an instruction every other cycle
        last = waiting.choose(cycle, 0b1111, last)
        order.append(last)
    assert order == [0, 0, 0, 1, 2, 3, 0]


@pytest.mark.parametrize("waves", [4, 8, 16])
def test_waves_at_one_busy_pipe_go_on_at_the_same_pace(waves: int) -> None:
    """Measured on h200_products: the first of 16 or 32 waves ends at 0.90 to 1.00 of the last, where each could fill the pipe alone."""
    tables, steps = device(slots=waves), 64
    code = program([op(pipe=SPECIAL, interval=4, latency=6, dst=k % 4, src=(k % 4,)) for k in range(steps)], [EXIT])
    ends = {}
    for name in ("greedy_then_waiting", "greedy_then_oldest"):
        engine = simulate(
            tables, code, lambda workgroup, wave: ([(0, 32), (1, 32)], [], []), waves=waves, chosen=Scheduler(name, waves).chosen(tables)
        )
        ends[name] = engine.last_end()
        issued = engine.counters()["wave_instructions"]
        waited = sum(value for counter, value in engine.counters().items() if counter.startswith("stall_")) + issued
        resident = waited / engine.last_end() / waves
        assert (resident > 0.9) == (name == "greedy_then_waiting"), (name, resident)
    assert ends["greedy_then_waiting"] == pytest.approx(ends["greedy_then_oldest"], rel=0.02), "the pipe is full either way"
