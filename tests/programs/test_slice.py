"""What a timing run executes."""

from __future__ import annotations

import pytest
from archex.programs.ir import Function
from archex.programs.slice import timing_slice

from programs import build

LOAD = "ld.param.u64 %rd1, [out]; ld.param.u32 %r1, [n]; "
GATHER = "mul.wide.u32 %rd2, %r2, 4; add.s64 %rd3, %rd1, %rd2; ld.global.f32 %f1, [%rd3]; ret;"


def opcodes(function: Function) -> list[str]:
    found = timing_slice(function)
    return [
        o.opcode
        for block, chosen in zip(function.blocks, found.operations, strict=True)
        for i, o in enumerate(block.operations)
        if i in chosen
    ]


def test_values_that_are_only_stored_are_left_out() -> None:
    function = build(
        LOAD + "mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2; ld.global.f32 %f1, [%rd3];"
        " mul.f32 %f2, %f1, %f1; st.global.f32 [%rd1], %f2; ret;"
    )
    assert opcodes(function) == ["ld.param.u64", "ld.param.u32", "mul.wide.u32", "add.s64"]


def test_a_loaded_index_takes_its_load_in() -> None:
    function = build(LOAD + "ld.global.nc.u32 %r2, [%rd1]; " + GATHER)
    assert "ld.global.nc.u32" in opcodes(function)
    assert not timing_slice(function).full


def test_stores_that_may_feed_a_sliced_load_are_in() -> None:
    body = LOAD + "st.global.u32 [%rd1+4], %r5; ld.global.u32 %r2, [%rd1]; " + GATHER
    function = build(body)
    assert "st.global.u32" in opcodes(function)
    assert timing_slice(function).full


def test_stores_to_another_buffer_are_not() -> None:
    parameters = ".param .u64 out, .param .u32 n, .param .u64 other"
    body = LOAD + "ld.param.u64 %rd9, [other]; st.global.u32 [%rd9], %r5; ld.global.u32 %r2, [%rd1]; " + GATHER
    function = build(body, parameters)
    assert not timing_slice(function).full
    assert timing_slice(function, same_buffer=lambda a, b: True).full


def test_local_memory_feeds_too() -> None:
    body = LOAD + "st.shared.u32 [%r1], %r5; bar.sync 0; ld.shared.u32 %r2, [%r1+4]; ld.shared.u32 %r3, [%r2]; ret;"
    found = timing_slice(build(body))
    assert (found.local, found.full) == (True, False)


def test_a_comparison_with_an_odd_number_is_assumed() -> None:
    function = build(
        LOAD + "ld.global.f32 %f1, [%rd1]; sin.approx.f32 %f2, %f1;"
        " setp.neu.f32 %p1, %f2, 0f42F6E979; @%p1 bra A; st.global.f32 [%rd1], %f2; A: ret;"
    )
    assert [(a.block, a.operation, a.value) for a in timing_slice(function).assumed] == [(0, 4, 1)]
    assert "sin.approx.f32" not in opcodes(function)


def test_a_comparison_with_zero_is_not() -> None:
    function = build(LOAD + "ld.global.f32 %f1, [%rd1]; setp.eq.f32 %p1, %f1, 0f00000000; @%p1 bra A; st.global.f32 [%rd1], %f1; A: ret;")
    assert timing_slice(function).assumed == []
    assert "ld.global.f32" in opcodes(function)


def test_a_shuffled_address() -> None:
    function = build(LOAD + "shfl.sync.idx.b32 %r2|%p1, %r1, 0, 31, -1; ld.shared.u32 %r3, [%r2]; ret;")
    assert "shfl.sync.idx.b32" in opcodes(function)


PRODUCT = (
    "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%r10, %r11, %r12, %r13}, {%r2, %r3, %r4, %r5}, {%r6, %r7}, {%r8, %r8, %r8, %r8};"
)
SUM = "add.s32 %r14, %r10, %r11; shfl.sync.bfly.b32 %r15, %r14, 1, 31, -1; add.s32 %r16, %r14, %r15; "


def kept_alive(tail: str, sums: str = SUM) -> Function:
    return build(f"{LOAD}{PRODUCT} bra B; B: {sums}{tail} @%p1 bra A; st.global.u32 [%rd1], %r16; A: ret;")


@pytest.mark.parametrize(("how", "value"), [("eq.s32", 0), ("ne.u32", 1), ("eq.b32", 0)])
def test_an_integer_out_of_a_product_never_equals_an_odd_number(how: str, value: int) -> None:
    function = kept_alive(f"setp.{how} %p1, %r16, 123456;")
    assert [assumed.value for assumed in timing_slice(function).assumed] == [value]
    assert not [opcode for opcode in opcodes(function) if opcode.startswith(("mma", "shfl"))]


@pytest.mark.parametrize(
    "tail",
    [
        "setp.eq.s32 %p1, %r16, 0;",
        "setp.lt.s32 %p1, %r16, 123456;",
        "setp.eq.s32 %p1, %r16, %r1;",
        "and.b32 %r17, %r16, 1; setp.eq.s32 %p1, %r17, 1;",
        "setp.gt.s32 %p2, %r16, 5; selp.b32 %r17, 1, 2, %p2; setp.eq.s32 %p1, %r17, 1;",
        "st.shared.u32 [%r1], %r16; ld.shared.u32 %r17, [%r1]; setp.eq.s32 %p1, %r17, 123456;",
    ],
)
def test_other_comparisons_of_it_are_executed(tail: str) -> None:
    function = kept_alive(tail)
    assert timing_slice(function).assumed == []
    assert PRODUCT.split()[0] in opcodes(function)


def test_an_integer_of_another_origin_may_equal_anything() -> None:
    function = kept_alive("setp.eq.s32 %p1, %r16, 123456;", "add.s32 %r16, %r1, %r2; ")
    assert timing_slice(function).assumed == []
    assert "add.s32" in opcodes(function)


def test_a_loop_of_products() -> None:
    body = LOAD + f"mov.u32 %r16, 0; mov.u32 %r18, 0; L: {PRODUCT} add.s32 %r16, %r16, %r10; add.s32 %r18, %r18, 1;"
    function = build(
        body + " setp.ne.s32 %p2, %r18, 9; @%p2 bra L; setp.eq.s32 %p1, %r16, 7; @%p1 bra A; st.global.u32 [%rd1], %r16; A: ret;"
    )
    (assumed,) = timing_slice(function).assumed
    assert function.blocks[assumed.block].operations[assumed.operation].mods[0] == "eq"  # not the loop's own
    assert PRODUCT.split()[0] not in opcodes(function)
