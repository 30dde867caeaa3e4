"""Large arrays are used again once nobody holds them, and then they are zeros again."""

from __future__ import annotations

import numpy as np
import pytest
from archex.engine import used_again
from archex.engine.state import HOST_LINE
from archex.engine.used_again import KEPT, lying_together, zeros


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(used_again, "_rooms", [])


def test_what_nobody_holds_is_used_again_as_zeros() -> None:
    array = zeros(10_000)
    place = array.ctypes.data
    array[:] = 7
    del array
    again = zeros(9_000)
    assert again.ctypes.data == place
    assert len(again) == 9_000
    assert not again.any()


def test_what_somebody_holds_is_not() -> None:
    array = zeros(10_000)
    array[:] = 7
    part = array[100:200].reshape(10, 10)
    del array
    others = [zeros(10_000) for _ in range(KEPT + 1)]
    for other in others:
        other[:] = 1
    assert (part == 7).all()
    assert len({other.ctypes.data for other in others}) == len(others)


def test_a_room_too_small_is_given_up() -> None:
    small = zeros(1_000)
    del small
    large = zeros(1_000_000)
    assert len(large) == 1_000_000
    assert large.ctypes.data % (8 * HOST_LINE) == 0
    assert not large.any()


def test_what_is_held_for_long_keeps_nothing_from_being_used_again() -> None:
    held = [zeros(10_000) for _ in range(KEPT)]
    array = zeros(10_000)
    place = array.ctypes.data
    del array
    assert zeros(10_000).ctypes.data == place
    assert all(len(one) == 10_000 for one in held)


def test_arrays_lie_together_as_they_were() -> None:
    arrays = [np.arange(7), np.full((3, 5), 0.5), np.zeros((0, 4), np.int64), np.arange(21, dtype=np.int32).reshape(7, 3)]
    found = lying_together(arrays)
    for array, copy in zip(arrays, found, strict=True):
        assert copy.dtype == array.dtype
        assert np.array_equal(copy, array)
        assert copy.flags.c_contiguous
        assert copy.ctypes.data % (8 * HOST_LINE) == 0
    found[0][:] = 9
    assert (found[1] == 0.5).all()
