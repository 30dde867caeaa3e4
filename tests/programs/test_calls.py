"""Calls of device functions, put in place."""

from __future__ import annotations

import struct

from archex.programs.ir import Space
from evaluator import run

from programs import build, names, operations

ADD = """.func (.param .b32 r) f (.param .b32 a, .param .b32 b)
{ .reg .b32 %r<4>; ld.param.u32 %r1, [a]; ld.param.u32 %r2, [b]; add.s32 %r3, %r1, %r2; st.param.b32 [r], %r3; ret; }
"""


def stored(function, *parameters: int) -> list:
    """The values a run stores."""
    found = run(function, struct.pack("<QI", 0x1000, *parameters), {"tid.x": 3})
    return [effect[5:] for effect in found.effects if effect[0] == "store"]


def test_parameters_become_registers() -> None:
    body = """ld.param.u32 %r1, [n]; ld.param.u64 %rd1, [out];
    { .param .b32 p0; .param .b32 p1; .param .b32 r0; st.param.b32 [p0], %r1; st.param.b32 [p1], 5;
      call.uni (r0), f, (p0, p1); ld.param.b32 %r2, [r0]; }
    st.global.u32 [%rd1], %r2; ret;"""
    function = build(body, before=ADD)
    assert function.private_bytes == 0
    assert stored(function, 7) == [(12,)]


def test_a_struct_read_in_other_pieces_lies_in_memory() -> None:
    before = """.func (.param .b32 r) g (.param .align 8 .b8 s[16])
    { .reg .b32 %r<4>; ld.param.u32 %r1, [s+4]; st.param.b32 [r], %r1; ret; }
    """
    body = """ld.param.u64 %rd1, [out]; mov.u64 %rd2, 0x1122334455667788;
    { .param .align 8 .b8 s0[16]; .param .b32 r0; st.param.b64 [s0], %rd2; st.param.b64 [s0+8], %rd2;
      call (r0), g, (s0); ld.param.b32 %r2, [r0]; }
    st.global.u32 [%rd1], %r2; ret;"""
    function = build(body, before=before)
    assert function.private_bytes == 16
    assert [o.space for o in operations(function) if o.op == "store"] == [Space.PRIVATE, Space.PRIVATE, Space.GLOBAL]


def test_register_parameters() -> None:
    before = ".func (.reg .b32 r) h (.reg .b32 a) { mul.lo.s32 r, a, 3; ret; }\n"
    function = build(
        "ld.param.u32 %r1, [n]; ld.param.u64 %rd1, [out]; call (%r2), h, (%r1); st.global.u32 [%rd1], %r2; ret;", before=before
    )
    assert stored(function, 7) == [(21,)]


def test_a_guarded_call_is_branched_around_and_each_call_has_its_own_registers() -> None:
    before = ".func (.reg .b32 r) h (.reg .b32 a) { .reg .pred p; setp.gt.s32 p, a, 10; mov.u32 r, a; @p ret; add.s32 r, a, 1; ret; }\n"
    body = """ld.param.u32 %r1, [n]; ld.param.u64 %rd1, [out]; setp.eq.s32 %p1, %r1, 7; mov.u32 %r2, 0;
    @%p1 call (%r2), h, (%r1); call (%r3), h, (20); add.s32 %r4, %r2, %r3; st.global.u32 [%rd1], %r4; ret;"""
    function = build(body, before=before)
    assert stored(function, 7) == [(28,)]
    assert stored(function, 8) == [(20,)]
    assert "call" not in names(function)


def test_variables_of_a_function_exist_once() -> None:
    before = ".func h () { .shared .align 4 .b8 w[64]; .reg .b32 a; ld.shared.u32 a, [w]; st.shared.u32 [w+4], a; ret; }\n"
    assert build("call h; call h; ret;", before=before).local_bytes == 64
