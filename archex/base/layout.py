"""The tables that lowering and tracing hand to the engine: column numbers, kinds and flags, nothing else.

Machine code is `code: int32[n, CODE_COLUMNS]`, one row a wave-instruction; blocks are `block_start: int32[blocks + 1]`.
Dependences are by scoreboard *token*: a number per group of registers that become ready together (all registers one
instruction writes share a token; a register written in two places joins their tokens). Cycles are the compute units'.
"""

from __future__ import annotations

from typing import NamedTuple

# --- columns of a machine instruction
KIND = 0  # what the engine does, below
PIPE = 1  # execution pipe, index into the device's pipe table
PIPE_ALTERNATIVE = 2  # second pipe that may take it, -1 none
INTERVAL = 3  # cycles the pipe is held
LATENCY = 4  # cycles from issue to result, for results of fixed latency
DST0 = 5  # token written, -1 none
DST1 = 6  # second token written (a predicate beside a value), -1 none
SRC0 = 7  # tokens read, SRC0..SRC0+5, -1 none, packed to the front (the guard's predicate is one of them)
SRC_COUNT = 6
RECORD = 13  # ordinal of the memory record within the block's records, -1 none
BYTES = 14  # bytes a lane moves
OFFSET = 15  # private memory: byte offset of the slot in a thread's frame; constant loads: offset in the bank
FLAGS = 16
ADDRESS = 17  # byte address in the code
CLASS = 18  # instruction class for counters and latencies, index into `CLASSES`
LINE = 19  # source line
READS = 20  # registers read from bank 0 and bank 1, 4 bits each, then how many of them the instruction before has left in place
CODE_COLUMNS = 21

# --- kinds
ARITHMETIC = 0
LOAD = 1  # global memory
STORE = 2
ATOMIC = 3  # returns a value
REDUCE = 4  # atomic without a result
LOCAL_LOAD = 5
LOCAL_STORE = 6
LOCAL_ATOMIC = 7
PRIVATE_LOAD = 8  # spill code and private arrays; with RECORD -1 every lane uses slot OFFSET
PRIVATE_STORE = 9
CONSTANT_LOAD = 10  # uniform, through the constant/scalar cache
CROSS_LANE = 11  # shuffles: result after LATENCY, through the pipe shared by the compute unit
BARRIER = 12
BRANCH = 13
EXIT = 14
FENCE = 15
MATRIX = 16
ASYNC_COPY = 17  # a copy by lane: RECORD is the source's, RECORD + 1 the destination's in local memory
GROUP_COMMIT = 18  # closes a group of what the wave started beside itself; OFFSET: which kind, GROUP_* below
GROUP_WAIT = 19  # waits until at most BYTES groups of that kind are under way (-1: until nothing is, groups closed or not)
BULK_COPY = 20  # a range or box, copied by one lane's order; RECORD holds a BULK record
SIGNAL_SET = 21  # sets up a barrier that lies in local memory; RECORD: a SIGNAL record
SIGNAL_ARRIVE = 22  # arrivals, and bytes to expect; flag AFTER_COPIES: once the wave's copies by lane so far are done
SIGNAL_WAIT = 23  # waits for a phase's end
CLUSTER_ARRIVE = 24  # barrier of a cluster of workgroups, in two halves
CLUSTER_WAIT = 25
REGISTERS = 26  # gives registers back to the compute unit, or asks for more

# --- what a wave starts beside itself comes in groups of three kinds, each in the order started
GROUP_COPIES = 0  # copies by lane
GROUP_BULK = 1  # bulk copies out of local memory
GROUP_MATRIX = 2  # matrix operations with an operand in local memory
GROUP_KINDS = 3

# --- flags
BYPASS = 1  # a load that does not look in the vector cache
GUARDED = 2
UNIFORM = 4  # runs on the scalar/uniform unit
LAST_OF_SOURCE = 8  # last machine instruction of one source operation
DEVICE_SCOPE = 16  # fence at device scope or wider
READ_ONLY = 32
FLOAT_ATOMIC = 64  # an atomic on floating-point values
COMPARE_AND_SWAP = 128  # an atomic compare-and-swap
COUNTING = 256  # an atomic that adds one and returns nothing
BESIDE = 512  # a matrix operation that runs beside its wave; BYTES: bytes of local memory that it reads for this wave
AFTER_COPIES = 1024
CLOSES = 2048  # a matrix operation beside its wave that also closes the group it belongs to
REPEATS = 4096  # part of a block that is run again for the lanes whose compare-and-swap in local memory another's came before

CLASSES = (
    "integer", "integer_multiply", "float32", "float16", "float64", "special", "convert", "predicate", "move", "branch", "barrier",
    "global_load", "global_store", "atomic", "local_load", "local_store", "private", "constant", "cross_lane", "fence", "matrix",
    "async_copy", "other",
)  # fmt: skip

# --- addresses of other devices' memory: peer number k (from 0, of those that a launch has) begins at (1 << PEER_SHIFT) + (k << PEER_BITS)
PEER_SHIFT = 46
PEER_BITS = 40
PEERS = 62  # at most

# --- trace rings: what the interpreter hands over per wave context (all waves resident or waiting to start)
# blocks:  int32[contexts, BLOCK_RING, 2]   one entry a basic block executed: (block index, active lanes)
# records: int64[contexts, RECORD_RING, 4]  one a memory operation with a memory slot, in slot order within the block
# pool:    int64[contexts, POOL_RING, wave_width]  addresses of scattered records (inactive lanes: -1)
# cursor:  int64[contexts, CURSOR_COLUMNS]  ring positions, ever-increasing; index = position & (ring - 1); rings are powers of 2
BLOCK_INDEX = 0
BLOCK_LANES = 1
RECORD_KIND = 0  # NO_ACCESS, AFFINE, SCATTERED, BULK, SIGNAL, SIGNALS, or from ROWS on
RECORD_BASE = 1  # affine: address of lane 0 (even when inactive); scattered: position in the pool
RECORD_STRIDE = 2  # affine: bytes from a lane to the next
RECORD_MASK = 3  # active lanes, bit a lane
RECORD_COLUMNS = 4
NO_ACCESS = 0
AFFINE = 1
SCATTERED = 2
BULK = 3  # base: position in the pool, whose row is a descriptor (BULK_* below)
SIGNAL = 4  # base: the barrier's address in local memory (CLUSTER_SHIFT); stride: set: arrivals of a phase; arrive: arrivals of all
# lanes; wait: how many phases must have ended; mask: bytes to expect beside them (arrive; less than 0: bytes that have come), or with
# AFTER_COPIES the arrivals to wait for from now on
SIGNALS = 5  # set or arrive where each lane names a barrier of its own: base: position in the pool, whose row holds their addresses
# (inactive lanes: -1); stride and mask: as in SIGNAL, of each lane
ROWS = 8  # and above: all lanes are active, in rows of 1 << (kind - ROWS); base: address of lane 0; stride: bytes from a row to the next
# << ROW_SHIFT, and in the low ROW_SHIFT bits, signed, from a lane to the next of its row
ROW_SHIFT = 32

# --- addresses in another workgroup's local memory, of the same cluster: (rank + 1) << CLUSTER_SHIFT, plus the offset
CLUSTER_SHIFT = 24

# --- a bulk copy, as a row of the pool: an inner run of bytes, repeated over up to four further dimensions
BULK_BASE = 0  # global address; BULK_ACROSS: the target's address (CLUSTER_SHIFT)
BULK_BYTES = 1  # bytes in a row
BULK_COUNT = 2  # repeats of dimension 1..4 in BULK_COUNT + 2 * (dimension - 1), bytes between them in the next column
BULK_STRIDE = 3
BULK_LOCAL = 10  # address in local memory, the same in each target
BULK_BARRIER = 11  # address of the barrier that counts the bytes, -1 none
BULK_CREDIT = 12  # bytes counted there, what lies outside of the tensor included
BULK_TARGETS = 13  # ranks of the cluster that receive it, bit a rank; 0: its own workgroup only
BULK_WAY = 14
BULK_COLUMNS = 16
BULK_IN = 0  # global to local memory
BULK_OUT = 1  # local to global memory
BULK_REDUCE = 2  # ... added to what is there
BULK_ACROSS = 3  # local memory to another workgroup's
BULK_PREFETCH = 4  # global memory into the second level only
BLOCK_TAIL = 0  # written by the interpreter
BLOCK_HEAD = 1  # consumed by the engine
RECORD_TAIL = 2
RECORD_HEAD = 3
POOL_TAIL = 4
POOL_HEAD = 5
FINISHED = 6  # 1 once the wave's trace is complete (nothing will follow BLOCK_TAIL)
BEGUN = 7  # counted by the engine: blocks begun by all waves the context has had; where they lie in the trace differs from source to source
CURSOR_COLUMNS = 8


class Timing(NamedTuple):
    """How a machine operation runs on a device: its pipes (indices into the device's pipe table, -1 none), interval and latency."""

    pipe: int
    alternative: int
    interval: float
    latency: float
