"""All that changes while a launch runs, as arrays, and the derived constants the core reads.

In: device tables, program, geometry, the number of context slots. Out: `Core` (numbers prepared for the inner loops) and
`State`. Nothing else in the engine remembers anything, so a run can stop anywhere and go on.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from archex.base import layout as lay
from archex.engine import tables as tab
from archex.engine.policies import SCRATCH, Policies
from archex.engine.servers import SERVER_COLUMNS

INFINITY = 1 << 60

# --- a token holds (ready cycle << TOKEN_SHIFT) | code; codes below TOKEN_FIXED are stall reasons as they are
TOKEN_SHIFT = 5
TOKEN_MASK = 31
TOKEN_FIXED = 16  # result of fixed latency
TOKEN_PREDICATE = 17  # the same, a predicate

# --- decoded code: layout's columns, then
X_LINE = lay.CODE_COLUMNS  # number of the instruction line
X_LINE_START = X_LINE + 1  # 1 at the first instruction of a line
X_SOURCES = X_LINE + 2
X_CODE = X_LINE + 3  # token code of its results
X_QUEUED = X_LINE + 4  # 1: reads fixed-latency results QUEUED_EXTRA later
X_GUARD = X_LINE + 5  # GUARD_EXTRA where it reads a predicate as guard or condition, else 0
X_MEMORY = X_LINE + 6  # 1: takes an entry of the memory queue
X_SLACK = X_LINE + 7  # cycles of backlog its pipe accepts
X_HOLD = X_LINE + 8  # cycles the pipe is held: the interval, or more where operands need more read cycles
DECODED_COLUMNS = X_LINE + 9

# --- waves[w]: one row a wave slot
W_NEXT = 0  # earliest cycle its next instruction may issue by itself; INFINITY: waits for others
W_PC = 1
W_END = 2  # row behind the current block
W_PREVIOUS = 3  # cycle of the last issue, or of the start
W_HOLD = 4  # not before, for the reason W_HOLD_REASON
W_HOLD_REASON = 5
W_FETCH = 6  # instruction there
W_TOKEN = 7  # latest operand, packed
W_BUSY = 8  # busy cycles of its pipe when it became ready
W_PIPE = 9  # row of `pipes`, -1 none
W_PIPE_2 = 10
W_CONTEXT = 11
W_GROUP = 12  # context slot of its workgroup, -1 free
W_BLOCK = 13
W_LANES = 14
W_STORE = 15  # cycle its last store left the unit's port
W_RETIRED = 16  # completion of its last store or reduction
W_ASYNC = 17  # completion of its last asynchronous copy
W_LINE = 18  # instruction line it read last
W_BORN = 19  # cycle its workgroup started
W_BARRIER = 20  # barrier it waits at, -1 none
W_DRY = 21  # 1: its trace ran dry, the next block is not known yet
WAVE_COLUMNS = 24

# --- schedulers[g]
S_NOW = 0  # cycle of its next look
S_READY = 1  # bit a slot
S_WAITING = 2
S_WAKE = 3  # earliest W_NEXT among waiting
S_FREE = 4  # free slots
S_LAST = 5  # slot that issued last, -1
S_QUEUE = 6  # position in its ring of memory-queue entries
S_BUFFERED = 7  # lines ever put into its fetch buffer
S_BRANCH = 8  # cycle of its last taken branch
SCHEDULER_COLUMNS = 9

# --- units[u]
U_NEXT = 0  # earliest S_NOW
U_GROUPS = 1  # workgroups held
U_FREE_FROM = 2  # cycle it can start another workgroup
U_ROOM_HEAD = 3
U_ROOM_TAIL = 4
U_NEAR = 5  # lines ever put into its instruction cache
U_MIDDLE = 6
U_CONSTANT = 7  # lines ever put into its near constant cache
U_CONSTANT_2 = 8
U_PENDING = 9  # misses outstanding at U_PENDING_TIME
U_PENDING_TIME = 10  # bucket of `pending` reached
U_STORES = 11  # position in its ring of outstanding stores
U_FAR_LINE = 12  # furthest instruction line fetched so far
UNIT_COLUMNS = 16

# --- groups[s]: a workgroup in context slot s
G_UNIT = 0
G_LIVE = 1  # waves not yet finished
G_END = 2  # latest end of its waves
G_WORKGROUP = 3
GROUP_COLUMNS = 4
BARRIERS = 16

# --- scalars
NOW = 0  # start of the current quantum
CURSOR = 1  # compute unit to go on with
NOT_STARTED = 2  # workgroups of the grid not yet dispatched
LIVE = 3  # workgroups running
QUEUE_HEAD = 4
QUEUE_TAIL = 5
FREED = 6  # entries in `freed`
STARVED = 7  # entries in `starved`
AGES = 8  # waves started
USES = 9  # cache accesses, the clock of last use
LAST_END = 10  # latest completion of anything
PLACED = 11  # position in the filling order served last
FAULT = 12  # kind of the policy that returned nonsense, index into policies.ARGUMENTS, -1 none
STOP_INSTRUCTIONS = 13
STOP_WORKGROUPS = 14
FINISHED_GROUPS = 15
FIRST_FILL = 16  # starts before slots are re-used
FAULT_VALUE = 17
PARKED = 19  # entries in `starved` that the source could not help yet: they wait for another wave's trace
DISPATCHED = 18  # end of the quantum the dispatcher has served
SCALARS = 24

# --- clocks (float64)
C_DISPATCH = 0  # device-wide dispatcher free from
CLOCKS = 4

# --- status of a cache line, packed: fill cycle << FILL_SHIFT | flags
PENDING_SHIFT = 8
DIRTY_SHIFT = 16
COPIED = 1 << 24  # a near copy exists in another partition
FILL_SHIFT = 25
SECTOR_MASK = 0xFF
FLAG_MASK = (1 << FILL_SHIFT) - 1

PENDING_BUCKETS = 256
PENDING_GRAIN = 32  # cycles a bucket
HOST_LINE = 8  # words of a cache line of the host: sets of `cells` start on one
MEMO_ROWS = 512
MEMO_COLUMNS = 6

# --- levels_int[level]
I_LINE = 0
I_SECTOR = 1
I_WAYS = 2
I_SETS = 3
I_SLICES = 4  # of one partition
I_PARTITIONS = 5
I_BASE = 6  # first word of the level in `cells`
I_SERVER = 7  # first slice server
I_PORT_READ = 8  # first port server (one an upstream unit), read; -1 none
I_PORT_WRITE = 9
I_GROUP_READ = 10
I_GROUP_WRITE = 11
I_TOTAL_READ = 12
I_TOTAL_WRITE = 13
I_WRITE = 14
I_HASHED = 15
I_COPY = 16
I_WHOLE = 17  # mask of all sectors of a line
I_FETCH = 18  # sectors at least fetched
I_INDEX_POLICY = 19  # 1: ask set_index
I_FEEDBACK = 20
I_INSTANCES = 21
I_STRIDE = 22  # words from a set to the next
INT_COLUMNS = 24


class Core(NamedTuple):
    """What the inner loops read."""

    code: np.ndarray  # int64[n, DECODED_COLUMNS]
    block_start: np.ndarray  # int64
    block_records: np.ndarray  # int64
    device: np.ndarray
    unit: np.ndarray
    unit_int: np.ndarray  # int64 of `unit`
    pipes: np.ndarray
    local_memory: np.ndarray
    local_params: np.ndarray
    constant: np.ndarray
    fetch: np.ndarray
    start_cost: np.ndarray
    unit_order: np.ndarray
    launch: np.ndarray  # int64: the columns L_*
    wave_params: np.ndarray
    place_params: np.ndarray


class Paths(NamedTuple):
    """What the memory path reads."""

    levels: np.ndarray
    levels_int: np.ndarray
    dram: np.ndarray
    dram_int: np.ndarray  # int64[DI_*]
    translation: np.ndarray
    level_instance: np.ndarray
    unit_partition: np.ndarray
    unit_group: np.ndarray
    index_params: np.ndarray  # float64[levels, n]
    victim_params: np.ndarray  # float64[levels, n]
    address_params: np.ndarray


DI_CHANNEL = 0  # first channel server
DI_ACTIVATE = 1  # first activation server, -1 none
DI_BANKS = 2
DI_ROW = 3
DI_ACCESS = 4
DI_BATCH = 5
DI_CHANNELS = 6
DI_CHUNK = 7
DI_COLUMNS = 8


L_WORKGROUPS = 0
L_WAVES = 1
L_PER_UNIT = 2
L_THREADS = 3
L_PRIVATE = 4  # bytes a thread's private frame
L_QUANTUM = 5
L_STANDARD = 6  # coalescing fast path allowed
L_WAVE_FEEDBACK = 7
L_PIPES = 8
L_WIDTH = 9  # lanes a wave
L_SLOTS = 10  # context slots
L_WAVE_STATE = 11
LAUNCH_COLUMNS = 16


class State(NamedTuple):
    """What changes in issue, dispatch and fetch."""

    scalars: np.ndarray
    clocks: np.ndarray
    waves: np.ndarray
    age: np.ndarray
    tokens: np.ndarray
    schedulers: np.ndarray
    pipes: np.ndarray  # int64[schedulers * pipes, 2]: free from, busy cycles in all
    queue: np.ndarray  # int64[schedulers, entries]: cycle each entry is free
    units: np.ndarray
    ports: np.ndarray  # float64[units, 4]: free from
    barrier_clock: np.ndarray  # float64[units, 2]: barrier unit free from, fraction carried
    groups: np.ndarray
    barriers: np.ndarray  # int64[slots, BARRIERS]: waves arrived
    members: np.ndarray  # int64[slots, waves]: wave slots of a workgroup
    room: np.ndarray  # int64[units, per unit]: cycles from which rooms are free
    available: np.ndarray  # int64[units]
    held: np.ndarray  # int64[units]
    started: np.ndarray  # int64[slots + 1, 2] ring: (context slot, workgroup) started and waiting
    freed: np.ndarray
    starved: np.ndarray
    buffer_order: np.ndarray  # int64[schedulers, lines]: when the line entered (count), 0 never
    buffer_time: np.ndarray  # arrival
    near_order: np.ndarray  # int64[units, lines]
    near_time: np.ndarray
    middle_order: np.ndarray
    constant_order: np.ndarray
    constant_order_2: np.ndarray
    counters: np.ndarray
    stalls: np.ndarray
    wave_state: np.ndarray
    place_state: np.ndarray


class Memory(NamedTuple):
    """What changes in the memory path (`scalars`, `counters`, `units` are those of `State`)."""

    scalars: np.ndarray
    counters: np.ndarray
    units: np.ndarray
    cells: np.ndarray  # int64: what every cache level holds, see `cache`
    servers: np.ndarray
    pending: np.ndarray  # int64[units, PENDING_BUCKETS]
    stores: np.ndarray  # float64[units, outstanding stores]
    rows: np.ndarray  # int64[channels, banks]: open row
    writes: np.ndarray  # int64[channels]: writes waiting for a batch
    pages: np.ndarray  # int64[entries]
    set_state: np.ndarray  # int64[levels, words]
    lines: np.ndarray  # of the access at hand: line numbers
    sectors: np.ndarray  # ... sectors wanted
    places: np.ndarray  # ... position in the vector cache, -1 none
    times: np.ndarray  # ... float64: request, then completion
    weights: np.ndarray  # ... most lanes on one address (atomics)
    words: np.ndarray  # ... distinct words (atomics)
    addresses: np.ndarray
    scratch: np.ndarray
    memo: np.ndarray


def decode(tables: tab.DeviceTables, program: tab.ProgramTables) -> np.ndarray:
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
    code[:, X_CODE] = np.where(reason == tab.STALL_DEPENDENCY, fixed, reason)
    code[:, X_QUEUED] = queued | memory
    code[:, X_GUARD] = np.where((flags & lay.GUARDED != 0) | (kind == lay.BRANCH), int(tables.unit[tab.GUARD_EXTRA]), 0)
    code[:, X_MEMORY] = memory
    interval = np.maximum(code[:, lay.INTERVAL], 0)
    operands = tables.unit[tab.OPERANDS_PER_CYCLE]
    reads = np.ceil(code[:, X_SOURCES] / operands).astype(np.int64) if operands > 0 else 0
    code[:, X_HOLD] = np.maximum(interval, np.where(interval > 0, reads, 0))
    code[:, X_SLACK] = np.where(has_pipe, rows[:, tab.PIPE_QUEUE], 0).astype(np.int64) * code[:, X_HOLD]
    return code


_MEMORY_KINDS = [
    lay.LOAD, lay.STORE, lay.ATOMIC, lay.REDUCE, lay.LOCAL_LOAD, lay.LOCAL_STORE, lay.LOCAL_ATOMIC, lay.PRIVATE_LOAD,
    lay.PRIVATE_STORE, lay.CROSS_LANE, lay.ASYNC_COPY,
]  # fmt: skip
_RESULT_REASON = (
    ([lay.LOAD, lay.ATOMIC, lay.PRIVATE_LOAD], tab.STALL_MEMORY),
    ([lay.LOCAL_LOAD, lay.LOCAL_ATOMIC, lay.CROSS_LANE, lay.CONSTANT_LOAD], tab.STALL_LOCAL_MEMORY),
    ([lay.MATRIX], tab.STALL_MATRIX),
)


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
        out[I_FETCH] = max(int(row[tab.LEVEL_FETCH_SECTORS]), 1)
        out[I_INDEX_POLICY] = 1
        out[I_FEEDBACK] = policies.victim_feedback[level]
        out[I_SERVER] = servers.take(instances * partitions * slices)
        out[I_PORT_READ] = servers.take(units, row[tab.LEVEL_PORT_READ])
        out[I_PORT_WRITE] = servers.take(units, row[tab.LEVEL_PORT_WRITE])
        out[I_GROUP_READ] = servers.take(groups, row[tab.LEVEL_GROUP_READ])
        out[I_GROUP_WRITE] = servers.take(groups, row[tab.LEVEL_GROUP_WRITE])
        out[I_TOTAL_READ] = servers.take(instances, row[tab.LEVEL_TOTAL_READ])
        out[I_TOTAL_WRITE] = servers.take(instances, row[tab.LEVEL_TOTAL_WRITE])
        out[I_STRIDE] = -(-3 * int(out[I_WAYS]) // HOST_LINE) * HOST_LINE
        base += instances * partitions * slices * int(out[I_SETS] * out[I_STRIDE])
    return numbers, base


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
    launch = np.zeros(LAUNCH_COLUMNS, np.int64)
    launch[[L_WORKGROUPS, L_WAVES, L_PER_UNIT, L_THREADS]] = geometry
    launch[L_PRIVATE], launch[L_PIPES] = program.private_bytes, len(tables.pipes)
    launch[L_QUANTUM] = min(max(int(tables.device[tab.RELAUNCH_CYCLES]), 16), 64)
    launch[L_STANDARD], launch[L_WAVE_FEEDBACK], launch[L_WAVE_STATE] = policies.coalesce_standard, policies.wave_feedback, policies.wave_state
    launch[L_WIDTH] = int(tables.device[tab.WAVE_WIDTH])

    def floats(array: Any) -> np.ndarray:
        return np.ascontiguousarray(array, np.float64)

    def ints(array: Any) -> np.ndarray:
        return np.ascontiguousarray(array, np.int64)

    core = Core(
        code=decode(tables, program), block_start=ints(program.block_start), block_records=ints(program.block_records),
        device=floats(tables.device), unit=floats(tables.unit), unit_int=ints(tables.unit), pipes=floats(tables.pipes),
        local_memory=floats(tables.local_memory), local_params=floats(policies.local_params), constant=floats(tables.constant),
        fetch=floats(tables.fetch), start_cost=floats(tables.start_cost), unit_order=ints(tables.unit_order), launch=launch,
        wave_params=floats(policies.wave_params), place_params=floats(policies.place_params),
    )  # fmt: skip
    paths = Paths(
        levels=floats(tables.levels), levels_int=levels_int, dram=floats(dram), dram_int=dram_int, translation=floats(tables.translation),
        level_instance=ints(tables.level_instance), unit_partition=ints(tables.unit_partition), unit_group=ints(tables.unit_group),
        index_params=_padded(policies.index_params), victim_params=_padded(policies.victim_params),
        address_params=floats(policies.address_params),
    )  # fmt: skip
    return core, paths, {"servers": servers.count, "lines": lines, "channels": channels, "tokens": max(program.tokens, 1)}


def ints(*shape: int, value: int = 0) -> np.ndarray:
    """An int64 array filled with one value."""
    return np.full(shape, value, np.int64)


def allocate(core: Core, sizes: dict[str, int], policies: Policies, slots: int) -> State:
    """Fresh state of a launch: nothing started."""
    units = int(core.device[tab.UNITS])
    schedulers = units * int(core.unit_int[tab.SCHEDULERS])
    slots_of = int(core.unit_int[tab.SLOTS])
    waves = schedulers * slots_of
    code_lines = int(core.code[:, X_LINE].max(initial=0)) + 2
    constants = int(max(core.code[:, lay.OFFSET].max(initial=0), 0)) // max(int(core.constant[tab.CONSTANT_LINE]), 1) + 2
    state = State(
        scalars=ints(SCALARS), clocks=np.zeros(CLOCKS), waves=ints(waves, WAVE_COLUMNS), age=ints(waves), tokens=ints(waves, sizes["tokens"]),
        schedulers=ints(schedulers, SCHEDULER_COLUMNS), pipes=ints(schedulers * max(len(core.pipes), 1), 2),
        queue=ints(schedulers, max(int(core.unit_int[tab.QUEUE_ENTRIES]), 1)), units=ints(units, UNIT_COLUMNS), ports=np.zeros((units, 4)),
        barrier_clock=np.zeros((units, 2)), groups=ints(slots, GROUP_COLUMNS), barriers=ints(slots, BARRIERS),
        members=ints(slots, int(core.launch[L_WAVES])), room=ints(units, int(core.launch[L_PER_UNIT])), available=ints(units),
        held=ints(units), started=ints(slots + 1, 2), freed=ints(slots + 1), starved=ints(waves + 1),
        buffer_order=ints(schedulers, code_lines), buffer_time=ints(schedulers, code_lines), near_order=ints(units, code_lines),
        near_time=ints(units, code_lines), middle_order=ints(units, code_lines), constant_order=ints(units, constants),
        constant_order_2=ints(units, constants), counters=ints(len(tab.COUNTERS)), stalls=ints(tab.REASONS),
        wave_state=ints(max(schedulers * policies.wave_state, 1)), place_state=ints(max(policies.place_state, 1)),
    )  # fmt: skip
    state.waves[:, W_GROUP] = -1
    state.waves[:, W_NEXT] = INFINITY
    state.schedulers[:, [S_NOW, S_WAKE]] = INFINITY
    state.schedulers[:, S_FREE] = (1 << slots_of) - 1
    state.schedulers[:, S_LAST] = -1
    state.units[:, U_NEXT] = INFINITY
    state.units[:, U_ROOM_TAIL] = core.launch[L_PER_UNIT]
    state.units[:, U_FAR_LINE] = -1
    state.scalars[[PLACED, FAULT]] = -1
    state.scalars[NOT_STARTED] = core.launch[L_WORKGROUPS]
    state.scalars[FIRST_FILL] = units * core.launch[L_PER_UNIT]
    state.clocks[C_DISPATCH] = core.device[tab.LAUNCH_CYCLES]
    state.room[:] = int(core.device[tab.LAUNCH_CYCLES])
    return state


def allocate_memory(paths: Paths, sizes: dict[str, int], policies: Policies, state: State, previous: Memory | None) -> Memory:
    """Fresh state of the memory path; what caches hold is taken over from `previous`, as fetched long ago."""
    units = len(state.units)
    outstanding = int(paths.levels[1, tab.LEVEL_PENDING_WRITES]) if len(paths.levels) > 1 else 0
    memory = Memory(
        scalars=state.scalars, counters=state.counters, units=state.units, cells=_aligned(sizes["lines"]), servers=np.zeros((max(sizes["servers"], 1), SERVER_COLUMNS)), pending=ints(units, PENDING_BUCKETS),
        stores=np.zeros((units, max(outstanding, 1))), rows=ints(sizes["channels"], int(paths.dram_int[DI_BANKS]), value=-1),
        writes=ints(sizes["channels"]), pages=ints(max(int(paths.translation[tab.TRANSLATION_ENTRIES]), 1), value=-1),
        set_state=ints(len(paths.levels), max(1, *policies.victim_state)), lines=ints(512), sectors=ints(512), places=ints(512),
        times=np.zeros(512), weights=ints(512), words=ints(512), addresses=ints(64), scratch=ints(SCRATCH),
        memo=ints(MEMO_ROWS, MEMO_COLUMNS, value=-1),
    )  # fmt: skip
    warm = previous is not None and previous.cells.shape == memory.cells.shape
    for row in paths.levels_int:
        tags, used, status = level_cells(row, memory.cells)
        tags[:] = -1
        if previous is not None and warm:
            old_tags, old_used, old_status = level_cells(row, previous.cells)
            flags = old_status & FLAG_MASK
            arrived = (flags >> PENDING_SHIFT) & SECTOR_MASK
            tags[:], used[:] = old_tags, old_used
            status[:] = (flags & ~(SECTOR_MASK << PENDING_SHIFT)) | arrived
    if previous is not None and warm:
        memory.scalars[USES] = previous.scalars[USES]
        memory.set_state[:] = previous.set_state
        memory.rows[:] = previous.rows
        if previous.pages.shape == memory.pages.shape:
            memory.pages[:] = previous.pages
    return memory


def level_cells(row: np.ndarray, cells: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Views of a level's tags, last uses and status words, sets x ways each (`row` of levels_int)."""
    sets = int(row[I_INSTANCES] * row[I_PARTITIONS] * row[I_SLICES] * row[I_SETS])
    ways, base = int(row[I_WAYS]), int(row[I_BASE])
    stride = int(row[I_STRIDE])
    level = cells[base : base + sets * stride].reshape(sets, stride)
    return level[:, :ways], level[:, ways : 2 * ways], level[:, 2 * ways : 3 * ways]


def _aligned(words: int) -> np.ndarray:
    """Zeros that start on a cache line of the host."""
    room = np.zeros(words + HOST_LINE, np.int64)
    skipped = -(room.ctypes.data // 8) % HOST_LINE
    return room[skipped : skipped + words]
