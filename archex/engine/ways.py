"""The way between two levels of the memory path: lines in the next level's terms, what counts a lookup, ports and distances.

In: a line and its sectors, a compute unit, the cycle. Out: the same in other units; waits in cycles at the servers on the way.
"""

from __future__ import annotations

from typing import Any

from archex.base.jit import jit_bare as jit
from archex.engine import tables as tab
from archex.engine.bits import count, mix
from archex.engine.merging import group_delivery
from archex.engine.servers import wait
from archex.engine.state import (
    I_GROUP_READ,
    I_GROUP_WRITE,
    I_LINE,
    I_MERGED,
    I_PORT_READ,
    I_PORT_WRITE,
    I_ROUTED,
    I_SECTOR,
    I_SERVER,
    I_TOTAL_READ,
    I_TOTAL_WRITE,
)

_L2_LOOKUPS = tab.COUNTER_INDEX["l2_lookups"]
_SIDE_LOOKUPS = tab.COUNTER_INDEX["memory_side_cache_lookups"]


@jit
def regroup(levels_int: Any, above: int, level: int, line: int, mask: int) -> tuple[int, int]:
    """A line and its sectors of level `above` in the terms of `level`, whose lines are at least as long."""
    above_line, above_sector = levels_int[above, I_LINE], levels_int[above, I_SECTOR]
    own_line, own_sector = levels_int[level, I_LINE], levels_int[level, I_SECTOR]
    if above_line == own_line and above_sector == own_sector:
        return line, mask
    address = line * above_line
    own = address // own_line
    start = address - own * own_line
    result = 0
    for k in range(above_line // above_sector):
        if (mask >> k) & 1:
            first = (start + k * above_sector) // own_sector
            last = (start + (k + 1) * above_sector - 1) // own_sector
            result |= (2 << last) - (1 << first)
    return own, result


@jit
def widen(mask: int, group: int, whole: int) -> int:
    """Sectors fetched for `mask` when aligned groups come together."""
    if group <= 1:
        return mask
    result = 0
    cell = (1 << group) - 1
    while cell & whole:
        if mask & cell:
            result |= cell
        cell <<= group
    return result & whole


@jit
def accesses_of(mask: int, sector: int, access: int) -> int:
    """Accesses of memory that cover the sectors of `mask` (whole aligned pieces)."""
    if access <= sector:
        return count(mask) * (sector // access)
    group = access // sector
    total, rest = 0, mask
    while rest != 0:
        total += 1 if rest & ((1 << group) - 1) else 0
        rest >>= group
    return total


@jit
def note_lookup(counters: Any, level: int, sectors: int, hits: int) -> None:
    """Count a lookup at the second or third level."""
    if level == 1:
        counters[_L2_LOOKUPS] += sectors
        counters[_L2_LOOKUPS + 1] += hits
    elif level == 2:
        counters[_SIDE_LOOKUPS] += sectors
        counters[_SIDE_LOOKUPS + 1] += hits


@jit
def distance(paths: Any, level: int, unit: int, server: int) -> float:
    """Latency that the way from a compute unit to a slice adds to the level's, in cycles: its links', or a spread about the mean."""
    if paths.levels_int[level, I_ROUTED] != 0:
        return paths.routes[unit, server - paths.levels_int[level, I_SERVER]]
    spread = paths.levels[level, tab.LEVEL_SPREAD]
    return spread * (mix(unit * 8191 + server) / 524288.0 - 1.0) if spread > 0.0 else 0.0


@jit
def read_ports(paths: Any, servers: Any, unit: int, level: int, instance: int, bytes_up: float, now: float) -> float:
    """Waits on the way up from `level`: the port of the cache above, the group's, all together."""
    row = paths.levels_int[level]
    delay = 0.0
    if row[I_PORT_READ] >= 0:
        above = unit if level == 1 else paths.level_instance[level - 1, unit]
        delay += wait(servers, row[I_PORT_READ] + above, now + delay, bytes_up / paths.levels[level, tab.LEVEL_PORT_READ])
    if row[I_MERGED] >= 0:
        delay += group_delivery(paths, servers, unit, bytes_up, now + delay)
    if row[I_GROUP_READ] >= 0:
        group = row[I_GROUP_READ] + paths.unit_group[unit]
        delay += wait(servers, group, now + delay, bytes_up / paths.levels[level, tab.LEVEL_GROUP_READ])
    if row[I_TOTAL_READ] >= 0:
        delay += wait(servers, row[I_TOTAL_READ] + instance, now + delay, bytes_up / paths.levels[level, tab.LEVEL_TOTAL_READ])
    return delay


@jit
def write_ports(paths: Any, servers: Any, unit: int, level: int, instance: int, bytes_down: float, now: float) -> float:
    """Waits on the way down to `level`."""
    row = paths.levels_int[level]
    delay = 0.0
    if row[I_PORT_WRITE] >= 0:
        above = unit if level == 1 else paths.level_instance[level - 1, unit]
        cost = max(bytes_down / paths.levels[level, tab.LEVEL_PORT_WRITE], paths.levels[level, tab.LEVEL_PORT_WRITE_LINE])
        delay += wait(servers, row[I_PORT_WRITE] + above, now + delay, cost)
    if row[I_GROUP_WRITE] >= 0:
        group = row[I_GROUP_WRITE] + paths.unit_group[unit]
        delay += wait(servers, group, now + delay, bytes_down / paths.levels[level, tab.LEVEL_GROUP_WRITE])
    if row[I_TOTAL_WRITE] >= 0:
        delay += wait(servers, row[I_TOTAL_WRITE] + instance, now + delay, bytes_down / paths.levels[level, tab.LEVEL_TOTAL_WRITE])
    return delay
