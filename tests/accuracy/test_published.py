"""Devices without silicon of ours against published microbenchmarks: latency of each level and the bandwidth that kernels achieve.

A published row is taken from `results/reference/facts` by device and name. Where sources disagree, the device's own files say which is
followed; a row here is of that source. A chase's own arithmetic is not in the published latencies: it is what a hit takes beyond
`vector_cache.latency`, and is taken off.
"""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from archex.base import folders
from archex.base.options import Options
from archex.programs.buffers import Fill
from archex.simulate import simulate
from tests.laws.kernels import CHASE, again, arrays
from tests.laws.launches import device, launch, run

KIB, MIB = 1 << 10, 1 << 20
LINE = 128
#: How far a figure may be off.
BOUND = 0.15
nightly = pytest.mark.nightly

A100, H100, H200 = "A100_SXM_80GB", "H100_SXM", "H200_SXM"
#: device, published device, row, bytes that are chased, steps before the measured ones (a whole round where the bytes fit somewhere)
LATENCIES = [
    ("a100", A100, "load_latency_ws_62kB", 62_000, 500),
    ("a100", A100, "load_latency_ws_391kB", 391_000, 3100),
    ("a100", A100, "load_latency_ws_340388kB", 340_388_000, 600),
    ("h100_sxm", "H100_PCIe", "load_latency_ws_62kB", 62_000, 500),
    ("h100_sxm", H100, "l2", 512_000, 4000),
    ("h100_sxm", H100, "hbm", 512_000_000, 600),
    ("h100_sxm", "GH200", "dram", 512_000_000, 600),
    ("mi210", "MI210", "load_latency_ws_7kB", 7_000, 64),
    ("mi210", "MI210", "load_latency_ws_62kB", 62_000, 500),
    ("mi210", "MI210", "load_latency_ws_391kB", 391_000, 3100),
    ("mi210", "MI210", "load_latency_ws_4333kB", 4_333_000, 34_000),
    ("mi210", "MI210", "load_latency_ws_75772kB", 75_772_000, 600),
    ("mi300x", "MI300X", "vector_l1_hit", 7_000, 64),
    ("mi300x", "MI300X", "l2_hit", 512_000, 4000),
    ("mi300x", "MI300X", "hbm", 2_000_000_000, 600),
]
#: The same for bytes that take long to walk.
FAR_LATENCIES = [
    ("a100", A100, "load_latency_ws_16482kB", 16_482_000, 258_000),
    ("a100", A100, "load_latency_ws_29207kB", 29_207_000, 229_000),
    ("a100", A100, "load_latency_ws_75772kB", 75_772_000, 592_000),
    ("mi210", "MI210", "load_latency_ws_29207kB", 29_207_000, 229_000),
    ("mi300x", "MI300X", "infinity_cache", 16_000_000, 125_000),
]
#: device, published device, row, arrays read, arrays written
STREAMS = [
    ("a100", A100, "gpu_stream_read", 1, 0),
    ("a100", A100, "gpu_stream_scale", 1, 1),
    ("a100", A100, "babelstream_copy", 1, 1),
    ("a100", A100, "babelstream_add", 2, 1),
    ("h100_sxm", H100, "babelstream_dot", 2, 0),
    ("h100_sxm", H100, "babelstream_copy", 1, 1),
    ("h100_sxm", H100, "babelstream_triad", 2, 1),
    ("h200", H200, "babelstream_copy", 1, 1),
    ("mi210", "MI210", "l2_read_bw_ws_132608kB", 1, 0),
    ("mi210", "MI210", "gpu_stream_scale", 1, 1),
    ("mi300x", "MI300X", "babelstream_add", 2, 1),
]
#: device, published device, row, bytes read over and over, whether each compute unit reads them from its own cache
CACHES = [
    ("a100", A100, "per_sm_data_bw_ws_16kB", 16 * KIB, True),
    ("a100", A100, "l2_read_bw_ws_4096kB", 4 * MIB, False),
    ("mi210", "MI210", "per_sm_data_bw_ws_8kB", 8 * KIB, True),
    ("mi210", "MI210", "l2_read_bw_ws_4096kB", 4 * MIB, False),
]


@cache
def facts() -> dict[tuple[str, str], tuple[float, str]]:
    """(published device, row) -> its figure and unit, the last of several."""
    with (folders.reference() / "facts" / "published_facts.csv").open() as file:
        return {(row["device"], row["name"]): (row["value"], row["unit"]) for row in csv.DictReader(file)}  # type: ignore[misc]


def published(of: str, row: str) -> tuple[float, str]:
    value, unit = facts()[of, row]
    return float(value), unit


def chased(folder: Path, name: str, read: int, first: int) -> float:
    """Cycles of a step of a chase through `read` bytes, after `first` steps."""
    steps = min(max(first, 128), 4000)
    fill = Fill("random_cycle", stride_bytes=LINE)
    few, many = (
        run(device(name), launch(folder, CHASE, 1, n=n, read=read // LINE * LINE, dtype="u32", fill=fill)) for n in (first, first + steps)
    )
    return float(many["cycles"] - few["cycles"]) / steps


@pytest.mark.parametrize(
    ("name", "of", "row", "read", "first"), [*LATENCIES, *(pytest.param(*case, marks=nightly) for case in FAR_LATENCIES)]
)
def test_latencies(tmp_path: Path, name: str, of: str, row: str, read: int, first: int) -> None:
    clock = device(name).clock_hz
    own = chased(tmp_path, name, 4 * KIB, 64) - device(name).spec["vector_cache"].latency.cycles(clock)
    found = chased(tmp_path, name, read, first) - own
    value, unit = published(of, row)
    assert found / (clock / 1e9 if unit == "ns" else 1) == pytest.approx(value, rel=BOUND)


def test_an_l2_that_is_a_little_too_small_still_helps_on_silicon(tmp_path: Path) -> None:
    """47 MB in 40 MiB: 484 cycles, where the model, which forgets the oldest first, keeps nothing of a walk in circles."""
    value, _ = published(A100, "load_latency_ws_47045kB")
    nothing, _ = published(A100, "load_latency_ws_75772kB")
    assert value < 0.9 * nothing


@nightly
@pytest.mark.parametrize(("name", "of", "row", "loads", "stores"), STREAMS)
def test_streams(tmp_path: Path, name: str, of: str, row: str, loads: int, stores: int) -> None:
    size = (1024 if name == "mi300x" else 256) * MIB
    work = launch(tmp_path, arrays(loads, stores), 256, size // 16 // 256, read=size * (loads + stores), fill=Fill("zero"))
    found = size * (loads + stores) / simulate(device(name), work, Options())["time_ns"]
    assert found == pytest.approx(published(of, row)[0], rel=BOUND)


def read_again(folder: Path, name: str, size: int, own: bool, step: int, rounds: tuple[int, int]) -> tuple[float, dict[str, Any]]:
    """GB/s that all lanes take from `size` bytes, and the columns of the longer run."""
    on, threads = device(name), 256
    unit = on.spec["compute_unit"]
    groups = unit.count * (32 if unit.wave_width == 64 and not own else 16) * unit.wave_width // threads
    text = again(size, step, "%r1" if own else "%r2", "ca" if own else "cg")
    few, many = (run(on, launch(folder, text, threads, groups, n=n, read=size, fill=Fill("zero"))) for n in rounds)
    return groups * threads * 64 * (rounds[1] - rounds[0]) / (many["time_ns"] - few["time_ns"]), many


@pytest.mark.parametrize(("name", "of", "row", "size", "own"), CACHES)
def test_caches(tmp_path: Path, name: str, of: str, row: str, size: int, own: bool) -> None:
    found, _ = read_again(tmp_path, name, size, own, 4096 if own else 17 * 4096, (8, 24))
    assert found == pytest.approx(published(of, row)[0], rel=BOUND)


@nightly
def test_a_memory_side_cache(tmp_path: Path) -> None:
    """64 MiB for eight dies: what their own caches hold does not count."""
    found, row = read_again(tmp_path, "mi300x", 64 * MIB, False, 17 * 4096 * 128, (8, 16))
    value, unit = published("MI300X", "infinity_cache_measured")
    assert unit == "TB/s"
    assert found * (1 - row["l2_hit_pct"] / 100) == pytest.approx(1000 * value, rel=BOUND)


@nightly
def test_bounds_of_a_tool_that_is_not_tuned_for_peaks(tmp_path: Path) -> None:
    """It gives what is reached at least; the vendor gives the most."""
    found, _ = read_again(tmp_path, "mi300x", 2 * MIB, False, 17 * 4096, (8, 24))
    assert published("MI300X", "l2_read")[0] * 2**30 / 1e9 < found < 1000 * published("MI300X", "l2_aggregate_read_bandwidth_peak")[0]
