"""Laws of matrix products and copies in machine code: how many instructions of which shape, what they hold and read, what a device
refuses."""

from __future__ import annotations

import math

import numpy as np
import pytest
from archex.base import layout
from archex.base.errors import UnsupportedError
from archex.lowering import WaveProgram
from archex.lowering.lacking import lacking
from archex.lowering.shapes import GROUP, fits, plan, product
from archex.parts.abilities import NOTHING, Abilities
from archex.parts.matrix_unit import OPERATION
from archex.programs.clean import clean
from archex.programs.ir import Function, Operation
from lowered import abilities, lowered
from running import source

TYPES = ("f32.f16.f16.f32", "f32.bf16.bf16.f32", "f32.tf32.tf32.f32", "s32.s8.s8.s32", "f64.f64.f64.f64")
EXTENTS = ("m16n8k16", "m16n8k8", "m16n8k32", "m8n8k4", "m16n8k4", "m64n8k64")


def multiply(extents: str, types: str, op: str = "matrix") -> Operation:
    return Operation(op, mods=("sync", "aligned", extents, "row", "col", *types.split(".")), line=7, opcode=f"mma.sync.{extents}.{types}")


@pytest.mark.parametrize("name", ["sm90", "gfx942"])
@pytest.mark.parametrize("types", TYPES)
@pytest.mark.parametrize("extents", EXTENTS)
def test_as_many_instructions_as_products_need(name: str, types: str, extents: str) -> None:
    able, operation = abilities(name), multiply(extents, types)
    wanted = product(operation)
    if not any(fits(wanted, shape) for shape in able.shapes.values() if shape.source == "registers"):
        with pytest.raises(UnsupportedError, match=r"\(line 7\): the matrix unit has no shape for"):
            plan(operation, able)
        return
    made = plan(operation, able)
    total = wanted.m * wanted.n * wanted.k * able.lanes / GROUP
    assert made.count == math.ceil(total / (made.shape.m * made.shape.n * made.shape.k))
    others = [
        math.ceil(total / (shape.m * shape.n * shape.k)) * max(shape.interval, shape.least)
        for shape in able.shapes.values()
        if shape.source == "registers" and fits(wanted, shape)
    ]
    assert made.count * made.interval == min(others)


@pytest.mark.parametrize("n", [8, 16, 64, 128, 256])
def test_a_product_beside_its_wave_holds_the_unit_by_its_columns(n: int) -> None:
    operation = Operation("matrix_async", mods=("mma_async", "sync", f"m64n{n}k16", "f32", "f16", "f16"), line=3, opcode="wgmma")
    made = plan(operation, abilities())
    assert (made.count, made.beside) == (1, True)
    assert made.interval == max(made.shape.least, made.shape.interval * n / made.shape.n)


def test_a_refusal_names_types_and_what_there_is() -> None:
    with pytest.raises(UnsupportedError) as refusal:
        plan(multiply("m16n8k64", "s32.s4.s4.s32"), abilities())
    assert "the matrix unit has no shape for s4 with s32 accumulators (has: s8 u8)" in str(refusal.value)
    with pytest.raises(UnsupportedError, match=r"\(has: none\)"):
        plan(multiply("m16n8k16", "f32.f16.f16.f32"), NOTHING)


def test_copies_that_a_device_lacks_are_refused() -> None:
    bulk = Operation("bulk_copy", mods=("bulk", "tensor", "2d"), line=4, opcode="cp.async.bulk.tensor.2d")
    with pytest.raises(UnsupportedError, match=r"cp.async.bulk.tensor.2d \(line 4\): the device has no bulk copies"):
        lacking(bulk, NOTHING)
    with pytest.raises(UnsupportedError, match="no copies of boxes of a tensor"):
        lacking(bulk, Abilities(copies=("bulk",)))
    assert not lacking(bulk, abilities())


COPIES = """
  ld.param.u64 rd1, [a]; mov.u32 r1, %tid.x; mul.wide.u32 rd2, r1, 16; add.s64 rd1, rd1, rd2; shl.b32 r2, r1, 4;
  cp.async.cg.shared.global [r2], [rd1], 16; cp.async.commit_group; cp.async.ca.shared.global [r2+4096], [rd1+4096], 4;
  cp.async.commit_group; cp.async.wait_group 1; bar.sync 0; ld.shared.u32 r3, [r2]; cp.async.wait_all; st.global.u32 [rd1], r3; ret;
"""


def copies() -> Function:
    return clean(source(COPIES, ".param .u64 a"))


def rows(code: WaveProgram, *kinds: int) -> np.ndarray:
    return code.code[np.isin(code.code[:, layout.KIND], kinds)]


def test_copies_by_lane_have_two_records_and_close_groups() -> None:
    _, code = lowered(copies())
    made = rows(code, layout.ASYNC_COPY)
    assert made[:, layout.RECORD].tolist() == [0, 2]
    assert made[:, layout.BYTES].tolist() == [16, 4]
    assert (made[:, layout.FLAGS] & layout.BYPASS > 0).tolist() == [True, False]
    assert code.block_records.sum() == 6
    groups = rows(code, layout.GROUP_COMMIT, layout.GROUP_WAIT)
    assert groups[:, layout.KIND].tolist() == [layout.GROUP_COMMIT] * 2 + [layout.GROUP_WAIT, layout.GROUP_COMMIT, layout.GROUP_WAIT]
    assert groups[groups[:, layout.KIND] == layout.GROUP_WAIT, layout.BYTES].tolist() == [1, -1]
    assert set(groups[:, layout.OFFSET]) == {layout.GROUP_COPIES}


def test_without_such_copies_registers_carry_the_bytes() -> None:
    _, code = lowered(copies(), name="gfx942")
    assert len(rows(code, layout.ASYNC_COPY, layout.GROUP_COMMIT, layout.GROUP_WAIT)) == 0
    loads, stores = rows(code, layout.LOAD), rows(code, layout.LOCAL_STORE)
    assert loads[:, layout.RECORD].tolist() == [0, 2]
    assert stores[:, layout.RECORD].tolist() == [1, 3]


ASYNC = """
  ld.param.u64 rd1, [a]; ld.param.u64 rd2, [b]; mov.b32 f1, 0f00000000; mov.b32 f2, f1; mov.b32 f3, f1; mov.b32 f4, f1;
  mov.pred p1, -1;
  wgmma.fence.sync.aligned;
  wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {f1, f2, f3, f4}, rd1, rd2, p1, 1, 1, 0, 0;
  wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {f1, f2, f3, f4}, rd1, rd2, p1, 1, 1, 0, 0;
  wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;
  add.f32 f1, f1, f2; ld.param.u64 rd3, [o]; st.global.f32 [rd3], f1; ret;
"""


def beside() -> Function:
    return clean(source(ASYNC, ".param .u64 a, .param .u64 b, .param .u64 o"))


def test_products_beside_the_wave_read_local_memory_and_are_waited_for() -> None:
    _, code = lowered(beside())
    made = rows(code, layout.MATRIX)
    assert (made[:, layout.FLAGS] & layout.BESIDE > 0).all()
    assert made[:, layout.RECORD].tolist() == [0, 1]
    # A wave's own 16 rows, and a quarter of the columns that four waves share, 16 products long, two bytes each.
    assert made[:, layout.BYTES].tolist() == [16 * 16 * 2 + 8 * 16 * 2 // 4] * 2
    kinds = code.code[:, layout.KIND].tolist()
    wait = kinds.index(layout.GROUP_WAIT)
    assert max(place for place, kind in enumerate(kinds) if kind == layout.MATRIX) < wait
    assert (made[:, layout.FLAGS] & layout.CLOSES > 0).tolist() == [False, True]  # no instruction of its own
    assert code.code[wait, layout.OFFSET] == layout.GROUP_MATRIX
    add = next(place for place, names in enumerate(code.operations[0]) if names == "fma_f32")
    assert add > wait


def test_without_such_products_operands_are_loaded() -> None:
    _, code = lowered(beside(), name="gfx942")
    made = rows(code, layout.MATRIX)
    assert not (made[:, layout.FLAGS] & layout.BESIDE).any()
    loads = rows(code, layout.LOCAL_LOAD)
    assert set(loads[:, layout.RECORD]) == {0, 1}
    # 32 rows and 8 columns of a wave of 64, 16 products long, 16 bytes a lane and load.
    assert len(loads) == 2 * (math.ceil(32 * 32 / 1024) + math.ceil(8 * 32 / 1024))


NARROW = """
  mov.u32 r1, %tid.x; mov.u32 r2, 3; mov.b32 f1, 0f00000000; mov.b32 f2, f1; mov.b32 f3, f1; mov.b32 f4, f1; mov.u32 r9, 0;
  LOOP: .pragma "nounroll";
  mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {f1, f2, f3, f4}, {r1, r2, r1, r2}, {r1, r2}, {f1, f2, f3, f4};
  mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {f1, f2, f3, f4}, {r1, r2, r1, r2}, {r1, r2}, {f1, f2, f3, f4};
  add.s32 r9, r9, 1; setp.lt.s32 p1, r9, 100; @p1 bra LOOP;
  add.f32 f1, f1, f4; ld.param.u64 rd1, [o]; st.global.f32 [rd1], f1; ret;
"""


def test_types_without_a_shape_are_widened_and_equal_products_made_once() -> None:
    _, code = lowered(clean(source(NARROW, ".param .u64 o")))
    loop = max(code.operations, key=lambda names: sum(name.startswith(OPERATION) for name in names))
    assert [name for name in loop if name.startswith(OPERATION)] == [OPERATION + "f16_16x8x16"] * 2
    assert loop.count("fma_f32") == 4  # two results are needed, of two products each
    assert "pack_f16" not in loop  # what does not change is made before


def test_a_value_in_two_groups_of_registers_is_copied() -> None:
    text = """
      mov.u32 r1, %tid.x; mov.u32 r2, %laneid; mov.b32 f1, 0f00000000;
      mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {f1, f2, f3, f4}, {r1, r2, r1, r2}, {r2, r1}, {f1, f1, f1, f1};
      add.f32 f1, f1, f2; ld.param.u64 rd1, [o]; st.global.f32 [rd1], f1; ret;
    """
    _, code = lowered(clean(source(text, ".param .u64 o")))
    assert code.operations[0].count("move") == 2 + 2
