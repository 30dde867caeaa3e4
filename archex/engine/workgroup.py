"""A workgroup on a compute unit: barriers among its waves, the end of a wave, the end of the workgroup.

In: arrivals and ends. Out: waves released, slots freed, the cycle from which the place can be used again.
"""

from __future__ import annotations

from typing import Any

from archex.base import layout as lay
from archex.base.jit import jit_bare as jit
from archex.engine import tables as tab
from archex.engine.clusters import end_phase, first_of
from archex.engine.state import (
    BARRIERS,
    C_ENDED,
    C_ENDING,
    FINISHED_GROUPS,
    FREED,
    G_END,
    G_LIVE,
    G_UNIT,
    INFINITY,
    L_CLUSTER,
    L_PER_UNIT,
    L_QUANTUM,
    L_WAVES,
    L_WIDTH,
    LAST_END,
    LIVE,
    NEXT_ROOM,
    NOW,
    S_FREE,
    S_LAST,
    S_LIVE,
    S_NOW,
    S_SINCE,
    U_FREE_FROM,
    U_LIVE,
    U_NEXT,
    U_ROOM_HEAD,
    U_ROOM_TAIL,
    U_SINCE,
    W_BARRIER,
    W_BORN,
    W_DRY,
    W_GROUP,
    W_HOLD,
    W_HOLD_REASON,
    W_PREVIOUS,
    W_RETIRED,
    W_STORE,
    WOKEN,
)
from archex.engine.wave import prepare_wave

_BARRIERS = tab.COUNTER_INDEX["barriers"]
_FINISHED = tab.COUNTER_INDEX["workgroups_finished"]
_WAVES = tab.COUNTER_INDEX["waves_finished"]
_RESIDENT = tab.COUNTER_INDEX["resident_wave_cycles"]
_SCHEDULERS_ACTIVE = tab.COUNTER_INDEX["scheduler_active_cycles"]
_UNITS_ACTIVE = tab.COUNTER_INDEX["unit_active_cycles"]


@jit
def wake_waves(core: Any, state: Any, unit: int) -> None:
    """Let the waves in `woken` go on, each from its cycle; an instruction of compute unit `unit` did it.

    Compute units before it in turn have reached the end of the quantum already.
    """
    scalars = state.scalars
    slots = core.unit_int[tab.SLOTS]
    per_unit = slots * core.unit_int[tab.SCHEDULERS]
    for k in range(scalars[WOKEN]):
        w, moment = state.woken[k, 0], state.woken[k, 1]
        wave = state.waves[w]
        own = w // per_unit
        if own < unit:
            moment = max(moment, scalars[NOW] + core.launch[L_QUANTUM])
        if moment > wave[W_HOLD]:
            wave[W_HOLD] = moment
            wave[W_HOLD_REASON] = state.woken[k, 2]
        if wave[W_DRY] == 0:
            g = w // slots
            prepare_wave(core, state, own, g, w)
            if own != unit:
                state.units[own, U_NEXT] = min(state.units[own, U_NEXT], state.schedulers[g, S_NOW])
    scalars[WOKEN] = 0


@jit
def release(core: Any, state: Any, group: int, barrier: int, now: float) -> None:
    """Let every wave that waits at a barrier go on, from the barrier unit's time on."""
    unit = state.groups[group, G_UNIT]
    clock = state.barrier_clock[unit]
    exact = now + core.unit[tab.BARRIER_BASE] + clock[1]
    moment = max(int(exact), int(now) + 1)
    clock[1] = max(exact - moment, 0.0)  # fractions add up over barriers
    state.barriers[group, barrier] = 0
    slots = core.unit_int[tab.SLOTS]
    for k in range(core.launch[L_WAVES]):
        w = state.members[group, k]
        wave = state.waves[w]
        if wave[W_GROUP] == group and wave[W_BARRIER] == barrier:
            wave[W_BARRIER] = -1
            wave[W_HOLD] = moment
            wave[W_HOLD_REASON] = tab.STALL_BARRIER
            if wave[W_DRY] == 0:
                prepare_wave(core, state, unit, w // slots, w)


@jit
def arrive(core: Any, state: Any, w: int, pc: int, now: int) -> None:
    """A wave arrives at a barrier (OFFSET: which; BYTES: lanes expected, 0 all of the workgroup)."""
    wave = state.waves[w]
    group = wave[W_GROUP]
    barrier = core.code[pc, lay.OFFSET] & (BARRIERS - 1)
    lanes = core.code[pc, lay.BYTES]
    wave[W_BARRIER] = barrier
    state.counters[_BARRIERS] += 1
    clock = state.barrier_clock[state.groups[group, G_UNIT]]
    clock[0] = max(clock[0], float(now)) + core.unit[tab.BARRIER_WAVE]
    state.barriers[group, barrier] += 1
    expected = state.groups[group, G_LIVE]
    if lanes > 0:
        width = core.launch[L_WIDTH]
        expected = min(expected, (lanes + width - 1) // width)
    if state.barriers[group, barrier] >= expected:
        release(core, state, group, barrier, clock[0])


@jit
def end_taken(core: Any, state: Any, end: int, now: int, last: bool) -> int:
    """Cycle at which the dispatcher takes the end of a workgroup: one after the other for the whole device.

    `now`: the cycle of the last instruction's issue, by which the work ahead drains (ends lie behind it by what the stores take);
    `last`: of its cluster.
    """
    clocks = state.clocks
    elapsed = now - clocks[C_ENDED]
    if elapsed > 0.0:
        clocks[C_ENDED] = now
        clocks[C_ENDING] = max(clocks[C_ENDING] - elapsed, 0.0)
    waiting = clocks[C_ENDING] - max(end - clocks[C_ENDED], 0.0)
    clocks[C_ENDING] += core.device[tab.END_INTERVAL]
    if last and core.launch[L_CLUSTER] > 1:
        clocks[C_ENDING] += core.aside[tab.ASIDE_CLUSTER_END]
    return end + int(max(waiting, 0.0))


@jit
def end_workgroup(core: Any, state: Any, group: int, now: int) -> None:
    """Free what a workgroup held."""
    unit = state.groups[group, G_UNIT]
    end = end_taken(core, state, state.groups[group, G_END], now, group % core.launch[L_CLUSTER] == core.launch[L_CLUSTER] - 1)
    state.scalars[LAST_END] = max(state.scalars[LAST_END], end)
    slots = core.unit_int[tab.SLOTS]
    for k in range(core.launch[L_WAVES]):
        w = state.members[group, k]
        state.waves[w, W_GROUP] = -1
        g = w // slots
        state.schedulers[g, S_FREE] |= 1 << (w - g * slots)
    per_unit = core.launch[L_PER_UNIT]
    units = state.units[unit]
    state.room[unit, units[U_ROOM_TAIL] % per_unit] = end + int(core.device[tab.RELAUNCH_CYCLES])
    units[U_ROOM_TAIL] += 1
    state.held[unit] -= 1
    state.available[unit] = max(state.room[unit, units[U_ROOM_HEAD] % per_unit], units[U_FREE_FROM])
    scalars = state.scalars
    scalars[NEXT_ROOM] = min(scalars[NEXT_ROOM], state.room[unit, (units[U_ROOM_TAIL] - 1) % per_unit])
    state.freed[scalars[FREED]] = group
    scalars[FREED] += 1
    scalars[LIVE] -= 1
    scalars[FINISHED_GROUPS] += 1
    state.counters[_FINISHED] += 1


@jit
def enter_active(state: Any, unit: int, g: int, born: int) -> None:
    """A wave starts: its scheduler and compute unit have something to do."""
    scheduler, units = state.schedulers[g], state.units[unit]
    if scheduler[S_LIVE] == 0:
        scheduler[S_SINCE] = max(scheduler[S_SINCE], born)
    if units[U_LIVE] == 0:
        units[U_SINCE] = max(units[U_SINCE], born)
    scheduler[S_LIVE] += 1
    units[U_LIVE] += 1


@jit
def leave_active(state: Any, unit: int, g: int, end: int) -> None:
    """A wave has ended: count what its scheduler and compute unit have been active for, where it was their last one."""
    scheduler, units = state.schedulers[g], state.units[unit]
    scheduler[S_LIVE] -= 1
    units[U_LIVE] -= 1
    if scheduler[S_LIVE] == 0:
        state.counters[_SCHEDULERS_ACTIVE] += max(end - scheduler[S_SINCE], 0)
        scheduler[S_SINCE] = max(end, scheduler[S_SINCE])
    if units[U_LIVE] == 0:
        state.counters[_UNITS_ACTIVE] += max(end - units[U_SINCE], 0)
        units[U_SINCE] = max(end, units[U_SINCE])


@jit
def end_wave(core: Any, state: Any, w: int) -> None:
    """A wave has issued its last instruction: it drains its stores and leaves."""
    wave = state.waves[w]
    group = wave[W_GROUP]
    issued = wave[W_PREVIOUS] + 1
    end = max(issued, wave[W_STORE])
    state.stalls[tab.STALL_DRAIN] += end - issued
    state.counters[_RESIDENT] += end - wave[W_BORN]
    wave[W_PREVIOUS] = INFINITY
    state.counters[_WAVES] += 1
    wave[W_BARRIER] = -1
    slots = core.unit_int[tab.SLOTS]
    g = w // slots
    if state.schedulers[g, S_LAST] == w - g * slots:
        state.schedulers[g, S_LAST] = -1
    leave_active(state, state.groups[group, G_UNIT], g, end)
    state.scalars[LAST_END] = max(state.scalars[LAST_END], end, wave[W_RETIRED])
    state.groups[group, G_LIVE] -= 1
    state.groups[group, G_END] = max(state.groups[group, G_END], end)
    live = state.groups[group, G_LIVE]
    if core.launch[L_CLUSTER] > 1:
        end_phase(core, state, first_of(core, group))
        wake_waves(core, state, state.groups[group, G_UNIT])
    if live == 0:
        end_workgroup(core, state, group, issued)
        return
    for barrier in range(BARRIERS):
        if state.barriers[group, barrier] >= live:
            clock = state.barrier_clock[state.groups[group, G_UNIT]]
            release(core, state, group, barrier, max(clock[0], float(issued)))
