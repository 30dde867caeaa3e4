"""A faster part never makes a slower device (by more than 1 %), a larger cache never finds less (ways under LRU: never)."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from archex.programs.buffers import Fill
from archex.suite.launch import Launch
from tests.laws.kernels import ARITHMETIC, EXCHANGE, EXCHANGE_LOCAL, GATHER, VECTOR_ADD, stream
from tests.laws.launches import device, launch, run

KERNELS = ("vector_add", "stream", "arithmetic", "exchange")
#: A part that is better than the shipped one's, by device.
FASTER: dict[str, dict[str, Any]] = {
    "tiny": {
        "l2.latency": "30 ns",
        "l2.read_sector": 0.25,
        "l2.write_sector": 0.25,
        "l2.size": "128 KiB",
        "memory.latency": "50 ns",
        "memory.bandwidth": "64 GB/s",
        "fabric.port_read": "128 B/cycle",
        "vector_cache.latency": 10,
        "vector_cache.pending": 16,
        "vector_cache.size": "8 KiB",
        "vector_cache.lines_per_cycle": 4,
        "local_memory.latency": 5,
        "local_memory.banks": 64,
        "compute_unit.clock": "2 GHz",
        "compute_unit.count": 4,
        "compute_unit.schedulers": 4,
        "compute_unit.waves": 32,
        "compute_unit.memory_queue": 8,
        "compute_unit.barrier_base": 1,
        "simd.operations.fma_f64.interval": 1,
        "simd.operations.fma_f64.latency": 4,
        "simd.operations.fma_f32.latency": 2,
        "simd.branch_taken": 1,
        "special_function_unit.operations.special.interval": 4,
        "instruction_cache.cold": 10,
        "register_file.size": "128 KiB",
        "dispatcher.relaunch": 2,
    },
    "h200": {
        "l2.latency": "70 ns",
        "memory.latency": "140 ns",
        "memory.bandwidth": "9600 GB/s",
        "compute_unit.clock": "2.4 GHz",
        "simd.operations.fma_f32.interval": 1,
        "simd.operations.load_global.interval": 2,
        "special_function_unit.operations.special.interval": 4,
        "local_memory.latency": 12,
        "vector_cache.latency": 15,
        "compute_unit.barrier_base": 4,
    },
    "mi300a": {
        "l2.latency": "70 ns",
        "memory.latency": "190 ns",
        "memory_side_cache.latency": "110 ns",
        "compute_unit.clock": "2.6 GHz",
        "simd.operations.fma_f32.interval": 2,
        "special_function_unit.operations.special.interval": 8,
        "local_memory.latency": 32,
    },
}
CASES = [(name, path) for name, parts in FASTER.items() for path in parts]


def kernel(folder: Path, name: str, on: str) -> Launch:
    groups = 24 if on == "tiny" else 140
    if name == "vector_add":
        return launch(folder, VECTOR_ADD, 256, groups, read=4 << 20)
    if name == "stream":
        return launch(folder, stream(2), 128, groups, n=6, read=groups * 128 * 4 * 13, dtype="u32", fill=Fill("zero"))
    if name == "arithmetic":
        return launch(folder, ARITHMETIC, 128, groups, n=12)
    return launch(folder, EXCHANGE, 256, groups, n=6, local=EXCHANGE_LOCAL)


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Time of a kernel on a device as shipped."""
    folder = tmp_path_factory.mktemp("shipped")
    return cache(lambda name, on: run(device(on), kernel(folder, name, on))["time_ns"])


@pytest.mark.parametrize(("on", "path"), CASES, ids=lambda part: str(part))
def test_a_faster_part_never_makes_a_slower_device(tmp_path: Path, shipped: Any, on: str, path: str) -> None:
    faster = device(on, **{path.replace(".", "__"): FASTER[on][path]})
    times = {name: (run(faster, kernel(tmp_path, name, on))["time_ns"], shipped(name, on)) for name in KERNELS}
    assert {name: pair for name, pair in times.items() if pair[0] > 1.01 * pair[1]} == {}


@pytest.mark.parametrize(("part", "column", "one_way"), [("vector_cache", "vector_cache_hit_pct", 1), ("l2", "l2_hit_pct", 8)])
def test_more_ways_never_find_less_under_lru(tmp_path: Path, part: str, column: str, one_way: int) -> None:
    """The sets stay, the ways grow, the order of accesses is one wave's."""
    work = launch(tmp_path, GATHER, 32, n=200, read=256 << 10)
    found = []
    for ways in (1, 2, 4, 8, 16):
        found.append(run(device("tiny", **{f"{part}__ways": ways, f"{part}__size": f"{one_way * ways} KiB"}), work)[column])
    assert found == sorted(found)
    assert found[-1] > 1.5 * found[0] > 0


def test_a_larger_cache_never_reads_more_from_memory(tmp_path: Path) -> None:
    work = launch(tmp_path, GATHER, 256, 4, n=50, read=256 << 10)
    read = [run(device("tiny", l2__size=f"{size} KiB"), work)["dram_read_bytes"] for size in (32, 64, 128, 256, 512)]
    assert all(more <= 1.01 * less for less, more in pairwise(read))
    assert 0.95 * (256 << 10) < read[-1] <= 256 << 10 < read[0] / 2
