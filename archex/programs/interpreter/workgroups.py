"""Workgroups in slots: started, run wave by wave until nothing moves, counted without a trace.

In: workgroup numbers and slots; a slot is `waves` consecutive contexts. Out: rings filled, or counts. The outermost compiled
functions: they take the owned arrays once and hand pointer views on.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from archex.base import layout
from archex.base.jit import jit, outlined, pointer
from archex.programs.interpreter import table as n
from archex.programs.interpreter.barriers import release
from archex.programs.interpreter.waves import run_wave


class Machine(NamedTuple):
    """Every array of one interpreter, flat int64.

    specials: the rows of `table.SPECIAL_ROWS` within a wave's own, then their values for each wave, special value and lane.
    look: what is known of the access at hand.
    """

    code: np.ndarray
    blocks: np.ndarray
    lists: np.ndarray
    shape: np.ndarray
    specials: np.ndarray
    registers: np.ndarray
    predicates: np.ndarray
    contexts: np.ndarray
    stack: np.ndarray
    bars: np.ndarray
    table: np.ndarray
    pages: np.ndarray
    page_state: np.ndarray
    local: np.ndarray
    private: np.ndarray
    ring: np.ndarray
    records: np.ndarray
    pool: np.ndarray
    cursor: np.ndarray
    counts: np.ndarray
    look: np.ndarray
    fault: np.ndarray


@jit
def _fill(r: Any, base: Any, row: Any, lanes: Any, value: Any) -> Any:
    if row >= 0:
        at = base + row * lanes
        for i in range(lanes):
            r[at + i] = value


@outlined("v:iippppppppp")
def begin(
    slot: Any, workgroup: Any, shape: Any, rows: Any, r: Any, p: Any, x: Any, bars: Any, local: Any, private: Any, cursor: Any
) -> Any:
    """Put a workgroup into a slot: registers, memory and barriers cleared, special values set."""
    lanes, width = shape[n.LANES], shape[n.LANES]
    for i in range(slot * shape[n.LOCAL_WORDS], (slot + 1) * shape[n.LOCAL_WORDS]):
        local[i] = 0
    for i in range(slot * n.BARRIERS * n.BARRIER_COLUMNS, (slot + 1) * n.BARRIERS * n.BARRIER_COLUMNS):
        bars[i] = 0
    for w in range(shape[n.WAVES]):
        c = slot * shape[n.WAVES] + w
        base = (shape[n.FIRST_ROW] + c * shape[n.REGISTERS]) * width
        for i in range(base, base + shape[n.REGISTERS] * width):
            r[i] = 0
        for i in range(c * shape[n.PREDICATES], (c + 1) * shape[n.PREDICATES]):
            p[i] = 0
        p[c * shape[n.PREDICATES] + n.ALWAYS] = -1
        p[c * shape[n.PREDICATES] + n.LOWEST_8] = 0xFF_0000_00FF
        p[c * shape[n.PREDICATES] + n.LOWEST_16] = 0xFFFF_0000_FFFF
        for i in range(c * width * shape[n.PRIVATE_WORDS], (c + 1) * width * shape[n.PRIVATE_WORDS]):
            private[i] = 0
        for which in range(n.LANE_SPECIALS):
            if rows[which] >= 0 and which not in (3, 4, 5):
                start = n.SPECIAL_COUNT + (w * n.LANE_SPECIALS + which) * width
                for lane in range(width):
                    r[base + rows[which] * width + lane] = rows[start + lane]
        present = min(width, shape[n.THREADS] - w * width)
        live = np.int64(-1) if present == 64 else (np.int64(1) << present) - 1
        _fill(r, base, rows[3], lanes, workgroup % shape[n.GRID_X])
        _fill(r, base, rows[4], lanes, (workgroup // shape[n.GRID_X]) % shape[n.GRID_Y])
        _fill(r, base, rows[5], lanes, workgroup // (shape[n.GRID_X] * shape[n.GRID_Y]))
        at = c * n.CONTEXT_COLUMNS
        for column in range(n.CONTEXT_COLUMNS):
            x[at + column] = 0
        x[at + n.AT], x[at + n.RETURN], x[at + n.MASK], x[at + n.LIVE] = -1, -1, live, live
        if shape[n.TRACING]:
            k = c * layout.CURSOR_COLUMNS
            cursor[k + layout.BLOCK_HEAD] = cursor[k + layout.BLOCK_TAIL]
            cursor[k + layout.RECORD_HEAD] = cursor[k + layout.RECORD_TAIL]
            cursor[k + layout.POOL_HEAD] = cursor[k + layout.POOL_TAIL]
            cursor[k + layout.FINISHED] = 0


@jit
def run_slot(
    slot: Any, code: Any, blocks: Any, lists: Any, shape: Any, r: Any, p: Any, x: Any, stack: Any, bars: Any, t: Any, pages: Any,
    state: Any, local: Any,
    private: Any, ring: Any, records: Any, pool: Any, cursor: Any, counts: Any, look: Any, fault: Any,
) -> Any:  # fmt: skip
    """Run a workgroup until each wave is done, full, or waits for one that is full; False when something is wrong."""
    first = slot * shape[n.WAVES]
    for w in range(shape[n.WAVES]):
        if x[(first + w) * n.CONTEXT_COLUMNS + n.STATUS] == n.FULL:
            x[(first + w) * n.CONTEXT_COLUMNS + n.STATUS] = n.READY
    while True:
        full, waiting = 0, np.int64(-1)
        for w in range(shape[n.WAVES]):
            c = first + w
            at = c * n.CONTEXT_COLUMNS
            if x[at + n.STATUS] == n.READY:
                status = run_wave(
                    c,
                    slot,
                    code,
                    blocks,
                    lists,
                    shape,
                    r,
                    p,
                    x,
                    stack,
                    bars,
                    t,
                    pages,
                    state,
                    local,
                    private,
                    ring,
                    records,
                    pool,
                    cursor,
                    counts,
                    look,
                    fault,
                )
                if status == n.IDLE:
                    fault[n.F_CONTEXT] = c
                    return False
                x[at + n.STATUS] = status
                if status == n.DONE and shape[n.TRACING]:
                    cursor[c * layout.CURSOR_COLUMNS + layout.FINISHED] = 1
            full += x[at + n.STATUS] == n.FULL
            if x[at + n.STATUS] == n.WAIT:
                waiting = c
        if not release(slot, code, shape, r, p, x, bars):
            if waiting >= 0 and full == 0:
                row = (x[waiting * n.CONTEXT_COLUMNS + n.AT] - 1) * n.CODE_COLUMNS
                fault[n.F_KIND], fault[n.F_CONTEXT], fault[n.F_SOURCE] = n.DEADLOCK, waiting, code[row + n.SOURCE]
                fault[n.F_VALUE] = x[waiting * n.CONTEXT_COLUMNS + n.WAITING]
                return False
            return True


@jit
def start(m: Any, workgroups: Any, slots: Any) -> Any:
    """Bind workgroups to slots."""
    shape, rows, r, p, x = pointer(m.shape), pointer(m.specials), pointer(m.registers), pointer(m.predicates), pointer(m.contexts)
    bars, local, private, cursor = pointer(m.bars), pointer(m.local), pointer(m.private), pointer(m.cursor)
    for i in range(workgroups.size):
        begin(slots[i], workgroups[i], shape, rows, r, p, x, bars, local, private, cursor)


@jit
def run(m: Any, slots: Any, workgroups: Any, counts: Any) -> Any:
    """Refill slots, or (`workgroups` given) run whole workgroups in the first slot and count blocks. How many were done."""
    code, blocks, lists, shape, rows = pointer(m.code), pointer(m.blocks), pointer(m.lists), pointer(m.shape), pointer(m.specials)
    r, p, x, stack, bars = pointer(m.registers), pointer(m.predicates), pointer(m.contexts), pointer(m.stack), pointer(m.bars)
    t, pages, state, local, private = pointer(m.table), pointer(m.pages), pointer(m.page_state), pointer(m.local), pointer(m.private)
    ring, records, pool, cursor = pointer(m.ring), pointer(m.records), pointer(m.pool), pointer(m.cursor)
    look, fault = pointer(m.look), pointer(m.fault)
    counted = workgroups.size > 0
    for i in range(workgroups.size if counted else slots.size):
        slot = np.int64(0) if counted else slots[i]
        mine = pointer(counts[i]) if counted else pointer(m.counts)
        if counted and fault[n.F_KIND] == n.NO_FAULT:
            begin(slot, workgroups[i], shape, rows, r, p, x, bars, local, private, cursor)
        fault[n.F_KIND] = n.NO_FAULT
        if not run_slot(
            slot,
            code,
            blocks,
            lists,
            shape,
            r,
            p,
            x,
            stack,
            bars,
            t,
            pages,
            state,
            local,
            private,
            ring,
            records,
            pool,
            cursor,
            mine,
            look,
            fault,
        ):
            return i
    return workgroups.size if counted else slots.size
