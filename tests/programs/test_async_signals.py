"""Barriers in local memory and bulk copies that report to them: values, records, and what is wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from archex.base import layout
from archex.base.errors import ProgramError, UnsupportedError
from archex.programs.buffers import FIRST_ADDRESS, Fill
from archex.programs.trace import TraceSource
from draining import drain
from running import floats, reference, run_functional, source, whole, work

WIDTHS = pytest.mark.parametrize("width", [32, 64])
ONE_EACH = Fill("arange", step=1)
BOTH = ".param .u64 a, .param .u64 o"
START = """.shared .align 16 .b8 s[4096]; .shared .align 8 .b8 b[64]; ld.param.u64 rd0, [a]; ld.param.u64 rd1, [o];
  mov.u32 r0, %tid.x; mov.u32 r1, s; mov.u32 r2, b; setp.eq.u32 p0, r0, 0; setp.lt.u32 p9, r0, 32; setp.ge.u32 p8, r0, 32;"""
#: Two stages of 512 bytes; thread 0 orders, all threads of the second half add up, four rounds.
PIPELINE = f"""{START}
  @p0 mbarrier.init.shared::cta.b64 [r2], 1; @p0 mbarrier.init.shared::cta.b64 [r2+8], 1;
  @p0 mbarrier.init.shared::cta.b64 [r2+16], 64; @p0 mbarrier.init.shared::cta.b64 [r2+24], 64; bar.sync 0;
  mov.u32 r3, 0; mov.u32 r4, 0; mov.u32 r20, 0;
  @!p0 bra CONSUME;
  PRODUCE: and.b32 r5, r3, 1; mad.lo.u32 r6, r5, 8, r2; shr.u32 r7, r3, 1; and.b32 r7, r7, 1; xor.b32 r8, r7, 1;
  EMPTY: mbarrier.try_wait.parity.shared::cta.b64 p1, [r6+16], r8; @!p1 bra EMPTY;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [r6], 512; mad.lo.u32 r9, r5, 512, r1; mad.wide.u32 rd2, r3, 512, rd0;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [r9], [rd2], 512, [r6];
  add.u32 r3, r3, 1; setp.lt.u32 p2, r3, 8; @p2 bra PRODUCE; bra DONE;
  CONSUME: setp.lt.u32 p3, r0, 64; @p3 bra DONE; sub.u32 r21, r0, 64;
  AGAIN: and.b32 r5, r3, 1; mad.lo.u32 r6, r5, 8, r2; shr.u32 r7, r3, 1; and.b32 r7, r7, 1;
  FULL: mbarrier.try_wait.parity.shared::cta.b64 p1, [r6], r7; @!p1 bra FULL;
  mad.lo.u32 r9, r5, 512, r1; mad.lo.u32 r9, r21, 4, r9; ld.shared.u32 r10, [r9]; add.u32 r20, r20, r10; ld.shared.u32 r10, [r9+256];
  add.u32 r20, r20, r10; mbarrier.arrive.shared::cta.b64 rd9, [r6+16]; add.u32 r3, r3, 1; setp.lt.u32 p2, r3, 8; @p2 bra AGAIN;
  mad.wide.u32 rd3, r21, 4, rd1; st.global.u32 [rd3], r20;
  DONE: ret;"""


def steps(body: str, threads: int = 32, width: int = 32, mode: str = "timing", count: int = 1024) -> Any:
    given = work(1, threads, whole("A", count, ONE_EACH), whole("O", 1024))
    return drain(TraceSource(source(body, BOTH), given, width, 64, mode), 1)


@WIDTHS
def test_a_pipeline_of_two_stages(width: int) -> None:
    """128 threads: thread 0 copies, the last 64 add; its phases wrap around twice."""
    given = work(1, 128, whole("A", 1024, ONE_EACH), whole("O", 64))
    found = run_functional(source(PIPELINE, BOTH), given, width)
    assert np.array_equal(found.read("O"), np.arange(1024).reshape(16, 64).sum(axis=0))
    slow = steps(PIPELINE, 128, width, "functional")
    assert steps(PIPELINE, 128, width) == slow
    small = TraceSource(source(PIPELINE, BOTH), given, width, 128 // width, block_ring=2)
    assert drain(small, 1, chunk=1) == slow
    counts = TraceSource(source(PIPELINE, BOTH), given, width, 128 // width).count(np.arange(1))[0]
    assert counts.sum() == sum(len(wave) for wave in slow.values())


def test_records_say_what_the_barriers_do() -> None:
    found = steps(PIPELINE, 128)
    flat = [record for step in found[0, 0] for record in step[2]]
    kinds = [record for record in flat if record[0] == layout.SIGNAL]
    assert kinds[:4] == [(layout.SIGNAL, 4096 + 8 * i, 1 if i < 2 else 64, 0, ()) for i in range(4)]
    waits = [record[1:3] for record in kinds[4::2]]
    assert waits == [(4096 + 16 + 8 * (i & 1), i // 2) for i in range(8)]
    assert [record[1:4] for record in kinds[5::2]] == [(4096 + 8 * (i & 1), 1, 512) for i in range(8)]
    bulks = [record[4] for record in flat if record[0] == layout.BULK]
    assert [row[layout.BULK_BASE] for row in bulks] == [FIRST_ADDRESS + 512 * i for i in range(8)]
    assert {row[layout.BULK_BYTES] for row in bulks} == {row[layout.BULK_CREDIT] for row in bulks} == {512}
    assert [row[layout.BULK_LOCAL] for row in bulks] == [512 * (i & 1) for i in range(8)]
    assert [row[layout.BULK_BARRIER] for row in bulks] == [4096 + 8 * (i & 1) for i in range(8)]
    assert all(row[2:10] == (1, 0) * 4 and row[13:15] == (0, layout.BULK_IN) for row in bulks)
    consumer = [record for step in found[0, 2] for record in step[2] if record[0] == layout.SIGNAL]
    assert [record[1:3] for record in consumer[::2]] == [(4096 + 8 * (i & 1), i // 2 + 1) for i in range(8)]
    assert [record[1:4] for record in consumer[1::2]] == [(4096 + 16 + 8 * (i & 1), 32, 0) for i in range(8)]


@WIDTHS
def test_states_instead_of_parities(width: int) -> None:
    """Every thread arrives and waits for the end of the phase that its state names."""
    body = f"""{START} @p0 mbarrier.init.shared.b64 [r2], 128; bar.sync 0; mad.lo.u32 r3, r0, 4, r1; mov.u32 r9, 0;
      L: add.u32 r8, r9, r0; st.shared.u32 [r3], r8; mbarrier.arrive.shared.b64 rd5, [r2];
      W: mbarrier.test_wait.shared.b64 p1, [r2], rd5; @!p1 bra W; xor.b32 r4, r0, 127; mad.lo.u32 r4, r4, 4, r1; ld.shared.u32 r5, [r4];
      mbarrier.arrive.shared.b64 rd5, [r2]; V: mbarrier.test_wait.shared.b64 p1, [r2], rd5; @!p1 bra V;
      add.u32 r9, r9, 1; setp.lt.u32 p2, r9, 9; @p2 bra L;
      mad.wide.u32 rd3, r0, 4, rd1; st.global.u32 [rd3], r5; mbarrier.pending_count.b64 r7, rd5; st.global.u32 [rd3+512], r7; ret;"""
    run = run_functional(source(body, BOTH), work(1, 128, whole("A", 4), whole("O", 256)), width)
    assert np.array_equal(run.read("O")[:128], 8 + np.arange(128)[::-1])
    assert sorted(run.read("O")[128:]) == list(range(1, 129))  # arrivals before each own


def test_copies_by_lane_that_arrive() -> None:
    for noinc, count in ((".noinc", 64), ("", 64)):
        arrive = "" if noinc else "mbarrier.arrive.shared.b64 rd8, [r2];"
        body = f"""{START} @p0 mbarrier.init.shared.b64 [r2], {count}; bar.sync 0; mad.lo.u32 r3, r0, 4, r1; mad.wide.u32 rd2, r0, 4, rd0;
          cp.async.ca.shared.global [r3], [rd2], 4; cp.async.mbarrier.arrive{noinc}.shared.b64 [r2]; {arrive}
          W: mbarrier.try_wait.parity.shared.b64 p1, [r2], 0; @!p1 bra W; xor.b32 r4, r0, 63; mad.lo.u32 r4, r4, 4, r1;
          ld.shared.u32 r5, [r4]; mad.wide.u32 rd3, r0, 4, rd1; st.global.u32 [rd3], r5; ret;"""
        run = run_functional(source(body, BOTH), work(1, 64, whole("A", 64, ONE_EACH), whole("O", 64)))
        assert np.array_equal(run.read("O"), np.arange(64)[::-1])
        records = [record for step in steps(body, 64)[0, 0] for record in step[2] if record[0] == layout.SIGNAL]
        assert records[1] == (layout.SIGNAL, 4096, 32, 0 if noinc else 32, ())


def test_out_of_local_memory_and_added_to_global() -> None:
    body = f"""{START} mad.lo.u32 r3, r0, 4, r1; st.shared.u32 [r3], r0; fence.proxy.async.shared::cta; bar.sync 0;
      @p0 cp.async.bulk.global.shared::cta.bulk_group [rd1], [r1], 256;
      @p0 cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [rd1+256], [r1], 256;
      @p0 cp.async.bulk.commit_group; @p0 cp.async.bulk.wait_group.read 0; ret;"""
    launch = work(1, 64, whole("A", 4), whole("O", 128, Fill("arange", step=3)))
    run = run_functional(source(body, BOTH), launch)
    lane = np.arange(64)
    assert np.array_equal(run.read("O"), np.concatenate([lane, 3 * (64 + lane) + lane]))
    found = [record[4] for step in steps(body, 64)[0, 0] for record in step[2] if record[0] == layout.BULK]
    assert [row[layout.BULK_WAY] for row in found] == [layout.BULK_OUT, layout.BULK_REDUCE]
    assert [row[layout.BULK_BARRIER] for row in found] == [-1, -1]


@pytest.mark.parametrize("kind", ["f32", "f16", "s64"])
def test_reductions_by_type(kind: str) -> None:
    size = {"f32": 4, "f16": 2, "s64": 8}[kind]
    operation = "min.s64" if kind == "s64" else "add.noftz.f16" if kind == "f16" else "add.f32"
    body = f"""{START} @p0 mbarrier.init.shared.b64 [r2], 1; @!p0 bra D; mbarrier.arrive.expect_tx.shared.b64 _, [r2], {64 * size};
      cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [r1], [rd0], {64 * size}, [r2];
      W: mbarrier.try_wait.parity.shared.b64 p1, [r2], 0; @!p1 bra W;
      cp.reduce.async.bulk.global.shared::cta.bulk_group.{operation} [rd1], [r1], {64 * size}; D: ret;"""
    uniform = Fill("uniform_int", -100, 100)
    made = floats if kind != "s64" else whole
    dtype = "i64" if kind == "s64" else kind
    run = run_functional(source(body, BOTH), work(1, 32, made("A", 64, uniform, dtype), made("O", 64, uniform, dtype)))
    before = run_functional(source("ret;", BOTH), work(1, 32, made("A", 64, uniform, dtype), made("O", 64, uniform, dtype)))
    a, o = before.read("A"), before.read("O")
    assert np.array_equal(run.read("O"), np.minimum(a, o) if kind == "s64" else a + o)


@WIDTHS
@pytest.mark.parametrize(("chunk", "stages"), [(2048, 2), (16384, 3)])
def test_the_streaming_kernel_of_the_reference_set(chunk: int, stages: int, width: int) -> None:
    kernel = reference(f"k_bulk_streamILi{chunk}ELi{stages}E")
    chunks = 7
    given = work(2, 128, floats("A", chunks * chunk // 4), floats("C", 4, Fill()), chunks, local=chunk * stages)
    slow = drain(TraceSource(kernel, given, width, 2 * 128 // width, "functional"), 2)
    assert drain(TraceSource(kernel, given, width, 128 // width), 2) == slow
    copied = [record[4] for wave in slow.values() for step in wave for record in step[2] if record[0] == layout.BULK]
    assert sorted(row[layout.BULK_BASE] - FIRST_ADDRESS for row in copied) == [chunk * i for i in range(chunks)]


def test_what_never_ends_names_the_line() -> None:
    body = f"""{START} @p0 mbarrier.init.shared.b64 [r2], 2; bar.sync 0; @p0 mbarrier.arrive.shared.b64 rd3, [r2];
 W: mbarrier.try_wait.parity.shared.b64 p1, [r2], 0;\n @!p1 bra W; ret;"""
    for mode in ("timing", "functional"):
        with pytest.raises(ProgramError, match=r"k\.ptx:10: `mbarrier\.try_wait.* address 4096 for its phase 1, which nobody ends"):
            steps(body, 64, mode=mode)
    counting = TraceSource(source(body, BOTH), work(1, 64, whole("A", 4), whole("O", 4)), 32, 2)
    with pytest.raises(ProgramError, match="nobody ends"):
        counting.count(np.arange(1))


IN = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
BAD = [
    (f"@p9 {IN} [r1], [rd0], 16, [r2];", r"cp\.async.* \(line 10\): 32 lanes of a wave give the order: one lane has to"),
    (f"@p0 {IN} [r1+8], [rd0], 16, [r2];", "an address is not a multiple of the 16 bytes"),
    (f"@p0 {IN} [r1], [rd0+4], 16, [r2];", "an address is not a multiple of the 16 bytes"),
    (f"@p0 {IN} [r1], [rd0], 24, [r2];", "24 bytes: a copy takes a multiple of 16"),
    (f"@p0 {IN} [r1], [rd0+4080], 32, [r2];", "accesses 32 bytes at .*, which lie in no buffer"),
    (f"@p0 {IN} [r1+4160], [rd0], 32, [r2];", "accesses 32 bytes at local memory address 4160; the workgroup has 4160"),
    (f"@p0 {IN} [r1], [rd0], 16, [r2+8];", "nothing has set up a barrier at local memory address 4104"),
    ("@p0 mbarrier.arrive.shared.b64 rd3, [r2+16];", "nothing has set up a barrier at local memory address 4112"),
    ("@p0 mbarrier.try_wait.parity.shared.b64 p1, [r2+16], 0;", "nothing has set up a barrier at local memory address 4112"),
    ("@p0 mbarrier.arrive.shared.b64 rd3, [r2], 2;", "barrier at local memory address 4096 gets more arrivals than the 1 of a phase"),
    ("@p0 mbarrier.init.shared.b64 [r2], 0;", "a barrier for 0 arrivals: 1 to 1048575 are possible"),
    ("@p0 mbarrier.init.shared.b64 [r2+4], 1;", "an address is not a multiple of the 8 bytes"),
    ("@p0 mbarrier.expect_tx.relaxed.cta.shared.b64 [r2], 2000000;", "2000000 bytes: .* a barrier counts up to 1048575"),
    (
        "and.b32 r7, r0, 1; mad.lo.u32 r7, r7, 8, r2; add.u32 r8, r0, 1; @p9 mbarrier.init.shared.b64 [r7], r8;",
        r"\(line 10\): lanes .* with different counts",
    ),
]


@pytest.mark.parametrize(("order", "words"), BAD)
def test_what_is_wrong_is_said(order: str, words: str) -> None:
    body = f"{START} @p0 mbarrier.init.shared.b64 [r2], 1; bar.sync 0;\n {order} ret;"
    for mode in ("timing", "functional"):
        with pytest.raises((ProgramError, UnsupportedError), match=words):
            steps(body, 64, mode=mode)


def test_lanes_that_name_barriers_of_their_own() -> None:
    body = f"""{START} setp.lt.u32 p1, r0, 4; mad.lo.u32 r3, r0, 8, r2; @p1 mbarrier.init.shared.b64 [r3], 3; bar.sync 0;
      @p1 mbarrier.arrive.shared.b64 rd3, [r3], 3; W: mbarrier.try_wait.parity.shared.b64 p2, [r2+24], 0; @!p2 bra W; ret;"""
    found = [record for step in steps(body)[0, 0] for record in step[2]]
    assert [record[0] for record in found] == [layout.SIGNALS, layout.SIGNALS, layout.SIGNAL]
    assert all(record[2:4] == (3, 0) for record in found[:2])
    assert found[0][4] == tuple(4096 + 8 * lane if lane < 4 else -1 for lane in range(32))
    assert found[2][1:3] == (4096 + 24, 1)
