"""Reads of one line by several compute units of a group: while the second level has not answered the first, others join it.

In: a read that the vector cache lacks. Out: its completion, where another of the group is on its way; what can be joined, kept in a table a
group. The answer reaches every unit's port, and what a group delivers in all has a rate of its own.
"""

from __future__ import annotations

from typing import Any

from archex.base.jit import jit_bare as jit
from archex.engine import tables as tab
from archex.engine.bits import count, mix
from archex.engine.servers import wait
from archex.engine.state import I_MERGED, I_PORT_READ, I_SECTOR

MERGE_ROWS = 2048  # reads under way remembered a group, by a hash of the line
M_LINE, M_DONE, M_SECTORS, M_READS = 0, 1, 2, 3
MERGE_COLUMNS = 4


@jit
def merge_place(paths: Any, unit: int, line: int) -> int:
    """Row of `memory.merges` for a line that a compute unit reads."""
    return paths.unit_group[unit] * MERGE_ROWS + (mix(line) & (MERGE_ROWS - 1))


@jit
def group_delivery(paths: Any, servers: Any, unit: int, bytes_up: float, now: float) -> float:
    """Wait for what a compute unit's group delivers in all."""
    return wait(servers, paths.levels_int[1, I_MERGED] + paths.unit_group[unit], now, bytes_up / paths.levels[1, tab.LEVEL_GROUP_MERGED])


@jit
def join_read(paths: Any, memory: Any, place: int, unit: int, line: int, mask: int, now: float) -> float:
    """Completion with the data of another read of the group that the second level has not answered yet; negative: there is none."""
    row = memory.merges[place]
    if row[M_LINE] != line or mask & ~row[M_SECTORS] != 0 or row[M_READS] >= paths.levels[1, tab.LEVEL_MERGED_MOST]:
        return -1.0
    behind = now + paths.levels[1, tab.LEVEL_LATENCY] - paths.levels[1, tab.LEVEL_MERGED_WITHIN]
    if row[M_DONE] <= behind:
        return -1.0
    row[M_READS] += 1
    bytes_up = float(count(mask) * paths.levels_int[0, I_SECTOR])
    delay = group_delivery(paths, memory.servers, unit, bytes_up, now)
    if paths.levels_int[1, I_PORT_READ] >= 0:
        port = paths.levels_int[1, I_PORT_READ] + unit
        delay += wait(memory.servers, port, now + delay, bytes_up / paths.levels[1, tab.LEVEL_PORT_READ])
    return max(float(row[M_DONE]), behind + delay)


@jit
def note_read(memory: Any, place: int, line: int, mask: int, done: int) -> None:
    """A read that others may join; its data are there at `done` if nothing holds them up on the way from the second level."""
    row = memory.merges[place]
    row[M_LINE], row[M_DONE], row[M_SECTORS], row[M_READS] = line, done, mask, 1
