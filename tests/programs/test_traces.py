"""Traces: what timing records is what whole execution does, however it is cut into chunks and whatever runs beside it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from archex.base import layout
from archex.programs.buffers import FIRST_ADDRESS, Fill
from archex.programs.ir import LOCAL_WINDOW
from archex.programs.trace import TraceSource
from draining import drain
from running import UNIFORM, Work, floats, reference, source, whole, work

INDEX = Fill("uniform_int", low=0, high=1000)
WIDTHS = pytest.mark.parametrize("width", [32, 64])


def launches() -> dict[str, Work]:
    n = 300
    wide = Fill("uniform_int", 0, 1 << 24)
    return {
        "k_copy_f4": work(3, 128, floats("A", 4 * n), floats("C", 4 * n, Fill()), n),
        "k_gather": work(3, 128, floats("A", 1000), whole("I", n, INDEX), floats("C", n, Fill()), n),
        "k_reduce_f4": work(2, 256, floats("A", 4 * 3000), floats("C", 4, Fill()), 3000),
        "k_transpose_smemILi1E": work((2, 2), (32, 8), floats("A", 64 * 64), floats("C", 64 * 64, Fill()), 64),
        "k_sgemm_tiledILi16E": work((2, 1), (16, 16), floats("A", 512), floats("B", 1024), floats("C", 512, Fill()), 16, 32, 32),
        "k_spmv_scalar": work(
            1,
            64,
            whole("R", 65, Fill("arange", step=9)),
            whole("I", 64 * 9, INDEX),
            floats("V", 576),
            floats("X", 1000),
            floats("C", 64, Fill()),
            50,
        ),
        "k_histogram": work(2, 128, whole("A", 4 * n, wide, "u32"), whole("C", 256, Fill(), "u32"), n, 255),
        "k_mandelbrot": work((2, 1), (16, 16), whole("C", 512), 32, 16, 20),
        "k_diverge": work(1, 64, floats("C", 4, Fill()), 3, 4),
        "k_scan_block": work(2, 256, floats("A", 512), floats("C", 512, Fill()), 500),
        "k_lds_chase": work(1, 64, whole("C", 1), 2),
        "k_bar_chain": work(1, 96, floats("C", 4, Fill()), 2),
    }


@WIDTHS
@pytest.mark.parametrize("name", launches())
def test_timing_records_what_whole_execution_does(name: str, width: int) -> None:
    launch = launches()[name]
    groups = int(np.prod(launch.grid))
    waves = -(-int(np.prod(launch.block)) // width)
    slow = drain(TraceSource(reference(name), launch, width, waves * groups, "functional"), groups)
    fast = TraceSource(reference(name), launch, width, waves, block_ring=2)
    assert drain(fast, groups, chunk=1) == slow
    blocks = len(fast.function.blocks)
    counts, lanes = fast.count(np.arange(groups))
    wanted = np.zeros((groups, blocks, 2), dtype=np.int64)
    for (group, _), steps in slow.items():
        for block, active, _ in steps:
            wanted[group, block] += (1, active)
    assert np.array_equal(counts, wanted[:, :, 0])
    assert np.array_equal(lanes, wanted[:, :, 1])


def test_two_halves_of_a_wide_wave_do_what_two_waves_do() -> None:
    for name in ("k_copy_f4", "k_gather", "k_histogram"):
        launch = launches()[name]
        groups = int(np.prod(launch.grid))
        totals = []
        for width in (32, 64):
            steps = drain(TraceSource(reference(name), launch, width, 64), groups)
            touched: dict[int, int] = {}
            for trace in steps.values():
                for _, _, records in trace:
                    for record in records:
                        for address in addresses(record, width):
                            touched[address] = touched.get(address, 0) + 1
            totals.append(touched)
        assert totals[0] == totals[1], name


def addresses(record: Any, width: int) -> list[int]:
    """Addresses of a record's active lanes."""
    kind, base, stride, mask, pool = record
    if kind == layout.NO_ACCESS:
        return []
    active = [lane for lane in range(width) if mask >> lane & 1]
    if kind >= layout.ROWS:
        row, along = 1 << (kind - layout.ROWS), ((stride & 0xFFFF_FFFF) ^ (1 << 31)) - (1 << 31)
        return [base + lane % row * along + lane // row * (stride >> layout.ROW_SHIFT) for lane in active]
    return [pool[lane] if kind == layout.SCATTERED else base + stride * lane for lane in active]


def one(body: str, threads: int = 32, width: int = 32, **registers: Any) -> list[Any]:
    """Steps of the only wave of a small kernel with one buffer of 4 KiB."""
    steps = drain(TraceSource(source(body), work(1, threads, whole("O", 1024)), width, 1), 1)
    return steps[0, 0]


def test_affine_records_are_told_from_lane_zero_even_where_it_is_inactive() -> None:
    body = """ld.param.u64 rd0, [o]; mov.u32 r0, %tid.x; mad.wide.u32 rd1, r0, 12, rd0; setp.gt.u32 p0, r0, 4;
      @p0 ld.global.u32 r1, [rd1+8]; st.global.u32 [rd0], r0; ret;"""
    (_, lanes, (first, second)) = one(body)[0]
    assert lanes == 32
    assert first == (layout.AFFINE, FIRST_ADDRESS + 8, 12, (2**32 - 1) & ~31, ())
    assert second == (layout.AFFINE, FIRST_ADDRESS, 0, 2**32 - 1, ())


def test_lanes_apart_may_touch_words_next_to_each_other() -> None:
    """Only the lanes that take part must be aligned, not the places that lanes between them would have."""
    body = """ld.param.u64 rd0, [o]; mov.u32 r0, %tid.x; and.b32 r1, r0, 1; setp.eq.u32 p0, r1, 0; mad.wide.u32 rd1, r0, 2, rd0;
      @p0 ld.global.u32 r2, [rd1]; st.global.u32 [rd0], r0; ret;"""
    (_, _, (first, _)) = one(body)[0]
    assert first == (layout.AFFINE, FIRST_ADDRESS, 2, 0x55555555, ())


def test_scattered_records_hold_every_address_and_no_access_holds_none() -> None:
    body = """ld.param.u64 rd0, [o]; mov.u32 r0, %tid.x; mul.lo.u32 r1, r0, r0; and.b32 r1, r1, 63; mad.wide.u32 rd1, r1, 4, rd0;
    setp.gt.u32 p0, r0, 99;
      setp.lt.u32 p1, r0, 20; @p1 ld.global.u32 r1, [rd1]; @p0 st.global.u32 [rd0], r0; ret;"""
    (_, _, (first, second)) = one(body)[0]
    assert first[0] == layout.SCATTERED
    assert first[3] == (1 << 20) - 1
    assert first[4] == tuple(FIRST_ADDRESS + 4 * (i * i & 63) if i < 20 else -1 for i in range(32))
    assert second == (layout.NO_ACCESS, 0, 0, 0, ())


def test_lanes_in_rows_are_told_by_two_strides() -> None:
    """As tiles and two-dimensional workgroups have them; rows of fewer than four lanes, and lanes missing, are scattered."""
    for row, along, step in ((16, 4, 256), (8, 0, 64), (4, -4, 128), (16, 8, -256), (16, 4, 68)):
        body = f"""ld.param.u64 rd0, [o]; mov.u32 r0, %tid.x; and.b32 r1, r0, {row - 1}; shr.u32 r2, r0, {row.bit_length() - 1};
          mul.lo.s32 r1, r1, {along}; mad.lo.s32 r1, r2, {step}, r1; add.s32 r1, r1, 2048; cvt.s64.s32 rd1, r1; add.s64 rd1, rd1, rd0;
          setp.ne.u32 p0, r0, 5; st.global.u32 [rd1], r0; @p0 st.global.u32 [rd1], r0; ret;"""
        (_, _, (first, second)) = one(body)[0]
        stride = (step << layout.ROW_SHIFT) | (along & 0xFFFF_FFFF)
        assert first == (layout.ROWS + row.bit_length() - 1, FIRST_ADDRESS + 2048, stride, 2**32 - 1, ())
        expected = [FIRST_ADDRESS + 2048 + lane % row * along + lane // row * step for lane in range(32)]
        assert addresses(first, 32) == expected
        assert second[0] == layout.SCATTERED
        assert addresses(second, 32) == expected[:5] + expected[6:]


def test_local_and_private_addresses_are_offsets_and_generic_ones_carry_their_window() -> None:
    body = """.shared .align 8 .b8 s[256]; .local .align 8 .b8 l[64]; mov.u32 r0, %tid.x; shl.b32 r1, r0, 2; mov.u32 r2, s; add.u32 r2,
    r2, r1; st.shared.u32 [r2], r0;
      mov.u64 rd0, l; st.local.u32 [rd0+12], r0; cvta.shared.u64 rd2, rd3; cvt.u64.u32 rd3, r2; cvta.shared.u64 rd3, rd3; ld.u32 r4,
      [rd3+4];
      setp.eq.u32 p0, r4, 77; @p0 trap; ret;"""
    records = [record for _, _, found in one(body) for record in found]
    assert [record[:3] for record in records] == [(layout.AFFINE, 0, 4), (layout.AFFINE, 12, 0), (layout.AFFINE, LOCAL_WINDOW + 4, 4)]


def test_divergent_lanes_meet_where_their_paths_do() -> None:
    body = """ld.param.u64 rd0, [o]; mov.u32 r0, %tid.x; setp.lt.u32 p0, r0, 7; @p0 bra A; mov.u32 r1, 1; setp.lt.u32 p1, r0, 20;
    @p1 bra B; mov.u32 r1, 2; bra C;
      B: mov.u32 r1, 3; C: bra D; A: mov.u32 r1, 4; D: mad.wide.u32 rd1, r0, 4, rd0; st.global.u32 [rd1], r1; ret;"""
    steps = one(body)
    assert sorted(lanes for _, lanes, _ in steps) == sorted([32, 25, 7, 12, 13, 25, 32]) or [lanes for _, lanes, _ in steps][-1] == 32
    assert steps[-1][1] == 32
    assert steps[-1][2][0][0] == layout.AFFINE


def test_a_partial_wave_has_the_lanes_it_has() -> None:
    steps = drain(TraceSource(reference("k_copy_f1"), work(1, 70, floats("A", 70, UNIFORM), floats("C", 70), 70), 32, 3), 1)
    assert [trace[0][1] for _, trace in sorted(steps.items())] == [32, 32, 6]
    steps = drain(TraceSource(reference("k_copy_f1"), work(1, 70, floats("A", 70, UNIFORM), floats("C", 70), 70), 64, 2), 1)
    assert [trace[0][1] for _, trace in sorted(steps.items())] == [64, 6]


def test_workgroups_are_counted_each_in_its_row_where_written_pages_run_out_on_the_way() -> None:
    body = """ld.param.u64 rd0, [o]; mov.u32 r0, %tid.x; mov.u32 r1, %ctaid.x; mad.lo.u32 r2, r1, 32, r0; mad.wide.u32 rd1, r2, 4096, rd0;
      atom.global.add.u32 r3, [rd1], 1; setp.eq.u32 p0, r3, 0; @p0 bra A; st.global.u32 [rd0], r3; A: ret;"""
    for groups in (1, 32):  # each writes 32 pages of its own; there is room for 256 at first
        counts, lanes = TraceSource(source(body), work(groups, 32, whole("O", 32 * 1024 * 32)), 32, 1).count(np.arange(groups))
        assert counts.tolist() == [counts[0].tolist()] * groups
        assert lanes.tolist() == [lanes[0].tolist()] * groups
        assert counts[0].sum() >= 2


def test_what_is_assumed_is_said() -> None:
    found = TraceSource(reference("k_read_f4"), work(1, 32, floats("A", 128), floats("C", 4), 32), 32, 1)
    assert len(found.assumed) == 1
    assert "setp" in found.assumed[0]
    assert TraceSource(reference("k_copy_f4"), launches()["k_copy_f4"], 32, 4).assumed == ()
