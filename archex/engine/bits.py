"""Bit masks and hashing on int64, the same compiled and interpreted.

Masks of lanes use all 64 bits, so they may be negative as integers.
"""

from __future__ import annotations

from typing import Any

from archex.base.jit import COMPILED
from archex.base.jit import jit_bare as jit

_ALL = 0xFFFF_FFFF_FFFF_FFFF
EIGHT = 8  # words compared at once

if COMPILED:
    from llvmlite import ir as _llvm
    from numba import types as _types

    from archex.base.jit import intrinsic as _intrinsic

    @_intrinsic
    def lowest(typing_context: Any, mask: Any) -> Any:
        """Position of the lowest set bit (of a mask that is not 0)."""

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.cttz(arguments[0], _llvm.Constant(_llvm.IntType(1), 1))

        return _types.int64(_types.int64), generate

    @_intrinsic
    def count(typing_context: Any, mask: Any) -> Any:
        """Set bits."""

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.ctpop(arguments[0])

        return _types.int64(_types.int64), generate

    @_intrinsic
    def highest(typing_context: Any, mask: Any) -> Any:
        """Position of the highest set bit (of a mask that is not 0)."""

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            zeros = builder.ctlz(arguments[0], _llvm.Constant(_llvm.IntType(1), 1))
            return builder.sub(_llvm.Constant(_llvm.IntType(64), 63), zeros)

        return _types.int64(_types.int64), generate

    def _eight(context: Any, builder: Any, array: Any, value: Any, first: Any) -> Any:
        """The EIGHT words from `first` on."""
        vector = _llvm.VectorType(_llvm.IntType(64), EIGHT)
        return builder.load(builder.bitcast(_element(context, builder, array, value, first), vector.as_pointer()), align=8)

    def _each(builder: Any, word: Any) -> Any:
        """A word, EIGHT times."""
        vector = _llvm.VectorType(_llvm.IntType(64), EIGHT)
        each = builder.insert_element(_llvm.Constant(vector, _llvm.Undefined), word, _llvm.IntType(32)(0))
        return builder.shuffle_vector(each, each, _llvm.Constant(_llvm.VectorType(_llvm.IntType(32), EIGHT), [0] * EIGHT))

    def _comparison(how: str, words: str) -> Any:
        """An intrinsic: mask of which of the EIGHT words from `first` on compare so with `value`."""

        def compare(typing_context: Any, array: Any, first: Any, value: Any) -> Any:
            def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
                eight = _eight(context, builder, array, *arguments[:2])
                found = builder.icmp_signed(how, eight, _each(builder, arguments[2]))
                return builder.zext(builder.bitcast(found, _llvm.IntType(EIGHT)), _llvm.IntType(64))

            return _types.int64(array, _types.int64, _types.int64), generate

        compare.__doc__ = f"Mask of which of the EIGHT words from `first` on {words} `value`: one comparison of the host."
        return _intrinsic(compare)

    same = _comparison("==", "equal")
    at_most = _comparison("<=", "are at most")

    @_intrinsic
    def least(typing_context: Any, array: Any, first: Any, mask: Any, none: Any) -> Any:
        """The least of `none` and those of the EIGHT words from `first` on whose bit is set in `mask`."""

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            bits = builder.bitcast(builder.trunc(arguments[2], _llvm.IntType(EIGHT)), _llvm.VectorType(_llvm.IntType(1), EIGHT))
            best = builder.select(bits, _eight(context, builder, array, *arguments[:2]), _each(builder, arguments[3]))
            lanes = _llvm.VectorType(_llvm.IntType(32), EIGHT)
            half = EIGHT // 2
            while half > 0:
                other = builder.shuffle_vector(best, best, _llvm.Constant(lanes, [(k + half) % EIGHT for k in range(EIGHT)]))
                best = builder.select(builder.icmp_signed("<", best, other), best, other)
                half //= 2
            found = builder.extract_element(best, _llvm.IntType(32)(0))
            return builder.select(builder.icmp_signed("<", found, arguments[3]), found, arguments[3])

        return _types.int64(array, _types.int64, _types.int64, _types.int64), generate

    def _element(context: Any, builder: Any, array: Any, value: Any, index: Any) -> Any:
        """Pointer to a flat array's (or grid's) element."""
        if isinstance(array, _types.Array):
            data = context.make_array(array)(context, builder, value).data
        else:  # a grid: its pointer comes first
            data = builder.extract_value(value, 0)
        return builder.gep(data, [index])

    @_intrinsic
    def prefetch(typing_context: Any, array: Any, index: Any) -> Any:
        """Ask the host for the cache line of a flat array's element; changes nothing."""

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            byte = _llvm.IntType(8).as_pointer()
            flag = _llvm.IntType(32)
            address = builder.bitcast(_element(context, builder, array, *arguments), byte)
            kind = _llvm.FunctionType(_llvm.VoidType(), [byte, flag, flag, flag])
            function = builder.module.declare_intrinsic("llvm.prefetch", [byte], kind)
            builder.call(function, [address, flag(0), flag(3), flag(1)])
            return context.get_dummy_value()

        return _types.void(array, _types.int64), generate

else:

    def prefetch(array: Any, index: Any) -> None:
        """Ask the host for the cache line of a flat array's element; changes nothing."""

    def highest(mask: Any) -> int:
        """Position of the highest set bit (of a mask that is not 0)."""
        return (int(mask) & _ALL).bit_length() - 1

    def same(array: Any, first: Any, value: Any) -> int:
        """Mask of which of the EIGHT words from `first` on equal `value`."""
        return sum(1 << k for k in range(EIGHT) if array[first + k] == value)

    def at_most(array: Any, first: Any, value: Any) -> int:
        """Mask of which of the EIGHT words from `first` on are at most `value`."""
        return sum(1 << k for k in range(EIGHT) if array[first + k] <= value)

    def least(array: Any, first: Any, mask: Any, none: Any) -> int:
        """The least of `none` and those of the EIGHT words from `first` on whose bit is set in `mask`."""
        return min([none, *(int(array[first + k]) for k in range(EIGHT) if (mask >> k) & 1)])

    def lowest(mask: Any) -> int:
        """Position of the lowest set bit (of a mask that is not 0)."""
        bits = int(mask) & _ALL
        return (bits & -bits).bit_length() - 1

    def count(mask: Any) -> int:
        """Set bits."""
        return (int(mask) & _ALL).bit_count()


@jit
def mix(value: int) -> int:
    """A hash of 20 bits that depends on all of the low 60 bits of `value` (no product passes 63 bits)."""
    folded = (value ^ (value >> 29)) & 0x7FFFFFFF
    folded = (folded * 0x2C1B3C6D) & 0x7FFFFFFF
    folded = ((folded ^ (folded >> 12)) * 0x297A2D39) & 0x7FFFFFFF
    return (folded ^ (folded >> 15)) >> 11


@jit
def shift_of(divisor: int) -> int:
    """The shift that divides by a power of two; -1: it is none."""
    return lowest(divisor) if divisor & (divisor - 1) == 0 else -1


@jit
def quotient(value: int, divisor: int) -> int:
    """value // divisor, by a shift where that does: sizes mostly are powers of two, and a host's division takes ten times as long."""
    shift = shift_of(divisor)
    return value >> shift if shift >= 0 else value // divisor


@jit
def remainder(value: int, divisor: int) -> int:
    """value % divisor."""
    return value & (divisor - 1) if divisor & (divisor - 1) == 0 else value % divisor
