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

    A row's indices lie in the lanes of a group of four. Those of elements of 16 and 32 bits are cut into words of 16 bits: one in lane
    `selector`, or two in lanes from 2 * selector, rows g in the lower half of the register and g + 8 in the upper. Those of shorter
    elements are cut into words of 32 bits: one (rows g in lane 2 * selector, g + 8 in the next), or two (lanes 0, 1 and 2, 3).
    Elements of 32 bits come one of two, with two indices each; of 4 bits in pairs, one index a pair.
    """
    stored = depth // 2
    indices = {32: 2 * stored, 4: stored // 2}.get(bits, stored)
    size = 16 if bits >= 16 else 32
    words = indices * 2 // size
    found = []
    for row in range(16):
        upper = row // 8
        for element in range(stored):
            index = {32: 2 * element, 4: element // 2}.get(bits, element)
            word, within = divmod(2 * index, size)
            start = {32: 2 * element, 4: element // 4 * 8 + element % 2}.get(bits, element // 2 * 4)
            if size == 16:
                lane, within = word + (selector if words == 1 else 2 * selector), within + 16 * upper
            else:
                lane = upper + (2 * selector if words == 1 else 2 * word)
            found.append(4 * (row % 8) + lane | within << LANE_BITS | start << (LANE_BITS + 5))
    return found
