"""Encoders of memory operations."""

from __future__ import annotations

from archex.base.errors import UnsupportedError
from archex.programs.interpreter import rows
from archex.programs.interpreter import table as n
from archex.programs.interpreter.atomics import FLOAT, PACKED, SIGNED
from archex.programs.interpreter.builder import Builder, encodes, parameter_bits
from archex.programs.interpreter.rounding import FORMATS
from archex.programs.ir import Immediate, Operation, Space
from archex.programs.types import SIGNED as SIGNED_TYPES

_WRITTEN = (Space.GLOBAL, Space.GENERIC)


def _fields(builder: Builder, operation: Operation) -> dict[str, int]:
    return {
        "a": builder.source(0), "space": int(operation.space), "offset": operation.offset, "width": operation.width,
        "vector": operation.vector,
        "slot": operation.memory_slot,
    }  # fmt: skip


def touch(builder: Builder, operation: Operation) -> None:
    """Record the addresses, move nothing."""
    builder.row(n.MEMORY, n.TOUCH, **_fields(builder, operation))


@encodes("load")
def load(builder: Builder, operation: Operation) -> None:
    if operation.space == Space.PARAMETER and isinstance(operation.src[0], Immediate):
        for element, target in enumerate(operation.dst):
            if target is not None:
                builder.row(
                    n.INTEGER_ROW,
                    rows.MOVE,
                    dst=builder.register(target.id),
                    a=builder.constant(parameter_bits(builder, operation, element)),
                )
        return
    targets = [-1 if target is None else builder.register(target.id) for target in operation.dst]
    first = next((target for target in operation.dst if target is not None), None)
    extend = 0
    if first is not None and operation.dtype in SIGNED_TYPES and builder.width_of(first) > 8 * operation.width:
        extend = builder.width_of(first)
    builder.row(n.MEMORY, n.LOAD, list=builder.list_of(targets), execute=1, extend=extend, **_fields(builder, operation))


@encodes("store")
def store(builder: Builder, operation: Operation) -> None:
    builder.writes_memory |= operation.space in _WRITTEN
    values = [builder.source(1 + element) for element in range(operation.vector)]
    builder.row(n.MEMORY, n.STORE, list=builder.list_of(values), execute=1, **_fields(builder, operation))


@encodes("atomic", "reduce_atomic")
def atomic(builder: Builder, operation: Operation) -> None:
    builder.writes_memory |= operation.space in _WRITTEN
    mode, vector = n.ATOMICS[operation.mods[0]], operation.vector
    dtype = operation.dtype
    if dtype.removesuffix("x2") in FORMATS and operation.mods[0] not in ("exch", "cas"):
        if operation.mods[0] not in ("add", "min", "max"):
            raise UnsupportedError(f"{operation.opcode or operation.op} (line {operation.line})")
        kind = (PACKED if dtype.endswith("x2") else FLOAT) + FORMATS[dtype.removesuffix("x2")]
    else:
        kind = SIGNED if dtype in SIGNED_TYPES else 0
    values = [builder.source(1 + element) for element in range(vector)]
    targets = [-1 if target is None else builder.register(target.id) for target in operation.dst] or [-1] * vector
    third = [builder.source(1 + vector)] if operation.mods[0] == "cas" else [-1]
    entries = builder.list_of([*values, *targets, *third])
    builder.row(n.MEMORY, n.ATOMIC, list=entries, execute=1, mode=mode, flags=kind, **_fields(builder, operation))
