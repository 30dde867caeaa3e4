"""The workgroups of a last, partial generation are timed by themselves, where a window is all that is simulated."""

from __future__ import annotations

import numpy as np
import pytest
from archex.sampling import Plan, Work, left_over, plan

WINDOW = Plan("window", np.zeros(0, np.int64), 0, 0)


def work(workgroups: int, spread: float = 0.0) -> Work:
    return Work(workgroups, 200_000.0, spread, 200_000.0 * workgroups)


@pytest.mark.parametrize(("workgroups", "left"), [(896, 104), (792, 0), (700, 0), (1584, 0), (1600, 16), (792 * 25 + 1, 0)])
def test_what_is_left_over(workgroups: int, left: int) -> None:
    assert left_over(work(workgroups), 792, WINDOW) == left


def test_workgroups_of_many_sizes_do_not_end_together() -> None:
    assert left_over(work(896, spread=0.3), 792, WINDOW) == 0


def test_a_plan_that_simulates_the_end_needs_nothing_more() -> None:
    small = Work(2000, 100.0, 0.0, 200_000.0)
    assert left_over(small, 792, plan(small, 792, False)) == 0


def test_a_window_that_shows_the_last_workgroups_leaves_none_over() -> None:
    long = work(896)
    assert left_over(long, 792, Plan("window", np.zeros(0, np.int64), int(long.total - 50 * long.mean), 896)) == 0
    assert left_over(long, 792, Plan("window", np.zeros(0, np.int64), int(long.total - 200 * long.mean), 896)) == 104
