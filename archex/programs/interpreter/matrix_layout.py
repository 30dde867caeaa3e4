"""Which lane and register holds which element of a matrix operand: tables that the compiled products read.

In: extents and bits of an element. Out: an entry an element (lane, register, shift within it), line after line.
One rule covers every shape: with g = lane / 4 and t = lane % 4, p elements a 32-bit register (one where they are longer), an operand's
register `step * (lines / 8) + G / 8` holds line g + G at positions 4 p * step + p * t + 0..p-1; lines are rows of the first operand,
columns of the second. Accumulators come in pairs of columns 2 t, 2 t + 1, rows g and g + 8, tile of 8 columns after tile.
"""

from __future__ import annotations

LANE_BITS, REGISTER_BITS = 5, 8
_SHIFT_AT = LANE_BITS + REGISTER_BITS


def _entry(lane: int, register: int, shift: int) -> int:
    return lane | register << LANE_BITS | shift << _SHIFT_AT


def operand(lines: int, depth: int, bits: int) -> list[int]:
    """Elements [line][position] of a first operand of `lines` rows, or a second one of `lines` columns."""
    positions = max(1, 32 // bits)
    found = []
    for line in range(lines):
        for k in range(depth):
            step, inside = divmod(k, 4 * positions)
            t, e = divmod(inside, positions)
            found.append(_entry(4 * (line % 8) + t, step * (lines // 8) + line // 8, e * bits))
    return found


def accumulator(rows: int, columns: int, bits: int) -> list[int]:
    """Elements [row][column] of what is added to."""
    found = []
    for row in range(rows):
        for column in range(columns):
            t, e = divmod(column % 8, 2)
            pair = column // 8 * (rows // 8) + row // 8
            register, shift = (pair, 16 * e) if bits == 16 else (2 * pair + e, 0)
            found.append(_entry(4 * (row % 8) + t, register, shift))
    return found


def metadata(depth: int, bits: int, selector: int) -> list[int]:
    """For each stored element of a sparse first operand of 16 rows: where its 2-bit index lies, and the first position it may mean.

    A row's indices fill `depth * bits / 16` bits at 2 of 4 elements of 16 or 8 bits, cut into words of 16 bits that lie in the lanes of a
    group of four: in lane `selector` where it is one word, in two lanes from 2 * selector, or in all four; rows g in the lower half of
    the register and g + 8 in the upper. 32-bit elements come one of two, with two indices each; 4-bit ones in pairs, one index a pair.
    """
    stored = depth // 2
    indices = {32: 2 * stored, 4: stored // 2}.get(bits, stored)
    words = indices * 2 // 16
    first = {1: selector, 2: 2 * selector, 4: 0}[words]
    found = []
    for row in range(16):
        for element in range(stored):
            index = {32: 2 * element, 4: element // 2}.get(bits, element)
            word, within = divmod(2 * index, 16)
            start = {32: 2 * element, 4: element // 4 * 8 + element % 2}.get(bits, element // 2 * 4)
            lane = 4 * (row % 8) + first + word
            found.append(lane | (within + row // 8 * 16) << LANE_BITS | start << (LANE_BITS + 5))
    return found
