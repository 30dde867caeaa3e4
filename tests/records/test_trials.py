"""Fronts of trials, against the definition; and the file they are written to."""

from __future__ import annotations

import csv
import io
from itertools import product

import pytest
from archex.records.trials import Goal, Trial, front, table
from hypothesis import given
from hypothesis import strategies as some

GOALS = (Goal("time", "ns"), Goal("max:mfu_pct", "%", maximize=True), Goal("l2.size", "B"))


def trial(number: int, *values: float | None, broken: tuple[str, ...] = ()) -> Trial:
    return Trial(number, "tiny", f"l2.ways={number}", values, broken)


@given(some.lists(some.tuples(*[some.integers(0, 4)] * 3), max_size=30))
def test_nothing_on_the_front_is_beaten_and_everything_else_is(found: list[tuple[int, int, int]]) -> None:
    trials = [trial(number, *map(float, values)) for number, values in enumerate(found)]

    def beats(a: Trial, b: Trial) -> bool:
        pairs = [(-x, -y) if goal.maximize else (x, y) for x, y, goal in zip(a.values, b.values, GOALS, strict=True)]
        return all(x <= y for x, y in pairs) and any(x < y for x, y in pairs)

    kept = front(trials, GOALS)
    assert {t.number for t in trials if not any(beats(other, t) for other in trials)} == {t.number for t in kept}
    assert [t.values[0] for t in kept] == sorted(t.values[0] for t in kept)


def test_what_is_no_solution_is_not_on_it() -> None:
    trials = [trial(0, 1.0, 9.0, 1.0, broken=("l2.size <= 0",)), trial(1, None, 9.0, 1.0), trial(2, 5.0, 5.0, 5.0)]
    assert front(trials, GOALS) == trials[2:]
    assert front([], GOALS) == []


def test_many_trials_take_no_time() -> None:
    trials = [trial(x * 100 + y, float(x), float(y), float((x * 7 + y) % 5)) for x, y in product(range(100), range(100))]
    assert len(front(trials, GOALS)) == pytest.approx(5, abs=5)


def test_the_file() -> None:
    text = table([trial(3, 1.5, 70.0, 2.0**20)], GOALS)
    assert text == "trial,device,overrides,time (ns),max:mfu_pct (%),l2.size (B)\n3,tiny,l2.ways=3,1.5,70.0,1048576.0\n"
    assert list(csv.reader(io.StringIO(text)))[1][2] == "l2.ways=3"
