"""One wave: the block it runs, what its next instruction waits for, its end.

In: the trace rings and the code. Out: `ready_from`, the earliest cycle at which the wave can issue by itself.
"""

from __future__ import annotations

from typing import Any

from archex.base import layout as lay
from archex.base.jit import jit_bare as jit
from archex.engine import tables as tab
from archex.engine.bits import prefetch
from archex.engine.fetch import fetch_line
from archex.engine.rings import place_at, place_of
from archex.engine.stalls import USE_HOLD, USE_MOST, USE_PIPE, USE_START
from archex.engine.state import (
    GATE_PIPES,
    GATE_SHIFT,
    GATE_SLACK,
    HOST_LINE,
    L_PIPES,
    S_BRANCH,
    S_NOW,
    S_WAITING,
    S_WAKE,
    TOKEN_FIXED,
    TOKEN_MASK,
    TOKEN_PREDICATE,
    TOKEN_SHIFT,
    W_BLOCK,
    W_CONTEXT,
    W_END,
    W_FETCH,
    W_HOLD,
    W_HOLD_REASON,
    W_LANES,
    W_LINE,
    W_OWN,
    W_PC,
    W_PIPE,
    W_PIPE_2,
    W_PREVIOUS,
    W_TOKEN,
    X_GUARD,
    X_LINE,
    X_MEMORY,
    X_QUEUED,
    X_SHARED,
    X_SLACK,
    X_SOURCES,
)

ENTERED = 0
DRY = 1
OVER = 2
AHEAD_RECORDS = 16  # records and rows of addresses the host is asked for at a block's entry
AHEAD_ROWS = 3
_DIVERGENT = tab.COUNTER_INDEX["divergent_blocks"]


@jit
def look_ahead_pool(trace: Any, context: int, position: int) -> None:
    """Ask the host for a row of addresses, if it has been written."""
    if position < trace.cursor[context, lay.POOL_TAIL]:
        lanes = trace.pool.shape[2]
        first = place_of(trace.pool, context, position) * lanes
        for lane in range(0, lanes, HOST_LINE):
            prefetch(trace.pool, first + lane)


@jit
def look_ahead_block(trace: Any, context: int, records: int) -> None:
    """Ask the host for what a block's memory instructions will read: it was written long ago."""
    head = trace.cursor[context, lay.RECORD_HEAD]
    for k in range(0, min(records, AHEAD_RECORDS), HOST_LINE // lay.RECORD_COLUMNS):
        prefetch(trace.records, place_of(trace.records, context, head + k) * lay.RECORD_COLUMNS)
    for k in range(min(records, AHEAD_ROWS)):
        look_ahead_pool(trace, context, trace.cursor[context, lay.POOL_HEAD] + k)


@jit
def leave_block(core: Any, trace: Any, wave: Any) -> None:
    """Give back the records of the block just run."""
    block = wave[W_BLOCK]
    if block < 0:
        return
    context = wave[W_CONTEXT]
    records = core.block_records[block]
    if records > 0:
        head = trace.cursor[context, lay.RECORD_HEAD]
        for k in range(records - 1, -1, -1):
            row = trace.records[place_at(trace.records, context, head + k)]
            kind = row[lay.RECORD_KIND]
            if kind == lay.SCATTERED or kind == lay.BULK or kind == lay.SIGNALS:
                trace.cursor[context, lay.POOL_HEAD] = row[lay.RECORD_BASE] + 1
                break
        trace.cursor[context, lay.RECORD_HEAD] = head + records
    wave[W_BLOCK] = -1


@jit
def enter_block(core: Any, state: Any, trace: Any, w: int) -> int:
    """Go on to the next block of the trace: ENTERED, DRY (not known yet) or OVER (there is none)."""
    wave = state.waves[w]
    leave_block(core, trace, wave)
    context = wave[W_CONTEXT]
    cursor = trace.cursor[context]
    while True:
        head = cursor[lay.BLOCK_HEAD]
        if head == cursor[lay.BLOCK_TAIL]:
            return OVER if cursor[lay.FINISHED] != 0 else DRY
        entry = trace.blocks[place_at(trace.blocks, context, head)]
        block, lanes = entry[lay.BLOCK_INDEX], entry[lay.BLOCK_LANES]
        cursor[lay.BLOCK_HEAD] = head + 1
        cursor[lay.BEGUN] += 1
        wave[W_BLOCK] = block
        start, end = core.block_start[block], core.block_start[block + 1]
        if start == end:  # nothing left of it after lowering
            leave_block(core, trace, wave)
            continue
        state.entered[block] += 1
        hold, changed, previous = 0, 0, wave[W_PREVIOUS]
        if wave[W_PC] >= 0:  # not the first block
            if start != wave[W_END]:
                hold = core.unit_int[tab.BRANCH_TAKEN]
                scheduler = state.schedulers[w // core.unit_int[tab.SLOTS]]
                apart = scheduler[S_BRANCH] + core.unit_int[tab.BRANCH_INTERVAL] - previous
                scheduler[S_BRANCH] = previous + max(apart, 0)
                hold += max(apart, 0)
            elif core.code[wave[W_END] - 1, lay.KIND] == lay.BRANCH:
                hold = core.unit_int[tab.BRANCH_NOT_TAKEN]
            if lanes != wave[W_LANES]:
                changed = core.unit_int[tab.DIVERGENCE_CYCLES]
                state.counters[_DIVERGENT] += 1
            if hold + changed > 0 and previous + hold + changed > wave[W_HOLD]:
                wave[W_HOLD] = previous + hold + changed
                wave[W_HOLD_REASON] = tab.STALL_BRANCH if changed > 0 else tab.STALL_DEPENDENCY  # a branch itself takes a fixed time
        wave[W_LANES] = lanes
        wave[W_PC] = start
        wave[W_END] = end
        if core.block_records[block] > 0:
            look_ahead_block(trace, context, core.block_records[block])
        return ENTERED


@jit
def operands_ready(core: Any, tokens: Any, pc: int) -> int:
    """The latest operand of an instruction, as a packed token. A result not yet there must not be overtaken either."""
    row = core.code[pc]
    guard, queued = row[X_GUARD], row[X_QUEUED]
    queued_extra = core.unit_int[tab.QUEUED_EXTRA] if queued != 0 else 0
    latest = 0
    for k in range(row[X_SOURCES]):
        token = tokens[row[lay.SRC0 + k]]
        code = token & TOKEN_MASK
        if code >= TOKEN_FIXED:
            extra = guard if code == TOKEN_PREDICATE else 0
            token += max(extra, queued_extra) << TOKEN_SHIFT
        latest = max(latest, token)
    if row[lay.DST0] >= 0:
        token = tokens[row[lay.DST0]]
        if token & TOKEN_MASK < TOKEN_FIXED:
            latest = max(latest, token)
    if row[lay.DST1] >= 0:
        token = tokens[row[lay.DST1]]
        if token & TOKEN_MASK < TOKEN_FIXED:
            latest = max(latest, token)
    return latest


@jit
def pipe_row(core: Any, unit: int, g: int, pipe: int, shared: int) -> int:
    """Row of `state.pipes` for a pipe, scheduler `g`'s own or the unit's."""
    if pipe < 0:
        return -1
    owner = unit * core.unit_int[tab.SCHEDULERS] if shared != 0 else g
    return owner * core.launch[L_PIPES] + pipe


@jit
def align(core: Any, g: int, now: int) -> int:
    """The scheduler's next turn at or after `now` (schedulers of a unit take turns within the period)."""
    period = core.unit_int[tab.ISSUE_PERIOD]
    if period <= 1:
        return now
    return now + (g % core.unit_int[tab.SCHEDULERS] - now) % period


@jit
def prepare_wave(core: Any, state: Any, unit: int, g: int, w: int) -> None:
    """Find out from when on the wave's next instruction can issue, and let its scheduler wait for it."""
    wave = state.waves[w]
    pc = wave[W_PC]
    row = core.code[pc]
    start = wave[W_PREVIOUS] + 1
    if wave[W_LINE] != row[X_LINE]:
        wave[W_LINE] = row[X_LINE]
        wave[W_FETCH] = fetch_line(core, state, unit, g, row[X_LINE], max(start, wave[W_HOLD]))
    latest = operands_ready(core, state.tokens[w], pc)
    wave[W_TOKEN] = latest
    pipe = pipe_row(core, unit, g, row[lay.PIPE], row[X_SHARED] & 1)
    other = pipe_row(core, unit, g, row[lay.PIPE_ALTERNATIVE], row[X_SHARED] & 2)
    wave[W_PIPE] = pipe
    wave[W_PIPE_2] = other
    ready = max(start, wave[W_HOLD], wave[W_FETCH], latest >> TOKEN_SHIFT)
    if row[lay.KIND] == lay.MATRIX and row[lay.FLAGS] & lay.BESIDE == 0:
        own = wave[W_OWN]
        if own & USE_PIPE == row[lay.PIPE]:  # its wave's own products keep their distance: the place in the queue is for others
            ready = max(ready, (own >> USE_START) + ((own >> USE_HOLD) & USE_MOST))
    state.ready_from[w] = ready
    gate = state.gates[w]
    gate[GATE_PIPES] = pipe + ((other + 1) << GATE_SHIFT) if pipe >= 0 else -1
    gate[GATE_SLACK] = 2 * row[X_SLACK] + row[X_MEMORY]
    scheduler = state.schedulers[g]
    scheduler[S_WAITING] |= 1 << (w - g * core.unit_int[tab.SLOTS])
    scheduler[S_WAKE] = min(scheduler[S_WAKE], ready)
    scheduler[S_NOW] = min(scheduler[S_NOW], align(core, g, ready))
