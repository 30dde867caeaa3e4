"""A whole product as asynchronous devices run it: one thread orders boxes, four waves multiply from local memory, barriers between."""

from __future__ import annotations

import attrs
import numpy as np
import pytest
from archex.base import layout
from archex.programs.arguments import Argument
from archex.programs.buffers import Buffer, Fill
from archex.programs.tensor_map import TensorMap, packed
from archex.programs.trace import TraceSource
from draining import drain
from running import floats, run_functional, source, work

K, STAGES, TILE = 384, 3, 64 * 64 * 2
RESULTS = ", ".join(f"f{index}" for index in range(32))
PRODUCTS = " ".join(
    f"""add.u64 rd20, rd10, {2 * step}; add.u64 rd21, rd11, {2 * step};
    wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {{{RESULTS}}}, rd20, rd21, p7, 1, 1, 0, 0; setp.eq.u32 p7, 0, 0;"""
    for step in range(4)
)
STORES = " ".join(
    f"st.global.v2.f32 [rd4+{32 * i}], {{f{4 * i}, f{4 * i + 1}}}; st.global.v2.f32 [rd5+{32 * i}], {{f{4 * i + 2}, f{4 * i + 3}}};"
    for i in range(8)
)
#: Thread 128 copies; threads 0 to 127 multiply. Full barriers at b, empty ones behind them.
BODY = f""".shared .align 1024 .b8 s[{2 * STAGES * TILE}]; .shared .align 8 .b8 b[{16 * STAGES}];
  mov.u32 r0, %tid.x; mov.u32 r1, s; mov.u32 r2, b; mov.b64 rd1, ma; cvta.param.u64 rd1, rd1; mov.b64 rd2, mb; cvta.param.u64 rd2, rd2;
  mov.u32 r20, %ctaid.x; shl.b32 r20, r20, 6; mov.u32 r21, %ctaid.y; shl.b32 r21, r21, 6;
  setp.eq.u32 p0, r0, 0; mov.u32 r3, 0;
  I: mad.lo.u32 r4, r3, 8, r2; @p0 mbarrier.init.shared.b64 [r4], 1; @p0 mbarrier.init.shared.b64 [r4+{8 * STAGES}], 128;
  add.u32 r3, r3, 1; setp.lt.u32 p1, r3, {STAGES}; @p1 bra I; fence.mbarrier_init.release.cluster; bar.sync 0;
  setp.lt.u32 p2, r0, 128; mov.u32 r3, 0; mov.u32 r5, 0; mov.u32 r6, 0; @p2 bra MULTIPLY;
  setmaxnreg.dec.sync.aligned.u32 40; setp.ne.u32 p3, r0, 128; @p3 bra DONE; mov.u32 r6, 1;
  COPY: mad.lo.u32 r4, r5, 8, r2; mad.lo.u32 r7, r5, {2 * TILE}, r1; shl.b32 r8, r3, 6; add.u32 r9, r7, {TILE};
  E: mbarrier.try_wait.parity.shared.b64 p4, [r4+{8 * STAGES}], r6; @!p4 bra E;
  mbarrier.arrive.expect_tx.shared.b64 _, [r4], {2 * TILE};
  cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [r7], [rd1, {{r8, r21}}], [r4];
  cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [r9], [rd2, {{r8, r20}}], [r4];
  add.u32 r3, r3, 1; add.u32 r5, r5, 1; setp.eq.u32 p5, r5, {STAGES}; selp.u32 r5, 0, r5, p5; selp.u32 r10, 1, 0, p5; xor.b32 r6, r6, r10;
  setp.lt.u32 p6, r3, {K // 64}; @p6 bra COPY; bra DONE;
  MULTIPLY: setmaxnreg.inc.sync.aligned.u32 160; setp.ne.u32 p7, 0, 0;
  NEXT: mad.lo.u32 r4, r5, 8, r2; mad.lo.u32 r7, r5, {2 * TILE}, r1;
  F: mbarrier.try_wait.parity.shared.b64 p4, [r4], r6; @!p4 bra F;
  shr.u32 r8, r7, 4; cvt.u64.u32 rd10, r8; mov.u64 rd12, 0x4000004000010000; or.b64 rd10, rd10, rd12; add.u64 rd11, rd10, {TILE // 16};
  wgmma.fence.sync.aligned; {PRODUCTS} wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;
  mbarrier.arrive.shared.b64 _, [r4+{8 * STAGES}];
  add.u32 r3, r3, 1; add.u32 r5, r5, 1; setp.eq.u32 p5, r5, {STAGES}; selp.u32 r5, 0, r5, p5; selp.u32 r10, 1, 0, p5; xor.b32 r6, r6, r10;
  setp.lt.u32 p6, r3, {K // 64}; @p6 bra NEXT;
  ld.param.u64 rd3, [o]; ld.param.u32 r11, [n]; shr.u32 r12, r0, 5; and.b32 r13, r0, 31; shr.u32 r14, r13, 2; mad.lo.u32 r14, r12, 16, r14;
  add.u32 r14, r14, r21; and.b32 r15, r13, 3; shl.b32 r15, r15, 1; add.u32 r15, r15, r20; mad.lo.u32 r16, r14, r11, r15;
  mad.wide.u32 rd4, r16, 4, rd3; mul.wide.u32 rd5, r11, 32; add.u64 rd5, rd4, rd5;
  {STORES}
  DONE: ret;"""


@pytest.mark.parametrize("width", [32, 64])
def test_boxes_feed_products_through_a_pipeline(width: int) -> None:
    m, n = 128, 192
    uniform = Fill("uniform", -1, 1)

    def given(name: str, rows: int) -> Argument:
        return Argument("tensor_map", TensorMap(name, "f16", (K, rows), packed("f16", (K, rows)), (64, 64), 128))

    parameters = ".param .u64 o, .param .align 64 .b8 ma[128], .param .align 64 .b8 mb[128], .param .u32 n"
    kernel = source(BODY, parameters)
    launch = work((n // 64, m // 64), 160, floats("O", m * n), given("A", m), given("B", n), n)
    buffers = (*launch.buffers, Buffer("A", "f16", m * K * 2, uniform), Buffer("B", "f16", n * K * 2, uniform))
    launch = attrs.evolve(launch, buffers=buffers)
    run = run_functional(kernel, launch, width)
    a, b = (run.read(name).astype(np.float64).reshape(-1, K) for name in "AB")
    assert np.allclose(run.read("O").reshape(m, n), a @ b.T, rtol=1e-3, atol=1e-3)
    slow = drain(TraceSource(kernel, launch, width, 64, "functional"), 6)
    assert drain(TraceSource(kernel, launch, width, 64, block_ring=4), 6, chunk=2) == slow
    copies = [record for step in slow[0, 128 // width] for record in step[2] if record[0] == layout.BULK]
    assert len(copies) == 2 * K // 64
