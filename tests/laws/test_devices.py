"""Every shipped device runs every launch of the smoke suite, and what runs depends on the device."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from archex.assembly import assemble
from archex.base.options import Options
from archex.simulate import simulate
from archex.suite.launch import read_folder
from archex.sweeps.settings import KERNELS
from archex.testing.devices import described

DEVICES = ("h100_sxm", "h200", "a100", "mi210", "mi300a", "mi300x")


@cache
def rows(device: str) -> dict[str, dict[str, Any]]:
    assembled = assemble(described(device))
    return {name: simulate(assembled, launch, Options()) for name, launch in read_folder(KERNELS / "smoke").items()}


@pytest.mark.parametrize("device", DEVICES)
def test_a_device_runs_the_smoke_suite(device: str) -> None:
    for name, row in rows(device).items():
        assert row["cycles"] > row["launch_drain_cycles"], name
        assert 0 < row["issue_active_pct"] < 100, name
        assert row["dram_read_bytes"] > 0, name


def test_more_of_the_same_dies_are_never_slower() -> None:
    for name in ("copy", "reduce", "gather", "histogram"):
        assert rows("mi300x")[name]["cycles"] <= 1.01 * rows("mi300a")[name]["cycles"], name
