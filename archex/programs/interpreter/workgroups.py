"""Workgroups in slots: started, run wave by wave until nothing moves, counted without a trace.

In: workgroup numbers and slots; a slot is `waves` consecutive contexts. Workgroups of a cluster lie in slots that follow one another and
move together. Out: rings filled, or counts. The outermost compiled functions: they take the owned arrays once and hand pointer views on.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from archex.base import layout
from archex.base.jit import jit, jit_bare, outlined, pointer
from archex.programs.interpreter import table as n
from archex.programs.interpreter.barriers import release
from archex.programs.interpreter.clusters import meet
from archex.programs.interpreter.signals import signalled
from archex.programs.interpreter.waves import run_wave


class Machine(NamedTuple):
    """Every array of one interpreter, flat int64.

    specials: the rows of `table.SPECIAL_ROWS` within a wave's own, then their values for each wave, special value and lane.
    phases: phases that the barrier at each word of local memory has ended. look: what is known of the access at hand.
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
    phases: np.ndarray
    private: np.ndarray
    ring: np.ndarray
    records: np.ndarray
    pool: np.ndarray
    cursor: np.ndarray
    counts: np.ndarray
    look: np.ndarray
    fault: np.ndarray


@outlined("i:iip")
def place_value(which: Any, workgroup: Any, shape: Any) -> Any:
    """Special value `which` of a workgroup: where it lies in the grid, in its cluster, and its cluster in the grid of clusters."""
    x, y = workgroup % shape[n.GRID_X], workgroup // shape[n.GRID_X]
    rank, at, across = np.int64(0), np.int64(0), np.int64(1)
    for axis in range(2, -1, -1):
        coordinate = x if axis == 0 else y % shape[n.GRID_Y] if axis == 1 else y // shape[n.GRID_Y]
        rank = rank * shape[n.CLUSTER_X + axis] + coordinate % shape[n.CLUSTER_X + axis]
        if which % 3 == axis:
            at, across = coordinate, shape[n.CLUSTER_X + axis]
    if which == n.RANK:
        return rank
    return at if which < 3 else at % across if which < 6 else at // across


@outlined("v:iippppppppp")
def begin(
    slot: Any, workgroup: Any, shape: Any, rows: Any, r: Any, p: Any, x: Any, bars: Any, local: Any, private: Any, cursor: Any
) -> Any:
    """Put a workgroup into a slot: registers, memory and barriers cleared, special values set."""
    width = shape[n.LANES]
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
            if rows[which] < 0:
                continue
            start, row = n.SPECIAL_COUNT + (w * n.LANE_SPECIALS + which) * width, base + rows[which] * width
            value = place_value(np.int64(which), workgroup, shape) if which < n.OF_WORKGROUP else np.int64(0)
            for lane in range(width):
                r[row + lane] = rows[start + lane] + value
        present = min(width, shape[n.THREADS] - w * width)
        live = np.int64(-1) if present == 64 else (np.int64(1) << present) - 1
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


@outlined("i:ipppppppp")
def wake(slot: Any, code: Any, shape: Any, r: Any, p: Any, x: Any, bars: Any, phases: Any, fault: Any) -> Any:
    """Make waves of the cluster that begins at `slot` ready: 1 there are some, 0 none and all is well, -1 none ever will be."""
    waves, woken, full, waiting = shape[n.WAVES], False, 0, -1
    for member in range(slot, slot + shape[n.CLUSTER]):
        woken = release(member, code, shape, r, p, x, bars) or woken
    if woken:
        return np.int64(1)  # whoever waits for something else is looked at next time
    woken = meet(slot, waves, shape, x)
    for c in range(slot * waves, (slot + shape[n.CLUSTER]) * waves):
        at = c * n.CONTEXT_COLUMNS
        if signalled(c, x, phases):
            x[at + n.STATUS] = n.READY
            woken = True
        full += x[at + n.STATUS] == n.FULL
        if x[at + n.STATUS] == n.WAIT and (waiting < 0 or x[waiting * n.CONTEXT_COLUMNS + n.WAITING] != n.SIGNALLED):
            waiting = c  # what is wrong is more likely said by one that waits for a barrier in memory
    if woken or full > 0 or waiting < 0:
        return np.int64(woken)
    at = waiting * n.CONTEXT_COLUMNS
    fault[n.F_KIND], fault[n.F_CONTEXT], fault[n.F_VALUE] = n.DEADLOCK, waiting, x[at + n.WAITING]
    before = 1  # the wave stands behind a barrier of its workgroup, and before what it waits for otherwise
    if x[at + n.WAITING] >= n.BARRIERS:
        before = 0
        fault[n.F_KIND] = n.NEVER_MET
    if x[at + n.WAITING] == n.SIGNALLED:
        fault[n.F_KIND], fault[n.F_VALUE] = n.NEVER_SIGNALLED, (x[at + n.WORD] % shape[n.LOCAL_WORDS]) * 8
        fault[n.F_EXTRA] = x[at + n.NEEDED] - 1
    fault[n.F_SOURCE] = code[(x[at + n.AT] - before) * n.CODE_COLUMNS + n.SOURCE]
    return -1


@jit_bare
def run_slot(
    slot: Any, code: Any, blocks: Any, lists: Any, shape: Any, r: Any, p: Any, x: Any, stack: Any, bars: Any, t: Any, pages: Any,
    state: Any, local: Any, phases: Any,
    private: Any, ring: Any, records: Any, pool: Any, cursor: Any, counts: Any, look: Any, fault: Any,
) -> Any:  # fmt: skip
    """Run the cluster that begins at `slot` until each wave is done, full, or waits for one that is full; False when something is wrong."""
    first, last = slot * shape[n.WAVES], (slot + shape[n.CLUSTER]) * shape[n.WAVES]
    for c in range(first, last):
        if x[c * n.CONTEXT_COLUMNS + n.STATUS] == n.FULL:
            x[c * n.CONTEXT_COLUMNS + n.STATUS] = n.READY
    while True:
        for c in range(first, last):
            at = c * n.CONTEXT_COLUMNS
            if x[at + n.STATUS] == n.READY:
                status = run_wave(
                    c, c // shape[n.WAVES], code, blocks, lists, shape, r, p, x, stack, bars, t, pages, state, local, phases, private, ring,
                    records, pool, cursor, counts, look, fault
                )  # fmt: skip
                if status == n.IDLE:
                    fault[n.F_CONTEXT] = c
                    return False
                x[at + n.STATUS] = status
                if status == n.DONE and shape[n.TRACING]:
                    cursor[c * layout.CURSOR_COLUMNS + layout.FINISHED] = 1
        woken = wake(slot, code, shape, r, p, x, bars, phases, fault)
        if woken <= 0:
            return woken == 0


@jit
def start(m: Any, workgroups: Any, slots: Any) -> Any:
    """Bind workgroups to slots."""
    shape, rows, r, p, x = pointer(m.shape), pointer(m.specials), pointer(m.registers), pointer(m.predicates), pointer(m.contexts)
    bars, local, private, cursor = pointer(m.bars), pointer(m.local), pointer(m.private), pointer(m.cursor)
    for i in range(workgroups.size):
        begin(slots[i], workgroups[i], shape, rows, r, p, x, bars, local, private, cursor)


@jit
def run(m: Any, slots: Any, workgroups: Any, counts: Any) -> Any:
    """Refill slots, or (`workgroups` given) run whole clusters in the first slots and count blocks. How many were done.

    counts: flat, a row of `2 * blocks` a workgroup.
    """
    code, blocks, lists, shape, rows = pointer(m.code), pointer(m.blocks), pointer(m.lists), pointer(m.shape), pointer(m.specials)
    r, p, x, stack, bars = pointer(m.registers), pointer(m.predicates), pointer(m.contexts), pointer(m.stack), pointer(m.bars)
    t, pages, state, local, private = pointer(m.table), pointer(m.pages), pointer(m.page_state), pointer(m.local), pointer(m.private)
    ring, records, pool, cursor, phases = pointer(m.ring), pointer(m.records), pointer(m.pool), pointer(m.cursor), pointer(m.phases)
    look, fault, counted, mine = pointer(m.look), pointer(m.fault), workgroups.size > 0, pointer(counts)
    step = shape[n.CLUSTER] if counted else np.int64(1)
    done = workgroups.size if counted else slots.size
    for i in range(0, done, step):
        slot = np.int64(0) if counted else slots[i] - slots[i] % shape[n.CLUSTER]
        if counted:
            for rank in range(step):
                if fault[n.F_KIND] == n.NO_FAULT:
                    begin(np.int64(rank), workgroups[i + rank], shape, rows, r, p, x, bars, local, private, cursor)
                for c in range(rank * shape[n.WAVES], (rank + 1) * shape[n.WAVES]):  # one that goes on counts in its row of these `counts`
                    x[c * n.CONTEXT_COLUMNS + n.COUNT_AT] = (i + rank) * 2 * shape[n.BLOCKS]
        fault[n.F_KIND] = n.NO_FAULT
        if not run_slot(
            slot, code, blocks, lists, shape, r, p, x, stack, bars, t, pages, state, local, phases, private, ring, records, pool, cursor,
            mine, look, fault
        ):  # fmt: skip
            return i
    return done
