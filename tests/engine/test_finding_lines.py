"""Where a line lives and whether it is there: all ways compared at once, spots unpacked, each against the plain definition."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from archex.base.jit import jit
from archex.engine import state
from archex.engine.bits import mix
from archex.engine.cache import find, home_of, set_at, spot_of


@jit
def found(cells: Any, first: int, ways: int, line: int) -> int:
    return find(cells, first, ways, line)


@pytest.mark.parametrize("ways", [1, 2, 4, 7, 8, 9, 15, 16, 20, 24])
def test_find_is_the_last_way_that_holds_the_line(ways: int) -> None:
    generator = np.random.default_rng(ways)
    stride = -(-3 * ways // state.HOST_LINE) * state.HOST_LINE
    for _ in range(200):
        cells = ~generator.integers(-1, 30, 3 * stride)  # tags are complements, of -1 too
        first, line = stride, int(generator.integers(-1, 40))
        holding = np.flatnonzero(~cells[first : first + ways] == line)
        assert found(cells, first, ways, line) == (first + holding[-1] if len(holding) else -1)


def index_of(line: int, sets: int, params: Any) -> int:
    return line % sets


@pytest.mark.parametrize(("partitions", "slices", "sets", "hashed"), [(1, 1, 416, 0), (2, 48, 266, 1), (2, 5, 7, 0), (1, 16, 1024, 1)])
def test_a_spot_names_one_set_of_each_partition(partitions: int, slices: int, sets: int, hashed: int) -> None:
    level = np.zeros((1, state.INT_COLUMNS), np.int64)
    columns = (state.I_PARTITIONS, state.I_SLICES, state.I_SETS, state.I_HASHED, state.I_STRIDE, state.I_BASE, state.I_SERVER)
    for column, value in zip(columns, (partitions, slices, sets, hashed, 48, 1000, 10), strict=True):
        level[0, column] = value
    spot_at, place, home = (getattr(function, "py_func", function) for function in (spot_of, set_at, home_of))
    for line in [*range(2000), 1 << 38, (1 << 45) + 12345]:
        local, wanted = line // partitions, 0
        if partitions > 1:
            wanted = (line % partitions + mix_of(local)) % partitions
        which, inner = local % slices, local // slices if slices > 1 else local
        if hashed and slices > 1:
            which = (which + mix_of(inner)) % slices
        spot = plain(spot_at)(level, np.zeros((1, 1)), (index_of,), np.zeros(state.SCALARS, np.int64), 0, line)
        assert home(spot) == wanted
        for instance in range(2):
            for partition in range(partitions):
                unit = (instance * partitions + partition) * slices + which
                assert place(level, 0, instance, partition, spot) == (1000 + (unit * sets + inner % sets) * 48, 10 + unit)


def test_runs_take_turns_and_partitions_within_them() -> None:
    level = np.zeros((1, state.INT_COLUMNS), np.int64)
    columns = (state.I_PARTITIONS, state.I_SLICES, state.I_SETS, state.I_HASHED, state.I_RUN, state.I_TURN, state.I_APART)
    level[0, list(columns)] = 2, 48, 266, 1, 8, 2, 16
    spot_at = plain(getattr(spot_of, "py_func", spot_of))
    spots = [spot_at(level, np.zeros((1, 1)), (index_of,), np.zeros(state.SCALARS, np.int64), 0, line) for line in range(8 * 16 * 400)]
    places = [spot >> state.SLICE_SHIFT for spot in spots]  # partition and slice
    for first in range(0, len(places), 8 * 16):
        group = places[first : first + 8 * 16]
        for run in range(0, len(group), 8):
            a, b = group[run], group[run + 2]
            assert group[run : run + 8] == [a, a, b, b, a, a, b, b]
            assert abs(a - b) == 1 << (state.HOME_SHIFT - state.SLICE_SHIFT)
        assert len(set(group)) == 32  # sixteen runs in a row lie apart
    load = np.bincount([(place & 0xFFFF) + 48 * (place >> 16) for place in places])
    assert len(load) == 96
    assert load.max() < 1.25 * load.mean()
    within = np.bincount([spot & ((1 << state.SLICE_SHIFT) - 1) for spot in spots], minlength=266)
    assert within.max() < 2 * within.mean()


def mix_of(value: int) -> int:
    return int(getattr(mix, "py_func", mix)(value))


def plain(function: Any) -> Any:
    """The function with what it calls as plain Python, whether or not the engine is compiled."""
    names = function.__globals__ | {"mix": mix_of, "whole": lambda array: array}
    return type(function)(function.__code__, names)
