"""The state of a launch before its first cycle.

In: `Core`, `Paths` and sizes of `prepare`, the number of context slots, the memory of the launch before. Out: `State`, `Memory`.
"""

from __future__ import annotations

from collections.abc import Container
from typing import Any

import numpy as np

from archex.base import layout as lay
from archex.engine import tables as tab
from archex.engine.beside import RING_COLUMNS, RINGS
from archex.engine.clusters import CLUSTER_COLUMNS
from archex.engine.constants import BANK_BYTES
from archex.engine.merging import MERGE_COLUMNS, MERGE_ROWS
from archex.engine.patterns import PATTERN_COLUMNS, PATTERN_ROWS
from archex.engine.policies import SCRATCH, Policies
from archex.engine.ports import PORTS
from archex.engine.servers import SERVER_COLUMNS
from archex.engine.signals import SIGNAL_COLUMNS, SIGNALS
from archex.engine.state import (
    ATOMIC_COLUMNS,
    BARRIERS,
    C_DISPATCH,
    CHANGED_WORDS,
    CLOCKS,
    DI_BANKS,
    DI_HOME,
    FAULT,
    FLAG_MASK,
    GATE_COLUMNS,
    GROUP_COLUMNS,
    I_BASE,
    I_INSTANCES,
    I_MERGED,
    I_PARTITIONS,
    I_SETS,
    I_SLICES,
    I_STRIDE,
    I_WAYS,
    INFINITY,
    L_BESIDE,
    L_PER_UNIT,
    L_WAVES,
    L_WORKGROUPS,
    LOG_COLUMNS,
    MEMO_COLUMNS,
    MEMO_ROWS,
    NEXT_ROOM,
    NOT_STARTED,
    PENDING_BUCKETS,
    PENDING_SHIFT,
    PLACED,
    S_FREE,
    S_LAST,
    S_NOW,
    S_WAKE,
    SCALARS,
    SCHEDULER_COLUMNS,
    SECTOR_MASK,
    U_FAR_LINE,
    U_NEXT,
    U_ROOM_TAIL,
    UNIT_COLUMNS,
    USES,
    W_GROUP,
    WAVE_COLUMNS,
    X_LINE,
    Core,
    Memory,
    Paths,
    State,
)
from archex.engine.translation import KNOWN
from archex.engine.used_again import lying_together, zeros


def ints(*shape: int, value: int = 0) -> np.ndarray:
    """An int64 array filled with one value."""
    return np.full(shape, value, np.int64)


def together(fields: Any, apart: Container[str] = ()) -> Any:
    """A named tuple whose arrays, but for those `apart`, lie in one piece, each from a cache line of the host on: few pages of the host."""
    moved = [name for name in fields._fields if name not in apart]
    return fields._replace(**dict(zip(moved, lying_together([getattr(fields, name) for name in moved]), strict=True)))


def allocate(core: Core, sizes: dict[str, int], policies: Policies, slots: int, log: int = 0) -> State:
    """Fresh state of a launch: nothing started; room for `log` instructions of the wave that is followed."""
    units = int(core.device[tab.UNITS])
    schedulers = units * int(core.unit_int[tab.SCHEDULERS])
    slots_of = int(core.unit_int[tab.SLOTS])
    waves = schedulers * slots_of
    code_lines = int(core.code[:, X_LINE].max(initial=0)) + 2
    by_lane = bool(((core.code[:, lay.KIND] == lay.CONSTANT_LOAD) & (core.code[:, lay.RECORD] >= 0)).any())
    furthest = BANK_BYTES if by_lane else int(max(core.code[:, lay.OFFSET].max(initial=0), 0))
    constants = furthest // max(int(core.constant[tab.CONSTANT_LINE]), 1) + 2
    beside = core.launch[L_BESIDE] != 0
    state = together(State(
        scalars=ints(SCALARS), clocks=np.zeros(CLOCKS), waves=ints(waves, WAVE_COLUMNS), age=ints(waves),
        ready_from=ints(waves, value=INFINITY), gates=ints(waves, GATE_COLUMNS),
        tokens=ints(waves, sizes["tokens"]),
        schedulers=ints(schedulers, SCHEDULER_COLUMNS), pipes=ints(schedulers * max(len(core.pipes), 1), 2),
        queue=ints(schedulers, max(int(core.unit_int[tab.QUEUE_ENTRIES]), 1)), units=ints(units, UNIT_COLUMNS),
        ports=np.zeros((units, PORTS)),
        changed=ints(units, CHANGED_WORDS, value=-1), barrier_clock=np.zeros((units, 3)),
        groups=ints(slots, GROUP_COLUMNS), barriers=ints(slots, BARRIERS),
        members=ints(slots, int(core.launch[L_WAVES])), room=ints(units, int(core.launch[L_PER_UNIT])), available=ints(units),
        held=ints(units), started=ints(slots + 1, 2), freed=ints(slots + 1), starved=ints(waves + 1),
        buffer_order=ints(schedulers, code_lines), buffer_time=ints(schedulers, code_lines), near_order=ints(units, code_lines),
        near_time=ints(units, code_lines), middle_order=ints(units, code_lines), constant_order=ints(units, constants),
        constant_order_2=ints(units, constants), counters=ints(len(tab.COUNTERS)), stalls=ints(tab.REASONS),
        entered=ints(len(core.block_records)), accesses=ints(len(core.code), 2),
        wave_state=ints(max(schedulers * policies.wave_state, 1)), place_state=ints(max(policies.place_state, 1)),
        log=ints(log, LOG_COLUMNS), rings=ints(waves if beside else 1, RINGS, RING_COLUMNS),
        signals=ints(slots if beside else 1, SIGNALS, SIGNAL_COLUMNS), woken=ints(waves + 1, 3), clusters=ints(slots, CLUSTER_COLUMNS),
        offered=ints(units),
    ))  # fmt: skip
    state.waves[:, W_GROUP] = -1
    state.schedulers[:, [S_NOW, S_WAKE]] = INFINITY
    state.schedulers[:, S_FREE] = (1 << slots_of) - 1
    state.schedulers[:, S_LAST] = -1
    state.units[:, U_NEXT] = INFINITY
    state.units[:, U_ROOM_TAIL] = core.launch[L_PER_UNIT]
    state.units[:, U_FAR_LINE] = -1
    state.scalars[[PLACED, FAULT]] = -1
    state.scalars[NEXT_ROOM] = INFINITY
    state.scalars[NOT_STARTED] = core.launch[L_WORKGROUPS]
    state.clocks[C_DISPATCH] = core.device[tab.LAUNCH_CYCLES]
    state.room[:] = int(core.device[tab.LAUNCH_CYCLES])
    return state


def allocate_memory(paths: Paths, sizes: dict[str, int], policies: Policies, state: State, previous: Memory | None) -> Memory:
    """Fresh state of the memory path; what caches hold is taken over from `previous`, as fetched long ago."""
    units = len(state.units)
    outstanding = int(paths.levels[1, tab.LEVEL_PENDING_WRITES]) if len(paths.levels) > 1 else 0
    groups = int(paths.unit_group.max()) + 1 if paths.levels_int[1:, I_MERGED].max(initial=-1) >= 0 else 1
    memory = together(Memory(
        scalars=state.scalars, counters=state.counters, units=state.units, cells=zeros(sizes["lines"]),
        servers=np.zeros((max(sizes["servers"], 1), SERVER_COLUMNS)), pending=ints(units, PENDING_BUCKETS),
        stores=np.zeros((units, max(outstanding, 1))), rows=ints(sizes["channels"], int(paths.dram_int[DI_BANKS]), value=-1),
        writes=ints(sizes["channels"]), pages=ints(max(sizes["pages"], 1), 3, value=-1),
        merges=ints(groups * MERGE_ROWS, MERGE_COLUMNS, value=-1),
        set_state=ints(len(paths.levels), max(1, *policies.victim_state)), peer_words=ints(1, value=sizes["peer_words"]),
        lines=ints(512), sectors=ints(512), places=ints(512),
        firsts=ints(512), spots=ints(512),
        times=np.zeros(512), weights=ints(512), words=ints(512), atomics=ints(512, ATOMIC_COLUMNS),
        addresses=ints(64), scratch=ints(SCRATCH),
        memo=ints(MEMO_ROWS, MEMO_COLUMNS, value=-1), patterns=ints(PATTERN_ROWS, PATTERN_COLUMNS),
    ), ("scalars", "counters", "units", "cells"))  # fmt: skip
    if previous is None:
        return memory
    # The first level is as large as local memory leaves it, the others lie behind it, those of other devices last.
    theirs, before = int(memory.peer_words[0]), int(previous.peer_words[0])
    moved = previous.cells.size - before - (memory.cells.size - theirs)
    kept = [row for row in paths.levels_int if row[I_INSTANCES] == 1]  # nothing keeps several alike: a launch begins with them empty
    if theirs == before and theirs:
        kept.append(paths.peer_levels[paths.dram_int[DI_HOME]])
    for row in kept:
        tags, used, status = level_cells(row, memory.cells)
        old_tags, old_used, old_status = level_cells(row, previous.cells, moved)
        flags = old_status & FLAG_MASK
        arrived = (flags >> PENDING_SHIFT) & SECTOR_MASK
        tags[:], used[:] = old_tags, old_used
        status[:] = (flags & ~(SECTOR_MASK << PENDING_SHIFT)) | arrived
    memory.scalars[USES] = previous.scalars[USES]
    memory.set_state[:] = previous.set_state
    memory.rows[:] = previous.rows
    if previous.pages.shape == memory.pages.shape:
        memory.pages[:] = previous.pages
        memory.pages[:, KNOWN] = 0
    return memory


def level_cells(row: np.ndarray, cells: np.ndarray, moved: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Views of a level's tags, last uses and status words, sets x ways each (`row` of levels_int); `moved`: it lies so much further on."""
    sets = int(row[I_INSTANCES] * row[I_PARTITIONS] * row[I_SLICES] * row[I_SETS])
    ways, base = int(row[I_WAYS]), int(row[I_BASE]) + moved
    stride = int(row[I_STRIDE])
    level = cells[base : base + sets * stride].reshape(sets, stride)
    return level[:, :ways], level[:, ways : 2 * ways], level[:, 2 * ways : 3 * ways]
