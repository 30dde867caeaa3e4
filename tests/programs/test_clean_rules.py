"""What `clean` makes of small programs, operation by operation."""

from __future__ import annotations

import pytest
from archex.programs.clean import clean
from archex.programs.text import operation_text

from programs import build, names, operations

LOAD = "ld.param.u64 %rd1, [out]; ld.param.u32 %r1, [n]; "
STORE = " st.global.u32 [%rd1], %r9; ret;"


def cleaned(body: str) -> list[str]:
    """The cleaned operations as text, without parameter loads and `exit`."""
    function = clean(build(body))
    return [
        operation_text(function, o) for o in operations(function) if o.op != "exit" and "load.parameter" not in operation_text(function, o)
    ]


RULES = {
    "offsets into the load": (
        "cvta.to.global.u64 %rd2, %rd1; add.s64 %rd3, %rd2, 8; ld.global.u32 %r9, [%rd3+4];",
        ["load.global.u32 %r9 = %rd1 +12"],
    ),
    "wide product and addition": (
        "mul.wide.s32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2; ld.global.u32 %r9, [%rd3];",
        ["mad_wide.s64.s32 %rd3 = %r1, 4, %rd1", "load.global.u32 %r9 = %rd3"],
    ),
    "a wide product of two additions goes into both": (
        "mul.wide.s32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2; add.s64 %rd4, %rd3, %rd2; ld.global.u32 %r9, [%rd4];",
        ["mad_wide.s64.s32 %rd3 = %r1, 4, %rd1", "mad_wide.s64.s32 %rd4 = %r1, 4, %rd3", "load.global.u32 %r9 = %rd4"],
    ),
    "extension, shift and addition": (
        "cvt.s64.s32 %rd2, %r1; shl.b64 %rd3, %rd2, 3; add.s64 %rd4, %rd1, %rd3; ld.global.u32 %r9, [%rd4];",
        ["mad_wide.s64.s32 %rd4 = %r1, 8, %rd1", "load.global.u32 %r9 = %rd4"],
    ),
    "shift and addition": ("shl.b32 %r2, %r1, 4; add.s32 %r9, %r2, %r1;", ["mad_lo.lea.s32 %r9 = %r1, 16, %r1"]),
    "product and addition": ("mul.lo.s32 %r2, %r1, %r1; add.s32 %r9, %r2, 7;", ["mad_lo.s32 %r9 = %r1, %r1, 7"]),
    "a product with another user stays": (
        "mul.lo.s32 %r2, %r1, %r1; add.s32 %r3, %r2, 7; xor.b32 %r9, %r3, %r2;",
        ["mul_lo.s32 %r2 = %r1, %r1", "add.s32 %r3 = %r2, 7", "xor.b32 %r9 = %r3, %r2"],
    ),
    "constants fold": ("mov.u32 %r2, 6; mul.lo.s32 %r3, %r2, 7; add.s32 %r9, %r1, %r3;", ["add.s32 %r9 = %r1, 42"]),
    "masks of masks": ("and.b32 %r2, %r1, 255; and.b32 %r9, %r2, 15;", ["and.b32 %r9 = %r1, 15"]),
    "the low field of bits": ("bfe.u32 %r9, %r1, 0, 5;", ["and.b32 %r9 = %r1, 31"]),
    "division by a power of two": ("div.u32 %r9, %r1, 8;", ["shr.u32 %r9 = %r1, 3"]),
    "equal expressions": (
        "add.s32 %r2, %r1, 5; add.s32 %r3, %r1, 5; xor.b32 %r4, %r2, 1; xor.b32 %r5, %r3, 1; sub.s32 %r9, %r4, %r5;",
        [],
    ),
    "packing what was unpacked": ("mov.b32 {%h1, %h2}, %r1; mov.b32 %r9, {%h1, %h2};", []),
    "a choice read as a predicate": (
        "setp.lt.s32 %p1, %r1, 4; selp.u32 %r2, 1, 0, %p1; setp.ne.s32 %p2, %r2, 0; selp.b32 %r9, %r1, 3, %p2;",
        ["compare.lt.s32 %p1, _ = %r1, 4", "select.b32 %r9 = %r1, 3, %p1"],
    ),
    "floating point is not touched": (
        "mov.b32 %f1, %r1; mul.f32 %f2, %f1, %f1; add.f32 %f3, %f2, 0f00000000; mov.b32 %r9, %f3;",
        ["mul.f32 %f2 = %r1, %r1", "add.f32 %f3 = %f2, 0"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("rule", RULES)
def test_rule(rule: str) -> None:
    body, expected = RULES[rule]
    assert cleaned(LOAD + body + STORE)[: len(expected)] == expected
    assert len(cleaned(LOAD + body + STORE)) == len(expected) + 1


WAVE = "mov.u32 %r2, %tid.x; shr.u32 %r3, %r2, 5; shfl.sync.idx.b32 %r9, %r3, 0, 31, -1;"


@pytest.mark.parametrize(
    ("body", "required", "gone"),
    [
        (WAVE, (64, 1, 1), True),
        (WAVE, (32, 4, 1), True),
        (WAVE, None, False),  # the workgroup may be anything
        (WAVE, (48, 2, 1), False),  # a wave holds parts of two rows
        (WAVE.replace("5;", "4;"), (64, 1, 1), False),
        (WAVE.replace("%r3, 0, 31", "%r3, 0, 0x1000"), (64, 1, 1), False),  # of another part of the wave
        (WAVE.replace("%r3, 0, 31", "%r3, %r1, 31"), (64, 1, 1), False),
        (WAVE.replace(".idx", ".bfly"), (64, 1, 1), False),
        (WAVE.replace("%tid.x", "%tid.y"), (64, 1, 1), False),
    ],
)
def test_the_waves_number_is_not_exchanged(body: str, required: tuple[int, int, int] | None, gone: bool) -> None:
    function = build(LOAD + body + STORE)
    function.required_threads = required
    assert ("shuffle" not in names(clean(function))) == gone


def test_a_short_branch_becomes_guards() -> None:
    body = LOAD + "mov.u32 %r9, 0; setp.lt.s32 %p1, %r1, 4; @%p1 bra A; ld.global.u32 %r9, [%rd1+8]; add.s32 %r9, %r9, 1; A:" + STORE
    assert cleaned(body) == [
        "compare.lt.s32 %p1, _ = %r1, 4",
        "@!%p1 load.global.u32 %r9#3 = %rd1 +8",
        "move.b32 %r9#4 = 0",
        "@!%p1 add.s32 %r9#4 = %r9#3, 1",
        "store.global.u32 %rd1, %r9#4",
    ]


def test_a_long_branch_stays() -> None:
    work = "".join(f"xor.b32 %r9, %r9, {3 + i}; add.s32 %r9, %r9, %r1; " for i in range(5))
    assert "branch" in names(clean(build(LOAD + "mov.u32 %r9, 0; setp.lt.s32 %p1, %r1, 4; @%p1 bra A; " + work + "A:" + STORE)))


def test_a_barrier_is_never_guarded() -> None:
    body = LOAD + "mov.u32 %r9, 0; setp.lt.s32 %p1, %r1, 4; @%p1 bra A; bar.sync 0; A:" + STORE
    assert names(clean(build(body))).count("branch") == 1


def test_jumps_to_the_end_become_guarded_exits() -> None:
    function = clean(build(LOAD + "setp.ge.s32 %p1, %r1, 4; @%p1 bra END; st.global.u32 [%rd1], %r1; END: ret;"))
    assert [o.op for o in operations(function)] == ["load", "load", "compare", "exit", "store", "exit"]
    assert operations(function)[3].guard is not None


def test_a_loop_variable_stays_one_register() -> None:
    body = LOAD + "mov.u32 %r9, 0; L: add.s32 %r9, %r9, 3; setp.lt.s32 %p1, %r9, %r1; @%p1 bra L;" + STORE
    assert cleaned(body) == [
        "move.b32 %r9 = 0",
        "add.s32 %r9 = %r9, 3",
        "compare.lt.s32 %p1, _ = %r9, %r1",
        "@%p1 branch -> b1",
        "store.global.u32 %rd1, %r9",
    ]


def test_values_swapped_around_a_loop_survive() -> None:
    body = LOAD + "mov.u32 %r2, 1; mov.u32 %r3, 2; mov.u32 %r4, 0; L: mov.u32 %r5, %r2; mov.u32 %r2, %r3; mov.u32 %r3, %r5; "
    body += "add.s32 %r4, %r4, 1; setp.lt.s32 %p1, %r4, %r1; @%p1 bra L; sub.s32 %r9, %r2, %r3;" + STORE
    assert sum(text.startswith("move") for text in cleaned(body)) == 6  # three to begin with, three to swap


def test_an_atomic_nobody_reads_is_a_reduction() -> None:
    assert "reduce_atomic" in names(clean(build(LOAD + "atom.global.add.u32 %r2, [%rd1], %r1; ret;")))


def test_branches_to_one_place_are_joined() -> None:
    body = LOAD + "mov.u32 %r9, 0; setp.lt.s32 %p1, %r1, 4; @!%p1 bra A; setp.gt.s32 %p2, %r1, %r9; @%p2 bra A; bar.sync 0; A:" + STORE
    assert [text for text in cleaned(body) if "compare" in text] == [
        "compare.lt.s32 %p1, _ = %r1, 4",
        "compare.gt.or.negated.s32 %t6, _ = %r1, 0, %p1",
    ]


def test_cleaning_twice_changes_nothing() -> None:
    once = clean(build(LOAD + "mul.wide.s32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2; ld.global.u32 %r9, [%rd3];" + STORE))
    assert [o.op for o in operations(clean(once))] == [o.op for o in operations(once)]
