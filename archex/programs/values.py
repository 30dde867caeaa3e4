"""Bits, floats and the few integer operations that Python, numpy and numba would otherwise spell differently.

In: 64-bit integers (a register's raw bits) and floats. Out: the same, compiled or not, bit for bit. All integers are
int64 that wrap; the interpreted mode works on numpy scalars for that reason. Fused multiply-add is exact in both modes.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from archex.base.jit import COMPILED
from archex.base.jit import jit_bare as jit

LOWEST = -(2**63)
HIGHEST = 2**63 - 1
LOW32 = 0xFFFF_FFFF
LOW16 = 0xFFFF


def exact_fma(a: float, b: float, c: float) -> float:
    """a * b + c with one rounding, by exact rationals."""
    if not (np.isfinite(a) and np.isfinite(b) and np.isfinite(c)) or a == 0 or b == 0:
        return float(np.float64(a) * np.float64(b) + np.float64(c))
    exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
    if exact == 0:
        return 0.0
    try:
        return float(exact)
    except OverflowError:
        return float("inf") if exact > 0 else float("-inf")


if COMPILED:
    from llvmlite import ir as llvm
    from numba import types
    from numba.extending import intrinsic

    def _cast(source: Any, target: Any, build: Any) -> Any:
        """An intrinsic of one argument: `build(builder, value)` makes its code."""

        def typer(context: Any, value: Any) -> Any:
            def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
                return build(builder, args[0])

            return target(source), code

        return intrinsic(typer)

    _i32, _f32, _i64, _f64 = llvm.IntType(32), llvm.FloatType(), llvm.IntType(64), llvm.DoubleType()
    f32_of = _cast(types.int64, types.float32, lambda b, v: b.bitcast(b.trunc(v, _i32), _f32))
    bits_of_f32 = _cast(types.float32, types.int64, lambda b, v: b.zext(b.bitcast(v, _i32), _i64))
    f64_of = _cast(types.int64, types.float64, lambda b, v: b.bitcast(v, _f64))
    bits_of_f64 = _cast(types.float64, types.int64, lambda b, v: b.bitcast(v, _i64))
    popcount = _cast(types.int64, types.int64, lambda b, v: b.ctpop(v))
    leading_zeros = _cast(types.int64, types.int64, lambda b, v: b.ctlz(v, llvm.Constant(llvm.IntType(1), 0)))

    def _fused(number: Any) -> Any:
        def typer(context: Any, a: Any, b: Any, c: Any) -> Any:
            def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
                return builder.fma(*args)

            return number(number, number, number), code

        return intrinsic(typer)

    fma32 = _fused(types.float32)
    fma64 = _fused(types.float64)
else:

    def f32_of(bits: Any) -> Any:
        """The single-precision number in the low 32 bits."""
        return np.uint32(int(bits) & LOW32).view(np.float32)

    def bits_of_f32(value: Any) -> Any:
        """A single-precision number's bits, zero-extended."""
        return np.int64(np.float32(value).view(np.uint32))

    def f64_of(bits: Any) -> Any:
        """The double-precision number of 64 bits."""
        return np.int64(bits).view(np.float64)

    def bits_of_f64(value: Any) -> Any:
        """A double-precision number's bits."""
        return np.float64(value).view(np.int64)

    def popcount(bits: Any) -> Any:
        """Bits set."""
        return (int(bits) & (2**64 - 1)).bit_count()

    def leading_zeros(bits: Any) -> Any:
        """Zero bits above the highest set one, of 64."""
        return 64 - (int(bits) & (2**64 - 1)).bit_length()

    def fma64(a: Any, b: Any, c: Any) -> Any:
        """a * b + c, one rounding, double precision."""
        return np.float64(exact_fma(a, b, c))

    def fma32(a: Any, b: Any, c: Any) -> Any:
        """a * b + c, one rounding, single precision: the double sum is rounded to odd first, so the second rounding is exact."""
        return np.float32(odd_sum(np.float64(a) * np.float64(b), np.float64(c)))


@jit
def shift_right(x: Any, n: Any) -> Any:
    """Logical right shift by 0 to 63."""
    if n == 0:
        return x
    return (x >> n) & (HIGHEST >> (n - 1))


@jit
def below(a: Any, b: Any) -> Any:
    """a < b as unsigned 64-bit numbers."""
    return (a ^ LOWEST) < (b ^ LOWEST)


@jit
def divide_unsigned(a: Any, b: Any) -> Any:
    """Quotient of unsigned 64-bit numbers, b not 0."""
    return np.int64(np.uint64(a) // np.uint64(b))


@jit
def sign_extend(x: Any, width: Any) -> Any:
    """The low `width` bits (1 to 64) as a signed number."""
    return (x << (64 - width)) >> (64 - width)


@jit
def low_bits(x: Any, width: Any) -> Any:
    """The low `width` bits (0 to 64)."""
    if width >= 64:
        return x
    return x & ((np.int64(1) << width) - 1)


@jit
def high_product(a: Any, b: Any) -> Any:
    """Upper 64 bits of the product of unsigned 64-bit numbers."""
    a0, a1 = a & LOW32, shift_right(a, 32)
    b0, b1 = b & LOW32, shift_right(b, 32)
    low = shift_right(a0 * b0, 32)
    middle = a1 * b0 + low
    middle_low = (middle & LOW32) + a0 * b1
    return a1 * b1 + shift_right(middle, 32) + shift_right(middle_low, 32)


@jit
def odd_sum(p: Any, c: Any) -> Any:
    """p + c rounded to odd: a later rounding to a shorter format, in any direction, is then exact."""
    s = p + c
    if not np.isfinite(s):
        return s
    part = s - p
    error = (p - (s - part)) + (c - part)
    return toward_odd(s, error)


@jit
def toward_odd(s: Any, error: Any) -> Any:
    """`s`, the nearest double of a number that is `error` (its sign counts) away, rounded to odd instead."""
    bits = bits_of_f64(s)
    if error == 0 or (bits & 1) == 1:
        return s
    if (error > 0) == (s > 0):
        return f64_of(bits + 1)
    return f64_of(bits - 1)
