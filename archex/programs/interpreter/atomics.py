"""What an atomic writes: the new value from the old one and the operands.

In: operation, kind of number, width in bytes, bits. Out: bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from archex.base.jit import outlined
from archex.programs.interpreter import float_lane as floats
from archex.programs.interpreter.float_lane import float_lane, packed_lane
from archex.programs.interpreter.rounding import NEAREST
from archex.programs.interpreter.table import A_ADD, A_AND, A_CAS, A_DEC, A_EXCH, A_INC, A_MAX, A_MIN, A_OR, A_SUB, A_XOR
from archex.programs.values import below, low_bits, sign_extend

#: Kinds: 0 unsigned, 1 signed, 2 + format for floats, 32 + format for packed pairs.
SIGNED, FLOAT, PACKED = 1, 2, 32


@outlined("i:iiiiii")
def combine(op: Any, kind: Any, width: Any, old: Any, b: Any, c: Any) -> Any:
    """The value to write."""
    if op == A_EXCH:
        return b
    if op == A_CAS:
        return low_bits(c, width * 8) if old == b else old
    if kind >= FLOAT:
        step = np.int64(floats.ADD) if op == A_ADD else np.int64(floats.MIN) if op == A_MIN else np.int64(floats.MAX)
        if kind >= PACKED:
            return packed_lane(step, kind - PACKED, np.int64(NEAREST), np.int64(0), old, b, np.int64(0))
        return float_lane(step, kind - FLOAT, np.int64(NEAREST), np.int64(0), old, b, np.int64(0))
    if op == A_ADD:
        return low_bits(old + b, width * 8)
    if op == A_SUB:
        return low_bits(old - b, width * 8)
    if op == A_AND:
        return old & b
    if op == A_OR:
        return old | b
    if op == A_XOR:
        return old ^ b
    if op == A_MIN or op == A_MAX:
        if kind == SIGNED:
            less = sign_extend(old, width * 8) < sign_extend(b, width * 8)
        else:
            less = below(old, b)
        return old if less == (op == A_MIN) else b
    if op == A_INC:
        return np.int64(0) if not below(old, b) else old + 1
    if op == A_DEC:
        return b if old == 0 or below(b, old) else old - 1
    return b
