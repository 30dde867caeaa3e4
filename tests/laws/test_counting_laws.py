"""What counters count, each on a launch made for it: far lines, stores, atomics, ends of workgroups, and whose wait is whose."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from archex.base.options import Options
from archex.programs.buffers import Fill
from archex.records.schema import STALLS
from archex.simulate import simulate
from tests.laws.kernels import stream
from tests.laws.launches import device, launch, run

MIB = 1 << 20
ATOMIC = "mul.wide.u32 %d2, %r2, 4;\nadd.s64 %d3, %d1, %d2;\nred.global.add.u32 [%d3], %r2;\ncvt.rn.f32.u32 %f0, %r2;\n"
LOOP = "mov.u32 %r21, 0;\nL:\n{}add.s32 %r21, %r21, 1;\nsetp.lt.s32 %p0, %r21, %r0;\n@%p0 bra L;\n"


def test_a_far_line_is_looked_for_in_both_partitions_and_then_found_near(tmp_path: Path) -> None:
    on = device("h200")
    once, warm = (
        run(on, launch(tmp_path, stream(1), 256, 132, n=16, read=4 * MIB, fill=Fill("zero"), dtype="u32", caches=caches))
        for caches in ("cold", "warm")
    )
    assert once["l2_read_sectors"] == pytest.approx(1.5 * once["global_load_sectors"], rel=0.03)
    assert once["l2_read_sectors"] > warm["l2_read_sectors"] >= warm["global_load_sectors"]


def test_atomics_are_neither_reads_nor_writes_of_the_second_level(tmp_path: Path) -> None:
    on = device("h200")
    row = run(on, launch(tmp_path, ATOMIC, 256, 132, read=MIB, dtype="u32"))
    assert row["l2_read_sectors"] == 0
    assert row["l2_write_sectors"] == pytest.approx(1.5 * row["global_store_sectors"], rel=0.05)


def test_stores_are_lookups_of_the_vector_cache(tmp_path: Path) -> None:
    on = device("h200")
    body = "mul.wide.u32 %d2, %r1, 4;\nadd.s64 %d3, %d1, %d2;\nld.global.f32 %f1, [%d3];\nld.volatile.global.f32 %f2, [%d3+65536];\n"
    row = run(on, launch(tmp_path, body + "add.f32 %f0, %f1, %f2;\n", 128, 1))
    assert row["vector_cache_hit_pct"] == 0.0
    assert row["global_load_sectors"] == 2 * row["global_store_sectors"]
    again = body + "bar.sync 0;\nld.global.f32 %f3, [%d3];\nadd.f32 %f0, %f1, %f2;\nadd.f32 %f0, %f0, %f3;\n"
    row = run(on, launch(tmp_path, again, 128, 1))
    assert row["vector_cache_hit_pct"] == pytest.approx(100 / 4)  # of three loads and a store one load hits


@pytest.mark.parametrize("name", ["h200", "mi300a"])
def test_what_a_workgroup_does_at_its_end_is_counted_in_a_sampled_launch(tmp_path: Path, name: str) -> None:
    """A long loop and one store: as often as there are waves, whatever was simulated of them."""
    work = launch(tmp_path, START + LOOP.format("fma.rn.f32 %f0, %f0, %f1, %f2;\n" * 8), 256, 2048, n=2000)
    row = simulate(device(name), work, Options())
    assert row["sampled_fraction"] < 1
    waves = 2048 * 256 // device(name).wave_width
    assert row["global_store_requests"] == pytest.approx(waves)
    assert row["global_store_sectors"] == pytest.approx(2048 * 256 * 4 // (32 if name == "h200" else 128))


START = "cvt.rn.f32.u32 %f0, %r1;\n" + "".join(f"add.f32 %f{k}, %f0, 0f3F80000{k};\n" for k in (1, 2, 3))
STEP = "".join(f"ex2.approx.ftz.f32 %f{k}, %f{k};\n" for k in (0, 1, 2, 3) * 4)
SUM = "".join(f"add.f32 %f0, %f0, %f{k};\n" for k in (1, 2, 3))
SPECIAL = START + LOOP.format(STEP) + SUM


def waits(row: dict[str, Any]) -> list[str]:
    return sorted(STALLS, key=lambda name: -(row[name] or 0.0))


def test_waiting_behind_oneself_is_a_fixed_time_and_behind_others_is_not(tmp_path: Path) -> None:
    on = device("h200")
    alone, crowd = (run(on, launch(tmp_path, SPECIAL, threads, 1, n=50)) for threads in (32, 1024))
    assert waits(alone)[0] == "stall_dependency"
    assert waits(crowd)[0] == "stall_memory_queue"
    assert crowd["stall_dependency"] == pytest.approx(alone["stall_dependency"], rel=0.1)


def test_shares_are_of_the_time_in_which_there_is_a_wave(tmp_path: Path) -> None:
    on = device("h200")
    one, all_units = (run(on, launch(tmp_path, SPECIAL, 32, workgroups, n=50)) for workgroups in (1, 132))
    for name in ("occupancy_pct", "issue_active_pct"):
        assert one[name] == pytest.approx(all_units[name], rel=0.05)
    assert one["occupancy_pct"] == pytest.approx(100 / 64, rel=0.02)
