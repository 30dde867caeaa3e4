"""All that changes while a launch runs, as arrays, and the derived constants the core reads: what each column means.

`Core` and `Paths` are numbers prepared for the inner loops (by `prepare`), `State` and `Memory` what changes (made by `allocate`).
Nothing else in the engine remembers anything, so a run can stop anywhere and go on.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from archex.base import layout as lay
from archex.engine import tables as tab

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
X_FULL = X_LINE + 9  # stall reason while others hold its pipe
X_SHARED = X_LINE + 10  # 1: its pipe is the compute unit's, not the scheduler's; 2: the second pipe is
DECODED_COLUMNS = 32  # a row fills cache lines of the host, see `bundle.NARROW`

# --- waves[w]: one row a wave slot; what each issue needs comes first, so that it lies in few cache lines of the host
W_PC = 0
W_END = 1  # row behind the current block
W_PREVIOUS = 2  # cycle of the last issue, or of the start
W_HOLD = 3  # not before, for the reason W_HOLD_REASON
W_HOLD_REASON = 4
W_FETCH = 5  # instruction there
W_TOKEN = 6  # latest operand, packed
W_BUSY = 7  # busy cycles of its pipe when it became ready
W_PIPE = 8  # row of `pipes`, -1 none
W_PIPE_2 = 9
W_LINE = 10  # instruction line it read last
W_BARRIER = 11  # barrier it waits at, -1 none; from ASIDE on: what it waits for there (see `signals`, `clusters`)
W_LANES = 12
W_CONTEXT = 13
W_GROUP = 14  # context slot of its workgroup, -1 free
W_BLOCK = 15
W_STORE = 16  # cycle its last store left the unit's port
W_RETIRED = 17  # completion of its last store or reduction
W_CLUSTER = 18  # phases of its cluster's barrier that must have ended for it to pass
W_BORN = 19  # cycle its workgroup started
W_DRY = 20  # 1: its trace ran dry, the next block is not known yet
W_NEEDED = 21  # phases that must have ended of what it waits for
W_OWN = 22  # its last use of a pipe, packed by `stalls.note_use`
W_LEFT = 23  # lanes for which its block is run again, 0 all
W_LOOKED = 24  # cycle in which they read what they compare with
WAVE_COLUMNS = 32
ASIDE = 1 << 21

# --- gates[w]: what a scheduler asks of its ready waves at every turn
GATE_PIPES = 0  # row of `pipes`, and that of the second pipe plus 1 << GATE_SHIFT; -1 none
GATE_SLACK = 1  # cycles of backlog the pipe accepts, times 2, plus 1 at a memory instruction
GATE_COLUMNS = 2
GATE_SHIFT = 32

# --- schedulers[g]
S_NOW = 0  # cycle of its next look
S_READY = 1  # bit a slot
S_WAITING = 2
S_WAKE = 3  # earliest `ready_from` among waiting
S_FREE = 4  # free slots
S_LAST = 5  # slot that issued last, -1
S_QUEUE = 6  # position in its ring of memory-queue entries
S_BUFFERED = 7  # lines ever put into its fetch buffer
S_BRANCH = 8  # cycle of its last taken branch
S_LEFT = 9  # instructions left of a turn that a dry trace has interrupted
S_LIVE = 10  # waves that have not ended
S_SINCE = 11  # since when it has had some, or until when it had
S_BANK = 12  # cycle from which each of two banks of registers can be read, S_BANK and S_BANK + 1
S_READER = 14  # wave slot whose operands were read last
S_BLOCKED = 15  # cycle up to which operands that come late hold up issue
SCHEDULER_COLUMNS = 16

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
U_ISSUED = 13  # wave-instructions issued
U_LIVE = 14  # as S_LIVE and S_SINCE
U_SINCE = 15
U_TURN = 16  # its scheduler that goes first where several could in a cycle: the one after the last that took a shared pipe
UNIT_COLUMNS = 17

# --- groups[s]: a workgroup in context slot s
G_UNIT = 0
G_LIVE = 1  # waves not yet finished
G_END = 2  # latest end of its waves
G_WORKGROUP = 3
G_SIGNALS = 4  # barriers in its local memory seen so far
GROUP_COLUMNS = 5
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
AGES = 8  # the next wave's age: start order, see policies.GROUP_AGES
USES = 9  # cache accesses, the clock of last use
LAST_END = 10  # latest completion of anything
PLACED = 11  # position in the filling order served last
FAULT = 12  # kind of the policy that returned nonsense, index into policies.ARGUMENTS, -1 none
STOP_INSTRUCTIONS = 13
STOP_WORKGROUPS = 14
FINISHED_GROUPS = 15
FAULT_VALUE = 17
LINES = 23  # lines of the load at hand
LOG_WORKGROUP = 20  # whose wave is logged, where `log` has room
LOG_WAVE = 21  # which of its waves
LOGGED = 22  # instructions logged, or that would have been
PARKED = 19  # entries in `starved` that the source could not help yet: they wait for another wave's trace
DISPATCHED = 18  # end of the quantum the dispatcher has served
WOKEN = 25  # entries in `woken`
NEXT_ROOM = 24  # of a launch of clusters: cycle of the next room that may let one start, INFINITY none
SCALARS = 26

# --- log[i]: an instruction of the wave that is followed
LOG_SINCE = 0  # cycle from which it could have been issued, had it waited for nothing
LOG_ISSUE = 1
LOG_DONE = 2  # its result is there
LOG_PC = 3
LOG_BLOCK = 4
LOG_LANES = 5
LOG_STALLS = 6  # cycles it waited, by reason
LOG_COLUMNS = LOG_STALLS + tab.REASONS

# --- clocks (float64)
C_DISPATCH = 0  # device-wide dispatcher free from
C_ENDED = 1  # latest cycle at which a workgroup ended
C_ENDING = 2  # cycles of ended workgroups ahead of the dispatcher at that time
CLOCKS = 4

# --- status of a cache line, packed: fill cycle << FILL_SHIFT | flags
PENDING_SHIFT = 8
DIRTY_SHIFT = 16
COPIED = 1 << 24  # a near copy exists in another partition
FILL_SHIFT = 25
EMPTY = 0  # tag of a way without a line; a line's is the complement of its number, so that nothing is held by fresh zeros
SECTOR_MASK = 0xFF
FLAG_MASK = (1 << FILL_SHIFT) - 1

PENDING_BUCKETS = 256
PENDING_GRAIN = 32  # cycles a bucket
CHANGED_WORDS = 4096  # words of local memory told apart where waves compare and swap, those of workgroups CHANGED_APART apart
CHANGED_APART = 997
A_PASSES = 0  # of a line of an atomic: passes over its sectors
A_BUSIEST = 1  # ... the sector that takes the most
A_LANES = 2  # ... its lanes
A_SECTORS = 3  # ... from here on: passes by sector
ATOMIC_COLUMNS = 32
HOST_LINE = 8  # words of a cache line of the host: sets of `cells` start on one
SLICE_SHIFT = 32  # a spot (see `cache`), packed: home partition, slice, set
HOME_SHIFT = 48
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
I_REPEATED = 23  # vector cache: 1: an access may name a line more than once
I_ROUTED = 24
I_MERGED = 25  # servers of what a group delivers, reads that were merged included; -1: they are not merged
I_OLDEST = 26  # 1: `pick_victim` is the engine's own rule, which is compiled in
I_RUN = 27  # lines of a run, which lie in one slice of each partition; 0: each line by itself
I_TURN = 28  # lines of a run until the next partition's turn
I_APART = 29  # runs in a row that lie in slices of their own
INT_COLUMNS = 30


class Core(NamedTuple):
    """What the inner loops read."""

    code: np.ndarray  # NARROW[n, DECODED_COLUMNS]
    block_start: np.ndarray  # int64
    block_records: np.ndarray  # int64
    device: np.ndarray
    unit: np.ndarray
    unit_int: np.ndarray  # int64 of `unit`
    pipes: np.ndarray
    local_memory: np.ndarray
    line_params: np.ndarray
    local_params: np.ndarray
    constant: np.ndarray
    fetch: np.ndarray
    start_cost: np.ndarray
    unit_order: np.ndarray
    launch: np.ndarray  # int64: the columns L_*
    wave_params: np.ndarray
    place_params: np.ndarray
    aside: np.ndarray
    owners: np.ndarray  # int64[OWNERS, units]


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
    routes: np.ndarray  # float64[units, slices]
    index_params: np.ndarray  # float64[levels, n]
    victim_params: np.ndarray  # float64[levels, n]
    address_params: np.ndarray
    peer_levels: np.ndarray  # int64[levels, INT_COLUMNS]: `levels_int` as other devices have them
    peer_ways: np.ndarray  # int64[2 x peers, hops]: links of the way there and back, -1 none
    peer_links: np.ndarray  # float64[links]: bytes a cycle
    peer_latency: np.ndarray  # float64[peers]: cycles one way
    link: np.ndarray  # float64[LINK_COLUMNS]


DI_CHANNEL = 0  # first channel server
DI_ACTIVATE = 1  # first activation server, -1 none
DI_BANKS = 2
DI_ROW = 3
DI_ACCESS = 4
DI_BATCH = 5
DI_CHANNELS = 6
DI_CHUNK = 7
DI_PAGE_SETS = 8  # of a translation buffer
DI_PAGE_WAYS = 9
DI_WALK = 10  # first walker's server, -1 unlimited
DI_HOME = 11  # level in which other devices look up what is theirs; as many as there are levels: none
DI_LINKS = 12  # first link's server
DI_PEERS = 13  # first server of a peer's memory
DI_COLUMNS = 14


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
L_LOCAL_PERIOD = 12  # see `Policies.local_period`
L_BESIDE = 13  # 1: its program starts something beside its waves
L_CLUSTER = 14  # workgroups of a cluster
L_RULE = 15  # `pick_wave`: one of the engine's own rules, which are compiled in (RULE_*), or another
RULE_OTHER, RULE_OLDEST, RULE_WORKGROUP = 0, 1, 2
LAUNCH_COLUMNS = 16


class State(NamedTuple):
    """What changes in issue, dispatch and fetch."""

    scalars: np.ndarray
    clocks: np.ndarray
    waves: np.ndarray
    ready_from: np.ndarray  # int64[waves]: earliest cycle its next instruction may issue by itself
    gates: np.ndarray
    age: np.ndarray
    tokens: np.ndarray
    schedulers: np.ndarray
    pipes: np.ndarray  # int64[schedulers * pipes, 2]: free from, busy cycles in all
    queue: np.ndarray  # int64[schedulers, entries]: cycle each entry is free
    units: np.ndarray
    ports: np.ndarray  # float64[units, 4]: free from
    changed: np.ndarray  # int64[units, CHANGED_WORDS]: cycle of the latest compare-and-swap that changed such a word of local memory
    barrier_clock: np.ndarray  # float64[units, 3]: barrier unit free from, fraction carried, unit of clusters' barriers free from
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
    entered: np.ndarray  # int64[blocks]: times each block was entered
    accesses: np.ndarray  # int64[n, 2]: requests of each memory instruction, sectors they touched
    wave_state: np.ndarray
    place_state: np.ndarray
    log: np.ndarray  # int64[entries, LOG_COLUMNS]; no entries: nothing is logged
    rings: np.ndarray  # int64[waves, RINGS, ring columns] of a program that starts something beside its waves, see `beside`
    signals: np.ndarray  # int64[slots, SIGNALS, signal columns], see `signals`
    woken: np.ndarray  # int64[waves, 3]: wave, cycle, reason of those that an instruction has let go
    clusters: np.ndarray  # int64[slots, cluster columns], see `clusters`
    offered: np.ndarray  # int64[units]: `available` as a workgroup of a cluster finds it


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
    pages: np.ndarray  # int64[buffers x entries, 3], see `translation`
    merges: np.ndarray  # int64[groups x MERGE_ROWS, MERGE_COLUMNS], see `merging`
    set_state: np.ndarray  # int64[levels, words]
    peer_words: np.ndarray  # int64[1]: words at the end of `cells` that are other devices'
    lines: np.ndarray  # of the access at hand: line numbers
    sectors: np.ndarray  # ... sectors wanted
    places: np.ndarray  # ... position in the vector cache, -1 none
    firsts: np.ndarray  # ... first entry of its set in the vector cache
    spots: np.ndarray  # ... its spot in the second level, -1 not known
    times: np.ndarray  # ... float64: request, then completion
    weights: np.ndarray  # ... most lanes on one address (atomics)
    words: np.ndarray  # ... distinct words (atomics)
    atomics: np.ndarray  # int64[lines, ATOMIC_COLUMNS]: what else slices ask of an atomic's lines
    addresses: np.ndarray
    scratch: np.ndarray
    memo: np.ndarray
    patterns: np.ndarray  # int64[PATTERN_ROWS, PATTERN_COLUMNS], see `patterns`


#: Arrays whose columns are numbered in the sources, so that compiled code need not ask how many there are.
TABLES: dict[type, frozenset[str]] = {
    Core: frozenset(("code", "pipes")),
    Paths: frozenset(("levels", "levels_int", "peer_levels")),
    State: frozenset(
        """waves gates schedulers pipes units ports changed barrier_clock groups barriers started accesses log rings signals woken
        clusters""".split()
    ),
    Memory: frozenset(("units", "servers", "pending", "pages", "merges", "atomics", "memo", "patterns")),
}
