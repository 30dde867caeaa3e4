"""One lane's integer arithmetic: every operation that has no row loop of its own.

In: operation, width in bits, signedness, a mode and the operands' bits. Out: the result's bits, zero-extended to 64.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from archex.base.jit import jit_bare as jit
from archex.base.jit import outlined
from archex.programs.values import (
    HIGHEST,
    LOW32,
    below,
    divide_unsigned,
    high_product,
    leading_zeros,
    low_bits,
    popcount,
    shift_right,
    sign_extend,
)

(
    ADD, SUB, MUL_LO, MUL_HI, MUL_WIDE, MAD_LO, MAD_HI, MAD_WIDE, MUL24, MAD24, MUL24_HI, MAD24_HI, DIV, REM, ABS, NEG, MIN, MAX, SAD,
    AND, OR, XOR, NOT,
    CNOT, SHL, SHR, FUNNEL_LEFT, FUNNEL_RIGHT, PERMUTE, EXTRACT, INSERT, MASK, POPCOUNT, CLZ, REVERSE, FIND_MSB, FIND_NTH, LOP3, DOT4, DOT2,
    ADD_SAT, SUB_SAT, MOVE, CARRY_ADD, CARRY_SUB, INSERT_LOW,
) = range(46)  # fmt: skip


@jit
def _number(x: Any, width: Any, signed: Any) -> Any:
    return sign_extend(x, width) if signed else x


@jit
def _less(a: Any, b: Any, width: Any, signed: Any) -> Any:
    if signed:
        return sign_extend(a, width) < sign_extend(b, width)
    return below(a, b)


@jit
def _high(a: Any, b: Any, width: Any, signed: Any) -> Any:
    """Upper half of a product."""
    if width < 64:
        return (_number(a, width, signed) * _number(b, width, signed)) >> width
    outcome = high_product(a, b)
    if signed:
        outcome -= (b if a < 0 else np.int64(0)) + (a if b < 0 else np.int64(0))
    return outcome


@jit
def _divide(op: Any, a: Any, b: Any, width: Any, signed: Any) -> Any:
    """Quotient or remainder, truncated; by zero all bits set, and the dividend."""
    if b == 0:
        return low_bits(np.int64(-1), width) if op == DIV else a
    if not signed:
        q = divide_unsigned(a, b)
        return q if op == DIV else a - q * b
    x, y = sign_extend(a, width), sign_extend(b, width)
    if y == -1:
        return -x if op == DIV else np.int64(0)
    magnitude = divide_unsigned(-x if x < 0 else x, -y if y < 0 else y)
    q = -magnitude if (x < 0) != (y < 0) else magnitude
    return q if op == DIV else x - q * y


@jit
def _extract(a: Any, b: Any, c: Any, width: Any, signed: Any) -> Any:
    """Bit field: `c` bits from position `b`; signed ones repeat the field's top bit."""
    position, length = b & 0xFF, c & 0xFF
    if length == 0:
        return np.int64(0)
    length = min(length, np.int64(64))
    if position >= width:
        value = np.int64(0)
        top = (a >> (width - 1)) & 1
    else:
        value = low_bits(shift_right(a, position), length)
        last = min(position + length - 1, np.int64(width - 1))
        top = shift_right(a, last) & 1
        length = min(length, width - position)
    if signed and top == 1:
        if position >= width:
            return np.int64(-1)
        if length < 64:
            value |= np.int64(-1) << length
    return value


@jit
def _permute(a: Any, b: Any, selector: Any, mode: Any) -> Any:
    """Four bytes picked from eight; modes 1-6 are the rotating and replicating forms."""
    source = (b << 32) | (a & LOW32)
    outcome = np.int64(0)
    for i in range(4):
        choice = (selector >> (4 * i)) & 15
        turn = selector & 3
        if mode == 1:  # f4e
            choice = (turn + i) & 7
        elif mode == 2:  # b4e
            choice = (turn - i) & 7
        elif mode == 3:  # rc8
            choice = turn
        elif mode == 4:  # ecl
            choice = max(turn, np.int64(i))
        elif mode == 5:  # ecr
            choice = min(turn, np.int64(i))
        elif mode == 6:  # rc16
            choice = ((turn & 1) << 1) + (i & 1)
        byte = (source >> (8 * (choice & 7))) & 255
        if choice & 8:
            byte = np.int64(255) if byte & 128 else np.int64(0)
        outcome |= byte << (8 * i)
    return outcome


@jit
def _reverse(a: Any, width: Any) -> Any:
    outcome = np.int64(0)
    for i in range(width):
        outcome |= (shift_right(a, i) & 1) << (width - 1 - i)
    return outcome


@jit
def _find_msb(a: Any, width: Any, signed: Any, as_shift: Any) -> Any:
    """Position of the highest bit that differs from the sign; all ones when there is none."""
    value = sign_extend(a, width) if signed else a
    if signed and value < 0:
        value = ~value
    if value == 0:
        return np.int64(LOW32)
    position = 63 - leading_zeros(value)
    return np.int64(width - 1 - position) if as_shift else np.int64(position)


@jit
def _find_nth(a: Any, base: Any, offset: Any) -> Any:
    """Position of the nth set bit from `base` upward (offset > 0) or downward (< 0), or all ones."""
    wanted = sign_extend(offset, 32)
    if wanted == 0:
        return base if (a >> base) & 1 else np.int64(LOW32)
    direction = 1 if wanted > 0 else -1
    count = wanted if wanted > 0 else -wanted
    position = base
    while 0 <= position < 32:
        if (a >> position) & 1:
            count -= 1
            if count == 0:
                return position
        position += direction
    return np.int64(LOW32)


@jit
def _dot(a: Any, b: Any, c: Any, op: Any, mode: Any) -> Any:
    """Four (or two) products of small integers added to `c`; mode bits: a signed, b signed, high half of b."""
    outcome = c
    pieces = 4 if op == DOT4 else 2
    width = 8 if op == DOT4 else 16
    if op == DOT2 and mode & 4:
        b = b >> 16
    for i in range(pieces):
        x = (a >> (width * i)) & ((1 << width) - 1)
        y = (b >> (8 * i)) & 255
        if mode & 1:
            x = sign_extend(x, width)
        if mode & 2:
            y = sign_extend(y, 8)
        outcome += x * y
    return outcome


@jit
def _saturate(value: Any, width: Any) -> Any:
    limit = np.int64(HIGHEST >> (64 - width))
    return max(min(value, limit), -limit - 1)


@outlined("i:iiiiiii")
def _bitwise(op: Any, width: Any, signed: Any, mode: Any, a: Any, b: Any, c: Any) -> Any:
    """Logic, shifts, fields and counts."""
    if op == AND:
        return a & b
    if op == OR:
        return a | b
    if op == XOR:
        return a ^ b
    if op == NOT:
        return ~a
    if op == CNOT:
        return np.int64(1) if a == 0 else np.int64(0)
    if op == SHL:
        return np.int64(0) if b > 63 or b < 0 else a << b
    if op == SHR:
        if signed:
            return sign_extend(a, width) >> (min(b, np.int64(63)) if b >= 0 else np.int64(63))
        return np.int64(0) if b > 63 or b < 0 else shift_right(a, b)
    if op == FUNNEL_LEFT or op == FUNNEL_RIGHT:
        amount = (c & 31) if mode == 0 else min(c, np.int64(32))
        both = (b << 32) | a
        return shift_right(both, 32 - amount) if op == FUNNEL_LEFT else shift_right(both, amount)
    if op == PERMUTE:
        return _permute(a, b, c, mode)
    if op == EXTRACT:
        return _extract(a, b, c, width, signed)
    if op == MASK:
        position = a if mode == 0 else a & 31
        length = b if mode == 0 else b & 31
        return np.int64(0) if position > 63 else low_bits(np.int64(-1), min(length, np.int64(64))) << position
    if op == POPCOUNT:
        return np.int64(popcount(a))
    if op == CLZ:
        return np.int64(leading_zeros(a) - (64 - width))
    if op == REVERSE:
        return _reverse(a, width)
    if op == FIND_MSB:
        return _find_msb(a, width, signed, mode)
    if op == FIND_NTH:
        return _find_nth(a, b, c)
    outcome = np.int64(0)  # LOP3: bit i of the table is the result for a, b, c = bits of i
    for i in range(8):
        if (mode >> i) & 1:
            outcome |= (a if i & 4 else ~a) & (b if i & 2 else ~b) & (c if i & 1 else ~c)
    return outcome


@outlined("i:iiiiiiii")
def integer_lane(op: Any, width: Any, signed: Any, mode: Any, a: Any, b: Any, c: Any, d: Any) -> Any:
    """Bits of one result, not yet cut to the destination's width."""
    if op >= AND and op <= LOP3 and op != INSERT:
        return _bitwise(op, width, signed, mode, a, b, c)
    if op == ADD or op == CARRY_ADD:
        return a + b + c
    if op == SUB or op == CARRY_SUB:
        return a - b - c
    if op == MUL_LO:
        return a * b
    if op == MAD_LO:
        return a * b + c
    if op == MUL_HI:
        return _high(a, b, width, signed)
    if op == MAD_HI:
        return _high(a, b, width, signed) + c
    if op == MUL_WIDE or op == MAD_WIDE:
        return _number(a, width, signed) * _number(b, width, signed) + c
    if op == MUL24 or op == MAD24 or op == MUL24_HI or op == MAD24_HI:
        product = _number(low_bits(a, 24), 24, signed) * _number(low_bits(b, 24), 24, signed)
        return (product >> 16 if op == MUL24_HI or op == MAD24_HI else product) + c
    if op == DIV or op == REM:
        return _divide(op, a, b, width, signed)
    if op == ABS:
        return -sign_extend(a, width) if sign_extend(a, width) < 0 else a
    if op == NEG:
        return -a
    if op == MIN:
        return a if _less(a, b, width, signed) else b
    if op == MAX:
        return b if _less(a, b, width, signed) else a
    if op == SAD:
        return c + (
            _number(b, width, signed) - _number(a, width, signed)
            if _less(a, b, width, signed)
            else _number(a, width, signed) - _number(b, width, signed)
        )
    if op == INSERT:  # a into b at position c, length d
        position, length = c & 0xFF, d & 0xFF
        if position >= width or length == 0:
            return b
        field = low_bits(np.int64(-1), min(length, np.int64(64))) << position
        return (b & ~field) | ((a << position) & field)
    if op == DOT4 or op == DOT2:
        return _dot(a, b, c, op, mode)
    if op == ADD_SAT:
        return _saturate(sign_extend(a, width) + sign_extend(b, width), width)
    if op == SUB_SAT:
        return _saturate(sign_extend(a, width) - sign_extend(b, width), width)
    return a
