"""The instruction set: what a device executes for each operation of a program. Data only.

In: a described `Spec`. Out: rules that lowering follows: expansions into machine operations (`machine_operations.py`), which neighbours one
instruction can do together, what every program starts with, when loops are unrolled again, how spill slots are used.
An expansion is text: steps `result = operation input, input @ guard` parted by `;`. Inputs `a b c e` are the operation's operands,
`d` its result
(`q` a second one); other names are temporaries, one register each, those that start with `p` predicates, with `w` two registers.
A step may name another expansion instead of a machine operation; equal steps on equal inputs are done once.
"""

from __future__ import annotations

import attrs

from archex.parts.part import Part, choice, flag, nested, number, text


@attrs.frozen(kw_only=True)
class UnrollSpec:
    """When the assembler repeats the body of a counted loop. The body's weight is its machine operations, memory operations
    counting more."""

    copies: int = number("count", "copies of the body in the main loop; half and one copy follow for the rest; 0: never", high=16)
    memory_weight: int = number("count", "weight of a memory operation; any other has 1", high=16)
    limit: int = number("count", "heaviest body that is repeated", high=100000)
    limit_global_load: int = number("count", "... with a load from global memory in it", high=100000)
    limit_local_load: int = number("count", "added to `limit` for each load from local memory", high=1000)
    limit_most: int = number("count", "... up to this", high=100000)
    whole_trips: int = number("count", "a loop of a known count up to this is always unrolled whole", high=1000)
    whole_weight: int = number("count", "a loop of a known count is unrolled whole up to this total weight", high=1000000)
    whole_weight_small: int = number("count", "... when one body is within `limit`", high=1000000)


@attrs.frozen(kw_only=True)
class InstructionSetSpec:
    """How a device's code is made from a program."""

    instruction_bytes: int = number("B", "bytes of one instruction", low=1, high=64)
    expansions: dict[str, str] = text("machine operations of each operation, by its name and the attributes it must have", each="map")
    prologue: str = text("steps that every program starts with")
    memory_prologue: str = text("steps once for a program that touches global memory")
    local_base: str = text("steps that give the base of local memory, once in each region that uses it")
    specials: dict[str, str] = text("how each hardware value is read", each="map")
    parameter: str = text("how a parameter is read into a register")
    parameter_uniform: str = text("... for use as a scalar operand")
    parameter_group: int = number("B", "parameters within one such piece of the parameter block come with one load", low=1, high=64)
    uniform: dict[str, str] = text("machine operation on the scalar unit for each that has one; empty: no scalar unit", each="map")
    immediates: int = number("count", "constants one instruction can hold; others are loaded into registers first", high=8)
    immediate_free: str = text("machine operations that take any number of constants, parted by spaces")
    immediate_none: str = text("machine operations that take no constant but zero, parted by spaces")
    divergence: str = text("step before a branch whose lanes may part, and at the place where they meet: `before; after`, or empty")
    guard: str = text("steps around operations under one predicate, `before; after`; empty: instructions take a predicate themselves")
    branch: str = text("steps of a branch on a predicate `p`")
    local_loops: str = text("atomics on local memory that are loops of compare and swap, as type.operation, parted by spaces")
    shared_atomics: str = text("integer atomics that one lane does for all on an address they share, parted by spaces")
    memory_wait: str = text("step before the first use of a load's result that no earlier wait covers, or empty")
    product_wait: str = text(
        "step between a matrix product from registers and what needs its result right behind it or in another block, or empty", default=""
    )
    product_hold: float = number(
        "cycles", "cycles that such a product holds its wave, before the step `product_wait` and what comes behind it", default=0, high=64
    )
    before_copies: str = text(
        "steps before the first copy by lane of a block, and behind accesses of local memory or a barrier, or empty",
        default="",
    )
    widened: dict[str, str] = text(
        "types of matrix operands that are turned into another type, where the matrix unit takes that one only", each="map", default={}
    )
    fuse: str = text("neighbours that one instruction does together, parted by spaces (see `lowering/fuse.py`)")
    widest_access: int = number("B", "bytes a lane that one memory instruction moves at most", high=64)
    merge_access: int = number("B", "bytes up to which loads and stores of neighbouring addresses are merged", high=64)
    orders: str = choice(
        "order of a block that registers are short for: the shortest of many that are tried, or the first found that fits",
        ("searched", "first"),
    )
    assumed_latency: dict[str, float] = number(
        "cycles", "what the assembler expects of operations of varying latency, for their order", high=2000, each="map"
    )
    budget_share: float = number("ratio", "registers for each that a launch names without naming a set", low=0.1, high=10, default=1)
    reserved_registers: int = number("count", "vector registers a thread can't use for values", high=64)
    unroll: UnrollSpec = nested(UnrollSpec, "re-unrolling of loops")
    contracts: bool = flag("whether a multiplication and an addition without stated rounding become one fused operation")


class InstructionSet(Part):
    """What a device executes for each operation of a program."""

    kind = "instruction_set"
    name = "instruction_set"
    Spec = InstructionSetSpec
