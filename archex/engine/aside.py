"""Instructions that do not end with their own result: groups, bulk copies, barriers in local memory, barriers of clusters.

In: a decoded instruction, the cycle of issue. Out: (a cycle, a reason): where the reason is one, the wave goes on from that cycle; a wave
whose `W_BARRIER` is set then waits for others. Compiled apart from the main loop: most programs never come here.
"""

from __future__ import annotations

from typing import Any

from archex.base import layout as lay
from archex.base.jit import jit_bare as jit
from archex.engine import tables as tab
from archex.engine.beside import GROUP_READS, close_group, group_reached, product
from archex.engine.clusters import arrive_cluster, wait_cluster
from archex.engine.copies import arrive_by_lane, bulk_copy
from archex.engine.global_memory import LOCAL_WINDOW, record_of
from archex.engine.rings import place_at
from archex.engine.signals import owner, set_signal, signal_event, wait_signal
from archex.engine.state import W_CONTEXT, W_GROUP

GOES_ON = -1  # no reason to wait


@jit
def aside(
    core: Any, paths: Any, functions: Any, links: Any, state: Any, memory: Any, trace: Any, unit: int, w: int, pc: int, now: int, read: int
) -> tuple[int, int]:
    """Carry out an instruction issued at `now`; of a copy by lane, whose data is there at `read`: (completion, cycle it is taken)."""
    row = core.code[pc]
    kind, later = row[lay.KIND], now + row[lay.LATENCY]
    if kind == lay.MATRIX:
        done = product(core, state, memory, unit, w, pc, now)
        if row[lay.FLAGS] & lay.CLOSES:
            close_group(state, w, lay.GROUP_MATRIX)
        return done, GOES_ON
    if kind == lay.ASYNC_COPY:
        return arrive_by_lane(core, paths, functions, state, memory, trace, unit, w, pc, now, read)
    if kind == lay.GROUP_COMMIT or kind == lay.GROUP_WAIT:
        of = row[lay.OFFSET]
        if of == lay.GROUP_BULK and row[lay.FLAGS] & lay.READ_ONLY:
            of = GROUP_READS
        if kind == lay.GROUP_WAIT:
            return max(group_reached(state, w, of, row[lay.BYTES]), later), tab.STALL_MATRIX if of == lay.GROUP_MATRIX else tab.STALL_MEMORY
        close_group(state, w, of)
        if of == lay.GROUP_BULK:
            close_group(state, w, GROUP_READS)
        return later, GOES_ON
    if kind == lay.CLUSTER_ARRIVE:
        arrive_cluster(core, state, w, later)
        return later, GOES_ON
    if kind == lay.CLUSTER_WAIT:
        return wait_cluster(core, state, w, later)
    if kind == lay.REGISTERS:
        return later, GOES_ON
    record, base, stride, mask = record_of(core, state, trace, w, pc)
    if record == lay.BULK:
        return bulk_copy(core, paths, functions, links, state, memory, trace, unit, w, base, now), GOES_ON
    if record == lay.SIGNALS:  # each lane names a barrier of its own
        named = trace.pool[place_at(trace.pool, state.waves[w, W_CONTEXT], base)]
        for lane in range(named.shape[0]):
            if named[lane] >= 0:
                signal_order(core, state, w, kind, row[lay.FLAGS], named[lane] % LOCAL_WINDOW, stride, mask, later)
        return later, GOES_ON
    if record != lay.SIGNAL:
        return later, GOES_ON
    address = base % LOCAL_WINDOW
    if kind == lay.SIGNAL_WAIT:
        until, reason = wait_signal(state, w, address, stride, later)
        return max(until, later), reason
    signal_order(core, state, w, kind, row[lay.FLAGS], address, stride, mask, later)
    return later, GOES_ON


@jit
def never(
    core: Any, paths: Any, functions: Any, links: Any, state: Any, memory: Any, trace: Any, unit: int, w: int, pc: int, now: int, read: int
) -> tuple[int, int]:
    """In the place of `aside` for programs without such instructions: compiled in no time."""
    return now, GOES_ON


def has_asides(code: Any) -> bool:
    """Whether a program has instructions for `aside`."""
    kinds, flags = code[:, lay.KIND], code[:, lay.FLAGS]
    beside = (kinds == lay.MATRIX) & ((flags & lay.BESIDE) != 0)
    return bool((beside | (kinds > lay.MATRIX)).any())


@jit
def signal_order(core: Any, state: Any, w: int, kind: int, flags: int, address: int, number: int, expected: int, later: int) -> None:
    """Set a barrier up for `number` arrivals a phase, or arrive so often and announce bytes."""
    group = state.waves[w, W_GROUP]
    target = owner(core, group, address)
    if kind == lay.SIGNAL_SET:
        set_signal(state, target, address, number, later)
        return
    moment = later
    if flags & lay.AFTER_COPIES:  # `expected`: arrivals that the phase waits for beside its own
        moment = max(moment, group_reached(state, w, lay.GROUP_COPIES, -1))
        number, expected = number - expected, 0
    if target != group:
        moment += int(core.aside[tab.ASIDE_REMOTE_LATENCY])
    signal_event(core, state, target, address, number, expected, 0, moment)
