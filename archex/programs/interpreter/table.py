"""Numbers of the interpreter's tables: columns of an encoded operation, of a block, of a wave's context.

Everything that runs is a flat int64 array; a row's start is its number times the column count. An operand is
`2 * lane offset + 1` for a register (relative to the wave's own rows) or `2 * lane offset` for a shared row (constants).
"""

# --- an encoded operation
(
    GROUP, OP, DST, A, B, C, D, GUARD, NEGATE, MODE, WIDTH, SIGNED, RESULT, EXTEND, FLAGS, SPACE, OFFSET, LIST, VECTOR, SLOT, PRED,
    SOURCE, EXECUTE, HINT,
) = range(24)  # fmt: skip
CODE_COLUMNS = 24

# --- groups: which function runs it
(
    INTEGER_ROW, FLOAT_ROW, COMPARE_ROW, INTEGER_LANE, FLOAT_LANE, CONVERT, COMPARE_LANE, SELECT, PREDICATE, CARRY, MEMORY, CROSS, CONTROL,
    MATRIX, ASIDE,
) = range(15)  # fmt: skip
COMPILED_APART = ((MATRIX, "matrix"), (ASIDE, "aside"))  # groups whose functions are compiled where a program has them (`base.jit.link`)

# --- predicate logic (operands are predicate numbers; 0 is never, 1 is always; LOWEST_*: the first lanes of each group of 32)
P_MOVE, P_NOT, P_AND, P_OR, P_XOR = range(5)
NEVER, ALWAYS, TEMPORARY, TEMPORARY_2, LOWEST_8, LOWEST_16, FIRST_PREDICATE = range(7)

# --- memory operations
LOAD, STORE, ATOMIC, TOUCH = range(4)
A_ADD, A_MIN, A_MAX, A_AND, A_OR, A_XOR, A_EXCH, A_CAS, A_INC, A_DEC, A_SUB = range(11)
ATOMICS = {name: i for i, name in enumerate(("add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec", "sub"))}

# --- matrix operations
M_LOAD, M_STORE, M_TRANSPOSE, M_PRODUCT, M_DESCRIBE = range(5)

# --- operations between lanes
SHUFFLE, VOTE, MATCH_ANY, MATCH_ALL, ACTIVE, REDUX, ELECT = range(7)
UP, DOWN, BUTTERFLY, INDEX = range(4)
VOTE_ALL, VOTE_ANY, VOTE_UNI, VOTE_BALLOT = range(4)

# --- control
BRANCH, BRANCH_INDEX, EXIT, TRAP, BARRIER, CLOCK = range(6)
SYNC, ARRIVE, REDUCE, PASS = range(4)  # PASS: a barrier that nobody has to wait at

# --- copies beside the wave and what they report to
COPY, BULK, SIGNAL, MEET = range(4)
ALL_BYTES, SOME_BYTES, IGNORED = range(3)  # what a copy by lane reads
SIGNAL_SET, SIGNAL_END, SIGNAL_EXPECT, SIGNAL_COMPLETE, SIGNAL_ARRIVE, SIGNAL_COPIES, SIGNAL_WAIT = range(7)
BARRIER_OPERAND, MASK_OPERAND, FAR_OFFSET, REDUCTION, NUMBERS, ELEMENT, DIMENSIONS, COORDINATES = range(8)  # of a bulk copy's list
BLOCKED = -1  # an operation's outcome: the wave waits before it

# --- a block
START, STOP, NEXT, RECONVERGE, SLOTS, SIZE = range(6)
BLOCK_COLUMNS = 6

# --- a wave's context
(STATUS, BLOCK, AT, MASK, RETURN, DEPTH, LIVE, EXECUTED, RECORDS, POOLS, WAITING, RESULT_OF, COUNT_AT, WORD, NEEDED, ARRIVED) = range(16)
CONTEXT_COLUMNS = 16
READY, FULL, WAIT, DONE, IDLE = range(5)
STACK_DEPTH = 64  # nested divergence; loops do not nest deeper by iterating
STACK_COLUMNS = 3

# --- a barrier of a workgroup
B_WAVES, B_THREADS, B_WANTED, B_TRUE, B_LANES = range(5)
BARRIERS, BARRIER_COLUMNS = 16, 5
SIGNALLED, MET = BARRIERS, BARRIERS + 1  # a wave's WAITING where it is no such barrier: one in local memory, the cluster's

# --- shape: sizes one compiled run needs
(
    LANES, REGISTERS, PREDICATES, BLOCKS, WAVES, LOCAL_WORDS, PRIVATE_WORDS, LOCAL_BYTES, PRIVATE_BYTES, BUFFERS, LIMIT, SCRATCH, FIRST_ROW,
    BLOCK_RING, RECORD_RING, POOL_RING, TRACING, THREADS, GRID_X, GRID_Y, GRID_Z, BLOCK_X, BLOCK_Y, BLOCK_Z, SPECIALS, CLUSTER, CLUSTER_X,
    CLUSTER_Y, CLUSTER_Z,
) = range(29)  # fmt: skip
SHAPE_COLUMNS = 32

# --- faults: what stopped a run
(
    NO_FAULT, NEED_PAGES, NO_BUFFER, MISALIGNED, OUT_OF_LOCAL, OUT_OF_PRIVATE, READ_ONLY, DIVERGED_BARRIER, BAD_BARRIER, DEADLOCK,
    TOO_LONG, TRAPPED,
    TOO_DEEP, BAD_INDEX, FELL_OFF, PART_OF_GROUP, MANY_LANES, MANY_BARRIERS, NOT_SET_UP, TOO_MANY_ARRIVALS, BAD_COUNT, NEVER_SIGNALLED,
    NEVER_MET, BAD_SIZE, NO_TENSOR, OUT_OF_CLUSTER,
) = range(26)  # fmt: skip
F_KIND, F_CONTEXT, F_SOURCE, F_VALUE, F_EXTRA = range(5)
FAULT_COLUMNS = 8

# --- special values that differ between lanes or workgroups; the others are constants of a launch
SPECIAL_ROWS = (
    "ctaid.x", "ctaid.y", "ctaid.z", "cluster_ctaid.x", "cluster_ctaid.y", "cluster_ctaid.z", "clusterid.x", "clusterid.y", "clusterid.z",
    "cluster_ctarank", "tid.x", "tid.y", "tid.z", "laneid", "warpid", "lanemask_eq", "lanemask_lt", "lanemask_le", "lanemask_gt",
    "lanemask_ge", "clock",
)  # fmt: skip
SPECIAL_COUNT = len(SPECIAL_ROWS)
LANE_SPECIALS = SPECIAL_COUNT - 1  # all but the clock are set when a wave starts
RANK = SPECIAL_ROWS.index("cluster_ctarank")
OF_WORKGROUP = RANK + 1  # up to it, by axis: where the workgroup is, the same in all its lanes
