"""What a memory operation leaves in the trace.

In: a wave, the lanes that take part, what is known of their addresses. Out: a record behind those of the block so far, and a row of
the pool where one is needed. Nothing is visible before the block is complete.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from archex.base import layout
from archex.base.jit import jit_bare as jit
from archex.base.jit import outlined
from archex.programs.interpreter import table as n
from archex.programs.interpreter.transfer import FIRST, KIND, STRIDE


@jit
def keep(c: Any, kind: Any, base: Any, stride: Any, mask: Any, x: Any, shape: Any, records: Any) -> Any:
    """Append one record."""
    position = x[c * n.CONTEXT_COLUMNS + n.RECORDS]
    x[c * n.CONTEXT_COLUMNS + n.RECORDS] += 1
    at = (c * shape[n.RECORD_RING] + (position & (shape[n.RECORD_RING] - 1))) * layout.RECORD_COLUMNS
    records[at], records[at + 1], records[at + 2], records[at + 3] = kind, base, stride, mask


@jit
def pool_row(c: Any, x: Any) -> Any:
    """The position of a new row of the pool, which `pool_start` turns into a place."""
    position = x[c * n.CONTEXT_COLUMNS + n.POOLS]
    x[c * n.CONTEXT_COLUMNS + n.POOLS] += 1
    return position


@jit
def pool_start(c: Any, position: Any, shape: Any) -> Any:
    """Where a row of the pool begins."""
    return (c * shape[n.POOL_RING] + (position & (shape[n.POOL_RING] - 1))) * shape[n.LANES]


@outlined("v:iipiippppp")
def keep_lanes(c: Any, act: Any, r: Any, addresses: Any, lanes: Any, look: Any, x: Any, shape: Any, records: Any, pool: Any) -> Any:
    """The record of an access by lane, whose addresses stand in row `addresses`."""
    if act == 0:
        keep(c, np.int64(layout.NO_ACCESS), np.int64(0), np.int64(0), np.int64(0), x, shape, records)
        return
    base = look[FIRST]
    if look[KIND] == layout.SCATTERED:
        base = pool_row(c, x)
        start = pool_start(c, base, shape)
        for i in range(lanes):
            chosen = -((act >> i) & 1)
            pool[start + i] = (r[addresses + i] & chosen) | ~chosen
    keep(c, look[KIND], base, look[STRIDE], act, x, shape, records)
