"""Compute units of a group that read the same lines at the same time: one read goes on, some get its data at once."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.laws.launches import device, launch, run

#: Each thread reads 16 bytes sixteen times, a workgroup 64 KiB; apart: each its own.
READS = "".join(
    f"ld.global.cg.v4.f32 {{%f{4 * k + 10}, %f{4 * k + 11}, %f{4 * k + 12}, %f{4 * k + 13}}}, [%d2+{4096 * k}];\n" for k in range(16)
)
SUM = "".join(f"add.f32 %f0, %f0, %f{k + 10};\n" for k in range(64))
START = "mul.wide.u32 %d3, %r1, 16;\nadd.s64 %d2, %d1, %d3;\n"
APART = "mul.wide.u32 %d4, %r10, 65536;\nadd.s64 %d2, %d2, %d4;\n"


def row(folder: Path, merged: str | None, apart: bool, **changes: float) -> dict[str, float]:
    on = device("h200", fabric__group_merged=merged, **{f"fabric__merged_{name}": value for name, value in changes.items()})
    work = launch(folder, START + (APART if apart else "") + READS + SUM, threads=256, workgroups=132, read=132 * 65536)
    return run(on, work)


def test_reads_of_one_group_go_on_as_one_for_four_and_are_no_slower(tmp_path: Path) -> None:
    alone, together = (row(tmp_path, rate, apart=False) for rate in (None, "2.2 TB/s"))
    asked = 132 * 2048
    assert alone["global_load_sectors"] == together["global_load_sectors"] == asked
    assert alone["l2_read_sectors"] >= asked
    assert 0.25 * asked <= together["l2_read_sectors"] < 0.5 * asked, "h200_merging: 0.26 to 0.34 of what is asked for"
    assert together["cycles"] <= alone["cycles"]


def test_how_many_reads_one_answers_is_bounded(tmp_path: Path) -> None:
    asked = [row(tmp_path, "2.2 TB/s", apart=False, most=most)["l2_read_sectors"] for most in (1, 2, 4, 16)]
    assert asked[0] == row(tmp_path, None, apart=False)["l2_read_sectors"]
    assert asked[1] >= 0.5 * asked[0]
    assert asked == sorted(asked, reverse=True)


def test_later_reads_join_as_long_as_the_first_is_not_answered(tmp_path: Path) -> None:
    asked = [row(tmp_path, "2.2 TB/s", apart=False, within=cycles)["l2_read_sectors"] for cycles in (0, 65, 250)]
    assert asked == sorted(asked, reverse=True)
    assert asked[0] > asked[2]


def test_what_a_group_delivers_is_bounded(tmp_path: Path) -> None:
    assert row(tmp_path, "0.2 TB/s", apart=False)["cycles"] > 1.3 * row(tmp_path, "2.2 TB/s", apart=False)["cycles"]


def test_reads_of_different_lines_are_as_without(tmp_path: Path) -> None:
    alone, together = (row(tmp_path, rate, apart=True) for rate in (None, "2.2 TB/s"))
    assert together["l2_read_sectors"] == alone["l2_read_sectors"]
    assert together["cycles"] == pytest.approx(alone["cycles"], rel=0.01)
