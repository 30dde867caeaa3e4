"""Residence on a compute unit against the vendors' own rules: every golden case."""

from __future__ import annotations

import json
from typing import Any

import pytest
from archex.base import folders
from archex.base.errors import UnsupportedError
from archex.describe import Occupancy, occupancy
from archex.describe.occupancy import residence, vector_cache_bytes, workgroup_limits
from archex.testing.devices import described

_KIB = 1024
#: bits of the golden cases' `lim`
_CODES = {"waves": 1, "registers": 2, "local_memory": 4, "workgroups": 8}


def cases(file: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folders.reference() / "occupancy" / file).read_text().splitlines()]


@pytest.mark.parametrize("case", cases("nvidia_golden.jsonl"), ids=lambda c: f"{c['arch'][:5]}-{c['regs']}-{c['block']}-{c['dyn_smem']}")
def test_waves_of_32(case: dict[str, Any]) -> None:
    spec = described("a100" if "A100" in case["arch"] else "h200")
    unit, file, local = spec["compute_unit"], spec["register_file"], spec["local_memory"]
    given = -(-case["regs"] // file.granule) * file.granule
    limits, _ = workgroup_limits(unit, file, local, case["block"], given, case["dyn_smem"])
    assert limits["registers"] == case["bl_regs"]
    assert limits["waves"] == case["bl_warps"]
    assert limits["local_memory"] == case["bl_smem"]
    if case["blocks"] == 0:
        with pytest.raises(UnsupportedError):
            residence(unit, file, local, case["block"], case["regs"], case["dyn_smem"], 0)
        return
    found = residence(unit, file, local, case["block"], case["regs"], case["dyn_smem"], 0)
    assert (found.workgroups, found.waves) == (case["blocks"], case["warps"])
    assert sum(_CODES[name] for name in found.limiters) == case["lim"]


@pytest.mark.parametrize("device", ["mi210", "mi300a", "mi300x"])
@pytest.mark.parametrize(
    "case", cases("cdna_by_rule.jsonl"), ids=lambda c: f"{c['vgpr']}-{c['agpr']}-{c['local_memory_bytes']}-{c['work_items']}"
)
def test_waves_of_64(device: str, case: dict[str, Any]) -> None:
    found = occupancy(described(device), case["work_items"], case["vgpr"], case["local_memory_bytes"], case["agpr"])
    assert (found.workgroups, found.waves) == (case["wg"], case["waves_cu"])
    assert found.registers == case["vgpr_alloc"]
    assert found.local_bytes == case["lds_alloc"]
    names = {"lds": {"local_memory"}, "vgpr": {"registers"}, "vgpr+slots/barriers": {"registers", "waves", "workgroups"}}
    assert set(found.limiters) <= names[case["limits"]]


def held(**wanted: int) -> Occupancy:
    asked = {"threads": 256, "registers": 32, "local_bytes": 0} | wanted
    return occupancy(described("h200"), **asked)


@pytest.mark.parametrize(
    ("wanted", "reason"),
    [
        ({"threads": 2048}, "a workgroup of 2048 threads: the device's largest has 1024"),
        ({"registers": 300}, "304 registers a thread: the device has 255"),
        ({"local_bytes": 232449}, "232449 B of local memory: a workgroup can have 232448 B"),
        (
            {"threads": 1024, "registers": 65},
            "a workgroup of 1024 threads doesn't fit on a compute unit: 72 registers a thread",
        ),
    ],
)
def test_a_limit_is_named_with_its_number(wanted: dict[str, int], reason: str) -> None:
    with pytest.raises(UnsupportedError) as caught:
        held(**wanted)
    assert caught.value.reason == reason


def test_a_small_grid_is_the_limit() -> None:
    found = held()
    assert found.limiter(grid=132 * 8, units=132) == "waves"
    assert found.limiter(grid=132 * 8 - 1, units=132) == "grid"


def test_the_vector_cache_has_what_local_memory_leaves() -> None:
    spec = described("h200")
    size = spec["vector_cache"].size
    assert vector_cache_bytes(spec, held()) == size - 8 * _KIB == (256 - 16) * _KIB
    assert vector_cache_bytes(spec, held(local_bytes=100 * _KIB)) == size - 228 * _KIB
    assert vector_cache_bytes(spec, held(local_bytes=30 * _KIB, registers=128)) == size - 64 * _KIB
    tiny = described("tiny")
    assert vector_cache_bytes(tiny, occupancy(tiny, 128, 32, 8 * _KIB)) == tiny["vector_cache"].size


def test_more_of_anything_never_lowers_residence() -> None:
    base = held(local_bytes=20 * _KIB, registers=64)
    for path, value in (("register_file.size", "512 KiB"), ("compute_unit.waves", 128), ("compute_unit.workgroups", 64)):
        assert occupancy(described("h200", {path: value}), 256, 64, 20 * _KIB).workgroups >= base.workgroups
