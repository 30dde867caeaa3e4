"""Laws of where words lie in banks, of what lanes ask for together, and of where workgroups go."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from archex.engine.policies import NONE, SCRATCH, Access, PlaceView, compile_policy
from archex.testing.devices import installed

LANES = np.arange(32)


def function(kind: str, name: str, what: str) -> Any:
    return compile_policy(getattr(installed().parts[kind, name].part, what), what)


def passes(name: str, words: Any, banks: int = 32) -> int:
    access = Access(4 * np.asarray(words, dtype=np.int64), len(words), 4, 0)
    params = np.array([banks, 4.0])
    return int(function("bank_conflict", name, "access_cycles")(access, np.zeros(SCRATCH, dtype=np.int64), params))


@pytest.mark.parametrize("stride", range(1, 65))
def test_strides_over_banks_in_turn(stride: int) -> None:
    assert passes("word_conflicts", stride * LANES) == np.gcd(stride, 32)


@pytest.mark.parametrize("banks", [32, 64, 128, 256])
def test_twice_the_banks_never_take_more_passes(banks: int) -> None:
    random = np.random.default_rng(1)
    for span in (64, 1024, 8192):
        words = random.integers(0, span, 32)
        assert passes("word_conflicts", words, banks) <= passes("word_conflicts", words, banks // 2)


@pytest.mark.parametrize("banks", [32, 48])
def test_rows_and_columns_of_a_swizzled_table_are_free_of_conflicts(banks: int) -> None:
    for line in range(banks):
        lanes = np.arange(min(banks, 32))
        assert passes("swizzled", line * banks + lanes, banks) == 1
        assert passes("swizzled", lanes * banks + line, banks) == 1
        assert passes("word_conflicts", lanes * banks + line, banks) == len(lanes)


def test_a_swizzle_has_a_worst_case_too() -> None:
    """Word r of row r lies in bank 0 for every r."""
    assert passes("swizzled", LANES * 33) == 32
    assert passes("word_conflicts", LANES * 33) == 1


def test_no_stride_of_hashed_rows_takes_as_long_as_its_worst_in_turn() -> None:
    found = [passes("hashed_banks", stride * LANES) for stride in range(1, 257)]
    assert max(found) <= 10
    assert np.mean([passes("hashed_banks", 32 * stride * LANES) for stride in range(1, 65)]) == pytest.approx(3.5, abs=0.5)


def lines(name: str, addresses: Any, size: int = 4, **numbers: float) -> list[tuple[int, int]]:
    lanes = np.asarray(addresses, dtype=np.int64)
    found, sectors = np.zeros(2 * len(lanes), dtype=np.int64), np.zeros(2 * len(lanes), dtype=np.int64)
    params = np.array(list(numbers.values()), dtype=np.float64)
    access = Access(lanes, len(lanes), size, 0)
    count = function("coalescing", name, "coalesce")(access, 128, 32, found, sectors, np.zeros(SCRATCH, dtype=np.int64), params)
    return list(zip(found[:count].tolist(), sectors[:count].tolist(), strict=True))


@pytest.mark.parametrize("group", [1, 2, 4, 8, 16, 32, 64])
def test_groups_of_lanes_name_a_line_each(group: int) -> None:
    """64 lanes on words in a row touch two lines of four sectors; a group of lanes asks for what it covers."""
    found = lines("by_group", 4 * np.arange(64), lanes=group)
    assert len(found) == max(64 // group, 2)
    assert found[0] == (0, min((1 << max(group // 8, 1)) - 1, 15))
    assert len(lines("by_group", np.full(64, 256), lanes=group)) == 64 // group


def test_one_group_of_all_lanes_is_by_line() -> None:
    random = np.random.default_rng(2)
    for _ in range(20):
        addresses = random.integers(0, 4096, 32) // 8 * 8
        assert lines("by_group", addresses, 8, lanes=32) == lines("by_line", addresses, 8)


def placed(name: str, workgroups: int, room: int, units: int = 4) -> list[int]:
    """Workgroups each unit of an empty device is given."""
    held, last, state = np.zeros(units, dtype=np.int64), NONE, np.zeros(1, dtype=np.int64)
    for workgroup in range(workgroups):
        available = np.where(held < room, 0, 1 << 60).astype(np.int64)
        view = PlaceView(available, held, np.arange(units), last, workgroup, workgroup)
        last = int(function("placement", name, "place_workgroup")(view, state, np.zeros(0)))
        held[last] += 1
    return held.tolist()


def test_depth_first_fills_one_unit_before_the_next() -> None:
    assert placed("depth_first", 10, room=4) == [4, 4, 2, 0]
    assert placed("in_order", 10, room=4) == placed("least_held", 10, room=4) == [3, 3, 2, 2]
