"""One lane's floating-point arithmetic, all formats, roundings and modifiers.

In: operation, format, rounding, flags and the operands' bits. Out: the result's bits, zero-extended. The row loops of
`rows.py` take the few cases that carry a kernel; everything else comes here.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from archex.base.jit import jit_bare as jit
from archex.base.jit import outlined
from archex.programs.interpreter.double_lane import D_ADD, D_DIV, D_FMA, D_MUL, D_SQRT, directed
from archex.programs.interpreter.rounding import (
    F64,
    NEAREST,
    exponent_bits,
    flush,
    mantissa_bits,
    nan_of,
    narrow,
    widen,
)
from archex.programs.values import bits_of_f64, f64_of, fma64, odd_sum, toward_odd

ADD, SUB, MUL, FMA, DIV, SQRT, RSQRT, RCP, SIN, COS, EXP2, LOG2, TANH, MIN, MAX, ABS, NEG, COPYSIGN = range(18)
OPERATIONS = {
    "add": ADD, "sub": SUB, "mul": MUL, "fma": FMA, "mad_lo": FMA, "div": DIV, "sqrt": SQRT, "rsqrt": RSQRT, "rcp": RCP, "sin": SIN,
    "cos": COS,
    "exp2": EXP2, "log2": LOG2, "tanh": TANH, "min": MIN, "max": MAX, "abs": ABS, "neg": NEG, "copysign": COPYSIGN,
}  # fmt: skip

FTZ, SAT, APPROX, NAN, XORSIGN, RELU = 1, 2, 4, 8, 16, 32


@jit
def _function(op: Any, x: Any) -> Any:
    """Functions of one operand that silicon approximates, here to double precision."""
    if op == RSQRT:
        return np.float64(1.0) / np.sqrt(x)
    if op == RCP:
        return np.float64(1.0) / x
    if op == EXP2:
        return np.float64(math.exp2(x)) if x < 1100.0 else np.float64(np.inf) if x == x else x
    if op == LOG2:
        if x > 0:
            return np.float64(math.log2(x)) if np.isfinite(x) else x
        return np.float64(-np.inf) if x == 0 else np.float64(np.nan)
    if op == TANH:
        return np.float64(math.tanh(x))
    if not np.isfinite(x):
        return np.float64(np.nan)
    return np.float64(math.sin(x)) if op == SIN else np.float64(math.cos(x))


@jit
def _root(x: Any) -> Any:
    """Square root rounded to odd."""
    s = np.sqrt(x)
    if not np.isfinite(s) or s == 0:
        return s
    return toward_odd(s, -fma64(s, s, -x))


@jit
def _quotient(x: Any, y: Any) -> Any:
    """x / y rounded to odd."""
    q = x / y
    if not np.isfinite(q) or q == 0 or not np.isfinite(y):
        return q
    rest = -fma64(q, y, -x)
    return toward_odd(q, rest if y > 0 else -rest)


@jit
def _double(op: Any, mode: Any, x: Any, y: Any, z: Any) -> Any:
    """Double-precision arithmetic."""
    if op == SUB:
        y = -y
    if mode != NEAREST and op <= RCP and op != RSQRT:
        if op == RCP:
            return directed(np.int64(D_DIV), mode, np.float64(1.0), x, z)
        which = D_MUL if op == MUL else D_FMA if op == FMA else D_DIV if op == DIV else D_SQRT if op == SQRT else D_ADD
        return directed(np.int64(which), mode, x, y, z)
    if op == ADD or op == SUB:
        return x + y
    if op == MUL:
        return x * y
    if op == FMA:
        return fma64(x, y, z)
    if op == DIV:
        return x / y
    if op == SQRT:
        return np.sqrt(x)
    return _function(op, x)


@jit
def _short(op: Any, x: Any, y: Any, z: Any) -> Any:
    """Arithmetic of formats shorter than double: exact or rounded to odd."""
    if op == ADD:
        return odd_sum(x, y)
    if op == SUB:
        return odd_sum(x, -y)
    if op == MUL:
        return x * y
    if op == FMA:
        return odd_sum(x * y, z)
    if op == DIV:
        return _quotient(x, y)
    if op == SQRT:
        return _root(x)
    if op == RCP:
        return _quotient(np.float64(1.0), x)
    return _function(op, x)


@jit
def _extreme(op: Any, form: Any, flags: Any, a: Any, b: Any) -> Any:
    """min and max: a number beats NaN (unless `NAN`), -0 is below +0."""
    top = np.int64(1) << (mantissa_bits(form) + exponent_bits(form))
    sign = np.int64(0)
    if flags & XORSIGN:
        sign = (a ^ b) & top
        a, b = a & ~top, b & ~top
    x, y = widen(a, form), widen(b, form)
    if x != x or y != y:
        if flags & NAN or (x != x and y != y):
            return nan_of(form)
        outcome = b if x != x else a
    elif x == y:
        outcome = (a | b) if op == MIN else (a & b)
    elif (x < y) == (op == MIN):
        outcome = a
    else:
        outcome = b
    if flags & XORSIGN:
        outcome = (outcome & ~top) | sign
    return outcome


@outlined("i:iiiiiii")
def float_lane(op: Any, form: Any, mode: Any, flags: Any, a: Any, b: Any, c: Any) -> Any:
    """Bits of one result."""
    top = np.int64(1) << (mantissa_bits(form) + exponent_bits(form))
    if flags & FTZ:
        a, b, c = flush(a, form), flush(b, form), flush(c, form)
    if op == ABS:
        outcome = a & ~top
    elif op == NEG:
        outcome = a ^ top
    elif op == COPYSIGN:
        outcome = (a & top) | (b & ~top)  # the first operand gives the sign
    elif op == MIN or op == MAX:
        outcome = _extreme(op, form, flags, a, b)
    elif form == F64:
        value = _double(op, mode, f64_of(a), f64_of(b), f64_of(c))
        outcome = nan_of(form) if value != value else bits_of_f64(value)
        if flags & APPROX and (op == RCP or op == RSQRT):
            outcome &= ~np.int64(0xFFFFFFFF)  # the approximation fills the upper word only
    else:
        outcome = narrow(_short(op, widen(a, form), widen(b, form), widen(c, form)), form, mode, False)
    if flags & FTZ:
        outcome = flush(outcome, form)
    if flags & SAT:
        value = widen(outcome, form)
        if not value > 0:
            outcome = np.int64(0)
        elif value > 1:
            outcome = narrow(np.float64(1.0), form, NEAREST, False)
    if flags & RELU:
        if widen(outcome, form) < 0 or outcome == top:
            outcome = np.int64(0)
    return outcome


@outlined("i:iiiiiii")
def packed_lane(op: Any, form: Any, mode: Any, flags: Any, a: Any, b: Any, c: Any) -> Any:
    """Two 16-bit numbers (or two 32-bit ones) in one register."""
    width = 1 + mantissa_bits(form) + exponent_bits(form)
    mask = (np.int64(1) << width) - 1
    low = float_lane(op, form, mode, flags, a & mask, b & mask, c & mask)
    high = float_lane(op, form, mode, flags, (a >> width) & mask, (b >> width) & mask, (c >> width) & mask)
    return low | (high << width)
