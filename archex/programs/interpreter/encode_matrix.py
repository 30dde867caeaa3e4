"""Encoders of matrix operations."""

from __future__ import annotations

from archex.base.errors import UnsupportedError
from archex.programs.interpreter import table as n
from archex.programs.interpreter.encode import Builder, encodes, records
from archex.programs.ir import Operation

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


@encodes("matrix", "matrix_sparse", "matrix_async", "matrix_load", "matrix_store")
def later(builder: Builder, operation: Operation) -> None:
    raise _unsupported(operation)
