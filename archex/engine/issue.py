"""A scheduler's turn: who could issue, who is picked, what the instruction does.

In: scheduler, cycle. Out: state moved on; a return code. Waves are in order and wait in one of three ways: by themselves until
`ready_from` (waiting), for a pipe, a queue entry or their turn (ready), or for others (neither).
"""

from __future__ import annotations

from typing import Any

from archex.base import layout as lay
from archex.base.jit import jit_bare as jit
from archex.engine import tables as tab
from archex.engine.bits import count, lowest
from archex.engine.bundle import segment, whole
from archex.engine.constants import constant_extra
from archex.engine.dispatch import begin_wave
from archex.engine.global_memory import LOCAL_WINDOW, leads_to_local, record_of
from archex.engine.local_memory import cross_lane
from archex.engine.log import begin_entry, charge_entry, end_entry
from archex.engine.operands import read_registers
from archex.engine.policies import FILLED, ISSUED, MISSED, Event, WaveView
from archex.engine.ports import LANE_COPY_PORT
from archex.engine.stalls import busy_cycles, charge_issue, note_use
from archex.engine.standard import pick_oldest, pick_workgroup
from archex.engine.state import (
    FAULT,
    FAULT_VALUE,
    GATE_PIPES,
    GATE_SHIFT,
    GATE_SLACK,
    INFINITY,
    L_RULE,
    L_WAVE_FEEDBACK,
    L_WAVE_STATE,
    LINES,
    PARKED,
    RULE_OLDEST,
    RULE_WORKGROUP,
    S_BLOCKED,
    S_LAST,
    S_LEFT,
    S_NOW,
    S_QUEUE,
    S_READY,
    S_WAITING,
    S_WAKE,
    STARVED,
    TOKEN_SHIFT,
    U_ISSUED,
    U_TURN,
    W_BARRIER,
    W_BLOCK,
    W_BUSY,
    W_CONTEXT,
    W_END,
    W_HOLD,
    W_HOLD_REASON,
    W_LANES,
    W_LEFT,
    W_PC,
    W_PIPE,
    W_PIPE_2,
    W_PREVIOUS,
    W_RETIRED,
    WOKEN,
    X_CODE,
    X_HOLD,
    X_MEMORY,
    X_SHARED,
)
from archex.engine.wave import OVER, align, prepare_wave
from archex.engine.workgroup import arrive, wake_waves

FAULT_PICK_WAVE = 0
BARRIER_PENDING = 1 << 20  # keeps `begin_wave` from preparing a wave that is about to arrive at a barrier
_INSTRUCTIONS = tab.COUNTER_INDEX["wave_instructions"]
_REPEATED = tab.COUNTER_INDEX["repeated_instructions"]
_oldest = jit(pick_oldest)
_workgroup = jit(pick_workgroup)
_LANES = tab.COUNTER_INDEX["lane_instructions"]
_MATRIX = tab.COUNTER_INDEX["matrix_instructions"]
_MATRIX_CYCLES = tab.COUNTER_INDEX["matrix_cycles"]
_HITS = tab.COUNTER_INDEX["vector_cache_hits"]
_LOOKUPS = tab.COUNTER_INDEX["vector_cache_lookups"]


@jit
def wake(core: Any, state: Any, g: int, now: int) -> None:
    """Move the waves whose time has come from waiting to ready."""
    scheduler = state.schedulers[g]
    base = g * core.unit_int[tab.SLOTS]
    mask, next_wake = scheduler[S_WAITING], INFINITY
    while mask != 0:
        slot = lowest(mask)
        mask &= mask - 1
        ready = state.ready_from[base + slot]
        if ready <= now:
            scheduler[S_WAITING] &= ~(1 << slot)
            scheduler[S_READY] |= 1 << slot
            wave = state.waves[base + slot]
            wave[W_BUSY] = busy_cycles(state.pipes, wave[W_PIPE], ready)
        else:
            next_wake = min(next_wake, ready)
    scheduler[S_WAKE] = next_wake


@jit
def eligible_waves(core: Any, state: Any, g: int, now: int) -> tuple[int, int, int]:
    """(ready waves whose pipe and queue take them now, those of them at a memory instruction, earliest cycle at which another could go)."""
    scheduler = state.schedulers[g]
    base = g * core.unit_int[tab.SLOTS]
    queue_free = state.queue[g, scheduler[S_QUEUE]]
    mask, eligible, memory, retry = scheduler[S_READY], 0, 0, INFINITY
    while mask != 0:
        slot = lowest(mask)
        mask &= mask - 1
        gate = state.gates[base + slot]
        pipes, slack = gate[GATE_PIPES], gate[GATE_SLACK]
        free = 0
        if pipes >= 0:
            free = state.pipes[pipes & ((1 << GATE_SHIFT) - 1), 0]
            other = pipes >> GATE_SHIFT
            if other > 0:
                free = min(free, state.pipes[other - 1, 0])
            free -= slack >> 1
        if slack & 1:
            free = max(free, queue_free)
        if free <= now:
            eligible |= 1 << slot
            memory |= (slack & 1) << slot
        else:
            retry = min(retry, free)
    return eligible, memory, retry


@jit
def hold_pipe(state: Any, wave: Any, row: Any, now: int) -> int:
    """Take the instruction's pipe (the freer of two); cycles until it starts there."""
    pipe = wave[W_PIPE]
    if pipe < 0:
        return 0
    other = wave[W_PIPE_2]
    if other >= 0 and state.pipes[pipe, 0] > now and state.pipes[other, 0] < state.pipes[pipe, 0]:
        pipe = other
    start = max(now, state.pipes[pipe, 0])
    state.pipes[pipe, 0] = start + row[X_HOLD]
    note_use(wave, row, row[lay.PIPE_ALTERNATIVE] if pipe == other else row[lay.PIPE], start)
    state.pipes[pipe, 1] += max(row[X_HOLD] - 1, 0)
    return start - now


@jit
def note_event(core: Any, functions: Any, state: Any, g: int, slot: int, line: int, now: int, what: int) -> None:
    """Tell a wave scheduler that asked for it what happened."""
    words = core.launch[L_WAVE_STATE]
    functions.note_wave(Event(slot, line, now, what), segment(state.wave_state, g * words, words), whole(core.wave_params))


@jit
def memory_instruction(
    core: Any, paths: Any, functions: Any, calls: Any, state: Any, memory: Any, trace: Any, unit: int, g: int, w: int, now: int
) -> tuple[int, int]:
    """Carry out a memory instruction; (cycle of its end, of what its wave waits for: the result, a copy's registers).

    It occupies an entry of the scheduler's queue until the port takes it.
    """
    pc = state.waves[w, W_PC]
    kind = core.code[pc, lay.KIND]
    position = state.schedulers[g, S_QUEUE]
    first = now
    if state.ports[unit, LANE_COPY_PORT] > now:  # copies before it that wait for their way leave the queue first
        first = max(now, state.queue[g, position - 1 if position > 0 else state.queue.shape[1] - 1])
    if kind == lay.CROSS_LANE:
        done, taken = cross_lane(core, state, unit, pc, first)
    else:
        record, base, stride, mask = record_of(core, state, trace, w, pc)
        local = kind == lay.LOCAL_LOAD or kind == lay.LOCAL_STORE or kind == lay.LOCAL_ATOMIC
        generic = not local and leads_to_local(trace, state.waves[w, W_CONTEXT], record, base, mask)
        if local or generic:
            above = LOCAL_WINDOW if generic else 0
            done, taken = calls.local_access(core, functions, state, memory, trace, unit, w, pc, first, record, base, stride, mask, above)
        else:
            feedback = core.launch[L_WAVE_FEEDBACK] & (MISSED | FILLED)
            missed = memory.counters[_LOOKUPS] - memory.counters[_HITS]
            done, taken = calls.global_access(
                core, paths, functions, calls.links, state, memory, trace, unit, w, pc, now, record, base, stride, mask
            )
            if kind == lay.ASYNC_COPY:
                done, taken = calls.aside(core, paths, functions, calls.links, state, memory, trace, unit, w, pc, taken, done)
            if feedback != 0 and memory.counters[_LOOKUPS] - memory.counters[_HITS] > missed:
                slot = w - g * core.unit_int[tab.SLOTS]
                for k in range(state.scalars[LINES]):
                    if memory.sectors[k] != 0 and feedback & MISSED:
                        note_event(core, functions, state, g, slot, memory.lines[k], now, MISSED)
                    if memory.sectors[k] != 0 and feedback & FILLED:
                        note_event(core, functions, state, g, slot, memory.lines[k], int(memory.times[k]), FILLED)
    state.queue[g, position] = taken
    state.schedulers[g, S_QUEUE] = position + 1 if position + 1 < state.queue.shape[1] else 0
    if kind == lay.ASYNC_COPY:  # its address registers, once it has left the queue
        return done, taken + int(core.aside[tab.ASIDE_RELEASE])
    return done, done


@jit
def hold_wave(wave: Any, until: int, reason: int) -> None:
    """Keep a wave from issuing before `until`."""
    if until > wave[W_HOLD]:
        wave[W_HOLD] = until
        wave[W_HOLD_REASON] = reason


@jit
def carry_out(
    core: Any, paths: Any, functions: Any, calls: Any, state: Any, memory: Any, trace: Any, unit: int, g: int, w: int, now: int, late: int
) -> tuple[int, int]:
    """What an instruction that is no arithmetic does; (cycle of its end, of what its wave waits for). Apart: most are arithmetic."""
    wave = state.waves[w]
    pc = wave[W_PC]
    row = core.code[pc]
    kind = row[lay.KIND]
    done = ready = now + late + row[lay.LATENCY]
    if row[X_MEMORY] != 0:
        done, ready = memory_instruction(core, paths, functions, calls, state, memory, trace, unit, g, w, now + late)
    elif kind == lay.CONSTANT_LOAD:
        ready = done = done + constant_extra(core, state, memory, trace, unit, w, pc, now + late)
    elif kind == lay.FENCE:
        device = row[lay.FLAGS] & lay.DEVICE_SCOPE
        cost = core.unit_int[tab.FENCE_DEVICE] if device != 0 else core.unit_int[tab.FENCE_UNIT]
        hold_wave(wave, max(now, wave[W_RETIRED]) + cost if device != 0 else now + cost, tab.STALL_FENCE)
    elif kind == lay.MATRIX:
        state.counters[_MATRIX] += 1
        state.counters[_MATRIX_CYCLES] += row[X_HOLD]
        hold_wave(wave, now + row[lay.OFFSET], tab.STALL_DEPENDENCY)
        if row[lay.FLAGS] & lay.BESIDE:  # its wave waits by group, not for the registers
            done, _ = calls.aside(core, paths, functions, calls.links, state, memory, trace, unit, w, pc, now + late, 0)
            ready = now
    elif kind > lay.MATRIX:
        done, reason = calls.aside(core, paths, functions, calls.links, state, memory, trace, unit, w, pc, now + late, 0)
        if reason >= 0:
            hold_wave(wave, done, reason)
        if state.scalars[WOKEN] > 0:
            wake_waves(core, state, unit)
    return done, ready


@jit
def leave_instruction(core: Any, state: Any, trace: Any, unit: int, g: int, w: int, now: int) -> None:
    """After a barrier, a branch that repeats its block, or a block's last instruction: where the wave goes on."""
    wave = state.waves[w]
    pc = wave[W_PC]
    row = core.code[pc]
    if row[lay.KIND] == lay.BARRIER:
        if pc + 1 < wave[W_END]:
            wave[W_PC] = pc + 1
            arrive(core, state, w, pc, now)
        else:
            wave[W_BARRIER] = BARRIER_PENDING
            if begin_wave(core, state, trace, unit, w) != OVER:
                arrive(core, state, w, pc, now)
    elif row[lay.KIND] == lay.BRANCH and row[lay.FLAGS] & lay.REPEATS and wave[W_LEFT] != 0:
        wave[W_PC] = core.block_start[wave[W_BLOCK]]
        hold_wave(wave, now + core.unit_int[tab.BRANCH_TAKEN], tab.STALL_BRANCH)
        prepare_wave(core, state, unit, g, w)
    else:
        begin_wave(core, state, trace, unit, w)


@jit
def issue(
    core: Any, paths: Any, functions: Any, calls: Any, state: Any, memory: Any, trace: Any, unit: int, g: int, w: int, now: int
) -> None:
    """Issue wave w's instruction at `now` and find out when the next one can go."""
    wave = state.waves[w]
    pc = wave[W_PC]
    row = core.code[pc]
    kind = row[lay.KIND]
    queue_free = state.queue[g, state.schedulers[g, S_QUEUE]] if row[X_MEMORY] != 0 else 0
    entry = begin_entry(core, state, w, now) if state.log.shape[0] > 0 else -1
    charge_issue(state.waves, state.stalls, state.pipes, row, w, now, queue_free)
    if entry >= 0:
        charge_entry(state, entry)
    if wave[W_LEFT] != 0:
        state.counters[_REPEATED] += 1
        state.counters[_LANES] += count(wave[W_LEFT]) - wave[W_LANES]
    else:
        state.counters[_INSTRUCTIONS] += 1
        state.units[unit, U_ISSUED] += 1
    state.counters[_LANES] += wave[W_LANES]
    wave[W_PREVIOUS] = now
    wave[W_HOLD] = now + max(core.unit_int[tab.ISSUE_PERIOD], core.unit_int[tab.WAVE_INTERVAL])
    wave[W_HOLD_REASON] = tab.STALL_EXECUTION_UNIT
    window = core.unit_int[tab.READ_WINDOW]
    if window > 0:
        scheduler = state.schedulers[g]
        short = read_registers(scheduler, w - g * core.unit_int[tab.SLOTS], row[lay.READS], now, window)
        scheduler[S_BLOCKED] = now + short
        if short > 0:
            hold_wave(wave, now + short + 1, tab.STALL_DISPATCH)
    late = hold_pipe(state, wave, row, now)
    if row[X_SHARED] != 0:  # schedulers have it in turn
        after = g + 1 - unit * core.unit_int[tab.SCHEDULERS]
        state.units[unit, U_TURN] = after if after < core.unit_int[tab.SCHEDULERS] else 0
    done = ready = now + late + row[lay.LATENCY]
    if kind != lay.ARITHMETIC:
        done, ready = carry_out(core, paths, functions, calls, state, memory, trace, unit, g, w, now, late)
    if entry >= 0:
        end_entry(state, entry, done)
    if row[lay.DST0] >= 0:
        state.tokens[w, row[lay.DST0]] = (ready << TOKEN_SHIFT) | row[X_CODE]
    if row[lay.DST1] >= 0:
        state.tokens[w, row[lay.DST1]] = (ready << TOKEN_SHIFT) | row[X_CODE]
    if kind != lay.BARRIER and pc + 1 < wave[W_END] and (kind != lay.BRANCH or wave[W_LEFT] == 0 or row[lay.FLAGS] & lay.REPEATS == 0):
        wave[W_PC] = pc + 1
        if wave[W_BARRIER] < 0:
            prepare_wave(core, state, unit, g, w)
    else:
        leave_instruction(core, state, trace, unit, g, w, now)


@jit
def turn(core: Any, paths: Any, functions: Any, calls: Any, state: Any, memory: Any, trace: Any, unit: int, g: int) -> int:
    """One turn of scheduler g at its next cycle; a return code."""
    scheduler = state.schedulers[g]
    now = scheduler[S_NOW]
    if scheduler[S_WAKE] <= now:
        wake(core, state, g, now)
    period = core.unit_int[tab.ISSUE_PERIOD]
    slots = core.unit_int[tab.SLOTS]
    base = g * slots
    retry = INFINITY
    issued, width = 0, core.unit_int[tab.ISSUE_WIDTH]
    if scheduler[S_LEFT] > 0:
        issued, width = 1, scheduler[S_LEFT]
        scheduler[S_LEFT] = 0
    code = tab.RUNNING
    for k in range(width):
        eligible, at_memory, later = eligible_waves(core, state, g, now)
        retry = later
        if eligible == 0:
            break
        words = core.launch[L_WAVE_STATE]
        view = WaveView(eligible, whole(state.age), base, scheduler[S_LAST], now, slots, at_memory)
        own = segment(state.wave_state, g * words, words)
        if core.launch[L_RULE] == RULE_OLDEST:
            slot = _oldest(view, own, core.wave_params)
        elif core.launch[L_RULE] == RULE_WORKGROUP:
            slot = _workgroup(view, own, core.wave_params)
        else:
            slot = functions.pick_wave(view, own, whole(core.wave_params))
        if slot == -1:
            retry = now + period
            break
        if slot < 0 or slot >= slots or (eligible >> slot) & 1 == 0:
            state.scalars[FAULT] = FAULT_PICK_WAVE
            state.scalars[FAULT_VALUE] = slot
            return tab.BAD_POLICY
        scheduler[S_READY] &= ~(1 << slot)
        scheduler[S_LAST] = slot
        issued += 1
        scheduler[S_NOW] = INFINITY
        if core.launch[L_WAVE_FEEDBACK] & ISSUED:
            note_event(core, functions, state, g, slot, -1, now, ISSUED)
        issue(core, paths, functions, calls, state, memory, trace, unit, g, base + slot, now)
        if state.scalars[STARVED] > state.scalars[PARKED]:
            code = tab.NEED_TRACE
            if k + 1 < width:  # the turn goes on from here, so that it does not matter how much of the trace was there
                scheduler[S_LEFT], scheduler[S_NOW] = width - k - 1, now
                return code
    if scheduler[S_READY] != 0 and issued > 0:
        retry = now + period
    following = min(retry, scheduler[S_WAKE])
    earliest = max(now, scheduler[S_BLOCKED]) + period
    scheduler[S_NOW] = align(core, g, max(following, earliest)) if following < INFINITY else INFINITY
    if state.scalars[FAULT] >= 0:
        return tab.BAD_POLICY
    return code
