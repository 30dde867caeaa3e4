"""One lane's conversions between any two types, and its floating-point comparisons.

In: the types' codes, rounding, flags and bits. Out: bits of the destination type, or whether a comparison holds. A type's
code is its format number (rounding.py), or `integer_code(width, signed)`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from archex.base.jit import jit_bare as jit
from archex.base.jit import outlined
from archex.programs.interpreter.float_lane import FTZ, RELU, SAT
from archex.programs.interpreter.rounding import DOWN, F32, F64, NEAREST, UP, ZERO, flush, narrow, step, widen
from archex.programs.values import HIGHEST, LOWEST, bits_of_f64, low_bits, shift_right, sign_extend, toward_odd

TO_INTEGER, FINITE = 64, 128
EQ, NE, LT, LE, GT, GE, EQU, NEU, LTU, LEU, GTU, GEU, NUM, NOTNAN = range(14)
FLOAT_COMPARISONS = {
    "eq": EQ, "ne": NE, "lt": LT, "le": LE, "gt": GT, "ge": GE, "equ": EQU, "neu": NEU, "ltu": LTU, "leu": LEU, "gtu": GTU, "geu": GEU,
    "num": NUM, "nan": NOTNAN,
}  # fmt: skip
_TWO63 = np.float64(2.0**63)


def integer_code(width: int, signed: bool) -> int:
    """The code of an integer type."""
    return 16 + 2 * width + int(signed)


@jit
def _round(x: Any, mode: Any) -> Any:
    """To a whole number."""
    if mode == NEAREST:
        return np.rint(x)
    if mode == ZERO:
        return np.trunc(x)
    if mode == DOWN:
        return np.floor(x)
    if mode == UP:
        return np.ceil(x)
    return np.trunc(x + np.copysign(np.float64(0.5), x))


@jit
def _to_integer(x: Any, width: Any, signed: Any, mode: Any) -> Any:
    """A double to an integer, cut to the type's range; NaN is 0."""
    if x != x:
        return np.int64(0)
    x = _round(x, mode)
    if signed:
        limit = HIGHEST >> (64 - width)
        if x >= np.float64(limit):
            return np.int64(limit)
        if x <= -np.float64(limit) - np.float64(1.0):
            return np.int64(-limit - 1)
        return np.int64(x)
    if x <= 0:
        return np.int64(0)
    if width == 64:
        if x >= np.float64(2.0) * _TWO63:
            return np.int64(-1)
        return np.int64(x) if x < _TWO63 else np.int64(x - _TWO63) ^ LOWEST
    limit = (np.int64(1) << width) - 1
    return np.int64(limit) if x >= np.float64(limit) else np.int64(x)


@jit
def _of_integer(value: Any, unsigned: Any, form: Any, mode: Any) -> Any:
    """An integer (read as unsigned when asked) to bits of a float format, rounded once."""
    negative = value < 0 and not unsigned
    magnitude = -value if negative else value
    scale = np.float64(1.0)
    while magnitude < 0 or magnitude >= (1 << 62):  # two bits less, the lost ones kept in the lowest
        magnitude = shift_right(magnitude, 1) | (magnitude & 1)
        scale *= np.float64(2.0)
    nearest = np.float64(magnitude)
    error = np.float64(magnitude - np.int64(nearest))
    if negative:
        nearest, error = -nearest, -error
    if form == F64:
        return bits_of_f64(step(nearest, error, mode) * scale)
    return narrow(toward_odd(nearest, error) * scale, form, mode, False)


@outlined("i:iiiii")
def convert_lane(source: Any, target: Any, mode: Any, flags: Any, a: Any) -> Any:
    """Bits of one converted value."""
    if source < 16:
        if flags & FTZ and source == F32:
            a = flush(a, source)
        x = widen(a, source)
        if target >= 16:
            return low_bits(_to_integer(x, (target - 16) >> 1, (target & 1) == 1, mode), (target - 16) >> 1)
        if flags & TO_INTEGER:
            x, mode = _round(x, mode), NEAREST
        if flags & SAT:
            x = np.float64(1.0) if x > 1 else x if x > 0 else np.float64(0.0)
        if flags & RELU and x < 0:
            x = np.float64(0.0)
        outcome = narrow(x, target, mode, (flags & FINITE) != 0)
        if flags & FTZ and target == F32:
            outcome = flush(outcome, target)
        return outcome
    width, signed = (source - 16) >> 1, (source & 1) == 1
    value = sign_extend(a, width) if signed else low_bits(a, width)
    if target < 16:
        outcome = _of_integer(value, width == 64 and not signed, target, mode)
        return (
            narrow(min(max(widen(outcome, target), np.float64(0.0)), np.float64(1.0)), target, NEAREST, False) if flags & SAT else outcome
        )
    wide, wants_sign = (target - 16) >> 1, (target & 1) == 1
    if flags & SAT:
        huge = width == 64 and not signed and value < 0
        if wants_sign:
            limit = np.int64(HIGHEST >> (64 - wide))
            value = limit if huge else max(min(value, limit), -limit - 1)
        elif not huge:
            value = max(value, np.int64(0))
            if wide < 64:
                value = min(value, (np.int64(1) << wide) - 1)
        elif wide < 64:
            value = (np.int64(1) << wide) - 1
    return low_bits(value, wide)


@outlined("i:iiiii")
def compare_float(comparison: Any, form: Any, flags: Any, a: Any, b: Any) -> Any:
    """Whether a comparison of two floats holds; the `u` forms also hold when either is NaN."""
    if flags & FTZ:
        a, b = flush(a, form), flush(b, form)
    x, y = widen(a, form), widen(b, form)
    unordered = x != x or y != y
    if comparison == NUM:
        return not unordered
    if comparison == NOTNAN:
        return unordered
    if unordered:
        return comparison >= EQU
    kind = comparison - EQU if comparison >= EQU else comparison
    if kind == EQ:
        return x == y
    if kind == NE:
        return x != y
    if kind == LT:
        return x < y
    if kind == LE:
        return x <= y
    if kind == GT:
        return x > y
    return x >= y


@outlined("i:iii")
def test_float(kind: Any, form: Any, a: Any) -> Any:
    """Properties: 0 finite, 1 infinite, 2 number, 3 NaN, 4 normal, 5 subnormal."""
    x = widen(a, form)
    if kind == 0:
        return np.isfinite(x)
    if kind == 1:
        return np.isinf(x)
    if kind == 2:
        return x == x
    if kind == 3:
        return x != x
    small = x != 0 and flush(a, form) != a
    return small if kind == 5 else np.isfinite(x) and x != 0 and not small
