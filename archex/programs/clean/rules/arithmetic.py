"""Sums, products and quotients that are simpler ones."""

from __future__ import annotations

from archex.programs.clean.rules.kind import Knowledge, Outcome, becomes, change, constant_bits, is_integer, rule, same_width
from archex.programs.ir import Immediate, Operand, Operation
from archex.programs.types import BITS, FLOATS, mask


@rule("add", "mul_lo", "and", "or", "xor", "min", "max", "mul_wide")
def constant_last(operation: Operation, known: Knowledge) -> Outcome:
    a, b = operation.src[0], operation.src[1]
    if isinstance(a, Immediate) and not isinstance(b, Immediate) and is_integer(operation) and len(operation.src) == 2:
        operation.src = (b, a)
        return True
    return False


@rule("add", "or", "xor", "shl", "shr", "sub")
def zero(operation: Operation, known: Knowledge) -> Outcome:
    if is_integer(operation) and constant_bits(operation.src[1]) == 0 and not operation.mods:
        return becomes(operation, known, operation.src[0])
    return False


@rule("sub")
def subtraction(operation: Operation, known: Knowledge) -> Outcome:
    if not is_integer(operation) or operation.mods:
        return False
    a, b = operation.src
    if a == b:
        return becomes(operation, known, Immediate(0))
    if isinstance(b, Immediate):
        return change(operation, "add", a, Immediate(-b.bits & mask(operation.dtype)))
    if constant_bits(a) == 0:
        return change(operation, "neg", b)
    return False


@rule("add")
def addition_of_negative(operation: Operation, known: Knowledge) -> Outcome:
    """a + (-b) is one subtraction."""
    if not is_integer(operation) or operation.mods or len(operation.src) != 2:
        return False
    for place in (1, 0):
        other = known.operation(operation.src[place])
        if other is not None and other.op == "neg" and same_width(other, operation):
            return change(operation, "sub", operation.src[1 - place], other.src[0])
    return False


@rule("mul_lo")
def product(operation: Operation, known: Knowledge) -> Outcome:
    factor = constant_bits(operation.src[1])
    if factor is None or not is_integer(operation):
        return False
    if factor == 0:
        return becomes(operation, known, Immediate(0))
    if factor == 1:
        return becomes(operation, known, operation.src[0])
    if factor & (factor - 1) == 0 and BITS[operation.dtype] >= 16:
        return change(operation, "shl", operation.src[0], Immediate(factor.bit_length() - 1), dtype=f"b{BITS[operation.dtype]}")
    return False


@rule("mul_lo")
def wide_product(operation: Operation, known: Knowledge) -> Outcome:
    """The 64-bit product of two extended 32-bit values is the wide product."""
    if BITS.get(operation.dtype) != 64:
        return False
    a, b = operation.src
    first = _extended(a, known)
    if first is None:
        return False
    value, kind = first
    second = _extended(b, known)
    if second is not None and second[1] == kind:
        return change(operation, "mul_wide", value, second[0], dtype=kind[0] + "64", source_dtype=kind)
    if isinstance(b, Immediate) and _narrow(b.bits, kind) is not None:
        return change(operation, "mul_wide", value, Immediate(b.bits & 0xFFFFFFFF), dtype=kind[0] + "64", source_dtype=kind)
    return False


def _extended(operand: Operand, known: Knowledge) -> tuple[Operand, str] | None:
    """The 32-bit value behind a plain extension to 64 bits, and its type."""
    source = known.operation(operand)
    if source is not None and source.op == "convert" and source.source_dtype in ("s32", "u32") and BITS[source.dtype] == 64:
        if source.mods or source.dtype in FLOATS:
            return None
        return source.src[0], source.source_dtype
    return None


def _narrow(bits: int, kind: str) -> int | None:
    """The bits as a 32-bit value of `kind`, if they are its extension to 64 bits."""
    low = bits & 0xFFFFFFFF
    wide = low | (0xFFFFFFFF00000000 if kind == "s32" and low >> 31 else 0)
    return low if wide == bits else None


@rule("mad_lo", "mad_wide")
def trivial_multiply_add(operation: Operation, known: Knowledge) -> Outcome:
    if operation.mods:
        return False
    a, b, c = operation.src
    if isinstance(a, Immediate) and not isinstance(b, Immediate):
        operation.src = (b, a, c)
        return True
    if constant_bits(c) == 0:
        op = "mul_lo" if operation.op == "mad_lo" else "mul_wide"
        return change(operation, op, a, b, source_dtype=operation.source_dtype)
    if operation.op == "mad_lo" and constant_bits(b) == 1:
        return change(operation, "add", a, c)
    if operation.op == "mad_lo" and isinstance(a, Immediate) and isinstance(b, Immediate):
        return change(operation, "add", c, Immediate(a.bits * b.bits & mask(operation.dtype)))
    return False


@rule("div", "rem")
def division(operation: Operation, known: Knowledge) -> Outcome:
    """Unsigned division by a power of two is a shift or a mask."""
    divisor = constant_bits(operation.src[1])
    if divisor is None or operation.dtype not in ("u16", "u32", "u64") or divisor == 0 or divisor & (divisor - 1):
        return False
    if operation.op == "div":
        return change(operation, "shr", operation.src[0], Immediate(divisor.bit_length() - 1))
    return change(operation, "and", operation.src[0], Immediate(divisor - 1), dtype=f"b{BITS[operation.dtype]}")
