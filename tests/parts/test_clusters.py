"""How many clusters of workgroups run at a time, and what a device cannot start together."""

from __future__ import annotations

import numpy as np
import pytest
from archex.assembly import assemble
from archex.base.errors import UnsupportedError
from archex.describe.clusters import placing
from archex.engine import tables
from archex.testing.devices import described


def order(workgroups: int, size: int) -> np.ndarray:
    return np.arange(workgroups).reshape(-1, size)


def test_a_group_of_compute_units_holds_whole_clusters() -> None:
    spec = described("h200")
    groups = assemble(spec).tables.unit_group
    assert np.bincount(groups).tolist() == [16, 16, 16, 16, 16, 16, 18, 18]
    assert placing(spec, groups, 1, order(1024, 16)).resident == 8
    assert placing(spec, groups, 1, order(1024, 2)).resident == 66
    assert placing(spec, groups, 2, order(1024, 1)).resident == 264
    assert placing(spec, groups, 2, order(16, 1)).slots == 16


def test_what_does_not_fit_is_named() -> None:
    spec = described("h200")
    groups = assemble(spec).tables.unit_group
    with pytest.raises(UnsupportedError, match="clusters of 32 workgroups: the device starts 16 together"):
        placing(spec, groups, 1, order(64, 32))
    with pytest.raises(UnsupportedError, match="clusters of 2 workgroups: the device starts 1 together"):
        placing(described("tiny"), groups, 1, order(64, 2))
    with pytest.raises(UnsupportedError, match="no group of compute units holds one"):
        placing(spec, groups[::16], 1, order(64, 16))


def test_matrix_products_lower_the_clock_where_the_device_says_so() -> None:
    device = assemble(described("h200"))
    slow = device.at_matrix_clock()
    assert slow.clock_hz == 1.8e9
    latency = tables.LEVEL_LATENCY
    assert slow.tables.levels[1, latency] == pytest.approx(device.tables.levels[1, latency] * 1.8 / 1.98)
    assert slow.tables.levels[0, latency] == device.tables.levels[0, latency]
    tiny = assemble(described("tiny"))
    assert tiny.at_matrix_clock() is tiny
