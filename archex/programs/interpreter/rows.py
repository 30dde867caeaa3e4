"""Row loops: the integer and single-precision operations that carry kernels, over all lanes of a wave at once.

In: the register file as one flat array, offsets of the rows, the wave's width. Out: the destination row,
or a mask of lanes for comparisons. Rows hold raw bits, zero-extended to 64. Lanes that
are not active are computed too; the caller writes to a scratch row and blends.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from archex.base.jit import outlined
from archex.programs.values import LOW32, LOWEST, bits_of_f32, f32_of, fma32

(
    MOVE, ADD32, SUB32, ADD64, SUB64, MUL32, MAD32, MUL64, WIDE_S32, WIDE_U32, WIDE_ADD_S32, WIDE_ADD_U32, AND, OR, XOR, NOT32, SHL32,
    SHL64,
    SHR_U32, SHR_S32, EXTEND_S32, CUT32, MIN_S, MAX_S, MIN_S32, MAX_S32, EXTRACT_U32, ROW_COUNT,
) = range(28)  # fmt: skip
FADD, FSUB, FMUL, FFMA = range(4)
EQ, NE, LT_S32, LE_S32, LT, LE, LT_U64, LE_U64, F_EQ, F_LT, F_LE, F_NEU, F_LTU, F_LEU, COMPARE_COUNT = range(15)
_NAN = 0x7FFFFFFF


@outlined("v:ipiiiii")
def _more(op: Any, r: Any, d: Any, a: Any, b: Any, c: Any, width: Any) -> Any:
    if op == SHL32:  # amounts of 32 and more leave nothing in the low half
        for i in range(width):
            r[d + i] = (r[a + i] << min(r[b + i], 63)) & LOW32
    elif op == SHL64:
        for i in range(width):
            r[d + i] = r[a + i] << (r[b + i] & 63) if r[b + i] < 64 else 0
    elif op == SHR_U32:
        for i in range(width):
            r[d + i] = r[a + i] >> min(r[b + i], 63)
    elif op == SHR_S32:
        for i in range(width):
            r[d + i] = (((r[a + i] << 32) >> 32) >> min(r[b + i], 63)) & LOW32
    elif op == EXTEND_S32:
        for i in range(width):
            r[d + i] = (r[a + i] << 32) >> 32
    elif op == CUT32:
        for i in range(width):
            r[d + i] = r[a + i] & LOW32
    elif op == MIN_S:
        for i in range(width):
            r[d + i] = min(r[a + i], r[b + i])
    elif op == MAX_S:
        for i in range(width):
            r[d + i] = max(r[a + i], r[b + i])
    elif op == MIN_S32:
        for i in range(width):
            r[d + i] = min((r[a + i] << 32) >> 32, (r[b + i] << 32) >> 32) & LOW32
    elif op == MAX_S32:
        for i in range(width):
            r[d + i] = max((r[a + i] << 32) >> 32, (r[b + i] << 32) >> 32) & LOW32
    elif op == EXTRACT_U32:  # start and length below 32, as constants nearly always are
        for i in range(width):
            r[d + i] = (r[a + i] >> (r[b + i] & 31)) & ((1 << (r[c + i] & 63)) - 1)


@outlined("v:ipiiiii")
def integer_row(op: Any, r: Any, d: Any, a: Any, b: Any, c: Any, width: Any) -> Any:
    """One integer operation on whole rows."""
    if op == MOVE:
        for i in range(width):
            r[d + i] = r[a + i]
    elif op == ADD32:
        for i in range(width):
            r[d + i] = (r[a + i] + r[b + i]) & LOW32
    elif op == SUB32:
        for i in range(width):
            r[d + i] = (r[a + i] - r[b + i]) & LOW32
    elif op == ADD64:
        for i in range(width):
            r[d + i] = r[a + i] + r[b + i]
    elif op == SUB64:
        for i in range(width):
            r[d + i] = r[a + i] - r[b + i]
    elif op == MUL32:
        for i in range(width):
            r[d + i] = (r[a + i] * r[b + i]) & LOW32
    elif op == MAD32:
        for i in range(width):
            r[d + i] = (r[a + i] * r[b + i] + r[c + i]) & LOW32
    elif op == MUL64:
        for i in range(width):
            r[d + i] = r[a + i] * r[b + i]
    elif op == WIDE_S32:
        for i in range(width):
            r[d + i] = ((r[a + i] << 32) >> 32) * ((r[b + i] << 32) >> 32)
    elif op == WIDE_U32:
        for i in range(width):
            r[d + i] = r[a + i] * r[b + i]
    elif op == WIDE_ADD_S32:
        for i in range(width):
            r[d + i] = ((r[a + i] << 32) >> 32) * ((r[b + i] << 32) >> 32) + r[c + i]
    elif op == WIDE_ADD_U32:
        for i in range(width):
            r[d + i] = r[a + i] * r[b + i] + r[c + i]
    elif op == AND:
        for i in range(width):
            r[d + i] = r[a + i] & r[b + i]
    elif op == OR:
        for i in range(width):
            r[d + i] = r[a + i] | r[b + i]
    elif op == XOR:
        for i in range(width):
            r[d + i] = r[a + i] ^ r[b + i]
    elif op == NOT32:
        for i in range(width):
            r[d + i] = ~r[a + i] & LOW32
    else:
        _more(op, r, d, a, b, c, width)


@outlined("v:ipiiiii")
def float_row(op: Any, r: Any, d: Any, a: Any, b: Any, c: Any, width: Any) -> Any:
    """Single precision, nearest even, subnormals kept. Any NaN becomes the one NaN."""
    if op == FADD:
        for i in range(width):
            value = f32_of(r[a + i]) + f32_of(r[b + i])
            r[d + i] = bits_of_f32(value) if value == value else _NAN
    elif op == FSUB:
        for i in range(width):
            value = f32_of(r[a + i]) - f32_of(r[b + i])
            r[d + i] = bits_of_f32(value) if value == value else _NAN
    elif op == FMUL:
        for i in range(width):
            value = f32_of(r[a + i]) * f32_of(r[b + i])
            r[d + i] = bits_of_f32(value) if value == value else _NAN
    else:
        for i in range(width):
            value = fma32(f32_of(r[a + i]), f32_of(r[b + i]), f32_of(r[c + i]))
            r[d + i] = bits_of_f32(value) if value == value else _NAN


@outlined("i:ipiii")
def compare_row(op: Any, r: Any, a: Any, b: Any, width: Any) -> Any:
    """Mask of the lanes for which a comparison holds, bit a lane."""
    m = np.int64(0)
    one = np.int64(1)
    zero = np.int64(0)
    if op == EQ:
        for i in range(width):
            m |= (one if r[a + i] == r[b + i] else zero) << i
    elif op == NE:
        for i in range(width):
            m |= (one if r[a + i] != r[b + i] else zero) << i
    elif op == LT_S32:
        for i in range(width):
            m |= (one if (r[a + i] << 32) < (r[b + i] << 32) else zero) << i
    elif op == LE_S32:
        for i in range(width):
            m |= (one if (r[a + i] << 32) <= (r[b + i] << 32) else zero) << i
    elif op == LT:
        for i in range(width):
            m |= (one if r[a + i] < r[b + i] else zero) << i
    elif op == LE:
        for i in range(width):
            m |= (one if r[a + i] <= r[b + i] else zero) << i
    elif op == LT_U64:
        for i in range(width):
            m |= (one if (r[a + i] ^ LOWEST) < (r[b + i] ^ LOWEST) else zero) << i
    elif op == LE_U64:
        for i in range(width):
            m |= (one if (r[a + i] ^ LOWEST) <= (r[b + i] ^ LOWEST) else zero) << i
    elif op == F_EQ:
        for i in range(width):
            m |= (one if f32_of(r[a + i]) == f32_of(r[b + i]) else zero) << i
    elif op == F_LT:
        for i in range(width):
            m |= (one if f32_of(r[a + i]) < f32_of(r[b + i]) else zero) << i
    elif op == F_LE:
        for i in range(width):
            m |= (one if f32_of(r[a + i]) <= f32_of(r[b + i]) else zero) << i
    elif op == F_NEU:
        for i in range(width):
            m |= (one if f32_of(r[a + i]) != f32_of(r[b + i]) else zero) << i
    elif op == F_LTU:
        for i in range(width):
            m |= (zero if f32_of(r[a + i]) >= f32_of(r[b + i]) else one) << i
    else:
        for i in range(width):
            m |= (zero if f32_of(r[a + i]) > f32_of(r[b + i]) else one) << i
    return m


@outlined("v:piiiii")
def select_row(r: Any, d: Any, a: Any, b: Any, mask: Any, width: Any) -> Any:
    """Lanes of `a` where the mask is set, of `b` elsewhere."""
    for i in range(width):
        chosen = -((mask >> i) & 1)
        r[d + i] = (r[a + i] & chosen) | (r[b + i] & ~chosen)
