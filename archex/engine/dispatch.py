"""The dispatcher: which compute unit gets the next workgroup, and when.

In: rooms that become free, workgroups started by the driver (queued context slots). Out: waves ready to run. The dispatcher
itself is one server for the whole device, each compute unit one for its own starts.
"""

from __future__ import annotations

from typing import Any

from archex.base.jit import jit_bare as jit
from archex.engine import tables as tab
from archex.engine.beside import clear_rings
from archex.engine.bits import count, lowest
from archex.engine.bundle import whole
from archex.engine.clusters import clear_cluster
from archex.engine.policies import GROUP_AGES, PlaceView
from archex.engine.rooms import block_free, first_offered, keep_offer, offer_cluster
from archex.engine.state import (
    AGES,
    BARRIERS,
    C_DISPATCH,
    FAULT,
    FAULT_VALUE,
    G_END,
    G_LIVE,
    G_SIGNALS,
    G_UNIT,
    G_WORKGROUP,
    INFINITY,
    L_BESIDE,
    L_CLUSTER,
    L_PER_UNIT,
    L_WAVES,
    LIVE,
    NEXT_ROOM,
    NOT_STARTED,
    PARKED,
    PLACED,
    QUEUE_HEAD,
    QUEUE_TAIL,
    S_FREE,
    S_NOW,
    STARVED,
    U_FREE_FROM,
    U_NEXT,
    U_ROOM_HEAD,
    W_BARRIER,
    W_BLOCK,
    W_BORN,
    W_CLUSTER,
    W_CONTEXT,
    W_DRY,
    W_FETCH,
    W_GROUP,
    W_HOLD,
    W_HOLD_REASON,
    W_LINE,
    W_OWN,
    W_PC,
    W_PREVIOUS,
    W_RETIRED,
    W_STORE,
)
from archex.engine.wave import DRY, ENTERED, enter_block, prepare_wave
from archex.engine.workgroup import end_wave, enter_active

FAULT_PLACE = 8
_STARTED = tab.COUNTER_INDEX["workgroups_started"]


@jit
def start_cost(table: Any, waves: int) -> float:
    """Cycles a compute unit needs to start a workgroup of so many waves: straight lines between the rows of the table."""
    last = table.shape[0] - 1
    if last < 0:
        return 0.0
    if waves <= table[0, 0]:
        return table[0, 1]
    for k in range(last):
        if waves <= table[k + 1, 0]:
            share = (waves - table[k, 0]) / (table[k + 1, 0] - table[k, 0])
            return table[k, 1] + share * (table[k + 1, 1] - table[k, 1])
    return table[last, 1]


@jit
def free_slot(core: Any, state: Any, unit: int) -> int:
    """A free wave slot on the scheduler that has most of them."""
    schedulers, slots = core.unit_int[tab.SCHEDULERS], core.unit_int[tab.SLOTS]
    best, most = -1, 0
    for g in range(unit * schedulers, (unit + 1) * schedulers):
        free = count(state.schedulers[g, S_FREE])
        if free > most:
            best, most = g, free
    if best < 0:
        return -1
    slot = lowest(state.schedulers[best, S_FREE])
    state.schedulers[best, S_FREE] &= ~(1 << slot)
    return best * slots + slot


@jit
def start_workgroup(core: Any, state: Any, trace: Any, unit: int, now: float) -> None:
    """Start the next queued workgroup on a compute unit."""
    scalars = state.scalars
    place = scalars[QUEUE_HEAD] % state.started.shape[0]
    group, workgroup = state.started[place, 0], state.started[place, 1]
    scalars[QUEUE_HEAD] += 1
    waves = core.launch[L_WAVES]
    row = state.groups[group]
    row[G_UNIT], row[G_LIVE], row[G_END], row[G_WORKGROUP] = unit, waves, 0, workgroup
    row[G_SIGNALS] = 0
    clear_cluster(core, state, group)
    for k in range(BARRIERS):
        state.barriers[group, k] = 0
    born = int(now)
    cost = start_cost(core.start_cost, waves)
    scalars[AGES] = (scalars[AGES] // GROUP_AGES + 1) * GROUP_AGES
    scalars[LIVE] += 1
    scalars[NOT_STARTED] -= 1
    state.counters[_STARTED] += 1
    for k in range(waves):
        w = free_slot(core, state, unit)
        state.members[group, k] = w
        wave = state.waves[w]
        state.age[w] = scalars[AGES]
        scalars[AGES] += 1
        wave[W_GROUP], wave[W_CONTEXT], wave[W_BORN], wave[W_PREVIOUS] = group, group * waves + k, born, born - 1
        wave[W_BLOCK], wave[W_PC], wave[W_BARRIER], wave[W_DRY], wave[W_LINE] = -1, -1, -1, 0, -1
        wave[W_STORE], wave[W_RETIRED], wave[W_CLUSTER], wave[W_FETCH] = 0, 0, 0, 0
        wave[W_HOLD] = int(now + core.unit[tab.WAVE_START] + cost * k / waves)
        wave[W_HOLD_REASON] = tab.STALL_DISPATCH
        wave[W_OWN] = 0
        enter_active(state, unit, w // core.unit_int[tab.SLOTS], born)
        for token in range(state.tokens.shape[1]):
            state.tokens[w, token] = 0
        if core.launch[L_BESIDE] != 0:
            clear_rings(state, w)
    for k in range(waves):
        begin_wave(core, state, trace, unit, state.members[group, k])
    units = state.units[unit]
    per_unit = core.launch[L_PER_UNIT]
    units[U_FREE_FROM] = int(now + cost)
    units[U_ROOM_HEAD] += 1
    state.held[unit] += 1
    if state.held[unit] >= per_unit:
        state.available[unit] = INFINITY
    else:
        state.available[unit] = max(state.room[unit, units[U_ROOM_HEAD] % per_unit], units[U_FREE_FROM])
    schedulers = core.unit_int[tab.SCHEDULERS]
    for g in range(unit * schedulers, (unit + 1) * schedulers):
        units[U_NEXT] = min(units[U_NEXT], state.schedulers[g, S_NOW])


@jit
def begin_wave(core: Any, state: Any, trace: Any, unit: int, w: int) -> int:
    """Take up (or go on with) a wave whose next block must be read from the trace; ENTERED, DRY or OVER."""
    wave = state.waves[w]
    wave[W_DRY] = 0
    outcome = enter_block(core, state, trace, w)
    if outcome == ENTERED:
        if wave[W_BARRIER] < 0:
            prepare_wave(core, state, unit, w // core.unit_int[tab.SLOTS], w)
    elif outcome == DRY:
        wave[W_DRY] = 1
        state.starved[state.scalars[STARVED]] = w
        state.scalars[STARVED] += 1
    else:
        end_wave(core, state, w)
    return outcome


@jit
def resume_starved(core: Any, state: Any, trace: Any) -> None:
    """Take up the waves whose trace had run dry."""
    waiting = state.scalars[STARVED]
    state.scalars[STARVED] = 0
    per_unit = core.unit_int[tab.SLOTS] * core.unit_int[tab.SCHEDULERS]
    for k in range(waiting):
        w = state.starved[k]
        unit = w // per_unit
        begin_wave(core, state, trace, unit, w)
        g = w // core.unit_int[tab.SLOTS]
        state.units[unit, U_NEXT] = min(state.units[unit, U_NEXT], state.schedulers[g, S_NOW])


@jit
def dispatch(core: Any, paths: Any, functions: Any, state: Any, trace: Any, end: int) -> int:
    """Start every workgroup, or whole cluster of them, that can start before `end`; a return code."""
    scalars = state.scalars
    cluster = core.launch[L_CLUSTER]
    while scalars[NOT_STARTED] > 0:
        now = state.clocks[C_DISPATCH]
        if cluster == 1:
            earliest = INFINITY
            for k in range(state.available.shape[0]):
                earliest = min(earliest, state.available[k])
            now = max(now, float(earliest))
        if now >= end:
            scalars[NEXT_ROOM] = 0  # the dispatcher itself is what to wait for
            return tab.RUNNING
        if cluster > 1:
            fits, following = offer_cluster(core, paths, state, int(now))
            scalars[NEXT_ROOM] = following
            if not fits:
                if following >= end:
                    return tab.RUNNING
                state.clocks[C_DISPATCH] = float(following)
                continue
        if scalars[QUEUE_TAIL] - scalars[QUEUE_HEAD] < cluster:
            if cluster > 1 and not block_free(core, state):
                scalars[NEXT_ROOM] = INFINITY
                return tab.RUNNING
            return tab.NEED_WORKGROUPS
        interval = core.device[tab.START_INTERVAL]
        for rank in range(cluster):
            unit = place_next(core, functions, state, int(now), rank)
            if unit < 0:
                if scalars[FAULT] >= 0:
                    return tab.BAD_POLICY
                state.clocks[C_DISPATCH] = float(int(now) + 1)
                break
            if cluster == 1:
                start_workgroup(core, state, trace, unit, now)
            else:
                start_workgroup(core, state, trace, unit, max(now, float(state.units[unit, U_FREE_FROM])))
                keep_offer(core, paths, state, unit, int(now))
            state.clocks[C_DISPATCH] = now + interval * (rank + 1)
        if scalars[STARVED] > scalars[PARKED]:
            return tab.NEED_TRACE
    return tab.RUNNING


@jit
def place_next(core: Any, functions: Any, state: Any, now: int, rank: int) -> int:
    """The compute unit that the policy chooses for the next workgroup, -1: none yet (or nonsense, noted as a fault).

    The workgroups of a cluster after its first must find a place at once.
    """
    scalars = state.scalars
    place = scalars[QUEUE_HEAD] % state.started.shape[0]
    available = state.available
    if core.launch[L_CLUSTER] > 1:
        available = state.offered
    view = PlaceView(whole(available), whole(state.held), whole(core.unit_order), scalars[PLACED], now, state.started[place, 1])
    unit = functions.place_workgroup(view, whole(state.place_state), whole(core.place_params))
    if unit == -1 and rank > 0:
        unit = first_offered(core, state)
    if unit == -1:
        return -1
    if unit < 0 or unit >= available.shape[0] or available[unit] > now:
        scalars[FAULT] = FAULT_PLACE
        scalars[FAULT_VALUE] = unit
        return -1
    for k in range(available.shape[0]):
        if core.unit_order[k] == unit:
            scalars[PLACED] = k
            break
    return unit
