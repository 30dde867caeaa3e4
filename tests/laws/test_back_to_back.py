"""Launches run back to back: what caches keep from one to the next, what must be written back, and the time between them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from archex.base.options import Options
from archex.engine import tables
from archex.extrapolate import levels
from archex.programs.buffers import Fill
from archex.simulate import simulate
from tests.laws.kernels import CHASE, VECTOR_ADD, stream
from tests.laws.launches import device, launch

KIB, MIB = 1 << 10, 1 << 20
WALK = Fill("random_cycle", stride_bytes=128)


def again(name: str, work: Any, runs: int = 2, **changes: Any) -> dict[str, Any]:
    """The columns of a launch that is run `runs` times, all of it simulated."""
    return simulate(device(name, **changes), work, Options(sampling="off", repeat=runs))


@pytest.mark.parametrize("name", ["tiny", "h200", "mi300a"])
def test_what_fits_is_not_read_from_memory_again(tmp_path: Path, name: str) -> None:
    """What counts is what a launch touches, not how large its buffers are: 128 lines of 512 MiB."""
    walk = launch(tmp_path, CHASE, 1, n=128, read=512 * MIB, dtype="u32", fill=WALK)
    assert again(name, walk, 1)["dram_read_bytes"] >= 128 * 32
    assert again(name, walk)["dram_read_bytes"] == 0
    assert again(name, walk)["cycles"] < again(name, walk, 1)["cycles"]


def test_more_runs_are_like_the_second(tmp_path: Path) -> None:
    walk = launch(tmp_path, CHASE, 1, n=256, read=MIB, dtype="u32", fill=WALK)
    assert again("tiny", walk, 2)["time_ns"] == again("tiny", walk, 5)["time_ns"]


def test_a_stream_far_beyond_the_caches_finds_nothing(tmp_path: Path) -> None:
    """It reads all of it again; its code is there, and nothing else makes it faster."""
    work = launch(tmp_path, stream(4), 256, 16, n=16, read=2 * MIB, fill=Fill("zero"), dtype="u32")
    once, more = again("tiny", work, 1), again("tiny", work)
    assert more["dram_read_bytes"] == once["dram_read_bytes"]
    assert more["cycles"] == pytest.approx(once["cycles"], rel=0.05)


def test_lines_left_dirty_are_written_back_by_the_next(tmp_path: Path) -> None:
    """A stream of stores leaves a cache full of what memory lacks: run again, as much is written as the launch stores."""
    work = launch(tmp_path, "", 256, 1280)
    stored = 4 * 256 * 1280
    capacity = levels(device("tiny"))[0][0]
    once, more = again("tiny", work, 1), again("tiny", work)
    assert stored - 1.1 * capacity <= once["dram_write_bytes"] < stored
    assert more["dram_write_bytes"] == pytest.approx(stored, rel=0.02)


@pytest.mark.parametrize("name", ["tiny", "h200"])
def test_memory_is_never_faster_than_its_channels(tmp_path: Path, name: str) -> None:
    on = device(name)
    row = again(name, launch(tmp_path, VECTOR_ADD, 256, 1280, read=4 * MIB))
    assert row["cycles"] >= (row["dram_read_bytes"] + row["dram_write_bytes"]) / on.tables.dram[tables.DRAM_BYTES]


def test_the_more_is_walked_the_longer_it_takes(tmp_path: Path) -> None:
    """A step from what the last run left: of its own cache, of L2, of memory."""
    works = [launch(tmp_path, CHASE, 1, n=4096, read=size * KIB, dtype="u32", fill=WALK) for size in (8, 32, 64, 256, 1024)]
    cycles = [again("tiny", work)["cycles"] for work in works]
    assert cycles == sorted(cycles)
    assert cycles[-1] > 1.5 * cycles[0]


def test_launch_and_drain_are_in_the_cycles_and_the_gap_beside_them(tmp_path: Path) -> None:
    work = launch(tmp_path, "mov.f32 %f0, 0f3F800000;\n")
    row = again("tiny", work, dispatcher__gap="2 us")
    assert row["time_ns"] == pytest.approx(1e9 * row["cycles"] / row["clock_hz"] + 2000)


def test_an_empty_launch_of_the_h200_starts_each_time_as_measured(tmp_path: Path) -> None:
    """From the last instruction to the first of the next: 1.5 us (results/reference/h200/micro, section 9)."""
    on = device("h200")
    fixed = float(on.tables.device[[tables.LAUNCH_CYCLES, tables.DRAIN_CYCLES]].sum())
    assert (fixed + on.launch_gap_cycles) / on.clock_hz == pytest.approx(1.5e-6, rel=0.01)
