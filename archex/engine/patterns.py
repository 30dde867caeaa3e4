"""Patterns of lanes in local memory that were seen before: tiles are read in the same few ways all the time.

In: `memory.addresses` of an access, the bytes by which a pattern may be moved without needing more or fewer passes. Out: the row of
`memory.patterns` that is this pattern's.
"""

from __future__ import annotations

from typing import Any

from archex.base.jit import jit_bare as jit
from archex.engine.bits import mix

PATTERN_ROWS = 64
P_PASSES = 0  # 0: not known yet
P_FORM = 1  # bytes a lane and whether it is a store
P_LANES = 2  # from here on: addresses as they are in the first period, -1 where inactive
PATTERN_COLUMNS = P_LANES + 64


@jit
def moved(address: int, shift: int) -> int:
    """An address of a pattern moved to the first period; -1 stays."""
    return address - shift if address >= 0 else -1


@jit
def pattern_row(memory: Any, period: int, width: int, bytes_of: int, store: int) -> int:
    """The row of this pattern, found or begun; -1: no lane is active."""
    addresses = memory.addresses
    first = 0
    while first < width and addresses[first] < 0:
        first += 1
    if first == width:
        return -1
    shift = addresses[first] - addresses[first] % period
    form = bytes_of * 2 + store
    key = moved(addresses[0], shift) + moved(addresses[width // 2], shift) * 977 + moved(addresses[width - 1], shift) * 131 + form * 7
    place = mix(key) & (PATTERN_ROWS - 1)
    row = memory.patterns[place]
    other = row[P_FORM] ^ form
    for lane in range(width):
        other |= row[P_LANES + lane] ^ moved(addresses[lane], shift)
    if other != 0:
        row[P_PASSES], row[P_FORM] = 0, form
        for lane in range(width):
            row[P_LANES + lane] = moved(addresses[lane], shift)
    return place
