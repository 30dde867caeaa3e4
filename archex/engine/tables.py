"""What the engine is given: finished numbers (cycles of the compute units' clock, bytes, counts) in vectors and tables.

In: assembly fills `DeviceTables`, lowering `ProgramTables`, the driver `Geometry`. Out: counters by the names in `COUNTERS`,
return codes. No strings, no hertz, no vendor. Latencies are *from issue to result with nothing else going on*, as a pointer
chase measures them, so a number here is the number a microbenchmark prints; queueing comes on top.
A vector is `float64[N]`, its columns are the constants before it. Unused rates are 0 (= unlimited).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

# --- device: one vector
UNITS = 0  # compute units
WAVE_WIDTH = 1  # lanes of a wave, 32 or 64
LAUNCH_CYCLES = 2  # cycles before the first workgroup starts (part of `cycles`)
DRAIN_CYCLES = 3  # cycles after the last write retired (part of `cycles`)
START_INTERVAL = 4  # cycles between two workgroup starts, device-wide
END_INTERVAL = 5  # cycles between two ends of workgroups that the dispatcher takes, device-wide
RELAUNCH_CYCLES = 6  # cycles from a workgroup's end until the next one runs in its place
DEVICE_COLUMNS = 8

# --- unit: the compute unit, one vector (all units alike)
SCHEDULERS = 0
SLOTS = 1  # wave slots of a scheduler
ISSUE_PERIOD = 2  # a scheduler looks for work every so many cycles
ISSUE_WIDTH = 3  # instructions it starts then, each of another wave and on another pipe
GUARD_EXTRA = 4  # a predicate as a guard or branch condition is ready so much later than as a value
QUEUED_EXTRA = 5  # an instruction for a queued pipe reads a fixed-latency result so much later
BRANCH_TAKEN = 6  # cycles until a wave issues again after a taken branch (beside instruction fetch)
BRANCH_NOT_TAKEN = 7
DIVERGENCE_CYCLES = 8  # cycles added when the set of active lanes changes at a block's entry
BARRIER_BASE = 9  # a barrier releases BARRIER_BASE + BARRIER_WAVE x waves cycles after the last arrival
BARRIER_WAVE = 10
FENCE_UNIT = 11  # fence within the compute unit, nothing outstanding
FENCE_DEVICE = 12  # fence at device scope or wider
QUEUE_ENTRIES = 13  # memory instructions (of any kind) a scheduler can have waiting for a port
GLOBAL_PORT = 14  # which of the unit's ports (0..3) global memory instructions pass
LOCAL_PORT = 15  # ... local memory instructions
CROSS_LANE_PORT = 16  # ... cross-lane instructions; -1: only the pipe named in the code
WAVE_START = 17  # cycles from a workgroup's start to its first instruction's issue (before instruction fetch)
WAVE_INTERVAL = 18  # lone-wave gap: cycles at least between two issues of one wave (1 = back to back)
BRANCH_INTERVAL = 19  # cycles at least between two taken branches of a scheduler; 0 none
READ_WINDOW = 20  # cycles from issue in which an instruction reads its registers, one a bank and cycle; 0: as many as wanted
UNIT_COLUMNS = 24

# --- pipes: one row an execution pipe, in the order of the code's PIPE numbers
PIPE_SCOPE = 0  # 0 one for each scheduler, 1 one for the compute unit
PIPE_REASON = 1  # stall reason of a wave that waits for a result of this pipe (DEPENDENCY, LOCAL_MEMORY, MATRIX, ...)
PIPE_QUEUE = 2  # instructions that may wait before the pipe without holding their wave; 0: issue waits for the pipe
PIPE_QUEUED = 3  # 1: results come by scoreboard (variable latency), see QUEUED_EXTRA
PIPE_FULL = 4  # stall reason of a wave while others hold the pipe
PIPE_COLUMNS = 6

# --- local memory: one vector
LOCAL_LATENCY_4 = 0  # conflict-free load, lanes of up to 4 bytes
LOCAL_LATENCY_8 = 1
LOCAL_LATENCY_16 = 2
LOCAL_BANKS = 3
LOCAL_BANK_BYTES = 4
LOCAL_ATOMIC_LATENCY = 5  # conflict-free atomic with a result
LOCAL_ATOMIC_LANE = 6  # cycles the port is held for each further lane on the same address or bank
LOCAL_ATOMIC_EXTRA = 7  # latency for each further lane on the same address or bank
LOCAL_FLOAT_ATOMIC = 8  # multiple of the above that a floating-point atomic (a compare-and-swap loop) costs
LOCAL_CONFLICT_EXTRA = 9  # latency for each pass after the first
LOCAL_COUNTING = 10  # 1: lanes that count on one address are counted first: they cost as the loads of their words would
LOCAL_COLUMNS = 12

# --- constant cache: one vector
CONSTANT_NEAR_BYTES = 0  # first level
CONSTANT_MIDDLE_BYTES = 1  # second level
CONSTANT_MIDDLE_EXTRA = 2  # cycles over the code's LATENCY when the first level misses
CONSTANT_COLD_EXTRA = 3  # ... when nothing holds the line (first touch on this compute unit)
CONSTANT_LINE = 4
CONSTANT_WORD_INTERVAL = 5  # a compute unit's loads hold the cache so long for each word that their lanes want
CONSTANT_WORD_EXTRA = 6  # latency of each further word of a load
CONSTANT_COLUMNS = 8

# --- instruction fetch: one vector
FETCH_BUFFER = 0  # bytes of code held next to a scheduler
FETCH_NEAR_BYTES = 1  # instruction cache of the compute unit
FETCH_MIDDLE_BYTES = 2  # next level
FETCH_LINE = 3  # bytes a line
FETCH_NEAR_CYCLES = 4  # cycles for a line that the near cache has and the buffer has not, sequential code
FETCH_MIDDLE_CYCLES = 5  # ... that the middle level has
FETCH_FAR_CYCLES = 6  # ... from memory, once streaming (prefetched)
FETCH_JUMP_CYCLES = 7  # a jump outside the buffer that hits the near cache
FETCH_COLD_CYCLES = 8  # the very first line of a kernel on a compute unit
FETCH_COLD_NEXT = 9  # each following line while cold
FETCH_KEPT_BYTES = 10  # of code larger than the middle level: what that has of its start as a launch begins (0: what it can hold)
FETCH_COLUMNS = 12

# --- levels: one row a cache level of the memory path, the vector cache first
LEVEL_INSTANCES = 0
LEVEL_SLICES = 1  # slices an instance (address-interleaved, each with its own sets and service)
LEVEL_SETS = 2  # sets a slice (any count)
LEVEL_WAYS = 3
LEVEL_LINE = 4  # bytes; at least the line of the level above (a smaller one is that line with its own size as the sector)
LEVEL_SECTOR = 5  # bytes; = line where not sectored
LEVEL_LATENCY = 6  # load-to-use cycles of a hit here, from issue
LEVEL_WRITE = 7  # WRITE_* below
LEVEL_PENDING = 8  # misses (lines) an instance can have outstanding; 0 unlimited
LEVEL_READ_LEAST = 9  # a slice is held for max(READ_LEAST, READ_SECTOR x sectors) by a read of a line
LEVEL_READ_SECTOR = 10
LEVEL_WRITE_BASE = 11  # ... WRITE_BASE + WRITE_SECTOR x sectors by a write of a line
LEVEL_WRITE_SECTOR = 12
LEVEL_ATOMIC_LEAST = 13  # ... by an atomic on a line at least; else SECTOR or SAME x passes over its sectors
LEVEL_ATOMIC_SAME = 14  # a pass over some words of a sector
LEVEL_ATOMIC_SECTOR = 15  # ... over all of it
LEVEL_ATOMIC_FLOAT = 16  # ... in floating point, over the sector of the atomic before
LEVEL_PARTITIONS = 17  # partitions of an instance (1 none): a line has a home in one; slices are divided among them
LEVEL_FAR_EXTRA = 18  # latency when the line is only in the far partition
LEVEL_COPY_NEAR = 19  # 1: a far line read is copied into the near partition
LEVEL_PORT_READ = 20  # bytes a cycle to one upstream cache (or compute unit)
LEVEL_PORT_WRITE = 21  # bytes a cycle from it
LEVEL_PORT_WRITE_LINE = 22  # cycles at least a written line at that port
LEVEL_GROUP_READ = 23  # bytes a cycle to a group of compute units (`unit_group`)
LEVEL_GROUP_WRITE = 24
LEVEL_TOTAL_READ = 25  # bytes a cycle to all (of one instance)
LEVEL_TOTAL_WRITE = 26
LEVEL_LINES_PER_CYCLE = 27  # vector cache: tags looked up a cycle
LEVEL_BANKS = 28  # vector cache: data banks read a cycle (0: no bank rule)
LEVEL_BANK_BYTES = 29
LEVEL_TAG_EXTRA = 30  # vector cache: latency for each tag cycle after the first
LEVEL_DATA_EXTRA = 31  # ... for each data cycle after the first
LEVEL_STORE_LINE_CYCLES = 32  # vector cache: port cycles for each distinct line of a divergent store
LEVEL_HASHED = 33  # 1: slices are chosen by a hash of the line, 0: by its low bits
LEVEL_HIT_UPDATE = 34  # 1: a write-through store updates (keeps) a line held here, 0: it invalidates it
LEVEL_FETCH_SECTORS = 35  # sectors at least fetched from below on a miss, aligned (1: only what was asked for)
LEVEL_PENDING_WRITES = 36  # second level: written sectors a compute unit can have on their way here before its port stalls; 0 unlimited
LEVEL_PRIVATE_BACK = 37  # vector cache: 1: private stores stay here until evicted (write-back), 0: they are written through
LEVEL_SPREAD = 38  # latency differs by up to this much, either way, between a compute unit and a slice (distance on the chip)
LEVEL_PORT_SHARED = 39  # 1: reads and writes share the port's LEVEL_PORT_READ
LEVEL_RETURN_BYTES = 40  # vector cache: bytes a cycle into registers, all lanes' words together; 0 unlimited
LEVEL_FILL_SECTOR = 41  # a slice is held so long by each sector that arrives from below
LEVEL_PARTIAL = 42  # on the way here a sector of which some bytes are written counts as so many whole ones (its mask goes along)
LEVEL_ROUTED = 43  # 1: latency differs by `DeviceTables.routes` instead of LEVEL_SPREAD
LEVEL_GROUP_MERGED = (
    44  # bytes a cycle that a group of compute units takes, counting each unit that a merged read serves; 0: none are merged
)
LEVEL_ATOMIC_COMPARE = 45  # such a pass of a compare-and-swap, which has two operands
LEVEL_ATOMIC_RESULT = 46  # the result of an atomic takes so many sectors' way up for each sector it touches
LEVEL_ATOMIC_PASS = 47  # vector cache: port cycles for each lane of an atomic that repeats an address, and for each line with a result
LEVEL_ATOMIC_RETURN = 48  # vector cache: port cycles for each lane that gets a result
LEVEL_RUN = 49  # bytes in a row that lie in the same slice of each partition; 0: a line
LEVEL_TURN = 50  # bytes of a run until the next partition's turn
LEVEL_APART = 51  # so many runs in a row lie in slices of their own
LEVEL_MERGED_WITHIN = 52  # a read that hits can be joined by others of its group for so many cycles
LEVEL_MERGED_MOST = 53  # reads that one answers, itself included
LEVEL_COLUMNS = 54
WRITE_THROUGH = 0  # no allocation
WRITE_BACK = 1  # allocates without fetching whole sectors
WRITE_THROUGH_ALLOCATE = 2

# --- dram: one vector
DRAM_CHANNELS = 0
DRAM_BYTES = 1  # bytes a cycle, all channels together
DRAM_ACCESS = 2  # bytes moved at least by one access
DRAM_LATENCY = 3  # load-to-use cycles from issue
DRAM_ACTIVATES = 4  # row activations a cycle, all channels together; 0 unlimited
DRAM_ROW = 5  # bytes a row
DRAM_TURNAROUND = 6  # cycles a channel loses when it changes between reads and writes
DRAM_WRITE_BATCH = 7  # writes (of DRAM_ACCESS bytes) a channel collects before it turns around
DRAM_CHUNK = 8  # bytes in a row on one channel (parameter of the usual `map_address`)
DRAM_BANKS = 9  # banks a channel, each with one open row
DRAM_REFRESH_INTERVAL = 10  # cycles between two refreshes of one bank; 0 none
DRAM_REFRESH = 11  # cycles a bank is closed by one
DRAM_COLUMNS = 12

# --- translation: one vector; 0 entries: none
TRANSLATION_ENTRIES = 0
TRANSLATION_PAGE = 1  # bytes
TRANSLATION_MISS = 2  # cycles added
TRANSLATION_INTERVAL = 3  # cycles between two walks of one buffer; 0 unlimited
TRANSLATION_EARLY = 4  # 1: looked up by requests to the second level, a buffer for each instance of it; 0: by reads of memory
TRANSLATION_WAYS = 5  # entries of a set; 0: all of them
TRANSLATION_COLUMNS = 6


# --- aside: what runs beside the waves, and what compute units of a cluster say to each other; one vector
ASIDE_SMALL_INTERVAL = 0  # cycles a wave's copy by lane through the vector cache holds its port at least
ASIDE_SMALL_EXTRA = 1  # latency of such a copy beside a load's
ASIDE_BULK_INTERVAL = 2  # cycles between two bulk copies of a compute unit
ASIDE_BULK_EXTRA = 3  # latency of such a copy beside a load's
ASIDE_BULK_RATE = 4  # bytes of them a cycle and compute unit; 0: as its port
ASIDE_REMOTE_LATENCY = 5  # cycles from one compute unit of a cluster to another, one way
ASIDE_REMOTE_BYTES = 6  # bytes a cycle of bulk copies to another's local memory; 0 unlimited
ASIDE_CLUSTER_BARRIER = 7  # cycles from the last arrival at a cluster's barrier until its waves go on
ASIDE_CLUSTER_WAVE = 8  # ... and so many more for each wave of a compute unit's workgroup
ASIDE_CLUSTER_END = 9  # cycles between two ends beside the others, for each cluster
ASIDE_REMOTE_LINE = 10  # cycles of the way to another's local memory for a line (REMOTE_LINE bytes) of an access
ASIDE_REMOTE_SECTOR = 11  # ... for a sector (REMOTE_SECTOR bytes) of a load or store
ASIDE_REMOTE_ATOMIC = 12  # ... for a sector of atomics
ASIDE_PAST_INTERVAL = 13  # cycles between two copies by lane past the vector cache
ASIDE_WRITE_BYTES = 14  # bytes a cycle that copies by lane write to local memory; 0: as its banks
ASIDE_PIECE = 15  # cycles that a copy by lane takes its port for each piece of a line that it moves
ASIDE_COPIES = 16  # copies by lane that wait there and have left the memory queue
ASIDE_RELEASE = 17  # cycles from when one has left it until its address registers may be written
ASIDE_COLUMNS = 18

# --- owners: the compute unit whose store or port a compute unit uses, one row each
OWNER_CODE = 0  # instruction cache
OWNER_CONSTANT = 1  # cache of uniform constants
OWNER_LOCAL = 2  # local memory's port
OWNERS = 3


# --- link: packets between devices, one vector
LINK_PAYLOAD = 0  # bytes of a packet's data at most
LINK_HEADER = 1  # bytes beside them
LINK_MASK = 2  # ... beside data of several sectors of which some bytes only are written
LINK_PORT = 3  # ... beside data on a compute unit's way out
LINK_ATOMIC = 4  # cycles that an atomic holds a slice there for each sector, at least
LINK_COLUMNS = 5


class DeviceTables(NamedTuple):
    """A device as numbers. `start_cost` rows (waves of a workgroup, cycles a compute unit needs to start it), increasing, interpolated."""

    device: np.ndarray  # float64[DEVICE_COLUMNS]
    unit: np.ndarray  # float64[UNIT_COLUMNS]
    pipes: np.ndarray  # float64[pipes, PIPE_COLUMNS]
    local_memory: np.ndarray  # float64[LOCAL_COLUMNS]
    constant: np.ndarray  # float64[CONSTANT_COLUMNS]
    fetch: np.ndarray  # float64[FETCH_COLUMNS]
    levels: np.ndarray  # float64[levels, LEVEL_COLUMNS]
    dram: np.ndarray  # float64[DRAM_COLUMNS]
    translation: np.ndarray  # float64[TRANSLATION_COLUMNS]
    start_cost: np.ndarray  # float64[n, 2]
    level_instance: np.ndarray  # int64[levels, units]: the instance of each level that a compute unit uses
    unit_partition: np.ndarray  # int64[units]: near partition within its instance
    unit_group: np.ndarray  # int64[units]: group that shares LEVEL_GROUP_* rates
    unit_order: np.ndarray  # int64[units]: order in which an empty device is filled
    unit_die: np.ndarray  # int64[units]: die of the compute unit (0 where there is one)
    aside: np.ndarray = np.zeros(ASIDE_COLUMNS)  # float64[ASIDE_COLUMNS]
    #: float64[units, slices]: latency added on the way to each slice, over all instances, of the level that is LEVEL_ROUTED
    routes: np.ndarray = np.zeros((1, 1))
    owners: np.ndarray = np.zeros((OWNERS, 0))  # int64[OWNERS, units]; none: each its own
    link: np.ndarray = np.zeros(LINK_COLUMNS)  # float64[LINK_COLUMNS]
    #: peers whose memory a launch uses: int64[peers, 2, hops] links of the ways there and back, -1 none; float64[peers] cycles one way
    peer_ways: np.ndarray = np.zeros((0, 2, 1), np.int64)
    peer_latency: np.ndarray = np.zeros(0)
    peer_links: np.ndarray = np.zeros(0)  # float64[links]: bytes a cycle of each


class ProgramTables(NamedTuple):
    """One lowered program: `layout` machine code, the first row of each block (and the end), recorded accesses a block, tokens a wave.

    `code_bytes`: size of the code. `private_bytes`: a thread's frame (spill slots and private arrays).
    """

    code: np.ndarray  # int32[n, layout.CODE_COLUMNS]
    block_start: np.ndarray  # int32[blocks + 1]
    block_records: np.ndarray  # int32[blocks]
    tokens: int
    code_bytes: int = 0
    private_bytes: int = 0


class Geometry(NamedTuple):
    """One launch: how many workgroups of how many waves, how many of them one compute unit holds, active lanes of a workgroup.

    `cluster`: workgroups that start together, on compute units of one group, and reach each other's local memory.
    """

    workgroups: int
    waves_per_workgroup: int
    workgroups_per_unit: int
    threads_per_workgroup: int
    cluster: int = 1


# --- stall reasons: every cycle of a resident wave is charged to exactly one
STALL_MEMORY = 0
STALL_LOCAL_MEMORY = 1
STALL_DEPENDENCY = 2
STALL_EXECUTION_UNIT = 3
STALL_MEMORY_QUEUE = 4
STALL_BARRIER = 5
STALL_FETCH = 6
STALL_DISPATCH = 7
STALL_DRAIN = 8
STALL_FENCE = 9
STALL_MATRIX = 10
STALL_BRANCH = 11
STALL_NOT_SELECTED = 12
SELECTED = 13
REASONS = 14
REASON_NAMES = (
    "memory", "local_memory", "dependency", "execution_unit", "memory_queue", "barrier", "fetch", "dispatch", "drain", "fence",
    "matrix", "branch", "not_selected", "selected",
)  # fmt: skip

# --- counters: name, unit, meaning; index = position
COUNTERS: tuple[tuple[str, str, str], ...] = (
    ("wave_instructions", "instructions", "instructions issued, a wave each"),
    ("lane_instructions", "instructions", "the same times active lanes"),
    ("matrix_instructions", "instructions", "matrix operations issued"),
    ("matrix_cycles", "cycles", "cycles in which a matrix pipe was held, summed over pipes"),
    ("global_load_requests", "instructions", "global load instructions with an active lane"),
    ("global_load_sectors", "sectors", "sectors (32 bytes where the vector cache is not sectored finer) they touch"),
    ("global_store_requests", "instructions", "global store instructions with an active lane"),
    ("global_store_sectors", "sectors", "sectors they touch"),
    ("atomic_requests", "instructions", "global atomics, with or without result"),
    ("atomic_lanes", "operations", "their active lanes"),
    ("private_load_requests", "instructions", "loads of private memory (spills, private arrays)"),
    ("private_store_requests", "instructions", "stores to private memory"),
    ("local_memory_wavefronts", "cycles", "passes through the local memory's banks, those of cross-lane instructions included"),
    ("local_memory_conflicts", "cycles", "passes beyond those a conflict-free access of its width needs"),
    ("vector_cache_lookups", "sectors", "sectors looked up in the vector cache"),
    ("vector_cache_hits", "sectors", "sectors found there, or already on their way"),
    ("vector_cache_written", "sectors", "sectors of stores looked up there"),
    ("vector_cache_written_hits", "sectors", "sectors of stores to lines that are there"),
    ("l2_read_sectors", "sectors", "sectors read at the second level"),
    ("l2_write_sectors", "sectors", "sectors written there, atomics included"),
    ("l2_atomic_sectors", "sectors", "of these, those of atomics"),
    ("far_written_sectors", "sectors", "of the written ones, those whose home is the far partition"),
    ("l2_lookups", "sectors", "sectors looked up there (reads, writes, atomics)"),
    ("l2_hits", "sectors", "sectors found there"),
    ("memory_side_cache_lookups", "sectors", "sectors looked up at the third level"),
    ("memory_side_cache_hits", "sectors", "sectors found there"),
    ("dram_read_bytes", "bytes", "bytes read from memory"),
    ("dram_write_bytes", "bytes", "bytes written to memory"),
    ("dram_activates", "rows", "rows opened"),
    ("far_sectors", "sectors", "sectors fetched from a far partition"),
    ("peer_read_sectors", "sectors", "sectors read from other devices"),
    ("peer_written_sectors", "sectors", "sectors written there, atomics included"),
    ("link_out_bytes", "bytes", "bytes sent over links, headers included"),
    ("link_in_bytes", "bytes", "bytes that came over links, headers included"),
    ("translation_misses", "accesses", "address translations that missed"),
    ("fetch_misses", "lines", "instruction lines that the near cache lacked"),
    ("barriers", "instructions", "barrier instructions, a wave each"),
    ("workgroups_started", "workgroups", "workgroups started"),
    ("workgroups_finished", "workgroups", "workgroups finished"),
    ("waves_finished", "waves", "waves finished"),
    ("resident_wave_cycles", "cycles", "cycles of residence summed over waves (from start to the workgroup's end)"),
    ("scheduler_active_cycles", "cycles", "cycles in which a scheduler had a wave, summed over schedulers"),
    ("unit_active_cycles", "cycles", "cycles in which a compute unit had a wave, summed over compute units"),
    ("repeated_instructions", "instructions", "beside the others, those of compare-and-swap loops in local memory after the first round"),
    ("divergent_blocks", "blocks", "blocks entered with another set of lanes than the block before"),
)  # fmt: skip
COUNTER_INDEX = {name: index for index, (name, _, _) in enumerate(COUNTERS)}

# --- return codes of a run
RUNNING = 0  # internal
DONE = 1  # every workgroup of the launch has finished
NEED_WORKGROUPS = 2  # a compute unit has room, the grid has more, and no started slot is queued: start some in free slots
NEED_TRACE = 3  # a wave's rings ran dry before its end: refill the slots requested
WINDOW = 4  # a stop condition was reached
STUCK = 5  # nothing can issue: every wave waits at a barrier that others never reach
BAD_POLICY = 6  # a policy returned a value outside its range (`Engine.fault` names it)
