"""Copies by lane beside the wave: what lands in local memory, what is recorded, what is wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from archex.base import layout
from archex.base.errors import ProgramError
from archex.programs.buffers import FIRST_ADDRESS, Fill
from archex.programs.trace import TraceSource
from draining import drain
from running import run_functional, source, whole, work

WIDTHS = pytest.mark.parametrize("width", [32, 64])
ONE_EACH = Fill("arange", step=1)
BOTH = ".param .u64 a, .param .u64 o"
LOAD = "ld.param.u64 rd0, [a]; ld.param.u64 rd1, [o]; mov.u32 r0, %tid.x; mov.u32 r1, s;"
#: Every lane copies 16 bytes from its own place, waits, and stores what its neighbour copied.
ROUND = """.shared .align 16 .b8 s[2048]; {load} mad.wide.u32 rd2, r0, 16, rd0; mad.lo.u32 r2, r0, 16, r1; {copy}
  cp.async.commit_group; cp.async.wait_group 0; bar.sync 0; xor.b32 r3, r0, 1; mad.lo.u32 r4, r3, 16, r1; ld.shared.v4.u32 {{r5, r6, r7,
  r8}}, [r4]; mad.wide.u32 rd3, r0, 16, rd1; st.global.v4.u32 [rd3], {{r5, r6, r7, r8}}; ret;"""


def kernel(copy: str) -> Any:
    return source(ROUND.format(load=LOAD, copy=copy), BOTH)


def launch(count: int = 256, threads: int = 64) -> Any:
    return work(1, threads, whole("A", count, ONE_EACH), whole("O", 4 * threads))


def swapped(rows: np.ndarray) -> np.ndarray:
    return rows.reshape(-1, 2, 4)[:, ::-1].reshape(-1)


@WIDTHS
def test_lanes_copy_to_places_of_their_own(width: int) -> None:
    found = run_functional(kernel("cp.async.cg.shared.global [r2], [rd2], 16;"), launch(), width).read("O")
    assert np.array_equal(found, swapped(np.arange(256).reshape(64, 4)))


@pytest.mark.parametrize("size", [4, 8])
def test_narrow_copies(size: int) -> None:
    found = run_functional(
        kernel(
            f"cp.async.ca.shared.global [r2+4], [rd2+{size}], {size};" if size == 4 else "cp.async.ca.shared.global [r2+8], [rd2+8], 8;"
        ),
        launch(),
    ).read("O")
    wanted = np.zeros((64, 4), dtype=np.int32)
    start = 1 if size == 4 else 2
    wanted[:, start : start + size // 4] = np.arange(256).reshape(64, 4)[:, start : start + size // 4]
    assert np.array_equal(found, swapped(wanted))


@WIDTHS
def test_fewer_bytes_are_filled_with_zeros(width: int) -> None:
    """A lane reads as many bytes as its number modulo 17; the others read nothing, even beyond the buffer."""
    copy = "rem.u32 r9, r0, 17; cp.async.cg.shared.global [r2], [rd2], 16, r9;"
    found = run_functional(kernel(copy), launch(), width).read("O")
    rows = np.arange(256, dtype=np.int32).reshape(64, 4).view(np.uint8).reshape(64, 16).copy()
    for lane in range(64):
        rows[lane, lane % 17 :] = 0
    assert np.array_equal(found, swapped(rows.reshape(-1).view(np.int32).reshape(64, 4)))
    half = "setp.lt.u32 p0, r0, 32; selp.u32 r9, 16, 0, p0; cp.async.cg.shared.global [r2], [rd2], 16, r9;"
    found = run_functional(kernel(half), launch(128), width).read("O")
    assert np.array_equal(found[:128], swapped(np.arange(128).reshape(32, 4)))
    assert not found[128:].any()


def test_an_ignored_source_is_not_read() -> None:
    copy = "setp.ge.u32 p0, r0, 32; cp.async.ca.shared.global [r2], [rd2], 16, p0;"
    found = run_functional(kernel(copy), launch(128)).read("O")
    assert np.array_equal(found[:128], swapped(np.arange(128).reshape(32, 4)))
    assert not found[128:].any()


@WIDTHS
def test_two_records_where_from_and_where_to(width: int) -> None:
    copy = "setp.lt.u32 p1, r0, 40; setp.ge.u32 p0, r0, 8; @p1 cp.async.ca.shared.global [r2], [rd2+16], 16, p0;"
    for mode in ("timing", "functional"):
        steps = drain(TraceSource(kernel(copy), launch(), width, 64, mode), 1)
        (first, second) = steps[0, 0][0][2][:2]
        writing = min(40, width)
        assert first == (layout.AFFINE, FIRST_ADDRESS + 16, 16, 0xFF, ())
        assert second == (layout.AFFINE, 0, 16, (1 << writing) - 1, ())
        last = steps[0, 64 // width - 1][0][2][:2]
        assert last[0][0] == (layout.AFFINE if width == 64 else layout.NO_ACCESS)


def test_what_is_copied_feeds_addresses() -> None:
    """An index that came through a copy: the slice copies it too."""
    body = f""".shared .align 16 .b8 s[256]; {LOAD} mad.wide.u32 rd2, r0, 4, rd0; mad.lo.u32 r2, r0, 4, r1;
      cp.async.ca.shared.global [r2], [rd2], 4; cp.async.wait_all; ld.shared.u32 r3, [r2]; mad.wide.u32 rd3, r3, 4, rd1;
      st.global.u32 [rd3], r0; ret;"""
    index = Fill("uniform_int", low=0, high=32)
    given = work(1, 32, whole("A", 32, index), whole("O", 32))
    slow = drain(TraceSource(source(body, BOTH), given, 32, 1, "functional"), 1)
    assert drain(TraceSource(source(body, BOTH), given, 32, 1), 1) == slow
    assert slow[0, 0][0][2][3][0] == layout.SCATTERED


def test_what_is_wrong_is_said() -> None:
    for copy, words in (
        ("cp.async.cg.shared.global [r2+4], [rd2], 16;", "not a multiple of the 16 bytes"),
        ("cp.async.cg.shared.global [r2], [rd2+4], 16;", "not a multiple of the 16 bytes"),
        ("cp.async.cg.shared.global [r2+1040], [rd2], 16;", "16 bytes at local memory address 2048; the workgroup has 2048"),
        ("cp.async.cg.shared.global [r2], [rd2+512], 16;", "accesses 16 bytes at .*, which lie in no buffer"),
        ("cp.async.cg.shared.global [r2], [rd2+1024], 16, 8;", "accesses 8 bytes at .*, which lie in no buffer"),
    ):
        for mode in ("timing", "functional"):
            with pytest.raises(ProgramError, match=words):
                drain(TraceSource(kernel(copy), launch(), 32, 2, mode), 1)


def test_groups_and_register_counts_change_no_value() -> None:
    found = run_functional(kernel("cp.async.cg.shared.global [r2], [rd2], 16; setmaxnreg.inc.sync.aligned.u32 64;"), launch()).read("O")
    assert np.array_equal(found, swapped(np.arange(256).reshape(64, 4)))
