"""The work of a launch is counted on workgroups that stand for the whole grid, however its shape falls together with their number."""

from __future__ import annotations

import numpy as np
import pytest
from archex.sampling import MOST, Work, count, plan


@pytest.mark.parametrize("width", [32, 64, 100, 128])
def test_work_that_depends_on_the_place_in_a_plane(width: int) -> None:
    def work(some: np.ndarray) -> np.ndarray:
        x, y = some % width / width - 0.6, some // width / width - 0.5
        instructions = np.where(x * x + y * y < 0.1, 10_000.0, 200.0)
        return np.stack([instructions, instructions / 100.0], axis=1)

    total, products = work(np.arange(width * width)).sum(0)
    assert count(work, width * width).total == pytest.approx(total, rel=0.07)
    assert count(work, width * width).products == pytest.approx(products, rel=0.07)


def test_workgroups_that_agree_are_not_counted_on() -> None:
    asked: list[int] = []

    def work(some: np.ndarray) -> np.ndarray:
        asked.extend(some.tolist())
        return np.tile([500.0, 16.0], (len(some), 1))

    found = count(work, 100_000)
    assert (found.total, found.products) == (500.0 * 100_000, 16.0 * 100_000)
    assert len(asked) == 4
    assert {0, 99_999} <= set(asked)


def test_unequal_workgroups_are_simulated_whole_where_that_can_be_paid_for() -> None:
    kinds = {spread: plan(Work(10_000, 1.8e-4 * MOST, spread, 1.8 * MOST), 1_000, False).kind for spread in (0.0, 0.8)}
    assert kinds[0.0] != "whole"
    assert kinds[0.8] == "whole"
    assert plan(Work(10_000, 3e-4 * MOST, 0.8, 3.0 * MOST), 1_000, False).kind != "whole"
