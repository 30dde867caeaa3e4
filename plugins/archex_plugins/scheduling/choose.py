"""Choices that several schedulers share, on masks of slots.

In: a mask that isn't 0, ages or the slot served last. Out: a slot of the mask.
"""

from __future__ import annotations

from typing import Any

from archex.base.jit import jit
from archex.engine.bits import lowest


@jit
def oldest(mask: int, age: Any, first: int) -> int:
    """The slot whose wave started first."""
    best, started = -1, 1 << 62
    while mask != 0:
        slot = lowest(mask)
        mask &= mask - 1
        if age[first + slot] < started:
            best, started = slot, age[first + slot]
    return best


@jit
def following(mask: int, last: int) -> int:
    """The next slot behind `last` (-1: from the beginning), going round."""
    above = mask & ~((2 << last) - 1) if last >= 0 else mask
    return lowest(above) if above != 0 else lowest(mask)
