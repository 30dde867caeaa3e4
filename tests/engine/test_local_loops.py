"""Loops of compare and swap in local memory: a round for each lane that meets another on a bank, more where other waves come between."""

from __future__ import annotations

import pytest
from archex.base import layout as lay
from archex.engine import tables as tab
from archex.engine.run import Engine
from tests.engine.synthetic import FULL, MEMORY, Wave, device, op, program, simulate

EXIT = op(lay.EXIT, pipe=-1, kind_class="branch")
LOOP = [
    op(lay.LOCAL_LOAD, MEMORY, 1, 0, 0, (), 0, 4, lay.REPEATS, kind_class="local_load"),
    op(lay.LOCAL_ATOMIC, MEMORY, 1, 0, 1, (0,), 0, 4, lay.REPEATS, kind_class="local_store"),
    op(lay.BRANCH, -1, 1, 2, -1, (1,), flags=lay.REPEATS, kind_class="branch"),
]


def run(addresses: list[int], waves: int = 1, mask: int = FULL) -> Engine:
    def make(workgroup: int, wave: int) -> Wave:
        return [(0, 32), (1, 32)], [(lay.SCATTERED, 0, 0, mask)], [addresses]

    return simulate(device(), program(LOOP, [EXIT]), make, waves=waves)


def rounds(engine: Engine, waves: int = 1) -> float:
    return 1 + engine.counters()["repeated_instructions"] / len(LOOP) / waves


@pytest.mark.parametrize(("apart", "words", "expected"), [(4, 32, 1), (4, 8, 4), (4, 1, 32), (128, 32, 32), (64, 32, 16)])
def test_a_round_for_each_lane_on_a_bank(apart: int, words: int, expected: int) -> None:
    """The same where the words differ, for a bank is asked once a round."""
    assert rounds(run([lane % words * apart for lane in range(32)])) == expected


def test_lanes_that_are_not_there_take_no_round() -> None:
    assert rounds(run([0] * 32, mask=0x7)) == 3


def test_waves_come_between_only_on_the_same_words() -> None:
    alone, crowd = run([0] * 32), run([0] * 32, waves=4)
    assert rounds(crowd, 4) > 1.5 * rounds(alone)
    assert crowd.cycles() > 1.5 * alone.cycles()
    assert crowd.counters()["wave_instructions"] == 4 * alone.counters()["wave_instructions"]


def test_waves_on_words_of_their_own_do_not_meet() -> None:
    def make(workgroup: int, wave: int) -> Wave:
        return [(0, 32), (1, 32)], [(lay.SCATTERED, 0, 0, FULL)], [[wave * 512 + lane % 8 * 4 for lane in range(32)]]

    engine = simulate(device(), program(LOOP, [EXIT]), make, waves=4)
    assert rounds(engine, 4) == 4
    assert engine.counters()[f"stall_{tab.REASON_NAMES[tab.STALL_LOCAL_MEMORY]}"] > 0
