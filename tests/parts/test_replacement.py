"""Laws of the replacement policies: each on the references for which its behaviour is known in closed form."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
from archex.engine.policies import FILLED_SET, HIT, NONE, SetView
from archex.parts.part import Part
from archex.testing import CONTRACTS
from archex.testing.devices import installed
from hypothesis import given, settings
from hypothesis import strategies as st


class Set:
    """One set of a cache under a policy, with what the engine does around it."""

    def __init__(self, name: str, ways: int, sets: int = 1, **numbers: Any) -> None:
        part: type[Part] = installed().parts["replacement", name].part
        contract = CONTRACTS["replacement"]()
        type(contract).part, type(contract).spec = part, numbers  # as a class derived from the contract sets them
        self.ways, self.pick, self.note = ways, contract.policy("pick_victim"), contract.note_set()  # type: ignore[attr-defined]
        self.state, self.params = contract.state(sets, ways), contract.params()
        self.tags, self.used, self.step = [[NONE] * ways for _ in range(sets)], np.zeros(sets * ways, dtype=np.int64), 0

    def touch(self, line: int, index: int = 0) -> bool:
        """Whether the line was there; it is now."""
        tags, self.step = self.tags[index], self.step + 1
        view = SetView(index * self.ways, self.ways, self.used, index, NONE, 0)
        hit = line in tags
        if hit:
            way = tags.index(line)
        elif NONE in tags:
            way = self.ways - 1 - tags[::-1].index(NONE)  # the engine takes the last empty way
        else:
            way = int(self.pick(view, self.state, self.params))
        tags[way] = line
        self.used[view.first + way] = self.step
        self.note(view._replace(hit=way, what=HIT if hit else FILLED_SET), self.state, self.params)
        return hit

    def hits(self, lines: Iterable[int]) -> int:
        return sum(self.touch(line) for line in lines)


CLASSIC = [1, 2, 3, 4, 1, 2, 5, 1, 2, 3, 4, 5]  # Belady, Nelson, Shedler 1969


def test_fifo_can_lose_by_more_ways() -> None:
    assert len(CLASSIC) - Set("fifo", 3).hits(CLASSIC) == 9
    assert len(CLASSIC) - Set("fifo", 4).hits(CLASSIC) == 10


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 9), max_size=80))
def test_lru_never_loses_by_more_ways(lines: list[int]) -> None:
    found = [Set("lru", ways).hits(lines) for ways in (1, 2, 3, 4, 8)]
    assert found == sorted(found)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 9), max_size=80), st.sampled_from([2, 4, 5]))
def test_fifo_and_lru_are_what_they_say(lines: list[int], ways: int) -> None:
    queue: list[int] = []
    stack: list[int] = []
    in_queue = in_stack = 0
    for line in lines:
        in_queue += line in queue
        in_stack += line in stack
        queue = queue if line in queue else [*queue, line][-ways:]
        stack = [*(other for other in stack if other != line), line][-ways:]
    assert Set("fifo", ways).hits(lines) == in_queue
    assert Set("lru", ways).hits(lines) == in_stack


@pytest.mark.parametrize("name", ["lru", "fifo"])
def test_going_round_one_line_more_than_fit_never_hits(name: str) -> None:
    assert Set(name, 8).hits(list(range(9)) * 20) == 0


def test_random_goes_round_better() -> None:
    """Going round n + 1 lines in n ways: one line is missing at a time. Each miss takes out one of n lines, evenly, and the next miss is
    where that line comes round: after 1 to n references, so a miss comes every (n + 1) / 2 of them."""
    ways, rounds = 8, 4000
    lines = list(range(ways + 1)) * rounds
    assert Set("random", ways).hits(lines) / len(lines) == pytest.approx(1 - 2 / (ways + 1), abs=0.01)


def test_random_takes_every_way_as_often_and_repeats_with_its_seed() -> None:
    def ways(seed: int) -> list[int]:
        one = Set("random", 8, seed=seed)
        view = SetView(0, 8, one.used, 0, NONE, 0)
        return [int(one.pick(view, one.state, one.params)) for _ in range(8000)]

    counts = np.bincount(ways(0), minlength=8)
    assert ((counts - 1000) ** 2 / 1000).sum() < 24.3  # chi-squared of 7 degrees, one in a thousand
    assert ways(3) == ways(3)
    assert ways(3)[:50] != ways(4)[:50]


@pytest.mark.parametrize("bits", [1, 2, 3])
@pytest.mark.parametrize("kept", [1, 3, 6])
def test_a_scan_leaves_what_is_used_as_long_as_the_paper_says(bits: int, kept: int) -> None:
    """`kept` lines that hit outlast a scan of up to (2^bits - 1) x (ways - kept) new lines, and not one of one more."""
    ways = 8
    most = (2**bits - 1) * (ways - kept)
    for scanned, stay in ((most, True), (most + 1, False)):
        one = Set("rrip", ways, bits=bits)
        one.hits([*range(kept), *range(kept)])
        assert one.hits(range(100, 100 + scanned)) == 0
        assert all(line in one.tags[0] for line in range(kept)) is stay


def test_a_duel_saves_part_of_a_set_too_small() -> None:
    """Going round more lines than fit: the first rule alone keeps nothing, the duel finds the rule that keeps most of the ways."""

    def misses(duel: int) -> int:
        cache, count = Set("rrip", 8, sets=64, duel=duel), 0
        for turn in range(60):
            for index in range(64):
                found = [cache.touch(100 * index + line, index) for line in range(12)]
                count += found.count(False) if turn >= 30 else 0
        return count

    assert misses(0) == 30 * 64 * 12
    assert misses(16) < 0.6 * misses(0)


def test_lines_used_a_moment_ago_stay() -> None:
    for name in ("lru", "pseudo_lru", "rrip"):
        for ways in (2, 4, 16):
            one = Set(name, ways)
            one.hits(range(ways))
            for step in range(4 * ways):
                line = one.tags[0][step % ways]
                assert one.touch(line)
                one.touch(1000 + step)
                assert line in one.tags[0], (name, ways)
