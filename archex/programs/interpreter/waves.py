"""A wave's way through its blocks: divergence stack, memory records, barriers, the trace entry of each block.

In: the tables, the state arrays (flat, int64) and a wave's number. Out: its state moved on until its rings are full, it waits at a
barrier, it is done, or something is wrong (`fault`). Blocks appear in the trace only when they are complete.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from archex.base import layout
from archex.base.jit import jit_bare as jit
from archex.base.jit import outlined
from archex.programs.interpreter import table as n
from archex.programs.interpreter.access import access
from archex.programs.interpreter.aside import aside
from archex.programs.interpreter.barriers import arrive
from archex.programs.interpreter.compute import compute, place
from archex.programs.interpreter.matrix import matrix
from archex.programs.interpreter.records import keep, keep_lanes
from archex.programs.interpreter.transfer import FIRST, KIND, STRIDE
from archex.programs.values import LOW32, popcount

_RING_COLUMNS = layout.CURSOR_COLUMNS


@jit
def settle(x: Any, c: Any, stack: Any) -> Any:
    """Leave entries whose lanes are gone or have reached their meeting point; whether lanes are left."""
    at = c * n.CONTEXT_COLUMNS
    while True:
        mask = x[at + n.MASK] & x[at + n.LIVE]
        if mask != 0 and x[at + n.BLOCK] != x[at + n.RETURN]:
            x[at + n.MASK] = mask
            return True
        if x[at + n.DEPTH] == 0:
            return False
        x[at + n.DEPTH] -= 1
        top = (c * n.STACK_DEPTH + x[at + n.DEPTH]) * n.STACK_COLUMNS
        x[at + n.BLOCK], x[at + n.RETURN], x[at + n.MASK] = stack[top], stack[top + 1], stack[top + 2]


@jit
def push(x: Any, c: Any, stack: Any, block: Any, meeting: Any, mask: Any) -> Any:
    """Remember lanes that run later; whether there was room."""
    at = c * n.CONTEXT_COLUMNS
    if x[at + n.DEPTH] >= n.STACK_DEPTH:
        return False
    top = (c * n.STACK_DEPTH + x[at + n.DEPTH]) * n.STACK_COLUMNS
    stack[top], stack[top + 1], stack[top + 2] = block, meeting, mask
    x[at + n.DEPTH] += 1
    return True


@jit
def split(x: Any, c: Any, stack: Any, meeting: Any, first: Any, first_mask: Any, then: Any, then_mask: Any) -> Any:
    """Two groups of lanes part and meet again in block `meeting` (-1 never); `first` runs first. Whether there was room."""
    at = c * n.CONTEXT_COLUMNS
    room = True
    if x[at + n.RETURN] != meeting:  # where this entry ends already, its lanes wait below
        room = push(x, c, stack, meeting, x[at + n.RETURN], first_mask | then_mask)
    if then != meeting or meeting < 0:
        room = push(x, c, stack, then, meeting, then_mask) and room
    x[at + n.BLOCK], x[at + n.RETURN], x[at + n.MASK] = first, meeting, first_mask
    return room


@outlined("i:pippiiipippp")
def branch(
    code: Any, o: Any, lists: Any, r: Any, base: Any, act: Any, lanes: Any, x: Any, c: Any, stack: Any, blocks: Any, fault: Any
) -> Any:
    """The last operation of a block; a fault number."""
    at = c * n.CONTEXT_COLUMNS
    here = x[at + n.BLOCK] * n.BLOCK_COLUMNS
    mask, follow, meeting = x[at + n.MASK], blocks[here + n.NEXT], blocks[here + n.RECONVERGE]
    op = code[o + n.OP]
    if op == n.TRAP and act != 0:
        return n.TRAPPED
    if op == n.EXIT or op == n.TRAP:
        x[at + n.LIVE] &= ~act
        if x[at + n.LIVE] & mask != 0 and follow < 0:
            return n.FELL_OFF
        x[at + n.BLOCK] = follow
        return n.NO_FAULT
    if op == n.BRANCH:
        target = code[o + n.MODE]
        rest = mask & ~act
        if rest == 0:
            x[at + n.BLOCK] = target
        elif act == 0:
            x[at + n.BLOCK] = follow
        elif not split(x, c, stack, meeting, follow, rest, target, act):
            return n.TOO_DEEP
        return n.NO_FAULT
    index = place(code[o + n.A], base)
    rest = act
    if mask & ~act != 0 and not split(x, c, stack, meeting, x[at + n.BLOCK], act, follow, mask & ~act):
        return n.TOO_DEEP
    while rest != 0:
        wanted, lane = np.int64(0), np.int64(0)
        while (rest >> lane) & 1 == 0:
            lane += 1
        wanted = r[index + lane]
        group = np.int64(0)
        for i in range(lanes):
            if (rest >> i) & 1 and r[index + i] == wanted:
                group |= np.int64(1) << i
        if wanted < 0 or wanted >= code[o + n.VECTOR]:
            fault[n.F_VALUE] = wanted
            return n.BAD_INDEX
        target = lists[code[o + n.LIST] + wanted]
        rest &= ~group
        if rest == 0:
            x[at + n.BLOCK] = target
        elif not split(x, c, stack, meeting, x[at + n.BLOCK], rest, target, group):
            return n.TOO_DEEP
    return n.NO_FAULT


@jit
def enter(c: Any, x: Any, blocks: Any, shape: Any, cursor: Any) -> Any:
    """Begin a block: room in the rings, the instruction limit. -1 no room, 0 begun, else a fault."""
    at = c * n.CONTEXT_COLUMNS
    here = x[at + n.BLOCK] * n.BLOCK_COLUMNS
    if shape[n.TRACING]:
        k, slots = c * _RING_COLUMNS, blocks[here + n.SLOTS]
        if cursor[k + layout.BLOCK_TAIL] - cursor[k + layout.BLOCK_HEAD] >= shape[n.BLOCK_RING]:
            return -1
        if cursor[k + layout.RECORD_TAIL] + slots - cursor[k + layout.RECORD_HEAD] > shape[n.RECORD_RING]:
            return -1
        if cursor[k + layout.POOL_TAIL] + slots - cursor[k + layout.POOL_HEAD] > shape[n.POOL_RING]:
            return -1
        x[at + n.RECORDS], x[at + n.POOLS] = cursor[k + layout.RECORD_TAIL], cursor[k + layout.POOL_TAIL]
    x[at + n.EXECUTED] += blocks[here + n.SIZE]
    x[at + n.AT] = blocks[here + n.START]
    x[at + n.RESULT_OF] = x[at + n.MASK]
    return n.TOO_LONG if x[at + n.EXECUTED] > shape[n.LIMIT] else 0


@jit
def publish(c: Any, block: Any, x: Any, shape: Any, ring: Any, cursor: Any, counts: Any) -> Any:
    """The block is complete: its entry and records become visible, or it is counted."""
    at = c * n.CONTEXT_COLUMNS
    active = popcount(x[at + n.RESULT_OF])
    if shape[n.TRACING]:
        k = c * _RING_COLUMNS
        tail = cursor[k + layout.BLOCK_TAIL]
        e = (c * shape[n.BLOCK_RING] + (tail & (shape[n.BLOCK_RING] - 1))) * 2
        ring[e], ring[e + 1] = block, active
        cursor[k + layout.RECORD_TAIL], cursor[k + layout.POOL_TAIL] = x[at + n.RECORDS], x[at + n.POOLS]
        cursor[k + layout.BLOCK_TAIL] = tail + 1
    else:
        e = x[at + n.COUNT_AT] + 2 * block
        counts[e] += 1
        counts[e + 1] += active


@outlined("i:iipppppppppppppppppppppp")
def run_wave(
    c: Any, slot: Any, code: Any, blocks: Any, lists: Any, shape: Any, r: Any, p: Any, x: Any, stack: Any, bars: Any, t: Any, pages: Any,
    state: Any,
    local: Any, phases: Any, private: Any, ring: Any, records: Any, pool: Any, cursor: Any, counts: Any, look: Any, fault: Any,
) -> Any:  # fmt: skip
    """Move wave `c` on; its new status. A fault leaves the wave before the operation at fault."""
    at = c * n.CONTEXT_COLUMNS
    lanes = shape[n.LANES]
    base = (shape[n.FIRST_ROW] + c * shape[n.REGISTERS]) * shape[n.LANES]
    first_predicate = c * shape[n.PREDICATES]
    scratch = shape[n.SCRATCH]
    local_at, private_at = slot * shape[n.LOCAL_WORDS], c * shape[n.LANES] * shape[n.PRIVATE_WORDS]
    while True:
        if x[at + n.AT] < 0:
            if not settle(x, c, stack):
                return n.DONE
            begun = enter(c, x, blocks, shape, cursor)
            if begun < 0:
                return n.FULL
            if begun > 0:
                fault[n.F_KIND], fault[n.F_SOURCE] = begun, -1 - x[at + n.BLOCK]
                return n.IDLE
        block = x[at + n.BLOCK]
        stop = blocks[block * n.BLOCK_COLUMNS + n.STOP]
        mask, live = x[at + n.MASK], x[at + n.LIVE]
        moved = False
        i = x[at + n.AT]
        while i < stop:
            o = i * n.CODE_COLUMNS
            act = mask
            guard = code[o + n.GUARD]
            if guard >= 0:
                act = mask & (p[first_predicate + guard] ^ code[o + n.NEGATE])
            group = code[o]
            if group < n.MEMORY or group == n.CROSS:
                if act != 0:
                    compute(code, i * n.CODE_COLUMNS, r, p, base, first_predicate, scratch, act, live, lanes)
            elif group == n.MEMORY or group == n.MATRIX:
                row = i * n.CODE_COLUMNS
                if act != 0:
                    if group == n.MATRIX:
                        outcome = matrix(code, row, lists, r, p, base, first_predicate, act, lanes, look, local, local_at, shape, fault)
                    else:
                        outcome = access(
                            code, row, lists, r, base, act, lanes, look, t, pages, state, local, local_at, private, private_at, shape, fault
                        )
                    if outcome != n.NO_FAULT:
                        fault[n.F_KIND], fault[n.F_SOURCE] = outcome, code[row + n.SOURCE]
                        x[at + n.AT] = i
                        return n.IDLE
                if shape[n.TRACING] and code[row + n.SLOT] >= 0:
                    if act != 0 and look[KIND] == layout.AFFINE:
                        keep(c, np.int64(layout.AFFINE), look[FIRST], look[STRIDE], act, x, shape, records)
                        i += 1
                        continue
                    keep_lanes(c, act, r, scratch + lanes, lanes, look, x, shape, records, pool)
            elif group == n.ASIDE:
                row = i * n.CODE_COLUMNS
                outcome = aside(
                    code, row, lists, r, base, first_predicate, p, act, live, c, local_at, look, x, t, pages, state, local, phases, shape,
                    records, pool, fault
                )  # fmt: skip
                if outcome != n.NO_FAULT:
                    x[at + n.AT] = i
                    if outcome == n.BLOCKED:
                        return n.WAIT
                    fault[n.F_KIND], fault[n.F_SOURCE] = outcome, code[row + n.SOURCE]
                    return n.IDLE
            else:
                row = i * n.CODE_COLUMNS
                op = code[row + n.OP]
                if op == n.BARRIER:
                    if act != 0:
                        outcome = arrive(code, row, r, p, base, first_predicate, act, mask, live, slot, c, x, bars, fault)
                        if outcome != n.NO_FAULT:
                            fault[n.F_KIND], fault[n.F_SOURCE] = outcome, code[row + n.SOURCE]
                            x[at + n.AT] = i
                            return n.IDLE
                        if code[row + n.MODE] != n.ARRIVE and code[row + n.MODE] != n.PASS:
                            x[at + n.AT] = i + 1
                            return n.WAIT
                elif op == n.CLOCK:
                    d = place(code[row + n.DST], base)
                    for lane in range(lanes):
                        r[d + lane] = (x[at + n.EXECUTED] + i) & LOW32
                else:
                    outcome = branch(code, row, lists, r, base, act, lanes, x, c, stack, blocks, fault)
                    if outcome != n.NO_FAULT:
                        fault[n.F_KIND], fault[n.F_SOURCE] = outcome, code[row + n.SOURCE]
                        return n.IDLE
                    moved = True
            i += 1
        publish(c, block, x, shape, ring, cursor, counts)
        x[at + n.AT] = -1
        if not moved:
            follow = blocks[block * n.BLOCK_COLUMNS + n.NEXT]
            if follow < 0:
                fault[n.F_KIND], fault[n.F_SOURCE] = n.FELL_OFF, -1 - block
                return n.IDLE
            x[at + n.BLOCK] = follow
