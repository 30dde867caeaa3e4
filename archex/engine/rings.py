"""Where the trace of a wave lies: in rings of its own, or in one store that all waves read.

In: an array of the trace (`layout`), a wave's context, a position. Out: where its entry is. A trace that is there as a whole is one store:
its arrays have a single row, and positions, which never come round, are places in it.
"""

from __future__ import annotations

from typing import Any

from archex.base.jit import jit_bare as jit


@jit
def place_at(rings: Any, context: int, position: int) -> tuple[int, int]:
    """Row and place of an entry."""
    return min(context, rings.shape[0] - 1), position & (rings.shape[1] - 1)


@jit
def place_of(rings: Any, context: int, position: int) -> int:
    """The number of an entry among those of all waves."""
    row, place = place_at(rings, context, position)
    return row * rings.shape[1] + place
