"""Matrices of 8 x 8 between local memory and registers, and turned in registers, against numpy; what their traces hold."""

from __future__ import annotations

import numpy as np
import pytest
from archex.base import layout
from archex.programs.arguments import Argument
from archex.programs.trace import TraceSource
from matrices import run
from running import source, work

COUNTS = pytest.mark.parametrize("count", [1, 2, 4])
TRANS = pytest.mark.parametrize("trans", [False, True])
WIDTHS = pytest.mark.parametrize("width", [32, 64])
PITCH = 48  # bytes from a row to the next
#: Word k of lane l goes to local memory at 4 * (32 k + l).
FILL = " ".join(f"mad.lo.u32 r5, r6, 4, {128 * k}; st.shared.b32 [r5], i0x{k};" for k in range(12))
NOTHING = Argument("u64", 0)
LANE = "mov.u32 r6, %laneid; "


def local_words(words: np.ndarray) -> np.ndarray:
    """16-bit elements of local memory after `FILL`."""
    return np.ascontiguousarray(words.T.astype(np.uint32)).view(np.uint16).ravel()


def matrices(memory: np.ndarray, count: int) -> np.ndarray:
    """The 8 x 8 matrices whose rows lie `PITCH` bytes apart."""
    return np.stack([[memory[(8 * j + row) * PITCH // 2 :][:8] for row in range(8)] for j in range(count)])


def fragments(found: np.ndarray) -> np.ndarray:
    """[lane, matrix] words: lane l holds elements 2 (l % 4), 2 (l % 4) + 1 of row l / 4."""
    pairs = found.reshape(len(found), 32, 2).astype(np.uint64)
    return (pairs[:, :, 0] | pairs[:, :, 1] << np.uint64(16)).T


@WIDTHS
@TRANS
@COUNTS
def test_rows_come_out_of_local_memory(count: int, trans: bool, width: int) -> None:
    words = np.random.default_rng(1).integers(0, 2**32, (32, 12), dtype=np.uint64)
    names = "{" + ", ".join(f"d{k}" for k in range(count)) + "}"
    load = f"ldmatrix.sync.aligned.m8n8.x{count}{'.trans' if trans else ''}.shared.b16 {names}, [r7];"
    text = f"{LANE}{FILL} bar.sync 0; mul.lo.u32 r7, r6, {PITCH}; {load}"
    found = run(text, [words], count, width=width, local=32 * 12 * 4)
    wanted = matrices(local_words(words), count)
    assert np.array_equal(found, fragments(wanted.transpose(0, 2, 1) if trans else wanted))


@WIDTHS
@TRANS
@COUNTS
def test_rows_go_into_local_memory(count: int, trans: bool, width: int) -> None:
    words = np.random.default_rng(2).integers(0, 2**32, (32, count), dtype=np.uint64)
    names = "{" + ", ".join(f"i0x{k}" for k in range(count)) + "}"
    back = " ".join(f"ld.shared.b32 d{k}, [r7+{4 * k}];" for k in range(4))
    store = f"stmatrix.sync.aligned.m8n8.x{count}{'.trans' if trans else ''}.shared.b16 [r7], {names};"
    text = f"{LANE}mul.lo.u32 r7, r6, {PITCH}; {store} bar.sync 0; {back}"
    found = run(text, [words], 4, width=width, local=32 * PITCH)[: 8 * count].astype(np.uint32)
    rows = np.ascontiguousarray(found).view(np.uint16).reshape(count, 8, 8)
    assert np.array_equal(fragments(rows.transpose(0, 2, 1) if trans else rows), words)


@WIDTHS
def test_a_matrix_is_turned(width: int) -> None:
    words = np.random.default_rng(3).integers(0, 2**32, (32, 1), dtype=np.uint64)
    found = run("movmatrix.sync.aligned.m8n8.trans.b16 d0, i0x0;", [words], 1, width=width)
    halves = np.ascontiguousarray(words.astype(np.uint32)).view(np.uint16).reshape(1, 8, 8)
    assert np.array_equal(found, fragments(halves.transpose(0, 2, 1)))
    again = run("movmatrix.sync.aligned.m8n8.trans.b16 d0, i0x0; movmatrix.sync.aligned.m8n8.trans.b16 d0, d0;", [words], 1, width=width)
    assert np.array_equal(again, words)


@pytest.mark.parametrize("mode", ["timing", "functional"])
@pytest.mark.parametrize(("count", "mask"), [(1, 0xFF), (2, 0xFFFF), (4, 0xFFFF_FFFF)])
def test_a_trace_holds_the_rows_that_lanes_give(count: int, mask: int, mode: str) -> None:
    names = ", ".join(f"r{20 + k}" for k in range(count))
    load = f"@p1 ldmatrix.sync.aligned.m8n8.x{count}.shared.b16 {{{names}}}, [r7+16];"
    text = f"{LANE}mul.lo.u32 r7, r6, {PITCH}; setp.lt.u32 p1, r6, 99; {load} ret;"
    for width, wanted in ((32, mask), (64, mask | mask << 32)):
        traces = TraceSource(source(text), work(1, 64, NOTHING, local=4096), width, 2, mode)
        traces.start(np.array([0]), np.array([0]))
        traces.refill(np.array([0]))
        kind, base, stride, lanes = traces.records[0, 0]
        assert int(lanes) & (2**64 - 1) == wanted
        if width == 32:
            assert (kind, base, stride) == (layout.AFFINE, 16, PITCH)


def test_a_guard_that_fails_leaves_no_access() -> None:
    text = "mov.u32 r6, %laneid; setp.gt.u32 p1, r6, 99; @p1 ldmatrix.sync.aligned.m8n8.x1.shared.b16 {r20}, [r6]; ret;"
    traces = TraceSource(source(text), work(1, 32, NOTHING, local=4096), 32, 1)
    traces.start(np.array([0]), np.array([0]))
    traces.refill(np.array([0]))
    assert traces.records[0, 0].tolist() == [layout.NO_ACCESS, 0, 0, 0]


def test_fences_groups_and_register_counts_change_no_value() -> None:
    words = np.random.default_rng(4).integers(0, 2**32, (32, 1), dtype=np.uint64)
    beside = "wgmma.fence.sync.aligned; wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;"
    found = run(f"setmaxnreg.inc.sync.aligned.u32 240; {beside} mov.b32 d0, i0x0; setmaxnreg.dec.sync.aligned.u32 24;", [words], 1)
    assert np.array_equal(found, words)
