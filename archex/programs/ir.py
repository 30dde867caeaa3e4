"""The inner form of a program: functions of basic blocks of operations over virtual registers.

In: a front end (PTX today, machine code later) builds it. Out: clean-up passes, lowering and the interpreter read it.
Nothing here knows a source language; names are the field's neutral terms.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import attrs

#: Where the spaces stand in generic addresses: window + offset within the space. Buffers of a launch lie below all of them.
#: Recorded addresses of `LOCAL` and `PRIVATE` operations are offsets within their space; generic ones carry the window.
PARAMETER_WINDOW = 0x7B00_0000_0000
CONSTANT_WINDOW = 0x7C00_0000_0000  # variables in constant space; `CONSTANT` operations use the bare offset
VARIABLE_BASE = 0x7D00_0000_0000  # a program's own global variables: `Symbol.offset` is the address itself
PRIVATE_WINDOW = 0x7E00_0000_0000
LOCAL_WINDOW = 0x7F00_0000_0000


class Space(IntEnum):
    """Where a memory operation goes. `LOCAL` is the workgroup's on-chip memory, `PRIVATE` a thread's own."""

    NONE = 0
    GLOBAL = 1
    LOCAL = 2
    PRIVATE = 3
    CONSTANT = 4
    PARAMETER = 5
    GENERIC = 6


#: A barrier in local memory is one word: arrivals still to come in its low bits, then those of a whole phase, bytes still to come, and the
#: phase's number in what is left.
PENDING_BITS, EXPECTED_BITS, BYTES_BITS = 20, 20, 21


class Register(NamedTuple):
    """A virtual register as an operand."""

    id: int


class Immediate(NamedTuple):
    """A constant as raw bits, already encoded for the operation's type (two's complement, IEEE), masked to its width.

    `constant` keeps it unequal to the register of the same number: both are tuples.
    """

    bits: int
    constant: bool = True


class Special(NamedTuple):
    """A value the hardware provides: `tid.x`, `ntid.y`, `ctaid.z`, `nctaid.x`, `laneid`, `warpid`, `clock`, ... ."""

    name: str


Operand = Register | Immediate | Special


@attrs.define(slots=True)
class Operation:
    """One operation.

    op: neutral name from `OPS`. dtype: `u8 s8 b8 ... u64 s64 b64 f16 f16x2 bf16 bf16x2 f32 f64 pred`; for `convert`, `set`,
    `multiply_add_wide` and kin `source_dtype` is the operands' type. mods: rounding, `ftz`, `sat`, `approx`, comparison
    (`lt`, `neu`, ...), combination (`and`, ...), shuffle mode, atomic operation, ... in the source's order.
    dst: registers written (several for vector loads; `None` entries are discarded results). src: operands read; for memory
    operations src[0] is the address base and the rest are the data; `offset` is added to the base.
    guard: predicate register that enables the operation, or None; `guard_negated` inverts it.
    width: bytes an element; vector: elements. target: label ids of a branch (block indices once blocks are built).
    line, opcode: the source line and the operation's spelling there, for messages.
    memory_slot: ordinal among its block's recorded memory operations, or -1.
    groups: lengths of the operand groups in `src` of matrix operations. source_offset: added to the second address of copies.
    folded: the operation costs no instruction, because its users take it in (a sign, a third addend, ...): the interpreter executes
    it as usual, the lowering lets the users read its sources instead. tied: only inside `clean`.
    What each operation reads and writes is listed in `archex/programs/README.md`.
    """

    op: str
    dtype: str = ""
    dst: tuple[Register | None, ...] = ()
    src: tuple[Operand, ...] = ()
    mods: tuple[str, ...] = ()
    source_dtype: str = ""
    guard: Register | None = None
    guard_negated: bool = False
    space: Space = Space.NONE
    offset: int = 0
    width: int = 0
    vector: int = 1
    cache: str = ""
    target: tuple[int, ...] = ()
    line: int = 0
    memory_slot: int = -1
    opcode: str = ""
    groups: tuple[int, ...] = ()
    source_offset: int = 0
    folded: bool = False
    tied: tuple[Operand | None, ...] = ()


@attrs.define(slots=True)
class Block:
    """A basic block: straight-line operations; the last may be `branch`, `branch_index`, `exit` or `return`.

    A guarded `branch` (the lanes whose guard holds go to target[0]) falls through to `next`; `exit` guarded likewise.
    An unguarded `branch` or `exit` has `next` -1; a block without either runs on into `next`.
    reconverge: index of the immediate post-dominator block, -1 at the exit. pragmas: `nounroll` and kin, on a loop's first block.
    """

    operations: list[Operation] = attrs.field(factory=list)
    next: int = -1
    reconverge: int = -1
    label: str = ""
    pragmas: tuple[str, ...] = ()


@attrs.define(slots=True)
class Symbol:
    """A variable with an address: size and alignment in bytes; `offset` within its space once laid out; `data` initial bytes."""

    name: str
    space: Space
    size: int
    align: int = 4
    offset: int = 0
    data: bytes = b""
    extern: bool = False


@attrs.define(slots=True)
class Parameter:
    """A kernel parameter at byte `offset` of the parameter space."""

    name: str
    dtype: str
    size: int
    align: int
    offset: int


@attrs.define(slots=True)
class Function:
    """An entry with every call inlined. `register_dtypes[i]` is the declared type of register i (`pred`, `b32`, `f64`, ...).

    local_bytes: static workgroup memory; private_bytes: a thread's declared private memory.
    Workgroup variables lie from offset 0 of the local space, then dynamic memory (extern arrays) behind them.
    max_threads, required_threads, min_groups, max_registers, required_cluster: what the source promises or asks for.
    source, line: the file, and where in it the entry begins.
    """

    name: str
    blocks: list[Block] = attrs.field(factory=list)
    parameters: list[Parameter] = attrs.field(factory=list)
    register_dtypes: list[str] = attrs.field(factory=list)
    register_names: list[str] = attrs.field(factory=list)
    symbols: dict[str, Symbol] = attrs.field(factory=dict)
    local_bytes: int = 0
    private_bytes: int = 0
    max_threads: int | None = None
    required_threads: tuple[int, int, int] | None = None
    min_groups: int | None = None
    max_registers: int | None = None
    required_cluster: tuple[int, int, int] | None = None
    source: str = ""
    line: int = 0

    def new_register(self, dtype: str, name: str = "") -> Register:
        self.register_dtypes.append(dtype)
        self.register_names.append(name or f"%t{len(self.register_dtypes)}")
        return Register(len(self.register_dtypes) - 1)


#: Every operation name. Arithmetic on `dtype`; anything a device or archex lacks is refused later, by this name.
OPS = frozenset(
    """
    add sub mul_lo mul_hi mul_wide mad_lo mad_hi mad_wide mul24 mad24 fma mul div rem abs neg min max sad
    add_carry sub_carry mad_carry sqrt rsqrt rcp sin cos exp2 log2 tanh copysign
    and or xor not cnot shl shr funnel_left funnel_right permute bitfield_extract bitfield_insert bitfield_mask
    popcount clz reverse_bits find_msb find_nth lop3 compare select select_sign set test_property
    convert move pack unpack dot4 dot2
    load store prefetch atomic reduce_atomic fence barrier
    shuffle vote match active_mask redux elect
    branch branch_index exit return trap nop
    matrix matrix_sparse matrix_load matrix_store matrix_transpose matrix_async matrix_fence matrix_commit matrix_wait
    fragment_load fragment_store
    async_copy async_commit async_wait bulk_copy bulk_commit bulk_wait mbarrier cluster_barrier map_cluster set_max_registers
    """.split()
)
