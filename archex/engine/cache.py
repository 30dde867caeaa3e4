"""One cache level: where a line lives, whether it is there, which line leaves.

In: level, instance, partition, line number. Out: positions in the flat array `cells` of `state.Memory`; a line's spot is found once, by
divisions, and its set in each partition from that. All levels lie behind
one another; a set is `ways` tags, then as many counts of last use, then as many words of status, so that the host finds them
close together: entry e has its tag at e, its last use at e + ways, its status at e + 2 x ways. A tag is the complement of a line's number.
"""

from __future__ import annotations

from typing import Any

from archex.base.jit import jit_bare as jit
from archex.engine.bits import EIGHT, highest, mix, same
from archex.engine.bundle import whole
from archex.engine.policies import SetView
from archex.engine.standard import victim_oldest
from archex.engine.state import (
    DIRTY_SHIFT,
    FAULT,
    FAULT_VALUE,
    HOME_SHIFT,
    I_APART,
    I_BASE,
    I_FEEDBACK,
    I_HASHED,
    I_OLDEST,
    I_PARTITIONS,
    I_RUN,
    I_SERVER,
    I_SETS,
    I_SLICES,
    I_STRIDE,
    I_TURN,
    I_WAYS,
    SECTOR_MASK,
    SLICE_SHIFT,
    USES,
)

FAULT_SET_INDEX = 2  # positions in policies.ARGUMENTS
FAULT_PICK_VICTIM = 3
_oldest = jit(victim_oldest)


@jit
def spot_of(levels_int: Any, index_params: Any, set_index: Any, scalars: Any, level: int, line: int) -> int:
    """A line's spot, the same in every instance and partition: home partition, slice and set, packed.

    Neighbours alternate between partitions, in an order that changes from group to group; slices take turns, so that any row of lines
    spreads evenly; `set_index` picks the set. Where lines lie together in runs, runs take turns, partitions within each of them, and the
    order changes after every few.
    """
    partitions, slices, sets = levels_int[level, I_PARTITIONS], levels_int[level, I_SLICES], levels_int[level, I_SETS]
    local, home, which = line, 0, 0
    run = levels_int[level, I_RUN]
    if run > 0:
        number = line // run
        within = line - number * run
        turn = within // levels_int[level, I_TURN]
        home = (turn + mix(number)) % partitions
        group = number // levels_int[level, I_APART]
        which = number - group * levels_int[level, I_APART]
        if levels_int[level, I_HASHED] != 0:
            which += mix(group)
        which %= slices
        local = number // slices * (run // partitions) + turn // partitions * levels_int[level, I_TURN] + within % levels_int[level, I_TURN]
        slices = 1
    elif partitions > 1:
        local = line // partitions
        home = (line - local * partitions + mix(local)) % partitions
    if slices > 1:
        group = local // slices
        which = local - group * slices
        if levels_int[level, I_HASHED] != 0:
            which = (which + mix(group)) % slices
        local = group
    index = set_index[level](local, sets, whole(index_params[level]))
    if index < 0 or index >= sets:
        scalars[FAULT] = FAULT_SET_INDEX
        scalars[FAULT_VALUE] = index
        index = 0
    return (home << HOME_SHIFT) | (which << SLICE_SHIFT) | index


@jit
def home_of(spot: int) -> int:
    """The partition a line belongs to."""
    return spot >> HOME_SHIFT


@jit
def set_at(levels_int: Any, level: int, instance: int, partition: int, spot: int) -> tuple[int, int]:
    """(first entry of the set, slice server) of a spot in one partition of one instance."""
    slices = levels_int[level, I_SLICES]
    which = (spot >> SLICE_SHIFT) & ((1 << (HOME_SHIFT - SLICE_SHIFT)) - 1)
    unit = (instance * levels_int[level, I_PARTITIONS] + partition) * slices + which
    index = spot & ((1 << SLICE_SHIFT) - 1)
    first = levels_int[level, I_BASE] + (unit * levels_int[level, I_SETS] + index) * levels_int[level, I_STRIDE]
    return first, levels_int[level, I_SERVER] + unit


@jit
def find(cells: Any, first: int, ways: int, line: int) -> int:
    """The entry that holds `line` (the last of several), or -1; line -1: an empty one. A set has room for whole groups of eight words."""
    tag = ~line
    start = (ways - 1) & ~(EIGHT - 1)
    mask = same(cells, first + start, tag) & ((1 << (ways - start)) - 1)
    while mask == 0 and start > 0:
        start -= EIGHT
        mask = same(cells, first + start, tag)
    return first + start + highest(mask) if mask != 0 else -1


@jit
def line_in(cells: Any, entry: int) -> int:
    """The line an entry holds, -1 none."""
    return ~cells[entry]


@jit
def put_line(cells: Any, entry: int, line: int) -> None:
    """Let an entry hold a line, or none (-1)."""
    cells[entry] = ~line


@jit
def touch(scalars: Any, cells: Any, entry: int, ways: int) -> None:
    """Mark an entry as used last."""
    scalars[USES] += 1
    cells[entry + ways] = scalars[USES]


@jit
def feedback(
    levels_int: Any, note_set: Any, cells: Any, set_state: Any, params: Any, level: int, first: int, entry: int, what: int
) -> None:
    """Tell a policy that asked for it of a HIT or a FILLED_SET."""
    if levels_int[level, I_FEEDBACK] & what:
        ways = levels_int[level, I_WAYS]
        index = (first - levels_int[level, I_BASE]) // levels_int[level, I_STRIDE]
        view = SetView(first + ways, ways, whole(cells), index, entry - first, what)
        note_set[level](view, whole(set_state[level]), whole(params[level]))


@jit
def choose_entry(levels_int: Any, pick_victim: Any, params: Any, cells: Any, set_state: Any, scalars: Any, level: int, first: int) -> int:
    """The entry a new line takes: an empty one, else the policy's choice."""
    ways = levels_int[level, I_WAYS]
    empty = find(cells, first, ways, -1)
    if empty >= 0:
        return empty
    if levels_int[level, I_OLDEST] != 0:
        return first + _oldest(SetView(first + ways, ways, whole(cells), 0, -1, 0), 0, 0)
    index = (first - levels_int[level, I_BASE]) // levels_int[level, I_STRIDE]
    way = pick_victim[level](SetView(first + ways, ways, whole(cells), index, -1, 0), whole(set_state[level]), whole(params[level]))
    if way < 0 or way >= ways:
        scalars[FAULT] = FAULT_PICK_VICTIM
        scalars[FAULT_VALUE] = way
        way = 0
    return first + way


@jit
def dirty_sectors(status: int) -> int:
    """Sectors of a line that memory does not have yet."""
    return (status >> DIRTY_SHIFT) & SECTOR_MASK
