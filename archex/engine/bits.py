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

    def _element(context: Any, builder: Any, array: Any, value: Any, index: Any) -> Any:
        """Pointer to a flat array's (or grid's) element."""
        if isinstance(array, _types.Array):
            data = context.make_array(array)(context, builder, value).data
        else:  # a grid: its pointer comes first
            data = builder.extract_value(value, 0)
        return builder.gep(data, [index])

    @_intrinsic
    def same(typing_context: Any, array: Any, first: Any, value: Any) -> Any:
        """Mask of which of the EIGHT words from `first` on equal `value`: one comparison of the host."""

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            word, vector = _llvm.IntType(64), _llvm.VectorType(_llvm.IntType(64), EIGHT)
            place = builder.bitcast(_element(context, builder, array, *arguments[:2]), vector.as_pointer())
            each = builder.insert_element(_llvm.Constant(vector, _llvm.Undefined), arguments[2], _llvm.IntType(32)(0))
            each = builder.shuffle_vector(each, each, _llvm.Constant(_llvm.VectorType(_llvm.IntType(32), EIGHT), [0] * EIGHT))
            equal = builder.icmp_signed("==", builder.load(place, align=8), each)
            return builder.zext(builder.bitcast(equal, _llvm.IntType(EIGHT)), word)

        return _types.int64(array, _types.int64, _types.int64), generate

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
