"""Floating-point formats: raw bits to a double, and a double to raw bits in any rounding direction.

In: bits with a format number, or a double (exact, or rounded to odd). Out: the double, or the bits. Every arithmetic of a
short format goes widen -> exact or rounded-to-odd double -> `narrow`, so results are correctly rounded in all modes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from archex.base.jit import jit_bare as jit
from archex.base.jit import outlined
from archex.programs.values import bits_of_f64, f32_of, f64_of

F16, BF16, F32, F64, TF32, E4M3, E5M2 = range(7)
FORMATS = {"f16": F16, "bf16": BF16, "f32": F32, "f64": F64, "tf32": TF32, "e4m3": E4M3, "e5m2": E5M2}

NEAREST, ZERO, DOWN, UP, AWAY = range(5)
ROUNDINGS = {"rn": NEAREST, "rz": ZERO, "rm": DOWN, "rp": UP, "rna": AWAY, "rni": NEAREST, "rzi": ZERO, "rmi": DOWN, "rpi": UP}

_MANTISSA_F64 = (1 << 52) - 1


@jit
def mantissa_bits(form: Any) -> Any:
    """Stored mantissa bits of a format."""
    if form == F32:
        return 23
    if form == F16 or form == TF32:
        return 10
    if form == BF16:
        return 7
    if form == E4M3:
        return 3
    if form == E5M2:
        return 2
    return 52


@jit
def exponent_bits(form: Any) -> Any:
    """Exponent bits of a format."""
    if form == F32 or form == BF16 or form == TF32:
        return 8
    if form == F16 or form == E5M2:
        return 5
    if form == E4M3:
        return 4
    return 11


@jit
def nan_of(form: Any) -> Any:
    """The one NaN that arithmetic returns."""
    if form == F32 or form == TF32:
        return np.int64(0x7FFFFFFF)
    if form == F16 or form == BF16:
        return np.int64(0x7FFF)
    if form == E4M3 or form == E5M2:
        return np.int64(0x7F)
    return np.int64(0x7FF8000000000000)


@outlined("f:ii")
def widen(bits: Any, form: Any) -> Any:
    """The number that bits of a format stand for, as a double (exact)."""
    if form == F32:
        return np.float64(f32_of(bits))
    if form == F64:
        return f64_of(bits)
    if form == TF32:
        return np.float64(f32_of(bits & 0xFFFFE000))
    if form == BF16:
        return np.float64(f32_of((bits & 0xFFFF) << 16))
    mantissa, width = mantissa_bits(form), exponent_bits(form)
    sign = (bits >> (mantissa + width)) & 1
    exponent = (bits >> mantissa) & ((1 << width) - 1)
    fraction = bits & ((1 << mantissa) - 1)
    bias = (1 << (width - 1)) - 1
    top = (1 << width) - 1
    if exponent == top and form == E4M3 and fraction == 7:
        return np.float64(np.nan)
    if exponent == top and form != E4M3:
        if fraction != 0:
            return np.float64(np.nan)
        return np.float64(-np.inf) if sign == 1 else np.float64(np.inf)
    if exponent == 0:
        scale = f64_of(np.int64(1023 + 1 - bias - mantissa) << 52)
        value = np.float64(fraction) * scale
    else:
        value = f64_of(((exponent - bias + 1023) << 52) | (fraction << (52 - mantissa)))
    return -value if sign == 1 else value


@jit
def _largest(form: Any) -> Any:
    """Bits of the largest finite number."""
    if form == E4M3:
        return 0x7E
    return (((1 << exponent_bits(form)) - 1) << mantissa_bits(form)) - 1


@outlined("i:fiii")
def narrow(value: Any, form: Any, mode: Any, finite: Any) -> Any:
    """Bits of `value` in a format, rounded by `mode`; `finite`: what is too large becomes the largest finite number."""
    bits = bits_of_f64(value)
    exponent = (bits >> 52) & 0x7FF
    fraction = bits & _MANTISSA_F64
    if exponent == 0x7FF and fraction != 0:
        return nan_of(form)
    if form == F64:
        return bits
    mantissa, width = mantissa_bits(form), exponent_bits(form)
    negative = bits < 0
    sign = (np.int64(1) << (mantissa + width)) if negative else np.int64(0)
    outcome = np.int64(0)
    largest = np.int64(_largest(form))
    if exponent == 0x7FF:
        outcome = largest if finite else largest + 1
    elif exponent != 0 or fraction != 0:
        biased = exponent - 1023 + (1 << (width - 1)) - 1
        full = fraction | (np.int64(1) << 52)
        shift = 52 - mantissa
        if biased < 1:
            shift = min(shift + 1 - biased, np.int64(54))
        outcome = full >> shift
        rest = full & ((np.int64(1) << shift) - 1)
        half = np.int64(1) << (shift - 1)
        if mode == NEAREST:
            up = rest > half or (rest == half and (outcome & 1) == 1)
        elif mode == AWAY:
            up = rest >= half
        elif mode == DOWN:
            up = negative and rest > 0
        elif mode == UP:
            up = (not negative) and rest > 0
        else:
            up = False
        if up:
            outcome += 1
        if biased >= 1:
            outcome += (biased - 1) << mantissa
        if outcome > largest:
            toward = mode == ZERO or (mode == DOWN and not negative) or (mode == UP and negative)
            outcome = largest if finite or toward else largest + 1
    if form == E4M3 and outcome > largest:
        outcome = np.int64(0x7F)
    if form == TF32:
        return ((sign | outcome) & 0x7FFFF) << 13
    return sign | outcome


@jit
def flush(bits: Any, form: Any) -> Any:
    """A subnormal number becomes zero of its sign (single precision and half precision)."""
    mantissa, width = mantissa_bits(form), exponent_bits(form)
    if (bits >> mantissa) & ((1 << width) - 1) == 0:
        return bits & (np.int64(1) << (mantissa + width))
    return bits


@jit
def step(value: Any, error: Any, mode: Any) -> Any:
    """The double next to `value` (nearest) that a directed mode wants; only the sign of `error` = exact - value counts."""
    if error == 0 or mode == NEAREST or not np.isfinite(value) or value == 0:
        return value
    bits = bits_of_f64(value)
    down = mode == DOWN or (mode == ZERO and value > 0)
    if down and error < 0:
        return f64_of(bits - 1) if value > 0 else f64_of(bits + 1)
    if not down and error > 0:
        return f64_of(bits + 1) if value > 0 else f64_of(bits - 1)
    return value
