"""Laws of lowering: loops repeated compute the same, order respects dependences, spilling is monotonic, every operation has an
expansion."""

from __future__ import annotations

import numpy as np
import pytest
from archex.base import layout
from archex.base.errors import RequestError, UnsupportedError
from archex.lowering.counted import counted_loops
from archex.lowering.facts import facts
from archex.lowering.rules import Rules, parse_steps
from archex.lowering.unroll import unroll
from archex.parts.machine_operations import MACHINE_OPERATIONS
from archex.programs.clean import clean
from archex.programs.ir import Function
from lowered import instruction_set, launches, lowered, program
from running import reference, run_functional, source, whole, work

LOOP = """
  mov.u32 r1, %tid.x; ld.param.u64 rd1, [o]; mul.wide.u32 rd2, r1, 8; add.s64 rd1, rd1, rd2; ld.param.u32 r2, [n];
  add.s32 r2, r2, r1; mov.u32 r3, {first}; mov.u64 rd3, 7; mov.u32 r9, r1; {guard}
  LOOP: {body}
  add.s32 r3, r3, {step}; setp.{test}.{kind} p1, r3, {bound}; @p1 bra LOOP;
  END: cvt.u64.u32 rd4, r9; add.s64 rd4, rd4, rd3; st.global.u64 [rd1], rd4; ret;
"""
BODY = "mad.lo.s32 r9, r9, 3, r3; cvt.u64.u32 rd5, r9; add.s64 rd3, rd3, rd5; add.s64 rd3, rd3, 11;"


def loop(**parts: str) -> Function:
    text = {"first": "0", "guard": "", "body": BODY, "step": "1", "test": "lt", "kind": "s32", "bound": "r2"} | parts
    return clean(source(LOOP.format(**text), ".param .u64 o, .param .u32 n"))


CASES = {
    "less": loop(guard="setp.lt.s32 p2, r2, 1; @p2 bra END;"),
    "at most": loop(test="le", guard="setp.lt.s32 p2, r2, 1; @p2 bra END;"),
    "by three": loop(step="3"),
    "unsigned": loop(kind="u32", guard="setp.eq.u32 p2, r2, 0; @p2 bra END;"),
    "down to zero": loop(first="r2", step="-1", test="ne", bound="0", guard="setp.eq.s32 p2, r2, 0; @p2 bra END;"),
    "down, greater": loop(first="r2", step="-2", test="gt", bound="0"),
    "up to a bound": loop(test="ne", guard="setp.lt.s32 p2, r2, 1; @p2 bra END;"),
    "known count": loop(bound="21"),
    "few turns": loop(bound="5"),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 5, 9, 30])
def test_repeated_loops_compute_the_same(name: str, n: int) -> None:
    before = CASES[name]
    after = unroll(before, instruction_set())
    launch = work(1, 40, whole("o", 40, dtype="i64"), n)
    first, second = (run_functional(function, launch).read("o") for function in (before, after))
    assert np.array_equal(first, second)


def test_the_loops_of_the_cases_are_repeated() -> None:
    for name, function in CASES.items():
        assert counted_loops(facts(function)), name
        assert sum(len(block.operations) for block in unroll(function, instruction_set()).blocks) > 2 * len(
            function.blocks[-2].operations
        ), name


OTHERS = {
    "step not constant": {"step": "r2"},
    "a fence inside": {"body": BODY + "membar.gl;"},
    "too heavy": {"body": BODY * 12},
    "a bound that changes": {"body": BODY + "sub.s32 r2, r2, 1;"},
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_loops_stay(name: str) -> None:
    function = loop(**OTHERS[name])
    assert len(unroll(function, instruction_set()).blocks) == len(function.blocks)


def test_a_loop_marked_so_stays() -> None:
    function = loop()
    for block in function.blocks:
        block.pragmas = ("nounroll",)
    assert len(unroll(function, instruction_set()).blocks) == len(function.blocks)


@pytest.mark.parametrize(
    "kernel", ["k_gelu_f4", "k_softmax_hILi1", "k_sgemm_tiledILi16", "k_spmv_vector", "k_nbody", "triton_rmsnorm_rows=512"]
)
@pytest.mark.parametrize("registers", [None, 40, 24])
def test_values_are_made_before_they_are_read(kernel: str, registers: int | None) -> None:
    _, code = lowered(reference(kernel), registers)
    for start, end in zip(code.block_start, code.block_start[1:], strict=False):
        rows = code.code[start:end]
        made = set(rows[:, layout.DST0]) | set(rows[:, layout.DST1])
        seen: set[int] = set()
        before = {token for row in code.code[:start] for token in row[[layout.DST0, layout.DST1]]} | {
            token for row in code.code[end:] for token in row[[layout.DST0, layout.DST1]]
        }
        for row in rows:
            for token in row[layout.SRC0 : layout.SRC0 + layout.SRC_COUNT]:
                assert token < 0 or token not in made or token in seen or token in before
            seen |= {row[layout.DST0], row[layout.DST1]}


@pytest.mark.parametrize("kernel", ["k_softmax_hILi1", "k_sgemm_tiledILi16", "triton_rmsnorm_rows=512"])
def test_one_program_is_one_code_wherever_its_values_lie_in_memory(kernel: str) -> None:
    kept = []  # what fills gaps, so that objects come to lie elsewhere
    codes = []
    for number in range(4):
        kept.append([object() for _ in range(1000 * number + 7)])
        codes.append(lowered(reference(kernel), 40)[1].code.tobytes())
    assert codes[0] == codes[1] == codes[2] == codes[3]


def test_every_record_has_one_machine_instruction() -> None:
    final, code = program(str(launches()["gather[n=16777216,table=65536]"].ptx), 32)
    for index in range(len(final.blocks)):
        rows = code.code[code.block_start[index] : code.block_start[index + 1]]
        assert sorted(record for record in rows[:, layout.RECORD] if record >= 0) == list(range(code.block_records[index]))


def test_fewer_registers_never_spill_less() -> None:
    function = reference("k_liveILi64ELi2")
    last = -1
    for registers in (100, 72, 66, 60, 52, 44, 36):
        _, code = lowered(function, registers)
        accesses = sum(names.count("load_private") + names.count("store_private") for names in code.operations)
        assert accesses >= last
        last = accesses
    assert last > 100


def test_neighbouring_loads_are_one_wide_load_where_alignment_is_known() -> None:
    text = """mov.u32 r1, %tid.x; shl.b32 r2, r1, {shift}; ld.param.u64 rd1, [o]; ld.shared.f32 f1, [r2]; ld.shared.f32 f2, [r2+4];
    ld.shared.f32 f3, [r2+8]; ld.shared.f32 f4, [r2+12]; add.f32 f1, f1, f2; add.f32 f1, f1, f3; add.f32 f1, f1, f4; st.global.f32
    [rd1], f1; ret;"""
    wide, narrow = (lowered(clean(source(text.format(shift=shift))))[1] for shift in (4, 2))
    assert sum(names.count("load_local") for names in wide.operations) == 1
    assert sum(names.count("load_local") for names in narrow.operations) == 4


def test_an_atomic_on_a_shared_address_is_done_by_one_lane() -> None:
    text = "ld.param.u64 rd1, [o]; mov.u32 r1, %tid.x; {atomic} ret;"
    kernels = {
        "red.global.add.u32 [rd1], 2;": 40 * 2,
        "red.global.add.u32 [rd1], r1;": sum(range(40)),
        "red.global.max.s32 [rd1], r1;": 39,
        "atom.global.add.u32 r2, [rd1], 3; mul.wide.u32 rd2, r2, 0; add.s64 rd1, rd1, rd2; st.global.u32 [rd1+8], r2;": 40 * 3,
    }
    for atomic, expected in kernels.items():
        final = unroll(clean(source(text.format(atomic=atomic))), instruction_set())
        guarded = [op for block in final.blocks for op in block.operations if op.op in ("atomic", "reduce_atomic")]
        assert len(guarded) == 1
        assert guarded[0].guard is not None
        launch = work(1, 40, whole("o", 16, dtype="i64"))
        assert run_functional(final, launch).read("o")[0] & 0xFFFFFFFF == expected


def test_both_instruction_sets_lower_every_plain_reference_kernel() -> None:
    for path in sorted({str(launch.ptx) for launch in launches().values()})[::6]:
        for name in ("sm90", "gfx942"):
            from archex.programs.build import load_function

            assert len(lowered(load_function(path), None, name)[1].code)


def test_a_machine_without_scoreboard_waits_before_it_uses_a_load() -> None:
    _, code = lowered(reference("k_copy_f1"), None, "gfx942")
    names = [name for block in code.operations for name in block]
    assert "wait" in names[names.index("load_global") : names.index("store_global")]


def test_an_unknown_step_and_a_missing_expansion_are_named() -> None:
    with pytest.raises(RequestError, match=r"instruction_set\.expansions\.x.*is not a step"):
        parse_steps("d = = a", "instruction_set.expansions.x")
    with pytest.raises(UnsupportedError, match="wgmma: the instruction set has no expansion"):
        Rules(instruction_set()).key("matrix", frozenset(), "wgmma")


def test_expansions_name_machine_operations_only() -> None:
    for name in ("sm90", "gfx942"):
        rules = Rules(instruction_set(name))
        known = rules.steps.keys() | MACHINE_OPERATIONS.keys()
        assert all(step.operation in known for steps in rules.steps.values() for step in steps)
