"""What each kind of PTX statement becomes."""

from __future__ import annotations

import pytest
from archex.programs.ir import LOCAL_WINDOW, VARIABLE_BASE, Immediate, Special
from archex.programs.text import operation_text

from programs import build, names, operations

FORMS = {
    "add.s32 %r1, %r2, -1;": "add.s32 %r1 = %r2, 0xffffffff",
    "add.sat.s32 %r1, %r2, 1;": "add.sat.s32 %r1 = %r2, 1",
    "mul.wide.u16 %r1, %h2, 3;": "mul_wide.u32.u16 %r1 = %h2, 3",
    "mad.wide.s32 %rd1, %r1, %r2, %rd2;": "mad_wide.s64.s32 %rd1 = %r1, %r2, %rd2",
    "mad.rn.f32 %f1, %f2, %f3, 0f3F800000;": "fma.rn.f32 %f1 = %f2, %f3, 0x3f800000",
    "add.rn.ftz.f32 %f1, %f2, 1.5;": "add.rn.ftz.f32 %f1 = %f2, 0x3fc00000",
    "add.f64 %d1, %d2, 0d3FF0000000000000;": "add.f64 %d1 = %d2, 0x3ff0000000000000",
    "mov.f32 %f1, 0d3FF0000000000000;": "move.f32 %f1 = 0x3f800000",
    "ex2.approx.ftz.f32 %f1, %f2;": "exp2.approx.ftz.f32 %f1 = %f2",
    "setp.lt.and.u32 %p1|%p2, %r1, 5, !%p3;": "compare.lt.and.negated.u32 %p1, %p2 = %r1, 5, %p3",
    "setp.neu.f32 %p1, %f1, 0f00000000;": "compare.neu.f32 %p1, _ = %f1, 0",
    "set.gt.u32.f32 %r1, %f1, %f2;": "set.gt.u32.f32 %r1 = %f1, %f2",
    "selp.b32 %r1, 1, 0, %p1;": "select.b32 %r1 = 1, 0, %p1",
    "slct.u32.s32 %r1, %r2, %r3, %r4;": "select_sign.u32.s32 %r1 = %r2, %r3, %r4",
    "mov.b32 {%h1, _}, %r1;": "unpack.b16.b32 %h1, _ = %r1",
    "mov.b64 %rd1, {%r1, %r2};": "pack.b64.b32 %rd1 = %r1, %r2",
    "cvt.rn.f16x2.f32 %r1, %f1, %f2;": "convert.rn.f16x2.f32 %r1 = %f1, %f2",
    "cvt.s32.s8 %r1, %r2;": "convert.s32.s8 %r1 = %r2",
    "cvt.rzi.s32.f32 %r1, %f1;": "convert.rzi.s32.f32 %r1 = %f1",
    "shf.l.wrap.b32 %r1, %r2, %r3, 7;": "funnel_left.wrap.b32 %r1 = %r2, %r3, 7",
    "lop3.b32 %r1, %r2, %r3, %r4, 0x96;": "lop3.b32 %r1 = %r2, %r3, %r4, 150",
    "prmt.b32 %r1, %r2, %r3, 0x5410;": "permute.b32 %r1 = %r2, %r3, 21520",
    "bfe.s32 %r1, %r2, 3, 4;": "bitfield_extract.s32 %r1 = %r2, 3, 4",
    "dp4a.s32.u32 %r1, %r2, %r3, %r4;": "dot4.s32.u32.s32 %r1 = %r2, %r3, %r4",
    "ld.global.nc.v2.f32 {%f1, _}, [%rd1+-8];": "load.global.nc.v2.f32 %f1, _ = %rd1 -8",
    "ld.volatile.shared.u32 %r1, [%r2];": "load.local.volatile.u32 %r1 = %r2",
    "ld.global.L1::no_allocate.L2::128B.u32 %r1, [%rd1];": "load.global.u32 %r1 = %rd1",
    "ld.acquire.gpu.global.u32 %r1, [%rd1];": "load.global.acquire.gpu.u32 %r1 = %rd1",
    "st.global.v2.u32 [%rd1], {%r1, 7};": "store.global.v2.u32 %rd1, %r1, 7",
    "st.u8 [%rd1], %h1;": "store.generic.u8 %rd1, %h1",
    "atom.global.cas.b32 %r1, [%rd1], %r2, %r3;": "atomic.global.cas.b32 %r1 = %rd1, %r2, %r3",
    "atom.relaxed.gpu.shared.add.u32 _, [%r1], 1;": "reduce_atomic.local.add.relaxed.gpu.u32 %r1, 1",
    "red.global.add.f32 [%rd1], %f1;": "reduce_atomic.global.add.f32 %rd1, %f1",
    "shfl.sync.bfly.b32 %r1|%p1, %r2, 1, 31, -1;": "shuffle.bfly.b32 %r1, %p1 = %r2, 1, 31, 0xffffffff",
    "vote.sync.ballot.b32 %r1, !%p1, -1;": "vote.ballot.negated.b32 %r1 = %p1, 0xffffffff",
    "match.all.sync.b32 %r1|%p1, %r2, -1;": "match.all.b32 %r1, %p1 = %r2, 0xffffffff",
    "redux.sync.add.s32 %r1, %r2, -1;": "redux.add.s32 %r1 = %r2, 0xffffffff",
    "bar.sync 0, 64;": "barrier.sync 0, 64",
    "bar.red.popc.u32 %r1, 0, !%p1;": "barrier.red.popc.negated.u32 %r1 = 0, 0, %p1",
    "bar.warp.sync -1;": "barrier.wave 0xffffffff",
    "membar.gl;": "fence.gpu",
    "mov.u64 %rd1, %clock64;": "move.u64 %rd1 = [clock64]",
    "mov.u32 %r1, (3 + 4) * 2 << 1;": "move.u32 %r1 = 28",
    "@!%p1 mov.u32 %r1, WARP_SZ;": "@!%p1 move.u32 %r1 = 32",
}


@pytest.mark.parametrize("text", FORMS)
def test_form(text: str) -> None:
    function = build(text + " ret;")
    assert operation_text(function, operations(function)[0]) == FORMS[text]


def test_special_registers_as_operands_are_read_by_a_move() -> None:
    function = build("add.s32 %r1, %tid.x, 1; ret;")
    first, second, _ = operations(function)
    assert (first.op, first.src, second.op) == ("move", (Special("tid.x"),), "add")


def test_carry_chain_is_explicit() -> None:
    function = build("add.cc.u32 %r1, %r2, %r3; addc.cc.u32 %r4, %r5, 0; addc.u32 %r6, 0, 0; ret;")
    low, middle, high = operations(function)[:3]
    carry = low.dst[1]
    assert [o.op for o in (low, middle, high)] == ["add_carry"] * 3
    assert middle.src[2] == carry
    assert middle.dst[1] == carry
    assert high.src[2] == carry
    assert high.dst[1] is None


def test_vector_registers() -> None:
    function = build(".reg .v2 .f32 %v; ld.global.v2.f32 %v, [%rd1]; add.f32 %f1, %v.x, %v.y; ret;")
    load, add = operations(function)[:2]
    assert load.dst == add.src


def test_scopes_hide_registers_and_labels() -> None:
    body = (
        "mov.u32 %r1, 1; { .reg .b32 %r1; mov.u32 %r1, 2; bra L; L: st.global.u32 [%rd1], %r1; } bra L; L: st.global.u32 [%rd1], %r1; ret;"
    )
    stores = [o for o in operations(build(body)) if o.op == "store"]
    assert stores[0].src[1] != stores[1].src[1]


def test_inline_assembly_scope_with_a_loop() -> None:
    function = build("{ .reg .pred p; W: mbarrier.try_wait.parity.shared::cta.b64 p, [%r1], %r2; @!p bra W; } ret;")
    assert names(function) == ["mbarrier", "branch", "exit"]
    assert operations(function)[1].target == (0,)


def test_branch_index() -> None:
    function = build("T: .branchtargets A, B; brx.idx %r1, T; A: mov.u32 %r2, 1; B: ret;")
    assert function.blocks[0].operations[-1].target == (1, 2)
    assert function.blocks[0].next == -1


def test_workgroup_variables_and_dynamic_memory_behind_them() -> None:
    before = ".extern .shared .align 16 .b8 dyn[];\n.shared .align 4 .b8 unused[400];\n"
    body = ".shared .align 8 .b8 a[12]; .shared .f32 b; mov.u32 %r1, dyn; mov.u32 %r2, b+8; ld.shared.u32 %r3, [a+4]; ret;"
    function = build(body, before=before)
    dynamic, second, load = operations(function)[:3]
    assert (dynamic.src, second.src) == ((Immediate(16),), (Immediate(20),))
    assert (load.src, load.offset, function.local_bytes) == ((Immediate(0),), 4, 16)
    assert "unused" not in function.symbols


def test_variables_with_initial_values() -> None:
    before = ".global .align 4 .u32 x[3] = {1, 2};\n.global .u64 p[2] = {x, generic(x)+4};\n.const .f32 c = 0f3F800000;\n"
    function = build("mov.u64 %rd1, p; ld.const.f32 %f1, [c]; ret;", before=before)
    assert function.symbols["x"].data == (1).to_bytes(4, "little") + (2).to_bytes(4, "little") + bytes(4)
    place = function.symbols["x"].offset
    assert place >= VARIABLE_BASE
    assert function.symbols["p"].data == place.to_bytes(8, "little") + (place + 4).to_bytes(8, "little")
    assert function.symbols["c"].data == bytes.fromhex("0000803f")


def test_generic_addresses_of_local_memory() -> None:
    function = build(".shared .b32 a[4]; mov.u64 %rd1, a; cvta.shared.u64 %rd2, %rd1; cvta.to.shared.u64 %rd3, %rd2; ret;")
    into, out = operations(function)[1:3]
    assert into.src[1] == Immediate(LOCAL_WINDOW)
    assert out.src[1] == Immediate((1 << 40) - 1)


def test_promises_of_the_header() -> None:
    from archex.programs.build import build_function
    from archex.programs.ptx import parse

    from programs import HEAD

    function = build_function(parse(HEAD + ".entry k() .reqntid 128, 2 .minnctapersm 3 .maxnreg 64 { ret; }"))
    assert (function.required_threads, function.max_threads, function.min_groups, function.max_registers) == ((128, 2, 1), 256, 3, 64)


def test_pragmas_stay_with_their_loop() -> None:
    function = build('L: .pragma "nounroll"; add.s32 %r1, %r1, -1; setp.ne.s32 %p1, %r1, 0; @%p1 bra L; ret;')
    assert function.blocks[0].pragmas == ("nounroll",)


def test_parameters_are_aligned() -> None:
    function = build("ret;", ".param .u8 a, .param .u64 b, .param .align 4 .b8 c[10], .param .u16 d")
    assert [parameter.offset for parameter in function.parameters] == [0, 8, 16, 26]
