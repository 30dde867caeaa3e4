"""Clusters of workgroups: each other's local memory, their common barrier, and what a launch may ask for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from archex.base import layout
from archex.base.errors import ProgramError
from archex.programs.arguments import cluster_order
from archex.programs.buffers import Fill
from archex.programs.ir import LOCAL_WINDOW
from archex.programs.trace import TraceSource
from draining import drain
from running import floats, reference, run_functional, source, whole, work

WIDTHS = pytest.mark.parametrize("width", [32, 64])
RANK = 1 << layout.CLUSTER_SHIFT
START = """.shared .align 8 .b8 s[512]; ld.param.u64 rd0, [o]; mov.u32 r0, %tid.x; mov.u32 r1, s; mov.u32 r2, %cluster_ctarank;
  mov.u32 r3, %cluster_nctarank; mov.u32 r4, %ctaid.x; mov.u32 r5, %ntid.x; mad.lo.u32 r6, r4, r5, r0; mad.wide.u32 rd1, r6, 4, rd0;
  mad.lo.u32 r7, r0, 4, r1; """
MEET = "barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;"
#: Each thread reads what the thread of its number wrote in the next workgroup of the cluster.
NEIGHBOUR = f"""{START} st.shared.u32 [r7], r6; {MEET} add.u32 r8, r2, 1; rem.u32 r8, r8, r3; mapa.shared::cluster.u32 r9, r7, r8;
  ld.shared::cluster.u32 r10, [r9]; {MEET} st.global.u32 [rd1], r10; ret;"""


def launch(cluster: Any = 4, grid: Any = 8, threads: int = 64, count: int = 4096) -> Any:
    return work(grid, threads, whole("O", count), cluster=cluster)


@WIDTHS
@pytest.mark.parametrize("cluster", [1, 2, 4, 8, 16])
def test_the_next_workgroups_memory(cluster: int, width: int) -> None:
    given = launch(cluster, 16)
    found = run_functional(source(NEIGHBOUR), given, width).read("O")[: 16 * 64].reshape(16, 64)
    group = np.arange(16)
    wanted = group // cluster * cluster + (group + 1) % cluster
    assert np.array_equal(found, wanted[:, None] * 64 + np.arange(64))
    waves = 64 // width
    slow = drain(TraceSource(source(NEIGHBOUR), given, width, 16 * waves, "functional"), 16)
    fast = TraceSource(source(NEIGHBOUR), given, width, waves, block_ring=2)
    assert drain(fast, 16, chunk=1) == slow
    counts = fast.count(cluster_order(given.grid, given.cluster))[0]
    assert counts.sum() == sum(len(steps) for steps in slow.values())


def test_addresses_are_recorded_with_their_rank() -> None:
    steps = drain(TraceSource(source(NEIGHBOUR), launch(2, 2), 32, 64), 2)
    for group in (0, 1):
        for wave in (0, 1):
            records = [record for step in steps[group, wave] for record in step[2]]
            assert records[0][:3] == (layout.AFFINE, 128 * wave, 4)
            assert records[1][:3] == (layout.AFFINE, (2 - group) * RANK + 128 * wave, 4)


@WIDTHS
def test_generic_addresses_and_atomics_reach_across(width: int) -> None:
    """All threads of a cluster count in rank 0's memory, through its mapped generic address; the own rank's address works too."""
    body = f"""{START} cvt.u64.u32 rd2, r1; cvta.shared.u64 rd2, rd2; mov.u32 r8, 0; mapa.u64 rd3, rd2, r8; {MEET}
      atom.add.u32 r9, [rd3+16], 1; red.shared::cluster.add.u32 [r1+32], 2; {MEET} ld.u32 r10, [rd3+16]; mapa.u64 rd4, rd2, r2;
      ld.u32 r11, [rd4+32]; mad.lo.u32 r10, r11, 1000, r10; st.global.u32 [rd1], r10;
      getctarank.u64 r12, rd3; getctarank.shared::cluster.u32 r13, r1; mad.lo.u32 r12, r13, 16, r12; st.global.u32 [rd1+4096], r12; ret;"""
    found = run_functional(source(body), launch(4, 8), width).read("O")
    assert (found[:512] == 128 * 1000 + 256).all()
    assert np.array_equal(found[1024 : 1024 + 512], np.repeat(np.arange(8) % 4 * 16, 64))
    records = [record for step in drain(TraceSource(source(body), launch(4, 8), width, 64), 8)[5, 0] for record in step[2]]
    assert records[0][:3] == (layout.AFFINE, LOCAL_WINDOW + RANK + 16, 0)
    assert records[1][:3] == (layout.AFFINE, 32, 0)
    assert records[3][:3] == (layout.AFFINE, LOCAL_WINDOW + 2 * RANK + 32, 0)


def test_special_values() -> None:
    names = ("cluster_ctarank", "cluster_nctarank", *(f"{name}.{axis}" for name in ("cluster_ctaid", "cluster_nctaid", "clusterid",
             "nclusterid") for axis in "xyz"))  # fmt: skip
    stores = " ".join(f"mov.u32 r1, %{name}; st.global.u32 [rd1+{4 * index}], r1;" for index, name in enumerate(names))
    body = f"""ld.param.u64 rd0, [o]; mov.u32 r2, %ctaid.x; mov.u32 r3, %ctaid.y; mov.u32 r4, %ctaid.z; mad.lo.u32 r5, r4, 4, r3;
      mad.lo.u32 r5, r5, 6, r2; mad.wide.u32 rd1, r5, 64, rd0; {stores} mov.pred p0, %is_explicit_cluster; selp.u32 r6, 1, 0, p0;
      st.global.u32 [rd1+60], r6; ret;"""
    found = run_functional(source(body), launch((3, 2, 2), (6, 4, 2), 1)).read("O")[: 48 * 16].reshape(2, 4, 6, 16)
    z, y, x = np.meshgrid(np.arange(2), np.arange(4), np.arange(6), indexing="ij")
    rank = x % 3 + 3 * (y % 2) + 6 * (z % 2)
    same = np.ones_like(x)
    columns = [rank, 12 * same, x % 3, y % 2, z % 2, 3 * same, 2 * same, 2 * same, x // 3, y // 2, z // 2, 2 * same, 2 * same, same]
    for index, column in enumerate(columns):
        assert np.array_equal(found[..., index], column), names[index]
    assert (found[..., 15] == 1).all()


def test_order_of_dispatch() -> None:
    assert np.array_equal(cluster_order((5, 3, 2), (1, 1, 1)), np.arange(30))
    assert np.array_equal(cluster_order((4, 4, 1), (2, 2, 1))[:8], [0, 1, 4, 5, 2, 3, 6, 7])
    assert np.array_equal(np.sort(cluster_order((6, 4, 4), (3, 2, 4))), np.arange(96))


@WIDTHS
@pytest.mark.parametrize("size", [1, 2, 8])
def test_the_summing_kernel_of_the_reference_set(size: int, width: int) -> None:
    kernel, rows, count = reference(f"k_cluster_sumILi{size}E"), 16, 96
    given = work(rows, 128, floats("A", rows * count * 4, Fill("uniform_int", -8, 8)), floats("C", rows, Fill()), count, cluster=size)
    run = run_functional(kernel, given, width)
    data = run.read("A").reshape(rows // size, -1)
    found = run.read("C")
    assert np.array_equal(found[found != 0][: rows // size], data.sum(axis=1)[data.sum(axis=1) != 0])
    slow = drain(TraceSource(kernel, given, width, 64, "functional"), rows)
    assert drain(TraceSource(kernel, given, width, 64), rows) == slow


@WIDTHS
def test_stores_that_report_to_a_barrier_there(width: int) -> None:
    """Each thread of rank 1 stores into rank 0's memory; rank 0 waits for the bytes."""
    body = f""".shared .align 8 .b8 b[8]; {START} setp.eq.u32 p0, r0, 0; setp.eq.u32 p1, r2, 0; mov.u32 r15, b; and.pred p2, p0, p1;
      @p0 mbarrier.init.shared.b64 [r15], 1; @p2 mbarrier.arrive.expect_tx.shared.b64 _, [r15], 512; {MEET} mov.u32 r8, 0;
      mapa.shared::cluster.u32 r9, r7, r8; mapa.shared::cluster.u32 r16, r15, r8; add.u32 r12, r9, 256; @p1 bra W;
      st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [r9], r6, [r16];
      red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [r12], r0, [r16]; bra D;
      W: mbarrier.try_wait.parity.shared.b64 p3, [r15], 0; @!p3 bra W; ld.shared.u32 r10, [r7]; ld.shared.u32 r11, [r7+256];
      st.global.u32 [rd1], r10; st.global.u32 [rd1+4096], r11; D: {MEET} ret;"""
    run = run_functional(source(body), launch(2, 2), width).read("O")
    assert np.array_equal(run[:64], 64 + np.arange(64))
    assert np.array_equal(run[1024 : 1024 + 64], np.arange(64))
    slow = drain(TraceSource(source(body), launch(2, 2), width, 64, "functional"), 2)
    assert drain(TraceSource(source(body), launch(2, 2), width, 64), 2) == slow
    signals = [record for step in slow[1, 0] for record in step[2] if record[0] == layout.SIGNAL]
    assert signals[-2:] == [(layout.SIGNAL, RANK, 0, -4 * width, ())] * 2


def test_remote_arrivals_of_lanes_that_name_their_own_rank() -> None:
    body = f""".shared .align 8 .b8 b[8]; {START} setp.eq.u32 p0, r0, 0; mov.u32 r15, b; @p0 mbarrier.init.shared.b64 [r15], 4; {MEET}
      setp.lt.u32 p1, r0, r3; mapa.shared::cluster.u32 r16, r15, r0; @p1 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [r16];
      W: mbarrier.try_wait.parity.shared.b64 p3, [r15], 0; @!p3 bra W; st.global.u32 [rd1], r6; {MEET} ret;"""
    given = launch(4, 4, 32)
    assert np.array_equal(run_functional(source(body), given).read("O")[:128], np.arange(128))
    records = [record for step in drain(TraceSource(source(body), given, 32, 64), 4)[2, 0] for record in step[2]]
    arrivals = next(record for record in records if record[0] == layout.SIGNALS)
    assert arrivals[2:4] == (1, 0)
    assert arrivals[4][:5] == (RANK, 2 * RANK, 3 * RANK, 4 * RANK, -1)


def test_what_is_wrong_is_said() -> None:
    def fails(body: str, words: str, **options: Any) -> None:
        for mode in ("timing", "functional"):
            with pytest.raises(ProgramError, match=words):
                drain(TraceSource(source(body), launch(**options), 32, 64, mode), 8)

    fails(NEIGHBOUR, r"grid is \[6, 1, 1\]: must be a multiple of the cluster, \[4, 1, 1\]", grid=6)
    fails(NEIGHBOUR, r"cluster is \[4, 5, 1\]: 20 workgroups, at most 16 are possible", cluster=(4, 5), grid=(4, 5))
    fails(NEIGHBOUR, r"cluster is \[0, 1, 1\]: every extent must be at least 1", cluster=(0,))
    beyond = (
        f"{START} mov.u32 r8, 4; mapa.shared::cluster.u32 r9, r7, r8;\n ld.shared::cluster.u32 r10, [r9]; st.global.u32 [rd1], r10; ret;"
    )
    fails(beyond, r"k\.ptx:11: .*names workgroup 4 of a cluster of 4")
    end = f"{START} mapa.shared::cluster.u32 r9, r7, 1;\n ld.shared::cluster.u32 r10, [r9+500]; st.global.u32 [rd1], r10; ret;"
    fails(end, r"4 bytes at local memory address 512 of workgroup 1 of the cluster; the workgroup has 512")
    never = f"""{START} setp.eq.u32 p0, r2, 0; @p0 bra A; barrier.cluster.arrive;\n barrier.cluster.wait; ret;
      A: setp.lt.u32 p1, r0, 32; @p1 bra B; bar.sync 1; B: bar.sync 2; ret;"""
    fails(never, "never reached by some live")
    lanes = f"{START} setp.lt.u32 p0, r0, 7; @p0 bra A;\n barrier.cluster.arrive; barrier.cluster.wait; A: st.global.u32 [rd1], r6; ret;"
    fails(lanes, "barrier reached by 25 of 32 live lanes")


def test_what_the_source_requires() -> None:
    from archex.programs.build import build_function
    from archex.programs.ptx.parser import parse

    text = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 o) .reqnctapercluster 2, 1, 1 { .reg .b64 a; .reg .b32 v; ld.param.u64 a, [o]; mov.u32 v, %cluster_nctarank;
 st.global.u32 [a], v; ret; }"""
    function = build_function(parse(text, "k.ptx"), "k")
    assert run_functional(function, launch(1, 2, 1)).read("O")[0] == 2
    with pytest.raises(ProgramError, match=r"cluster is \[4, 1, 1\], `k` requires \[2, 1, 1\]"):
        run_functional(function, launch(4, 4, 1))
