"""Global memory on whole launches: requests and sectors, Little's law, time of memory under a core clock, levels from configuration."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from archex.assembly import Device, assemble
from archex.base import folders
from archex.engine import tables
from archex.programs.buffers import Fill
from archex.testing.devices import described
from tests.laws.kernels import CHASE, VECTOR_ADD, stream
from tests.laws.launches import device, launch, run

MIB = 1 << 20


@pytest.mark.parametrize(("name", "sector"), [("tiny", 32), ("h200", 32), ("mi300a", 128)])
def test_a_vector_add_asks_for_what_it_needs(tmp_path: Path, name: str, sector: int) -> None:
    on = device(name)
    row = run(on, launch(tmp_path, VECTOR_ADD, 256, 1280, read=4 * MIB))
    threads = 1280 * 256
    assert row["global_load_requests"] == 2 * threads // on.wave_width
    assert row["global_store_requests"] == threads // on.wave_width
    assert row["global_load_sectors"] == 2 * 4 * threads // sector
    assert row["global_store_sectors"] == 4 * threads // sector
    # Half of all lines live in the other partition, where there are two: these are looked for, and written, in both.
    twice = 1.5 if on.spec["l2"].partitions > 1 else 1.0
    assert row["l2_read_sectors"] == pytest.approx(twice * row["global_load_sectors"], rel=0.01 if twice > 1.0 else 0.0)
    assert row["l2_write_sectors"] == pytest.approx(twice * row["global_store_sectors"], rel=0.01 if twice > 1.0 else 0.0)
    assert row["dram_read_bytes"] == 2 * 4 * threads  # each byte once


def test_numbers_of_a_vector_add() -> None:
    """The published counts of 1,280 workgroups of 256 threads in waves of 32 are what the formulas above come to."""
    assert (2 * 1280 * 256 // 32, 2 * 4 * 1280 * 256 // 32, 4 * 1280 * 256 // 32) == (20_480, 81_920, 40_960)


def chase(folder: Path, on: Device, read: int, caches: str = "cold") -> dict[str, float]:
    """Time and cycles of one load of a chain through `read` bytes, a line a step."""
    fill = Fill("random_cycle", stride_bytes=128)
    few, many = (run(on, launch(folder, CHASE, 1, n=n, read=read, dtype="u32", fill=fill, caches=caches)) for n in (64, 192))
    return {name: (many[name] - few[name]) / 128 for name in ("time_ns", "cycles", "dram_read_bytes")}


@pytest.mark.parametrize("name", ["tiny", "h200", "mi300a"])
def test_memory_takes_its_nanoseconds_at_any_clock(tmp_path: Path, name: str) -> None:
    """Beyond the caches a load takes as long at 1.0 as at 2.4 GHz, but for the cycles the compute unit spends itself."""
    far, near = {}, {}
    for clock in ("1.0 GHz", "1.7 GHz", "2.4 GHz"):
        on = device(name, compute_unit__clock=clock)
        far[clock] = chase(tmp_path, on, 256 * MIB)
        near[clock] = chase(tmp_path, on, 2048, caches="warm")
    assert all(found["dram_read_bytes"] >= 32 for found in far.values())
    assert all(found["dram_read_bytes"] == 0 for found in near.values())
    cycles = [found["cycles"] for found in near.values()]
    assert cycles == [cycles[0]] * 3  # within the compute unit: cycles, at any clock
    times = [found["time_ns"] for found in far.values()]
    assert max(times) / min(times) < 1.05
    if name != "tiny":  # whose memory is so near that the loop itself counts
        assert max(times) / min(times) < 1.03


def bandwidth(folder: Path, on: Device, waves: int, loads: int, rounds: int) -> float:
    """Bytes a cycle that a compute unit reads, of `waves` waves with `loads` lines each in flight on every one."""
    units = on.spec["compute_unit"].count
    read = 4 * units * waves * on.wave_width * loads * (rounds + 1)
    few, many = (
        run(on, launch(folder, stream(loads), waves * on.wave_width, units, n=n, read=read, dtype="u32", fill=Fill("zero")))
        for n in (rounds // 2, rounds)
    )
    return float((many["dram_read_bytes"] - few["dram_read_bytes"]) / (many["cycles"] - few["cycles"]) / units)


@pytest.mark.parametrize(("name", "full"), [("tiny", (16, 4)), ("h200", (32, 4)), ("mi300a", (16, 4))])
def test_bandwidth_is_bytes_in_flight_over_latency_until_the_roof(tmp_path: Path, name: str, full: tuple[int, int]) -> None:
    on = device(name, **({"vector_cache__pending": 0} if name == "tiny" else {}))
    latency = chase(tmp_path, on, 256 * MIB)["cycles"]
    for waves, loads in ((1, 1), (4, 1), (8, 1)):
        little = waves * loads * 4 * on.wave_width / latency
        assert 0.83 * little < bandwidth(tmp_path, on, waves, loads, 8) < 1.03 * little, (waves, loads)
    roof = float(on.tables.dram[tables.DRAM_BYTES]) / on.spec["compute_unit"].count
    found = bandwidth(tmp_path, on, *full, 8)
    assert full[0] * full[1] * 4 * on.wave_width / latency > 1.1 * roof
    assert 0.85 * roof < found < 1.02 * roof


def test_misses_that_may_be_outstanding_limit_bandwidth_as_waves_do(tmp_path: Path) -> None:
    latency = chase(tmp_path, device("tiny"), 256 * MIB)["cycles"]
    for pending in (2, 4):
        found = bandwidth(tmp_path, device("tiny", vector_cache__pending=pending), 16, 2, 8)
        assert 0.83 * pending * 128 / latency < found < 1.03 * pending * 128 / latency


def test_a_level_from_configuration_alone_lowers_traffic_to_memory(tmp_path: Path) -> None:
    """96 KiB read again: more than the second level holds, less than the third."""
    level = yaml.safe_load((folders.conf() / "memory_side_cache" / "sliced_256m.yaml").read_text())
    path = ["vector_cache", "l2", "memory_side_cache", "memory"]
    added = assemble(described("tiny", {"memory_path": path, "memory_side_cache": level}))
    work = launch(tmp_path, stream(4), 256, n=24, read=97 << 10, dtype="u32", fill=Fill("zero"), caches="warm")
    one, two = run(device("tiny"), work), run(added, work)
    assert one["memory_side_cache_hit_pct"] is None
    assert one["dram_read_bytes"] >= 90 << 10  # least recently used, in turn: nothing is found again
    assert two["memory_side_cache_hit_pct"] > 90
    assert two["dram_read_bytes"] < 0.1 * one["dram_read_bytes"]
    assert two["l2_read_sectors"] == one["l2_read_sectors"]
