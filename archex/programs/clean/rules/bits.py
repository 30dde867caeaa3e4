"""Shifts, masks, inversions and fields that are simpler ones."""

from __future__ import annotations

from archex.programs.clean.rules.kind import Knowledge, Outcome, becomes, change, constant_bits, rule
from archex.programs.ir import Immediate, Operation
from archex.programs.types import BITS, FLOATS, SIGNED, mask


@rule("shl")
def shifted_wide(operation: Operation, known: Knowledge) -> Outcome:
    """A shifted wide product, or a shifted signed extension, is a wide product with a larger factor."""
    amount = constant_bits(operation.src[1])
    if amount is None or BITS[operation.dtype] != 64:
        return False
    source = known.operation(operation.src[0])
    if source is not None and source.op == "mul_wide" and source.source_dtype in ("s32", "u32"):
        factor = constant_bits(source.src[1])
        if factor is not None and factor < 1 << 31 and factor << amount < 1 << 31:
            scaled = Immediate(factor << amount)
            return change(operation, "mul_wide", source.src[0], scaled, dtype=source.dtype, source_dtype=source.source_dtype)
    return False


@rule("shl", "shr")
def repeated_shift(operation: Operation, known: Knowledge) -> Outcome:
    amount = constant_bits(operation.src[1])
    source = known.operation(operation.src[0])
    if amount is None or source is None or source.op != operation.op or BITS[source.dtype] != BITS[operation.dtype]:
        return False
    inner = constant_bits(source.src[1])
    if inner is None or inner + amount >= BITS[operation.dtype]:
        return False
    if operation.op == "shr" and (source.dtype in SIGNED) != (operation.dtype in SIGNED):
        return False
    return change(operation, operation.op, source.src[0], Immediate(inner + amount))


@rule("and", "or", "xor")
def logic(operation: Operation, known: Knowledge) -> Outcome:
    a, b = operation.src
    everything = mask(operation.dtype)
    if a == b:
        return becomes(operation, known, Immediate(0) if operation.op == "xor" else a)
    bits = constant_bits(b)
    if bits is None:
        return False
    if operation.op == "and" and bits in (0, everything):
        return becomes(operation, known, a if bits else Immediate(0))
    if operation.op == "or" and bits == everything:
        return becomes(operation, known, b)
    if operation.op == "xor" and bits == everything:
        return change(operation, "not", a)
    source = known.operation(a)
    if source is not None and source.op == operation.op and BITS[source.dtype] == BITS[operation.dtype]:
        inner = constant_bits(source.src[1])
        if inner is not None:
            joined = {"and": inner & bits, "or": inner | bits, "xor": inner ^ bits}[operation.op]
            return change(operation, operation.op, source.src[0], Immediate(joined))
    return False


@rule("not")
def double_inversion(operation: Operation, known: Knowledge) -> Outcome:
    source = known.operation(operation.src[0])
    if source is None:
        return False
    if source.op == "not" and BITS[source.dtype] == BITS[operation.dtype]:
        return becomes(operation, known, source.src[0])
    inverse = {"eq": "ne", "ne": "eq", "lt": "ge", "ge": "lt", "gt": "le", "le": "gt", "lo": "hs", "hs": "lo", "hi": "ls", "ls": "hi"}
    if source.op == "compare" and operation.dtype == "pred" and source.dst[0] == operation.src[0] and len(source.mods) == 1:
        if source.dtype not in FLOATS and source.mods[0] in inverse:
            result = operation.dst[0]
            change(operation, "compare", *source.src, mods=(inverse[source.mods[0]],), dtype=source.dtype, source_dtype=source.dtype)
            operation.dst = (result, None)
            return True
    return False


@rule("bitfield_extract")
def low_field(operation: Operation, known: Knowledge) -> Outcome:
    """An unsigned field at the bottom is a mask, one that reaches the top a shift."""
    start, length = constant_bits(operation.src[1]), constant_bits(operation.src[2])
    width = BITS[operation.dtype]
    if start is None or length is None or operation.dtype in SIGNED:
        return False
    start, length = start & 0xFF, length & 0xFF
    if start == 0 and length < width:
        return change(operation, "and", operation.src[0], Immediate((1 << length) - 1), dtype=f"b{width}")
    if start < width and start + length >= width:
        return change(operation, "shr", operation.src[0], Immediate(start))
    return False
