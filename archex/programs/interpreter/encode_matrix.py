"""Encoders of matrix operations."""

from __future__ import annotations

import re
from collections.abc import Sequence

import attrs

from archex.base.errors import UnsupportedError
from archex.programs.interpreter import matrix as m
from archex.programs.interpreter import table as n
from archex.programs.interpreter.builder import Builder, encodes, records
from archex.programs.interpreter.matrix_plan import ELEMENTS, Plan, Shape
from archex.programs.interpreter.rounding import NEAREST, ROUNDINGS
from archex.programs.ir import Immediate, Operand, Operation
from archex.programs.types import BITS

#: Predicates of the lanes that give addresses, by how many matrices are moved.
_ADDRESSING = {1: n.LOWEST_8, 2: n.LOWEST_16}


def _unsupported(operation: Operation, why: str = "") -> UnsupportedError:
    return UnsupportedError(f"{operation.opcode or operation.op} (line {operation.line})" + (f": {why}" if why else ""))


@records("matrix_load", "matrix_store")
def touch_rows(builder: Builder, operation: Operation) -> None:
    """Record the rows' addresses: 16 bytes for each lane that gives one."""
    if "m8n8" not in operation.mods or "b16" not in operation.mods:
        raise _unsupported(operation, "8 x 8 matrices of 16-bit elements only")
    guard: dict[str, int] = {}
    if operation.vector in _ADDRESSING:
        addressing = _ADDRESSING[operation.vector]
        guard = {"guard": addressing, "negate": 0}
        if operation.guard is not None:
            held = builder.predicate(operation.guard)
            if operation.guard_negated:
                builder.row(n.PREDICATE, n.P_NOT, dst=n.TEMPORARY, a=held, guard=-1)
                held = n.TEMPORARY
            builder.row(n.PREDICATE, n.P_AND, dst=n.TEMPORARY, a=held, b=addressing, guard=-1)
            guard = {"guard": n.TEMPORARY, "negate": 0}
    builder.row(
        n.MEMORY, n.TOUCH, a=builder.source(0), space=int(operation.space), offset=operation.offset, width=16, vector=1,
        slot=operation.memory_slot, **guard,
    )  # fmt: skip


@records("matrix_async")
def describe(builder: Builder, operation: Operation) -> None:
    """Record where the second operand begins in local memory."""
    builder.row(n.MATRIX, n.M_DESCRIBE, a=builder.source(operation.groups[0]), slot=operation.memory_slot)


@encodes("matrix_load", "matrix_store")
def move(builder: Builder, operation: Operation) -> None:
    touch_rows(builder, operation)
    storing = operation.op == "matrix_store"
    if storing:
        registers = [builder.source(1 + index) for index in range(operation.vector)]
    else:
        registers = [-1 if target is None else builder.register(target.id) for target in operation.dst]
    if len(registers) != operation.vector:
        raise _unsupported(operation, f"{len(registers)} registers for {operation.vector} matrices")
    builder.row(
        n.MATRIX, n.M_STORE if storing else n.M_LOAD, list=builder.list_of(registers), vector=operation.vector,
        mode=int("trans" in operation.mods),
    )  # fmt: skip


@encodes("matrix_transpose")
def transpose(builder: Builder, operation: Operation) -> None:
    builder.row(n.MATRIX, n.M_TRANSPOSE, dst=builder.result(), a=builder.source(0))


@encodes("matrix", "matrix_sparse")
def product(builder: Builder, operation: Operation) -> None:
    shape, types = _shape(operation), _types(operation, 4)
    first, second, third, *more = _inputs(operation)
    if shape.rows not in (8, 16) or shape.columns != 8 or types[0] != types[3]:
        raise _unsupported(operation)
    plan = Plan(shape, types[1], types[2], types[0], sparse=operation.op == "matrix_sparse")
    if plan.sparse:
        selector = more[1][0]
        if not isinstance(selector, Immediate):
            raise _unsupported(operation, "a sparsity selector that is no constant")
        plan = attrs.evolve(plan, selector=selector.bits & 3)
    mode = next((ROUNDINGS[part] for part in operation.mods if part in ROUNDINGS), NEAREST)
    entries = plan.header(builder, operation)
    entries[m.MODE] = mode
    entries[m.FIRST_REGISTERS] = _registers(builder, operation, first, plan.first_registers)
    entries[m.SECOND_REGISTERS] = _registers(builder, operation, second, plan.second_registers)
    entries[m.SUM_REGISTERS] = _registers(builder, operation, third, plan.sum_registers)
    if plan.sparse:
        entries[m.INDEX_REGISTER] = builder.operand(more[0][0])
    _emit(builder, operation, entries, plan)


@encodes("matrix_async")
def product_beside(builder: Builder, operation: Operation) -> None:
    if operation.memory_slot >= 0:
        describe(builder, operation)
    shape, types = _shape(operation), _types(operation, 3)
    sparse = "sp" in operation.mods
    first, second, *rest, third = _inputs(operation)
    plan = Plan(
        shape._replace(rows=16), types[1], types[2], types[0], sparse=sparse, first_in_memory=len(first) == 1, second_in_memory=True
    )
    if shape.rows != 64 or shape.columns % 8 or not 8 <= shape.columns <= 256:
        raise _unsupported(operation)
    if sparse:
        selector = rest[1][0]
        plan = attrs.evolve(plan, selector=selector.bits & 3 if isinstance(selector, Immediate) else 0)
    keep, *constants = [group[0] for group in rest[2 * sparse :]]
    given = [constant.bits for constant in constants if isinstance(constant, Immediate)]
    signs, turns = given[:2], given[2:]
    entries = plan.header(builder, operation)
    # Operands in registers have no transposition of their own.
    turned = ([m.FIRST_TURNED] if plan.first_in_memory else []) + [m.SECOND_TURNED]
    entries[m.FLAGS] |= sum(flag for flag, turn in zip(turned, turns, strict=False) if turn & 1)
    if sum(sign >> 31 & 1 for sign in signs) == 1:
        entries[m.FLAGS] |= m.NEGATE
    entries[m.FIRST_REGISTERS] = _registers(builder, operation, first, 1 if plan.first_in_memory else plan.first_registers)
    entries[m.SECOND_REGISTERS] = _registers(builder, operation, second, 1)
    entries[m.SUM_REGISTERS] = _registers(builder, operation, third, plan.sum_registers)
    entries[m.KEEP] = builder.predicate(keep)
    entries[m.GROUP_REGISTER] = builder.special("warpid")
    if sparse:
        entries[m.INDEX_REGISTER] = builder.operand(rest[0][0])
    _emit(builder, operation, entries, plan)


def _emit(builder: Builder, operation: Operation, entries: list[int], plan: Plan) -> None:
    results = [-1 if target is None else builder.register(target.id) for target in operation.dst]
    if len(results) != plan.sum_registers:
        raise _unsupported(operation, f"{len(results)} results, not {plan.sum_registers}")
    entries[m.RESULT_REGISTERS] = builder.list_of(results)
    builder.scratch = max(builder.scratch, plan.scratch)
    builder.row(n.MATRIX, n.M_PRODUCT, list=builder.list_of(entries))


def _registers(builder: Builder, operation: Operation, operands: Sequence[Operand], wanted: int) -> int:
    if len(operands) != wanted:
        raise _unsupported(operation, f"{len(operands)} registers of an operand, not {wanted}")
    return builder.list_of([builder.operand(operand) for operand in operands])


def _inputs(operation: Operation) -> list[tuple[Operand, ...]]:
    found, at = [], 0
    for length in operation.groups:
        found.append(operation.src[at : at + length])
        at += length
    return found


def _types(operation: Operation, count: int) -> list[str]:
    found = [part for part in operation.mods if part in BITS]
    if len(found) != count or any("kind" in part or "scale" in part for part in operation.mods):
        raise _unsupported(operation)
    if found[0] not in ("f16", "f32", "f64", "s32") or any(part not in ELEMENTS for part in found[1:3]):
        raise _unsupported(operation)
    return found


def _shape(operation: Operation) -> Shape:
    for part in operation.mods:
        found = re.fullmatch(r"m(\d+)n(\d+)k(\d+)", part)
        if found:
            return Shape(*map(int, found.groups()))
    raise _unsupported(operation)
