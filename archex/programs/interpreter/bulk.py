"""Ranges and boxes copied by one lane's order: into local memory, out of it, added to global memory, across a cluster.

In: an encoded operation with one active lane. Out: a descriptor in the pool (`layout.BULK_*`), bytes moved where the copy is executed,
and the bytes counted at the barrier of each target, in every mode; or a fault number.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from archex.base import layout
from archex.base.jit import outlined
from archex.programs.interpreter import table as n
from archex.programs.interpreter.boxes import describe_box, describe_range, move_box
from archex.programs.interpreter.clusters import MAPPED, WITHIN, chosen, local_word, outside, ranked
from archex.programs.interpreter.compute import place
from archex.programs.interpreter.memory import find
from archex.programs.interpreter.records import keep, pool_row, pool_start
from archex.programs.interpreter.signals import change_signal
from archex.programs.interpreter.transfer import DESCRIPTOR
from archex.programs.values import LOW16, LOW32, leading_zeros, popcount

_ALIGNMENT = 16  # of addresses and sizes


@outlined("i:ipppppi", "aside")
def credit(barrier: Any, look: Any, local: Any, phases: Any, shape: Any, fault: Any, local_at: Any) -> Any:
    """Count the copy's bytes at the barrier of each target workgroup; a fault number."""
    targets, size = look[DESCRIPTOR + layout.BULK_TARGETS], look[DESCRIPTOR + layout.BULK_CREDIT]
    for rank in range(shape[n.CLUSTER]):
        if not chosen(targets, rank):
            continue
        address = ranked(barrier, targets, rank)
        fault[n.F_VALUE], fault[n.F_EXTRA] = address, 8
        if address & 7:
            return n.MISALIGNED
        outcome = outside(address, np.int64(8), shape)
        if outcome == n.NO_FAULT:
            at = local_word(address, local_at, shape)
            outcome = change_signal(at, np.int64(n.SIGNAL_COMPLETE), np.int64(0), -size, local, phases, fault)
        if outcome != n.NO_FAULT:
            if outcome != n.BAD_SIZE:
                fault[n.F_VALUE] = address
            return outcome
    return n.NO_FAULT


@outlined("i:pppp", "aside")
def check_range(look: Any, t: Any, shape: Any, fault: Any) -> Any:
    """Whether a range lies in memory, aligned; a fault number."""
    way, far, size = look[DESCRIPTOR + layout.BULK_WAY], look[DESCRIPTOR + layout.BULK_BASE], look[DESCRIPTOR + layout.BULK_BYTES]
    fault[n.F_VALUE], fault[n.F_EXTRA] = far, _ALIGNMENT
    if (far | look[DESCRIPTOR + layout.BULK_LOCAL]) & (_ALIGNMENT - 1):
        return n.MISALIGNED
    fault[n.F_VALUE] = size
    if size & (_ALIGNMENT - 1):
        return n.BAD_SIZE
    fault[n.F_VALUE], fault[n.F_EXTRA] = far, size
    if way == layout.BULK_ACROSS:
        return outside(far, size, shape)
    return n.NO_FAULT if find(t, shape[n.BUFFERS], np.int64(-1), far, size) >= 0 else n.NO_BUFFER


@outlined("i:pippiiiippppppppppp", "aside")
def bulk(
    code: Any, o: Any, lists: Any, r: Any, base: Any, act: Any, c: Any, local_at: Any, look: Any, x: Any, t: Any, pages: Any, state: Any,
    local: Any, phases: Any, shape: Any, records: Any, pool: Any, fault: Any,
) -> Any:  # fmt: skip
    """One copy; a fault number."""
    traced = shape[n.TRACING] and code[o + n.SLOT] >= 0
    if act == 0:
        if traced:
            keep(c, np.int64(layout.NO_ACCESS), np.int64(0), np.int64(0), np.int64(0), x, shape, records)
        return n.NO_FAULT
    fault[n.F_VALUE] = popcount(act)
    if act & (act - 1) != 0:
        return n.MANY_LANES
    lane = np.int64(63 - leading_zeros(act))
    way, entry = code[o + n.MODE], code[o + n.LIST]
    near = (r[place(code[o + n.A], base) + lane] + code[o + n.OFFSET]) & LOW32
    far = r[place(code[o + n.B], base) + lane] + lists[entry + n.FAR_OFFSET]
    barrier = np.int64(-1)
    if way == layout.BULK_IN or way == layout.BULK_ACROSS:
        barrier = r[place(lists[entry + n.BARRIER_OPERAND], base) + lane] & LOW32
    if way == layout.BULK_ACROSS:
        far &= LOW32
    targets = r[place(lists[entry + n.MASK_OPERAND], base) + lane] & LOW16
    to = far if way == layout.BULK_ACROSS else near
    fault[n.F_VALUE] = 63 - leading_zeros(targets)
    if targets >> shape[n.CLUSTER] != 0:
        return n.OUT_OF_CLUSTER
    if to >= MAPPED and targets == 0:
        targets = np.int64(1) << ((to >> layout.CLUSTER_SHIFT) - 1)
    size = r[place(code[o + n.C], base) + lane] & LOW32
    for i in range(layout.BULK_COLUMNS):
        look[DESCRIPTOR + i] = 0
    for i in range(4):
        look[DESCRIPTOR + layout.BULK_COUNT + 2 * i] = 1
    look[DESCRIPTOR + layout.BULK_BASE], look[DESCRIPTOR + layout.BULK_BYTES], look[DESCRIPTOR + layout.BULK_CREDIT] = far, size, size
    look[DESCRIPTOR + layout.BULK_LOCAL] = near if way == layout.BULK_OUT or way == layout.BULK_ACROSS else near & WITHIN
    look[DESCRIPTOR + layout.BULK_BARRIER], look[DESCRIPTOR + layout.BULK_TARGETS] = barrier, targets
    look[DESCRIPTOR + layout.BULK_WAY] = way
    boxed = lists[entry + n.DIMENSIONS] > 0
    if boxed:
        outcome = describe_box(look, lists, entry, r, base, lane, far, t, pages, shape, fault)
    else:
        outcome = check_range(look, t, shape, fault)
    if outcome == n.NO_FAULT and way != layout.BULK_PREFETCH:
        size = look[DESCRIPTOR + layout.BULK_CREDIT]
        fault[n.F_VALUE], fault[n.F_EXTRA] = near, size
        outcome = outside(near, size, shape)
        if outcome == n.NO_FAULT and code[o + n.EXECUTE]:
            if not boxed:
                describe_range(look, lists[entry + n.ELEMENT], lists[entry + n.NUMBERS])
            outcome = move_box(lists, look, entry, t, pages, state, local, shape, fault, local_at)
    if outcome != n.NO_FAULT:
        return outcome
    if traced:
        position = pool_row(c, x)
        start = pool_start(c, position, shape)
        for i in range(shape[n.LANES]):
            pool[start + i] = look[DESCRIPTOR + i] if i < layout.BULK_COLUMNS else np.int64(-1)
        keep(c, np.int64(layout.BULK), position, np.int64(0), act, x, shape, records)
    return credit(barrier, look, local, phases, shape, fault, local_at) if barrier >= 0 else n.NO_FAULT
