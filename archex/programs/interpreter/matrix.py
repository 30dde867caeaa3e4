"""Matrix operations of a wave, by groups of 32 lanes.

In: an encoded operation and the lanes that take part. Out: registers or local memory changed, or a fault number.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from archex.base.jit import outlined
from archex.base.layout import AFFINE
from archex.programs.interpreter import table as n
from archex.programs.interpreter.compute import place
from archex.programs.interpreter.transfer import FIRST, KIND, STRIDE
from archex.programs.values import leading_zeros


@outlined("i:pipppiiiippipp")
def matrix(
    code: Any, o: Any, lists: Any, r: Any, p: Any, base: Any, first_predicate: Any, act: Any, lanes: Any, look: Any, local: Any,
    local_at: Any, shape: Any, fault: Any,
) -> Any:  # fmt: skip
    """One operation with an active lane; a fault number."""
    op = code[o + n.OP]
    if op == n.M_DESCRIBE:
        lane = np.int64(63 - leading_zeros(act & -act))
        descriptor = r[place(code[o + n.A], base) + lane]
        look[KIND], look[FIRST], look[STRIDE] = AFFINE, (descriptor & 0x3FFF) << 4, 16
    return n.NO_FAULT
