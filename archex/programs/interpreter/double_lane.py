"""Double-precision arithmetic in the directed rounding modes, exact over the whole range.

In: operation, mode, finite operands. Out: the double that the mode wants. A result is found as a nearest double of scaled
operands and the sign of what it is off by; `deliver` scales back and rounds once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from archex.base.jit import jit_bare as jit
from archex.base.jit import outlined
from archex.programs.interpreter.rounding import DOWN, UP
from archex.programs.values import bits_of_f64, f64_of, fma64, leading_zeros

D_ADD, D_MUL, D_FMA, D_DIV, D_SQRT = range(5)
_FAR = 150  # exponents so far apart that the smaller operand only says in which direction


@jit
def _exponent(x: Any) -> Any:
    """e with 1 <= |x| / 2**e < 2, of a finite number other than 0."""
    bits = bits_of_f64(x) & 0x7FFFFFFFFFFFFFFF
    return (bits >> 52) - 1023 if bits >> 52 else np.int64(11 - leading_zeros(bits)) - 1022


@jit
def _scaled(x: Any, e: Any) -> Any:
    """x * 2**-e, exact, where e is x's exponent."""
    half = e >> 1
    return x * f64_of((1023 - half) << 52) * f64_of((1023 - (e - half)) << 52)


@jit
def deliver(s: Any, error: Any, e: Any, mode: Any) -> Any:
    """(s + something of `error`'s sign) * 2**e, rounded once. s is normal and not 0."""
    bits = bits_of_f64(s)
    negative = bits < 0
    magnitude = ((bits & ((1 << 52) - 1)) | (1 << 52)) << 2
    if error != 0:
        magnitude += 1 if (error < 0) == negative else -1
    unit = ((bits >> 52) & 0x7FF) - 1075 - 2 + e
    top = unit + 63 - np.int64(leading_zeros(magnitude))
    away = (mode == UP and not negative) or (mode == DOWN and negative)
    sign = np.int64(-(2**63)) if negative else np.int64(0)
    infinity = np.int64(0x7FF) << 52
    if top >= 1024:
        return f64_of(sign | (infinity if away else infinity - 1))
    quantum = max(top - 52, np.int64(-1074))
    shift = min(quantum - unit, np.int64(62))
    whole = magnitude >> shift
    if away and magnitude & ((np.int64(1) << shift) - 1) != 0:
        whole += 1
    if quantum > -1074:
        whole += (top + 1022) << 52
    return f64_of(sign | whole)


@jit
def _sign_of_rest(high: Any, low: Any, c: Any, s: Any) -> Any:
    """A number with the sign of high + low + c - s, for s the nearest double of the first three."""
    t = high + c
    part = t - high
    lost = (high - (t - part)) + (c - part)
    rest = t - s
    a = rest + lost
    part = a - rest
    b = (rest - (a - part)) + (lost - part)
    h = a + low
    part = h - a
    return h + (((a - (h - part)) + (low - part)) + b)


@jit
def _fused(x: Any, y: Any, z: Any, mode: Any) -> Any:
    """x * y + z."""
    if x == 0 or y == 0:
        return x * y + z
    ex, ey = _exponent(x), _exponent(y)
    mx, my = _scaled(x, ex), _scaled(y, ey)
    high = mx * my
    low = fma64(mx, my, -high)
    if z == 0:
        return deliver(high, low, ex + ey, mode)
    ez = _exponent(z)
    mz = _scaled(z, ez)
    gap = ez - (ex + ey)
    if gap > _FAR:
        return deliver(mz, high, ez, mode)
    if gap < -_FAR:
        return deliver(high, low if low != 0 else mz, ex + ey, mode)
    c = mz * f64_of((1023 + gap) << 52)
    s = fma64(mx, my, c)
    if s == 0:
        return np.float64(-0.0) if mode == DOWN else np.float64(0.0)
    return deliver(s, _sign_of_rest(high, low, c, s), ex + ey, mode)


@outlined("f:iifff")
def directed(op: Any, mode: Any, x: Any, y: Any, z: Any) -> Any:
    """One result; operands that are not finite, and zeros, give what any mode gives."""
    if op == D_ADD:
        if not (np.isfinite(x) and np.isfinite(y)):
            return x + y
        if x + y == 0:
            return x + y if x == 0 and bits_of_f64(x) == bits_of_f64(y) else np.float64(-0.0) if mode == DOWN else np.float64(0.0)
        return _fused(x, np.float64(1.0), y, mode) if x != 0 else y
    if op == D_FMA:
        if not (np.isfinite(x) and np.isfinite(y) and np.isfinite(z)):
            return fma64(x, y, z)
        return _fused(x, y, z, mode)
    if op == D_SQRT:
        if not x > 0 or not np.isfinite(x):
            return np.sqrt(x)
        e = _exponent(x) & ~1
        m = _scaled(x, _exponent(x)) * np.float64(1 + (_exponent(x) & 1))
        s = np.sqrt(m)
        return deliver(s, -fma64(s, s, -m), e >> 1, mode)
    plain = x * y if op == D_MUL else x / y
    if x == 0 or y == 0 or not (np.isfinite(x) and np.isfinite(y)):
        return plain
    if op == D_MUL:
        return _fused(x, y, np.float64(0.0), mode)
    ex, ey = _exponent(x), _exponent(y)
    mx, my = _scaled(x, ex), _scaled(y, ey)
    q = mx / my
    rest = -fma64(q, my, -mx)
    return deliver(q, rest if my > 0 else -rest, ex - ey, mode)
