"""The numbers that the inner loops read, derived once a launch.

In: device tables, policies, program, geometry. Out: `Core`, `Paths` (see `state`) and sizes for `allocate`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from archex.base import layout as lay
from archex.engine import tables as tab
from archex.engine.bundle import NARROW
from archex.engine.policies import RESULTS, Policies, PolicyError, as_written, name_of
from archex.engine.standard import pick_oldest, pick_workgroup, victim_oldest
from archex.engine.state import (
    DECODED_COLUMNS,
    DI_ACCESS,
    DI_ACTIVATE,
    DI_BANKS,
    DI_BATCH,
    DI_CHANNEL,
    DI_CHANNELS,
    DI_CHUNK,
    DI_COLUMNS,
    DI_HOME,
    DI_LINKS,
    DI_PAGE_SETS,
    DI_PAGE_WAYS,
    DI_PEERS,
    DI_ROW,
    DI_WALK,
    HOST_LINE,
    I_APART,
    I_BASE,
    I_COPY,
    I_FEEDBACK,
    I_FETCH,
    I_GROUP_READ,
    I_GROUP_WRITE,
    I_HASHED,
    I_INDEX_POLICY,
    I_INSTANCES,
    I_LINE,
    I_MERGED,
    I_OLDEST,
    I_PARTITIONS,
    I_PORT_READ,
    I_PORT_WRITE,
    I_REPEATED,
    I_ROUTED,
    I_RUN,
    I_SECTOR,
    I_SERVER,
    I_SETS,
    I_SLICES,
    I_STRIDE,
    I_TOTAL_READ,
    I_TOTAL_WRITE,
    I_TURN,
    I_WAYS,
    I_WHOLE,
    I_WRITE,
    INT_COLUMNS,
    L_BESIDE,
    L_CLUSTER,
    L_LOCAL_PERIOD,
    L_PER_UNIT,
    L_PIPES,
    L_PRIVATE,
    L_QUANTUM,
    L_RULE,
    L_STANDARD,
    L_THREADS,
    L_WAVE_FEEDBACK,
    L_WAVE_STATE,
    L_WAVES,
    L_WIDTH,
    L_WORKGROUPS,
    LAUNCH_COLUMNS,
    RULE_OLDEST,
    RULE_OTHER,
    RULE_WORKGROUP,
    TOKEN_FIXED,
    TOKEN_PREDICATE,
    X_CODE,
    X_FULL,
    X_GUARD,
    X_HOLD,
    X_LINE,
    X_LINE_START,
    X_MEMORY,
    X_QUEUED,
    X_SHARED,
    X_SLACK,
    X_SOURCES,
    Core,
    Paths,
)
from archex.engine.used_again import lying_together

#: The engine's own rules of wave schedulers.
_RULES = {pick_oldest: RULE_OLDEST, pick_workgroup: RULE_WORKGROUP}
#: Most cycles that a register file may say it needs for one instruction.
MOST_READ_CYCLES = 64


def decode(tables: tab.DeviceTables, policies: Policies, program: tab.ProgramTables) -> np.ndarray:
    """Machine code with the derived columns."""
    code = np.zeros((len(program.code), DECODED_COLUMNS), np.int64)
    code[:, : lay.CODE_COLUMNS] = program.code
    kind, pipe, flags = code[:, lay.KIND], code[:, lay.PIPE], code[:, lay.FLAGS]
    line = max(int(tables.fetch[tab.FETCH_LINE]), 1)
    code[:, X_LINE] = code[:, lay.ADDRESS] // line
    starts = np.ones(len(code), bool)
    starts[1:] = code[1:, X_LINE] != code[:-1, X_LINE]
    code[:, X_LINE_START] = starts
    code[:, X_SOURCES] = (code[:, lay.SRC0 : lay.SRC0 + lay.SRC_COUNT] >= 0).sum(1)
    has_pipe = pipe >= 0
    rows = tables.pipes[np.where(has_pipe, pipe, 0)]
    memory = np.isin(kind, _MEMORY_KINDS)
    reason = np.where(has_pipe, rows[:, tab.PIPE_REASON], tab.STALL_DEPENDENCY).astype(np.int64)
    queued = has_pipe & (rows[:, tab.PIPE_QUEUED] > 0)
    for kinds, code_of in _RESULT_REASON:
        reason[np.isin(kind, kinds)] = code_of
    predicate = lay.CLASSES.index("predicate")
    fixed = np.where(code[:, lay.CLASS] == predicate, TOKEN_PREDICATE, TOKEN_FIXED)
    code[:, X_CODE] = np.where((reason == tab.STALL_DEPENDENCY) & (kind != lay.MATRIX), fixed, reason)
    code[:, X_QUEUED] = queued | memory
    code[:, X_GUARD] = np.where((flags & lay.GUARDED != 0) | (kind == lay.BRANCH), int(tables.unit[tab.GUARD_EXTRA]), 0)
    code[:, X_MEMORY] = memory
    full = np.where(has_pipe, rows[:, tab.PIPE_FULL], tab.STALL_EXECUTION_UNIT).astype(np.int64)
    # What runs beside its wave is held back where it is dispatched, not by a queue of its own.
    code[:, X_FULL] = np.where((kind == lay.MATRIX) & (flags & lay.BESIDE != 0), tab.STALL_DISPATCH, full)
    interval = np.maximum(code[:, lay.INTERVAL], 0)
    reads = np.where(interval > 0, operand_reads(policies, code), 1)
    code[:, X_HOLD] = np.maximum(interval, np.where(interval > 0, -(-reads // max(policies.collectors, 1)), 0))
    code[:, lay.LATENCY] += reads - 1
    code[:, X_SLACK] = np.where(has_pipe, rows[:, tab.PIPE_QUEUE], 0).astype(np.int64) * code[:, X_HOLD]
    for column, bit in ((lay.PIPE, 1), (lay.PIPE_ALTERNATIVE, 2)):
        scope = tables.pipes[np.maximum(code[:, column], 0), tab.PIPE_SCOPE]
        code[:, X_SHARED] |= np.where((code[:, column] >= 0) & (scope > 0), bit, 0)
    return code


def operand_reads(policies: Policies, code: np.ndarray) -> np.ndarray:
    """Cycles in which each instruction's operands leave the register file; one where it has none. Tokens stand for registers."""
    found = np.ones(len(code), np.int64)
    for k in range(len(code)):
        count = int(code[k, X_SOURCES])
        if count > 1:
            found[k] = policies.read_cycles(code[k, lay.SRC0 : lay.SRC0 + lay.SRC_COUNT], count, policies.read_params)
            if not 1 <= found[k] <= MOST_READ_CYCLES:
                raise PolicyError(
                    "read_cycles", name_of(policies.read_cycles), f"returned {found[k]}; it must return {RESULTS['read_cycles']}"
                )
    return found


_MEMORY_KINDS = [
    lay.LOAD, lay.STORE, lay.ATOMIC, lay.REDUCE, lay.LOCAL_LOAD, lay.LOCAL_STORE, lay.LOCAL_ATOMIC, lay.PRIVATE_LOAD,
    lay.PRIVATE_STORE, lay.CROSS_LANE, lay.ASYNC_COPY,
]  # fmt: skip
_RESULT_REASON = (
    ([lay.LOAD, lay.ATOMIC, lay.PRIVATE_LOAD, lay.ASYNC_COPY], tab.STALL_MEMORY),
    ([lay.LOCAL_LOAD, lay.LOCAL_ATOMIC, lay.CROSS_LANE, lay.CONSTANT_LOAD], tab.STALL_LOCAL_MEMORY),
)


def _beside(program: tab.ProgramTables) -> bool:
    """Whether a program starts something beside its waves, or waits for signals."""
    kind, flags = program.code[:, lay.KIND], program.code[:, lay.FLAGS]
    return bool(((kind > lay.MATRIX) | ((kind == lay.MATRIX) & (flags & lay.BESIDE != 0))).any())


class _Servers:
    """Hands out server numbers."""

    def __init__(self) -> None:
        self.count = 1  # row 0 is the clock

    def take(self, number: int, rate: float = 1.0) -> int:
        if rate <= 0:
            return -1
        self.count += number
        return self.count - number


def _levels(tables: tab.DeviceTables, policies: Policies, servers: _Servers) -> tuple[np.ndarray, int]:
    """Integer parameters of the cache levels and the number of lines in all."""
    units = int(tables.device[tab.UNITS])
    groups = int(tables.unit_group.max()) + 1
    numbers = np.zeros((len(tables.levels), INT_COLUMNS), np.int64)
    base = 0
    for level, (row, out) in enumerate(zip(tables.levels, numbers, strict=True)):
        instances, partitions = int(row[tab.LEVEL_INSTANCES]), max(int(row[tab.LEVEL_PARTITIONS]), 1)
        slices = max(int(row[tab.LEVEL_SLICES]) // partitions, 1)
        line, sector = int(row[tab.LEVEL_LINE]), int(row[tab.LEVEL_SECTOR])
        out[[I_LINE, I_SECTOR, I_WAYS, I_SETS, I_SLICES, I_PARTITIONS, I_BASE, I_INSTANCES]] = (
            line, sector, int(row[tab.LEVEL_WAYS]), int(row[tab.LEVEL_SETS]), slices, partitions, base, instances,
        )  # fmt: skip
        out[I_WRITE], out[I_HASHED], out[I_COPY] = int(row[tab.LEVEL_WRITE]), int(row[tab.LEVEL_HASHED]), int(row[tab.LEVEL_COPY_NEAR])
        out[I_WHOLE] = (1 << (line // sector)) - 1
        out[[I_RUN, I_TURN, I_APART]] = row[tab.LEVEL_RUN] // line, max(row[tab.LEVEL_TURN] // line, 1), max(row[tab.LEVEL_APART], 1)
        out[I_FETCH] = max(int(row[tab.LEVEL_FETCH_SECTORS]), 1)
        out[I_INDEX_POLICY] = 1
        out[I_OLDEST] = as_written(policies.pick_victim[level]) is victim_oldest
        out[I_FEEDBACK] = policies.victim_feedback[level]
        out[I_ROUTED] = row[tab.LEVEL_ROUTED] > 0
        out[I_REPEATED] = level == 0 and not policies.coalesce_standard
        out[I_SERVER] = servers.take(instances * partitions * slices)
        out[I_PORT_READ] = servers.take(units, row[tab.LEVEL_PORT_READ])
        shared = row[tab.LEVEL_PORT_SHARED] > 0
        out[I_PORT_WRITE] = out[I_PORT_READ] if shared else servers.take(units, row[tab.LEVEL_PORT_WRITE])
        out[I_GROUP_READ] = servers.take(groups, row[tab.LEVEL_GROUP_READ])
        out[I_MERGED] = servers.take(groups, row[tab.LEVEL_GROUP_MERGED])
        out[I_GROUP_WRITE] = servers.take(groups, row[tab.LEVEL_GROUP_WRITE])
        out[I_TOTAL_READ] = servers.take(instances, row[tab.LEVEL_TOTAL_READ])
        out[I_TOTAL_WRITE] = servers.take(instances, row[tab.LEVEL_TOTAL_WRITE])
        out[I_STRIDE] = -(-3 * int(out[I_WAYS]) // HOST_LINE) * HOST_LINE
        base += instances * partitions * slices * int(out[I_SETS] * out[I_STRIDE])
    return numbers, base


def _peers(tables: tab.DeviceTables, levels_int: np.ndarray, servers: _Servers, dram_int: np.ndarray, lines: int) -> tuple[np.ndarray, int]:
    """The levels as other devices have them, and words of `cells` that theirs take behind the `lines` words of this one."""
    there, peers = levels_int.copy(), len(tables.peer_latency)
    single = np.flatnonzero(tables.levels[1:, tab.LEVEL_INSTANCES] == 1)
    home = int(single[0]) + 1 if len(single) else len(there)
    dram_int[[DI_HOME, DI_LINKS, DI_PEERS]] = home, servers.take(len(tables.peer_links)), servers.take(peers)
    if not peers or home == len(there):
        return there, 0
    row = there[home]
    row[I_BASE], row[I_INSTANCES], row[I_OLDEST], row[I_FEEDBACK] = lines, peers, 1, 0
    row[I_SERVER] = servers.take(peers * int(row[I_PARTITIONS] * row[I_SLICES]))
    return there, peers * int(row[I_PARTITIONS] * row[I_SLICES] * row[I_SETS] * row[I_STRIDE])


def _padded(rows: tuple[np.ndarray, ...]) -> np.ndarray:
    """Parameter vectors of different lengths as one table."""
    out = np.zeros((len(rows), max(1, *(len(row) for row in rows))))
    for target, row in zip(out, rows, strict=True):
        target[: len(row)] = row
    return out


def prepare(
    tables: tab.DeviceTables, policies: Policies, program: tab.ProgramTables, geometry: tab.Geometry
) -> tuple[Core, Paths, dict[str, int]]:
    """The constants of a launch, and sizes for `allocate`."""
    servers = _Servers()
    levels_int, lines = _levels(tables, policies, servers)
    dram = tables.dram
    channels = max(int(dram[tab.DRAM_CHANNELS]), 1)
    dram_int = np.zeros(DI_COLUMNS, np.int64)
    dram_int[DI_CHANNEL], dram_int[DI_ACTIVATE] = servers.take(channels), servers.take(channels, dram[tab.DRAM_ACTIVATES])
    sizes = (tab.DRAM_BANKS, tab.DRAM_ROW, tab.DRAM_ACCESS, tab.DRAM_WRITE_BATCH, tab.DRAM_CHANNELS, tab.DRAM_CHUNK)
    dram_int[[DI_BANKS, DI_ROW, DI_ACCESS, DI_BATCH, DI_CHANNELS, DI_CHUNK]] = [max(int(dram[column]), 1) for column in sizes]
    translation = tables.translation
    entries, ways = int(translation[tab.TRANSLATION_ENTRIES]), int(translation[tab.TRANSLATION_WAYS])
    buffers = int(tables.levels[1, tab.LEVEL_INSTANCES]) if translation[tab.TRANSLATION_EARLY] > 0 else 1
    dram_int[DI_PAGE_WAYS] = min(ways, entries) if ways > 0 else entries
    dram_int[DI_PAGE_SETS] = entries // dram_int[DI_PAGE_WAYS] if entries > 0 else 0
    dram_int[DI_WALK] = servers.take(buffers, translation[tab.TRANSLATION_INTERVAL] if entries > 0 else 0)
    there, words = _peers(tables, levels_int, servers, dram_int, lines)
    launch = np.zeros(LAUNCH_COLUMNS, np.int64)
    launch[[L_WORKGROUPS, L_WAVES, L_PER_UNIT, L_THREADS]] = geometry[:4]
    launch[L_CLUSTER], launch[L_BESIDE] = geometry.cluster, bool(_beside(program))
    launch[L_PRIVATE], launch[L_PIPES] = program.private_bytes, len(tables.pipes)
    launch[L_QUANTUM] = min(max(int(tables.device[tab.RELAUNCH_CYCLES]), 16), 64)
    if geometry.cluster > 1:  # what one compute unit tells another is exact as far as the way takes a quantum
        launch[L_QUANTUM] = min(int(launch[L_QUANTUM]), max(int(tables.aside[tab.ASIDE_REMOTE_LATENCY]), 8))
    alone = np.arange(int(tables.device[tab.UNITS]))
    owners = tables.owners if tables.owners.size else np.tile(alone, (tab.OWNERS, 1))
    if (owners != alone).any():  # compute units take turns at what they share, so they advance together
        launch[L_QUANTUM] = 1
    launch[L_STANDARD], launch[L_WAVE_FEEDBACK] = policies.coalesce_standard, policies.wave_feedback
    launch[L_RULE] = _RULES.get(as_written(policies.pick_wave), RULE_OTHER)
    launch[L_WAVE_STATE], launch[L_LOCAL_PERIOD] = policies.wave_state, policies.local_period
    launch[L_WIDTH] = int(tables.device[tab.WAVE_WIDTH])

    def floats(array: Any) -> np.ndarray:
        return np.ascontiguousarray(array, np.float64)

    def ints(array: Any) -> np.ndarray:
        return np.ascontiguousarray(array, np.int64)

    core = Core(
        code=lying_together([decode(tables, policies, program).astype(NARROW)])[0],
        block_start=ints(program.block_start), block_records=ints(program.block_records),
        device=floats(tables.device), unit=floats(tables.unit), unit_int=ints(tables.unit), pipes=floats(tables.pipes),
        local_memory=floats(tables.local_memory), line_params=floats(policies.line_params),
        local_params=floats(policies.local_params), constant=floats(tables.constant),
        fetch=floats(tables.fetch), start_cost=floats(tables.start_cost), unit_order=ints(tables.unit_order), launch=launch,
        wave_params=floats(policies.wave_params), place_params=floats(policies.place_params),
        aside=floats(tables.aside), owners=ints(owners),
    )  # fmt: skip
    paths = Paths(
        levels=floats(tables.levels), levels_int=levels_int, dram=floats(dram), dram_int=dram_int, translation=floats(tables.translation),
        level_instance=ints(tables.level_instance), unit_partition=ints(tables.unit_partition), unit_group=ints(tables.unit_group),
        routes=floats(tables.routes),
        index_params=_padded(policies.index_params), victim_params=_padded(policies.victim_params),
        address_params=floats(policies.address_params),
        peer_levels=there, peer_ways=ints(tables.peer_ways.reshape(-1, tables.peer_ways.shape[-1])), peer_links=floats(tables.peer_links),
        peer_latency=floats(tables.peer_latency), link=floats(tables.link),
    )  # fmt: skip
    pages = buffers * int(dram_int[DI_PAGE_SETS] * dram_int[DI_PAGE_WAYS])
    return core, paths, {
        "pages": pages, "servers": servers.count, "lines": lines + words, "peer_words": words, "channels": channels,
        "tokens": max(program.tokens, 1),
    }  # fmt: skip
