"""Shuffles, votes, matches, reductions, atomics and reducing barriers against numpy; 64-lane waves keep groups of 32."""

from __future__ import annotations

import numpy as np
import pytest
from archex.programs.buffers import Buffer, Fill
from operations import COUNT, evaluate, operands
from running import run_functional, source, whole, work

WIDTHS = pytest.mark.parametrize("width", [32, 64])
LANES = np.arange(COUNT) % 32
GROUP = np.arange(COUNT) // 32 * 32


@WIDTHS
@pytest.mark.parametrize("mode", ["up", "down", "bfly", "idx"])
@pytest.mark.parametrize("c", [0x1F, 0x0, 0x181F, 0x1C07])
def test_shuffle(mode: str, c: int, width: int) -> None:
    a, b = operands(4, 1), operands(4, 2, "small")
    segment, clamp = c >> 8 & 31, c & 31
    distance = b.astype(np.int64) & 31
    last = (LANES & segment) | (clamp & ~segment)
    origin = {"up": LANES - distance, "down": LANES + distance, "bfly": LANES ^ distance, "idx": (LANES & segment) | (distance & ~segment)}[
        mode
    ]
    good = origin >= last if mode == "up" else origin <= last
    picked = a[GROUP + np.where(good, origin, LANES)]
    text = f"shfl.sync.{mode}.b32 r|q, a0, a1, {c}, -1;"
    assert np.array_equal(evaluate(text, [a, b], 4, width), picked)
    assert np.array_equal(evaluate(f"{text} selp.b32 r, 1, 0, q;", [a, b], 4, width), good)


@WIDTHS
def test_votes(width: int) -> None:
    a = np.where(np.arange(COUNT) < 64, 1, operands(4, 1) % 3 == 0).astype(np.uint32)
    a[64:96] = 0
    sets = (a != 0).reshape(-1, 32)
    ballots = np.repeat((sets * (1 << np.arange(32, dtype=np.uint64))).sum(1), 32).astype(np.uint32)
    assert np.array_equal(evaluate("setp.ne.u32 q, a0, 0; vote.sync.ballot.b32 r, q, -1;", [a], 4, width), ballots)
    answers = {"all": sets.all(1), "any": sets.any(1), "uni": sets.all(1) | ~sets.any(1)}
    for mode, answer in answers.items():
        found = evaluate(f"setp.ne.u32 q, a0, 0; vote.sync.{mode}.pred q, q, -1; selp.b32 r, 5, 6, q;", [a], 4, width)
        assert np.array_equal(found, np.repeat(np.where(answer, 5, 6), 32)), mode
    found = evaluate("setp.ne.u32 q, a0, 0; vote.sync.all.pred q, !q, -1; selp.b32 r, 5, 6, q;", [a], 4, width)
    assert np.array_equal(found, np.repeat(np.where(~sets.any(1), 5, 6), 32))


@WIDTHS
def test_matches(width: int) -> None:
    a = (operands(4, 1) % 5).astype(np.uint32)
    a[:32] = 3
    same = a.reshape(-1, 32, 1) == a.reshape(-1, 1, 32)
    masks = (same * (1 << np.arange(32, dtype=np.uint64))).sum(2).reshape(-1).astype(np.uint32)
    assert np.array_equal(evaluate("match.any.sync.b32 r, a0, -1;", [a], 4, width), masks)
    alike = np.repeat(same.all((1, 2)), 32)
    assert np.array_equal(evaluate("match.all.sync.b32 r|q, a0, -1;", [a], 4, width), np.where(alike, 0xFFFFFFFF, 0).astype(np.uint32))
    assert np.array_equal(evaluate("match.all.sync.b32 r|q, a0, -1; selp.b32 r, 1, 0, q;", [a], 4, width), alike)


@WIDTHS
def test_reductions(width: int) -> None:
    a = operands(4, 1)
    groups = a.reshape(-1, 32)
    rules = {
        "add.u32": groups.sum(1, dtype=np.uint32),
        "min.u32": groups.min(1),
        "max.s32": groups.view(np.int32).max(1).view(np.uint32),
        "and.b32": np.bitwise_and.reduce(groups, 1),
        "or.b32": np.bitwise_or.reduce(groups, 1),
        "xor.b32": np.bitwise_xor.reduce(groups, 1),
    }
    for name, wanted in rules.items():
        assert np.array_equal(evaluate(f"redux.sync.{name} r, a0, -1;", [a], 4, width), np.repeat(wanted, 32)), name


@WIDTHS
def test_who_is_active(width: int) -> None:
    a = (LANES % 3).astype(np.uint32)
    mask = sum(1 << i for i in range(32) if i % 3 == 1)
    text = "mov.u32 r, 0; setp.ne.u32 q, a0, 1; @q bra E; activemask.b32 r; E:"
    assert np.array_equal(evaluate(text, [a], 4, width), np.where(a == 1, mask, 0))
    text = "mov.u32 r, 0; setp.ne.u32 q, a0, 1; @q bra E; elect.sync r|q, -1; @q add.u32 r, r, 100; E:"
    assert np.array_equal(evaluate(text, [a], 4, width), np.where(a == 1, np.where(LANES == 1, 101, 1), 0))


@WIDTHS
def test_special_values(width: int) -> None:
    body = """mov.u32 r0, %tid.x; mov.u32 r1, %tid.y; mov.u32 r2, %tid.z; mov.u32 r3, %ntid.x; mov.u32 r4, %ntid.y; mad.lo.u32 r5, r2,
    r4, r1; mad.lo.u32 r5, r5, r3, r0;
      ld.param.u64 rd0, [o]; mov.u32 r6, %ctaid.x; mov.u32 r7, %ctaid.y; mov.u32 r8, %nctaid.x; mad.lo.u32 r7, r7, r8, r6; mad.lo.u32 r9,
      r7, 90, r5; mul.lo.u32 r9, r9, 24;
      cvt.u64.u32 rd1, r9; add.u64 rd0, rd0, rd1; mov.u32 r10, %laneid; mov.u32 r11, %warpid; mov.u32 r12, %lanemask_lt; mov.u32 r13,
      %lanemask_ge; mov.u32 r14, %nwarpid;
      mov.u32 r15, WARP_SZ; st.global.v2.u32 [rd0], {r10, r11}; st.global.v2.u32 [rd0+8], {r12, r13}; st.global.v2.u32 [rd0+16], {r14,
      r15}; ret;"""
    run = run_functional(source(body), work((2, 2), (5, 6, 3), whole("O", 4 * 90 * 6, dtype="u32")), width)
    linear = np.arange(4 * 90) % 90
    lane = linear % 32
    low = (1 << lane.astype(np.uint64)) - 1
    wanted = np.stack([lane, linear // 32, low, 0xFFFFFFFF & ~low, np.full(360, 3), np.full(360, 32)], 1)
    assert np.array_equal(run.read("O").reshape(-1, 6), wanted)


@WIDTHS
@pytest.mark.parametrize("space", ["global", "shared"])
def test_atomics(space: str, width: int) -> None:
    """128 threads on 8 words; sums and extremes don't depend on the order, `inc` and `cas` loops neither."""
    rng = np.random.default_rng(0)
    a = rng.integers(0, 1 << 31, 128, dtype=np.uint32)
    slot = np.arange(128) % 8
    operations = {
        "add.u32": np.array([a[slot == s].sum(dtype=np.uint32) for s in range(8)]),
        "min.u32": np.zeros(8, np.uint32),
        "max.u32": np.array([a[slot == s].max() for s in range(8)]),
        "or.b32": np.array([np.bitwise_or.reduce(a[slot == s]) for s in range(8)]),
        "xor.b32": np.array([np.bitwise_xor.reduce(a[slot == s]) for s in range(8)]),
        "inc.u32": np.array([16 for _ in range(8)]),
    }
    for name, wanted in operations.items():
        kept = """.shared .align 4 .b32 s[8]; mov.u32 r20, s; mad.lo.u32 r20, r1, 4, r20; setp.lt.u32 p0, r0, 8;
          @p0 st.shared.u32 [r20], 0; bar.sync 0;"""
        place = "[r20]" if space == "shared" else "[rd1]"
        body = f"""ld.param.u64 rd0, [o]; ld.param.u64 rd2, [i]; mov.u32 r0, %tid.x; and.b32 r1, r0, 7; mad.wide.u32 rd1, r1, 4, rd0;
        mad.wide.u32 rd2, r0, 4, rd2;
          {kept if space == "shared" else ""} ld.global.u32 r2, [rd2]; atom.{space}.{name} r3, {place}, r2;
          {"bar.sync 0; @p0 ld.shared.u32 r4, [r20]; @p0 st.global.u32 [rd1], r4;" if space == "shared" else ""} ret;"""
        kernel = source(body, ".param .u64 o, .param .u64 i")
        inputs = Buffer("I", "u32", 512, data=a.tobytes())
        run = run_functional(kernel, work(1, 128, whole("O", 8, dtype="u32"), inputs), width)
        assert np.array_equal(run.read("O"), wanted), (name, space)


@WIDTHS
def test_compare_and_swap_and_what_atomics_return(width: int) -> None:
    """Each thread takes a ticket by `add`, and adds to a float by a compare-and-swap loop."""
    body = """ld.param.u64 rd0, [o]; mov.u32 r0, %tid.x; atom.global.add.u32 r1, [rd0], 1; mad.wide.u32 rd1, r1, 4, rd0;
    st.global.u32 [rd1+8], r0; ld.global.u32 r2, [rd0+4];
      L: mov.b32 f1, r2; add.f32 f1, f1, 0f3F800000; mov.b32 r3, f1; atom.global.cas.b32 r4, [rd0+4], r2, r3; setp.ne.u32 p0, r4, r2;
      mov.u32 r2, r4; @p0 bra L; ret;"""
    run = run_functional(source(body), work(2, 48, whole("O", 98, dtype="u32")), width)
    found = run.read("O")
    assert found[0] == 96
    assert found[1:2].view(np.float32)[0] == 96
    assert np.array_equal(np.sort(found[2:]), np.repeat(np.arange(48), 2))


def test_wide_and_short_atomics() -> None:
    body = """ld.param.u64 rd0, [o]; mov.u32 r0, %tid.x; cvt.u64.u32 rd1, r0; red.global.add.u64 [rd0], rd1; red.global.min.s64 [rd0+8],
    -5; mov.f64 d0, 0d3FE0000000000000;
      red.global.add.f64 [rd0+16], d0; red.global.add.noftz.f16x2 [rd0+24], r5; cvt.rn.f16.f32 h0, f0; mov.b32 r5, {h0, h0}; ret;"""
    run = run_functional(source(body), work(1, 64, whole("O", 4, dtype="i64")))
    assert run.read("O")[0] == 63 * 32
    assert run.read("O")[1] == -5
    assert run.read("O")[2:3].view(np.float64)[0] == 32


@WIDTHS
def test_barriers_that_reduce(width: int) -> None:
    body = """ld.param.u64 rd0, [o]; mov.u32 r0, %tid.x; setp.lt.u32 p0, r0, 41; bar.red.popc.u32 r1, 0, p0; bar.red.and.pred p1, 0, p0;
    bar.red.or.pred p2, 0, p0;
      setp.lt.u32 p3, r0, 1000; barrier.sync 3; bar.red.and.pred p3, 1, 96, p3; selp.u32 r2, 1, 0, p1; selp.u32 r3, 2, 0, p2;
      selp.u32 r4, 4, 0, p3; or.b32 r2, r2, r3; or.b32 r2, r2, r4;
      mad.wide.u32 rd1, r0, 8, rd0; st.global.v2.u32 [rd1], {r1, r2}; ret;"""
    run = run_functional(source(body), work(1, 96, whole("O", 192, dtype="u32")), width)
    assert (run.read("O").reshape(-1, 2) == (41, 6)).all()


@WIDTHS
def test_arrive_and_wait(width: int) -> None:
    """The first 64 threads write and arrive, the last 64 wait for them and read."""
    body = """.shared .b32 s[64]; ld.param.u64 rd0, [o]; mov.u32 r0, %tid.x; and.b32 r1, r0, 63; mov.u32 r2, s; mad.lo.u32 r2, r1, 4, r2;
    setp.lt.u32 p0, r0, 64; @!p0 bra R;
      add.u32 r3, r0, 100; st.shared.u32 [r2], r3; bar.arrive 1, 128; bra E; R: bar.sync 1, 128; ld.shared.u32 r3, [r2];
      mad.wide.u32 rd1, r1, 4, rd0; st.global.u32 [rd1], r3; E: ret;"""
    run = run_functional(source(body), work(1, 128, whole("O", 64, Fill(), "u32")), width)
    assert np.array_equal(run.read("O"), np.arange(64) + 100)


@WIDTHS
def test_branch_tables(width: int) -> None:
    body = """mov.u32 r0, %tid.x; rem.u32 r1, r0, 3; ld.param.u64 rd0, [o]; T: .branchtargets A, B, C; brx.idx r1, T; A: mov.u32 r2, 10;
    bra D; B: mov.u32 r2, 20; bra D; C: mov.u32 r2, 30;
      D: mad.wide.u32 rd1, r0, 4, rd0; st.global.u32 [rd1], r2; ret;"""
    run = run_functional(source(body), work(1, 96, whole("O", 96, dtype="u32")), width)
    assert np.array_equal(run.read("O"), (np.arange(96) % 3 + 1) * 10)
