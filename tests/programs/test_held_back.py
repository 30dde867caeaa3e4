"""Which branches become guards, and which loads rise past those that stay: what the reference compiler does with small kernels."""

from __future__ import annotations

import pytest
from archex.programs.clean import clean
from archex.programs.ir import Block, Function
from evaluator import agree, run

from programs import build

HEAD = "ld.param.u64 %rd1, [out]; ld.param.u32 %r1, [n]; setp.gt.s32 %p1, %r1, 5; mov.u32 %r2, 3; "
END = " add.s32 %r9, %r2, %r1; st.global.u32 [%rd1], %r9; ret;"
LOOP = "B: add.s32 %r8, %r8, 1; setp.lt.s32 %p3, %r8, 9; @%p3 bra B;"


def work(count: int, register: str = "%r2") -> str:
    """A chain of so many operations."""
    return f"mad.lo.s32 {register}, {register}, %r1, 7; " * count


def branches(function: Function) -> int:
    return sum(operation.op == "branch" and operation.guard is not None for block in function.blocks for operation in block.operations)


def loading(function: Function) -> Block:
    return next(block for block in function.blocks if any(o.op == "load" and o.space.name == "GLOBAL" for o in block.operations))


def same(body: str) -> Function:
    """The cleaned function, which does what the source does."""
    source = build(body)
    cleaned = clean(source)
    for count in (3, 6, 40):
        block = (0x1000_0000).to_bytes(8, "little") + count.to_bytes(4, "little") + bytes(64)
        assert agree(run(source, block, {}, 4000), run(cleaned, block, {}, 4000)) == ""
    return cleaned


@pytest.mark.parametrize(("count", "stays"), [(7, 0), (19, 0), (20, 1)])
def test_more_is_held_back_in_front_of_work(count: int, stays: int) -> None:
    assert branches(same(HEAD + f"@%p1 bra A; {work(count)} A:" + END)) == stays


@pytest.mark.parametrize(("count", "stays"), [(7, 0), (8, 1)])
def test_little_is_held_back_in_front_of_one_operation(count: int, stays: int) -> None:
    assert branches(same(HEAD + f"@%p1 bra A; {work(count)} A: st.global.u32 [%rd1], %r2; ret;")) == stays


@pytest.mark.parametrize(("load", "stays"), [("", 2), ("ld.global.u32 %r4, [%rd1+64]; add.s32 %r2, %r2, %r4;", 1)])
def test_in_loops_only_in_front_of_a_load(load: str, stays: int) -> None:
    loop = f"mov.u32 %r8, 0; B: @%p1 bra A; {work(12)} A: {load} xor.b32 %r2, %r2, %r8; xor.b32 %r2, %r2, %r1;"
    assert branches(same(HEAD + loop + LOOP[2:] + END)) == stays


@pytest.mark.parametrize(("first", "second", "stays"), [(9, 9, 0), (10, 10, 1)])
def test_a_choice_counts_both_sides(first: int, second: int, stays: int) -> None:
    assert branches(same(HEAD + f"@%p1 bra A; {work(first)} bra C; A: {work(second)} C:" + END)) == stays


def test_what_meets_behind_a_choice_is_of_the_side_that_ran() -> None:
    swap = "@%p1 bra A; mov.u32 %r3, 1; mov.u32 %r4, %r1; bra C; A: mov.u32 %r4, 2; mov.u32 %r3, %r1; C: sub.s32 %r2, %r3, %r4;"
    assert branches(same(HEAD + swap + END)) == 0


@pytest.mark.parametrize(
    ("between", "load", "rises"),
    [
        ("", "ld.global.u32", True),
        ("st.global.u32 [%rd1+8], %r1;", "ld.global.u32", False),
        ("st.global.u32 [%rd1+8], %r1;", "ld.global.nc.u32", True),
        ("st.shared.u32 [%r1], %r1;", "ld.global.u32", True),
        ("mov.u32 %r8, 0; " + LOOP, "ld.global.nc.u32", False),
        ("bar.sync 0;", "ld.global.nc.u32", False),
    ],
)
def test_loads_rise_past_a_part_that_stays(between: str, load: str, rises: bool) -> None:
    function = clean(build(HEAD + f"@%p1 bra A; {work(30)} {between} A: {load} %r4, [%rd1+64]; add.s32 %r2, %r2, %r4;" + END))
    assert (loading(function) is function.blocks[0]) == rises


def test_loads_rise_with_their_addresses_past_several_parts() -> None:
    step = "@%p1 bra A{0}; {1} A{0}: mul.wide.s32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2; "
    step += "ld.global.u32 %r4, [%rd3+{0}]; add.s32 %r2, %r2, %r4;"
    function = clean(build(HEAD + "".join(step.format(4 * at, work(30)) for at in range(3)) + END))
    assert sum(operation.op == "load" and operation.space.name == "GLOBAL" for operation in function.blocks[0].operations) == 3
