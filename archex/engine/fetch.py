"""Instruction fetch.

In: the instruction line a wave reads next, the cycle. Out: the cycle it is there. Lines pass memory -> middle level -> the
compute unit's instruction cache -> a small buffer next to each scheduler; all are first-in first-out, kept as "the n-th line
that entered", so a lookup is one comparison. The line after the one read is fetched ahead.
"""

from __future__ import annotations

from typing import Any

from archex.base.jit import jit_bare as jit
from archex.engine import tables as tab
from archex.engine.state import S_BUFFERED, U_FAR_LINE, U_MIDDLE, U_NEAR

_MISSES = tab.COUNTER_INDEX["fetch_misses"]


@jit
def holds(order: Any, row: int, line: int, entered: int, capacity: int) -> bool:
    """Whether a first-in first-out store that has seen `entered` lines still has this one."""
    return order[row, line] > 0 and entered - order[row, line] < capacity


@jit
def near_capacity(core: Any) -> int:
    """Lines the compute unit's instruction cache holds."""
    return int(core.fetch[tab.FETCH_NEAR_BYTES]) // int(core.fetch[tab.FETCH_LINE])


@jit
def near_line(core: Any, state: Any, unit: int, line: int, now: int, sequential: bool) -> int:
    """Cycle the compute unit's instruction cache delivers a line asked for at `now` (from which the scheduler's buffer fills)."""
    fetch = core.fetch
    size = int(fetch[tab.FETCH_LINE])
    near, middle = int(fetch[tab.FETCH_NEAR_BYTES]) // size, int(fetch[tab.FETCH_MIDDLE_BYTES]) // size
    units = state.units
    jump = 0 if sequential else int(fetch[tab.FETCH_JUMP_CYCLES])
    if holds(state.near_order, unit, line, units[unit, U_NEAR], near):
        return max(now + (int(fetch[tab.FETCH_NEAR_CYCLES]) if sequential else jump), state.near_time[unit, line])
    state.counters[_MISSES] += 1
    if holds(state.middle_order, unit, line, units[unit, U_MIDDLE], middle):
        arrival = now + jump + int(fetch[tab.FETCH_MIDDLE_CYCLES])
    else:
        seen = units[unit, U_FAR_LINE]
        cold, following = int(fetch[tab.FETCH_COLD_CYCLES]), int(fetch[tab.FETCH_COLD_NEXT])
        if state.middle_order[unit, line] > 0:
            arrival = now + jump + int(fetch[tab.FETCH_FAR_CYCLES])
        elif seen < 0:
            arrival = now + cold
        elif line > seen:
            held = middle  # of the program, by the launch before
            if fetch[tab.FETCH_KEPT_BYTES] > 0 and state.near_order.shape[1] - 1 > middle:
                held = int(fetch[tab.FETCH_KEPT_BYTES]) // size
            streaming = following if line < held else int(fetch[tab.FETCH_FAR_CYCLES])
            arrival = min(max(now, state.near_time[unit, seen]) + streaming * (line - seen), now + cold)
        else:
            arrival = now + cold // 2
        units[unit, U_FAR_LINE] = max(seen, line)
        units[unit, U_MIDDLE] += 1
        state.middle_order[unit, line] = units[unit, U_MIDDLE]
    units[unit, U_NEAR] += 1
    state.near_order[unit, line] = units[unit, U_NEAR]
    state.near_time[unit, line] = arrival
    return arrival


@jit
def fetch_line(core: Any, state: Any, unit: int, g: int, line: int, now: int) -> int:
    """Cycle a scheduler's buffer has `line`, for a wave that needs it from `now` on."""
    capacity = int(core.fetch[tab.FETCH_BUFFER]) // int(core.fetch[tab.FETCH_LINE])
    if capacity <= 0:
        return now
    unit = core.owners[tab.OWNER_CODE, unit]
    entered = state.schedulers[g, S_BUFFERED]
    if holds(state.buffer_order, g, line, entered, capacity):
        return max(now, state.buffer_time[g, line])
    sequential = line > 0 and holds(state.buffer_order, g, line - 1, entered, capacity)
    asked = min(state.buffer_time[g, line - 1], now) if sequential else now  # asked for when the line before arrived
    arrival = near_line(core, state, unit, line, asked, sequential)
    entered += 1
    state.buffer_order[g, line] = entered
    state.buffer_time[g, line] = arrival
    if not sequential and capacity > 1 and line + 1 < state.buffer_order.shape[1]:
        if not holds(state.buffer_order, g, line + 1, entered, capacity):  # after a jump two lines come together
            if holds(state.near_order, unit, line + 1, state.units[unit, U_NEAR], near_capacity(core)):
                entered += 1
                state.buffer_order[g, line + 1] = entered
                state.buffer_time[g, line + 1] = max(arrival, state.near_time[unit, line + 1])
    state.schedulers[g, S_BUFFERED] = entered
    return max(now, arrival)
