"""Copies by lane: piece by piece, in the order of the queue; a few wait beyond it, and their address registers are free once out of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.laws.launches import device, launch, run

COPIES = 4
LOCAL = ".shared .align 16 .b8 tile[20480];\n"
LOOP = "add.s32 %r21, %r21, 1;\nsetp.lt.s32 %p0, %r21, %r0;\n@%p0 bra L;\n"


def copies(row: int, end: str, loop: str = "", pitch: int = 0) -> str:
    """A wave's copies of 16 bytes a lane in rows of `row` bytes, 512 bytes apart, and `pitch` (0: none between) in local memory."""
    lanes = row // 16
    text = (
        f"shr.u32 %r12, %r1, {lanes.bit_length() - 1};\nand.b32 %r13, %r1, {lanes - 1};\nshl.b32 %r14, %r12, 9;\nshl.b32 %r15, %r13, 4;\n"
    )
    text += "add.s32 %r14, %r14, %r15;\ncvt.u64.u32 %d4, %r14;\nadd.s64 %d5, %d1, %d4;\n"
    text += f"mul.lo.s32 %r16, %r12, {pitch or row};\nadd.s32 %r16, %r16, %r15;\nmov.u32 %r17, tile;\n"
    text += "add.s32 %r16, %r16, %r17;\nmov.u32 %r21, 0;\nmov.f32 %f0, 0f00000000;\nL:\n"
    text += "".join(f"cp.async.cg.shared.global [%r16+{4096 * k}], [%d5+{16384 * k}], 16;\n" for k in range(COPIES))
    return text + loop + end


def cycles(folder: Path, body: str, n: int = 1, **changes: float) -> float:
    on = device("h200", **{f"async_copy_unit__{key}": value for key, value in changes.items()})
    return float(run(on, launch(folder, body, local=LOCAL, n=n))["cycles"])


WAIT = "cp.async.commit_group;\ncp.async.wait_group 0;\n"
#: A load of other bytes, which the copies need not be waited for.
LOAD = "ld.shared.f32 %f0, [%r17+18432];\n"


@pytest.mark.parametrize(("row", "pitch", "pieces"), [(16, 0, 32), (32, 0, 16), (64, 0, 8), (64, 80, 15), (32, 48, 24), (16, 128, 32)])
def test_each_piece_takes_its_time(tmp_path: Path, row: int, pitch: int, pieces: int) -> None:
    """Parts of a line and of a line of local memory; twice as many where rows are shifted by half a sector. Measured: h200_copies."""
    few, many = (cycles(tmp_path, copies(row, WAIT, pitch=pitch), piece=cost) for cost in (200, 300))
    assert many - few == pytest.approx(COPIES * pieces * 100, rel=0.3)
    each = [cycles(tmp_path, copies(row, WAIT, pitch=pitch), piece=cost, waiting=1) for cost in (200, 300)]
    assert each[1] - each[0] == pytest.approx(COPIES * pieces * 100, rel=0.3)


def test_whole_lines_keep_their_own_pace(tmp_path: Path) -> None:
    slow, fast = (cycles(tmp_path, copies(512, WAIT), piece=cost) for cost in (1, 300))
    assert slow == fast


def test_a_load_waits_behind_copies_in_the_queue(tmp_path: Path) -> None:
    few, many = (cycles(tmp_path, copies(16, LOAD), piece=cost, waiting=1) for cost in (200, 300))
    assert many - few == pytest.approx((COPIES - 2) * 32 * 100, rel=0.6)
    beyond = [cycles(tmp_path, copies(16, LOAD), piece=cost, waiting=COPIES) for cost in (200, 300)]
    assert beyond[0] == beyond[1], "all of them wait beyond the queue"


def test_a_loop_that_goes_on_from_its_addresses_waits_for_them(tmp_path: Path) -> None:
    loop = "add.s64 %d5, %d5, 4096;\n" + LOOP
    few, many = (cycles(tmp_path, copies(512, WAIT, loop), n=16, release=cost) for cost in (0, 400))
    assert 2 * 400 <= many - few <= 16 * 400, "an unrolled loop goes on from its addresses once for several turns"
    once = [cycles(tmp_path, copies(512, WAIT), release=cost) for cost in (0, 400)]
    assert once[1] - once[0] <= 400, "what is written next waits at most once"
