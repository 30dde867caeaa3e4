"""What a timing run executes."""

from __future__ import annotations

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
