"""A block as a graph: each operation an item that reads values and makes values.

In: one block and the function's `Facts`. Out: `Form`: items in program order, values with their users, and which value each register
holds at the end. Within a block every value is made once, so that operations can be joined without asking what was overwritten between.
"""

from __future__ import annotations

import attrs

from archex.lowering.facts import Facts, Named, words
from archex.programs.ir import Immediate, Operation, Register, Special
from archex.programs.liveness import kept, members
from archex.programs.types import BITS


@attrs.define(slots=True, eq=False)
class Value:
    """Something held in registers: `words` of 32 bits (0: a predicate, or a scalar register), the item that makes it (None: it was there).

    registers: registers of the function that hold it where the block begins (`incoming`) or ends.
    """

    words: int = 1
    item: Item | None = None
    users: int = 0
    incoming: int = -1
    registers: list[int] = attrs.field(factory=list)
    shared: bool = False


Ref = Value | Immediate | Named


@attrs.define(slots=True, eq=False)
class Item:
    """An operation of the block. `op` and `sources` may differ from the program's once neighbours have been joined.

    attributes: what the expansions' keys are matched with. carried: old values of guarded results. lines: source line.
    """

    op: str
    attributes: frozenset[str]
    sources: list[Ref]
    results: list[Value | None]
    operation: Operation
    guard: Ref | None = None
    carried: list[Ref] = attrs.field(factory=list)
    extra: list[Ref] = attrs.field(factory=list)
    gone: bool = False

    def inputs(self) -> list[Ref]:
        """Everything read."""
        found = [*self.sources, *self.carried, *self.extra]
        return found if self.guard is None else [*found, self.guard]


@attrs.define(slots=True)
class Form:
    """A block's items and what its registers hold at the end."""

    index: int
    items: list[Item]
    final: dict[int, Ref]
    start: dict[int, Value]


INT32 = frozenset({"u8", "s8", "b8", "u16", "s16", "b16", "u32", "s32", "b32"})
INT64 = frozenset({"u64", "s64", "b64"})
FLOAT16 = frozenset({"f16", "bf16", "f16x2", "bf16x2"})
EFFECTS = frozenset({"store", "atomic", "reduce_atomic", "fence", "barrier", "branch", "branch_index", "exit", "trap", "nop", "prefetch"})


def attributes(operation: Operation) -> frozenset[str]:
    """What can be asked of an operation: its types, their groups, its space and variants."""
    found = {operation.dtype, *operation.mods, operation.space.name.lower(), operation.cache}
    found |= _groups(operation.dtype)
    if operation.source_dtype:
        found.add(f"from_{operation.source_dtype}")
        found |= {f"from_{group}" for group in _groups(operation.source_dtype)}
    if operation.dtype in BITS and BITS[operation.dtype] >= 64:
        found.add("wide")
    if operation.op in ("mul_wide", "mad_wide", "mul_lo", "mad_lo") and any(_is_power(source) for source in operation.src[:2]):
        found.add("scaled")
    return frozenset(found)


def _is_power(operand: object) -> bool:
    return isinstance(operand, Immediate) and operand.bits > 0 and operand.bits & (operand.bits - 1) == 0


def _groups(dtype: str) -> set[str]:
    found = set()
    if dtype in INT32:
        found |= {"int", "int32"}
        if dtype[1:] == "16":
            found.add("int16")
    elif dtype in INT64:
        found |= {"int", "int64"}
    elif dtype in FLOAT16:
        found.add("float16")
    return found


def form(facts: Facts, index: int) -> Form:
    """The graph of one block."""
    function = facts.function
    current: dict[int, Ref] = {}
    start: dict[int, Value] = {}

    def look(register: int) -> Ref:
        if register in facts.named:
            return facts.named[register]
        if register not in current:
            value = Value(words(function.register_dtypes[register]), incoming=register)
            start[register] = current[register] = value
        return current[register]

    def ref(operand: Register | Immediate | Special) -> Ref:
        if isinstance(operand, Register):
            return look(operand.id)
        if isinstance(operand, Special):
            return Named("special", operand.name)
        return operand

    items: list[Item] = []
    block = function.blocks[index]
    for operation, old in zip(block.operations, kept(block, sum(1 << register for register in facts.live_out[index])), strict=True):
        if any(register is not None and register.id in facts.named for register in operation.dst):
            continue
        item = Item(operation.op, attributes(operation), [ref(source) for source in operation.src], [], operation)
        if operation.guard is not None:
            item.guard = look(operation.guard.id)
            item.carried = [look(register) for register in members(old) if _holds(facts, index, register, current)]
        for written in operation.dst:
            if written is None:
                item.results.append(None)
                continue
            value = Value(words(function.register_dtypes[written.id]), item)
            current[written.id] = value
            item.results.append(value)
        while item.results and item.results[-1] is None:
            item.results.pop()
        items.append(item)
    final = {register: current[register] for register in facts.live_out[index] if register in current}
    for register, held in final.items():
        if isinstance(held, Value):
            held.registers.append(register)
    made = Form(index, items, final, start)
    count_users(made)
    return made


def _holds(facts: Facts, index: int, register: int, current: dict[int, Ref]) -> bool:
    return register in current or register in facts.live_in[index]


def count_users(made: Form) -> None:
    """Set how often each value is read (at the block's end too)."""
    for item in made.items:
        for result in item.results:
            if result is not None:
                result.users = 0
    for value in made.start.values():
        value.users = 0
    for item in made.items:
        if not item.gone:
            for source in item.inputs():
                if isinstance(source, Value):
                    source.users += 1
    for held in made.final.values():
        if isinstance(held, Value):
            held.users += 1
