"""Local memory of a workgroup: loads, stores, atomics, and cross-lane traffic through the same or another port.

In: a decoded instruction, its record, the cycle of issue. Out: (cycle of the result, cycle the port took it).
"""

from __future__ import annotations

from typing import Any

from archex.base import layout as lay
from archex.base.jit import jit_bare as jit
from archex.engine import tables as tab
from archex.engine.addresses import expand_regular, expand_scattered, local_passes, local_weight
from archex.engine.bits import count
from archex.engine.clusters import reach_out, way_out
from archex.engine.global_memory import LOCAL_WINDOW
from archex.engine.ports import take_port, take_way
from archex.engine.standard import one_more
from archex.engine.state import (
    CHANGED_APART,
    CHANGED_WORDS,
    L_CLUSTER,
    L_LOCAL_PERIOD,
    L_WIDTH,
    W_CONTEXT,
    W_GROUP,
    W_LEFT,
    W_LOOKED,
    W_STORE,
)

COMPARE_PASSES = 2
_WAVEFRONTS = tab.COUNTER_INDEX["local_memory_wavefronts"]
_CONFLICTS = tab.COUNTER_INDEX["local_memory_conflicts"]


@jit
def latency_of(local_memory: Any, bytes_of: int) -> float:
    """Conflict-free load latency by width."""
    if bytes_of <= 4:
        return local_memory[tab.LOCAL_LATENCY_4]
    if bytes_of <= 8:
        return local_memory[tab.LOCAL_LATENCY_8]
    return local_memory[tab.LOCAL_LATENCY_16]


@jit
def take_turns(state: Any, memory: Any, unit: int, w: int, now: int, mask: int, width: int, banks: int, bank_bytes: int) -> None:
    """A compare-and-swap of the lanes that are left (addresses expanded): which of them have to try again.

    One lane of those on a bank succeeds at a time, if no other wave has changed its word since this one looked.
    """
    wave = state.waves[w]
    scratch = memory.scratch
    scratch[0] += 1
    changed = state.changed[unit]
    left = mask
    for lane in range(width):
        address = memory.addresses[lane]
        if address < 0:
            continue
        word = address // bank_bytes
        if one_more(scratch, word % banks) > 1:
            continue
        place = (word + wave[W_GROUP] * CHANGED_APART) & (CHANGED_WORDS - 1)
        if changed[place] <= wave[W_LOOKED]:
            changed[place] = now
            left &= ~(1 << lane)
    wave[W_LEFT] = left


@jit
def local_access(
    core: Any, functions: Any, state: Any, memory: Any, trace: Any, unit: int, w: int, pc: int, now: int,
    kind: int, base: int, stride: int, mask: int, generic: int,
) -> tuple[int, int]:  # fmt: skip
    """Carry out a local-memory access issued at `now`; (cycle of the result, cycle the port took it).

    generic: what scattered addresses lie above local memory's own.
    """
    if kind == lay.NO_ACCESS:  # with all lanes off it takes its turn nevertheless
        memory.counters[_WAVEFRONTS] += 1
        off = int(take_port(state, core.owners[tab.OWNER_LOCAL, unit], core.unit_int[tab.LOCAL_PORT], float(now), 1.0))
        return off + 1, off
    row = core.code[pc]
    what, bytes_of, flags = row[lay.KIND], max(row[lay.BYTES], 1), row[lay.FLAGS]
    width = core.launch[L_WIDTH]
    local = core.local_memory
    atomic = what == lay.LOCAL_ATOMIC or what == lay.ATOMIC or what == lay.REDUCE
    store = 1 if what == lay.LOCAL_STORE or what == lay.STORE or atomic else 0
    again = flags & lay.REPEATS != 0
    wave = state.waves[w]
    if again:
        mask = wave[W_LEFT] if wave[W_LEFT] != 0 else mask
        if not atomic:
            wave[W_LOOKED] = now
    if kind == lay.SCATTERED:
        expand_scattered(memory, trace.pool, state.waves[w, W_CONTEXT], base, mask, width, generic)
    elif base >= LOCAL_WINDOW:
        base -= LOCAL_WINDOW
    if again and kind >= lay.ROWS:  # which are of all lanes
        expand_regular(memory, kind, base, stride, mask, width)
        for lane in range(width):
            if (mask >> lane) & 1 == 0:
                memory.addresses[lane] = -1
        kind = lay.SCATTERED
    other, way = -1, 0.0
    if core.launch[L_CLUSTER] > 1:
        if kind != lay.SCATTERED:
            expand_regular(memory, kind, base, stride, mask, width)
        other, way = way_out(core, memory, state.waves[w, W_GROUP], width, atomic)
    banks, bank_bytes = int(local[tab.LOCAL_BANKS]), int(local[tab.LOCAL_BANK_BYTES])
    if atomic:
        if kind != lay.SCATTERED:
            expand_regular(memory, kind, base, stride, mask, width)
        if again:  # a pass to compare and one to swap, whatever it meets
            take_turns(state, memory, unit, w, now, mask, width, banks, bank_bytes)
            weight = COMPARE_PASSES
        elif flags & lay.COUNTING and local[tab.LOCAL_COUNTING] > 0.0:
            weight = local_passes(
                functions, memory, core.local_params, core.launch[L_LOCAL_PERIOD], kind, base, stride, mask, width, bytes_of, 0
            )
        else:
            weight = local_weight(memory, width, banks, bank_bytes)
        factor = local[tab.LOCAL_FLOAT_ATOMIC] if flags & lay.FLOAT_ATOMIC else (2.0 if flags & lay.COMPARE_AND_SWAP else 1.0)
        if factor <= 0.0:
            factor = 1.0
        held = max(local[tab.LOCAL_ATOMIC_LANE] * weight * factor, 1.0)
        latency = local[tab.LOCAL_ATOMIC_LATENCY] * (factor if flags & lay.FLOAT_ATOMIC else 1.0)
        latency += local[tab.LOCAL_ATOMIC_EXTRA] * (weight - 1) * factor
        passes = weight
        ideal = 1
    else:
        passes = local_passes(
            functions, memory, core.local_params, core.launch[L_LOCAL_PERIOD], kind, base, stride, mask, width, bytes_of, store
        )
        held = float(passes)
        ideal = max((count(mask) * bytes_of + banks * bank_bytes - 1) // (banks * bank_bytes), 1)
        latency = latency_of(local, bytes_of) + local[tab.LOCAL_CONFLICT_EXTRA] * max(passes - ideal, 0)
    memory.counters[_WAVEFRONTS] += passes
    memory.counters[_CONFLICTS] += max(passes - ideal, 0)
    start = take_port(state, core.owners[tab.OWNER_LOCAL, unit], core.unit_int[tab.LOCAL_PORT], float(now), held)
    if other >= 0:
        start = take_way(state, unit, start, way)
        latency += reach_out(core, state, other, float(now), start, held) - start
        latency += 0.0 if store == 1 else core.aside[tab.ASIDE_REMOTE_LATENCY]
    if store == 1:
        state.waves[w, W_STORE] = max(state.waves[w, W_STORE], int(start + held))
    return int(start + latency), int(start)


@jit
def cross_lane(core: Any, state: Any, unit: int, pc: int, now: int) -> tuple[int, int]:
    """A shuffle: one pass through its port (where it has one), the result after the instruction's latency.

    The port leads through the crossbar of local memory's banks, so the pass is one of theirs.
    """
    port = core.unit_int[tab.CROSS_LANE_PORT]
    latency = core.code[pc, lay.LATENCY]
    if port < 0:
        return now + latency, now
    if port == core.unit_int[tab.LOCAL_PORT]:
        unit = core.owners[tab.OWNER_LOCAL, unit]
    start = max(float(now), state.ports[unit, port])
    state.ports[unit, port] = start + 1.0
    state.counters[_WAVEFRONTS] += 1
    return int(start) + latency, int(start)
