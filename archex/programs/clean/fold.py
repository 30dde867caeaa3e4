"""Integer operations on constants.

In: an operation whose sources are all immediates. Out: its result's bits, or None where nothing is folded (floating point is left to
the device: rounding and NaNs are its own).
"""

from __future__ import annotations

from collections.abc import Callable

from archex.programs.ir import Immediate, Operation
from archex.programs.types import BITS, FLOATS, SIGNED, mask, signed

_COMPARE: dict[str, Callable[[int, int], bool]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
    "lo": lambda a, b: a < b,
    "ls": lambda a, b: a <= b,
    "hi": lambda a, b: a > b,
    "hs": lambda a, b: a >= b,
}
_TWO: dict[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul_lo": lambda a, b: a * b,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "min": min,
    "max": max,
}
_PLAIN_MODS = frozenset({"lea"})


def evaluate(operation: Operation) -> int | None:
    """The bits of the only result, when every source is an immediate."""
    bits = [source.bits for source in operation.src if isinstance(source, Immediate)]
    if len(bits) != len(operation.src) or operation.guard is not None:
        return None
    return evaluate_bits(operation, bits)


def evaluate_bits(operation: Operation, bits: list[int]) -> int | None:
    """As `evaluate`, with the sources' bits given."""
    op, dtype = operation.op, operation.dtype
    if op == "move":
        return bits[0] & mask(dtype)
    if op == "compare":
        return _compare(operation, bits)
    if op == "select":
        return bits[0] if bits[2] & 1 else bits[1]
    if (
        dtype in FLOATS
        or operation.source_dtype in FLOATS
        or dtype not in BITS
        or (BITS[dtype] < 8 and dtype != "pred")
        or dtype.endswith("x2")
    ):
        return None
    if op == "convert":
        if operation.mods or operation.source_dtype not in BITS or len(bits) != 1 or operation.source_dtype.endswith("x2"):
            return None
        return signed(bits[0], operation.source_dtype) & mask(dtype)
    if set(operation.mods) - _PLAIN_MODS:
        return None
    values = [signed(value, operation.source_dtype or dtype) for value in bits]
    result = _integer(operation, values, bits)
    return None if result is None else result & mask(dtype)


def _integer(operation: Operation, values: list[int], bits: list[int]) -> int | None:
    op, width = operation.op, BITS[operation.dtype]
    if op in _TWO and len(values) == 2:
        return int(_TWO[op](values[0], values[1]))
    if op == "mul_wide":
        return values[0] * values[1]
    if op == "mad_wide":
        return values[0] * values[1] + bits[2]
    if op == "mad_lo":
        return values[0] * values[1] + values[2]
    if op == "mul_hi":
        return (values[0] * values[1]) >> width
    if op == "not":
        return ~bits[0]
    if op == "neg":
        return -values[0]
    if op == "abs":
        return abs(values[0])
    if op == "shl":
        return bits[0] << min(bits[1], width)
    if op == "shr":
        return values[0] >> min(bits[1], width)
    return None


def _compare(operation: Operation, bits: list[int]) -> int | None:
    dtype = operation.dtype
    if dtype in FLOATS or len(bits) != 2 or operation.mods[0] not in _COMPARE or len(operation.mods) != 1:
        return None
    mode = operation.mods[0]
    unsigned = mode in ("lo", "ls", "hi", "hs") or dtype not in SIGNED
    a, b = (value & mask(dtype) if unsigned else signed(value, dtype) for value in bits)
    return int(_COMPARE[mode](a, b))
