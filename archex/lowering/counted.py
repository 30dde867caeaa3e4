"""Loops whose number of turns is known when they begin: one block that jumps back to itself, a counter with a constant step, a fixed bound.

In: a function and its `Facts`. Out: `Counted` loops. A guard made from two comparisons, a step that is not constant or a body of
several blocks
leaves the loop alone.
"""

from __future__ import annotations

import attrs

from archex.lowering.facts import Facts
from archex.programs import graph
from archex.programs.ir import Function, Immediate, Operand, Operation, Register
from archex.programs.operands import writes
from archex.programs.types import BITS, signed

_INVERSE = {"lt": "ge", "ge": "lt", "le": "gt", "gt": "le", "ne": "eq", "eq": "ne", "lo": "hs", "hs": "lo", "ls": "hi", "hi": "ls"}
_UNSIGNED = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}
_MIRROR = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le", "ne": "ne"}


@attrs.frozen
class Counted:
    """A loop that goes on while `counter comparison bound`, after `counter += step`; `first` is the counter's constant start, if known."""

    block: int
    counter: Register
    step: int
    comparison: str
    bound: Operand
    dtype: str
    test: Operation
    first: int | None

    @property
    def upwards(self) -> bool:
        """Whether the counter grows."""
        return self.step > 0

    def trips(self) -> int | None:
        """How many turns, when start and bound are constants."""
        if self.first is None or not isinstance(self.bound, Immediate):
            return None
        bound = signed(self.bound.bits, self.dtype)
        count, value = 0, self.first
        distance = (bound - self.first) // self.step
        if distance > 1 << 20:
            return None
        while True:
            value += self.step
            count += 1
            goes_on = {"lt": value < bound, "le": value <= bound, "gt": value > bound, "ge": value >= bound, "ne": value != bound}[
                self.comparison
            ]
            if not goes_on or count > 1 << 16:
                return count


def counted_loops(known: Facts) -> list[Counted]:
    """Counted loops that may be repeated."""
    found = []
    for index in range(len(known.function.blocks)):
        loop = _counted(known, index)
        if loop is not None:
            found.append(loop)
    return found


def _counted(known: Facts, index: int) -> Counted | None:
    block = known.function.blocks[index]
    last = block.operations[-1] if block.operations else None
    if last is None or last.op != "branch" or last.guard is None or last.target != (index,) or block.next < 0:
        return None
    if "nounroll" in block.pragmas or any(operation.op == "fence" for operation in block.operations):
        return None
    made = _only_writer(block.operations, last.guard.id)
    if made is None or made.op != "compare" or len(made.src) != 2 or made.guard is not None:
        return None
    comparison = made.mods[0]
    if last.guard_negated:
        comparison = _INVERSE.get(comparison, "")
    if made.dst[0] != last.guard:
        comparison = _INVERSE.get(comparison, "")
    unsigned = made.dtype.startswith("u") or comparison in _UNSIGNED
    comparison = _UNSIGNED.get(comparison, comparison)
    if comparison not in _MIRROR or made.dtype not in ("s32", "u32", "b32", "s64", "u64", "b64"):
        return None
    for counter, bound, sense in ((made.src[0], made.src[1], comparison), (made.src[1], made.src[0], _MIRROR[comparison])):
        if not isinstance(counter, Register) or _changes(block.operations, bound):
            continue
        step = _step(block.operations, counter, made)
        if step is None or step == 0 or (sense in ("lt", "le") and step < 0) or (sense in ("gt", "ge") and step > 0):
            continue
        if unsigned and step < 0 and sense != "ne":
            continue
        bits = BITS[made.dtype]
        dtype = f"{'u' if unsigned else 's'}{bits}"
        return Counted(index, counter, step, sense, bound, dtype, made, _start(known.function, index, counter, dtype))
    return None


def _only_writer(operations: list[Operation], register: int) -> Operation | None:
    found = [operation for operation in operations if any(made.id == register for made in writes(operation))]
    return found[0] if len(found) == 1 else None


def _changes(operations: list[Operation], operand: Operand) -> bool:
    return isinstance(operand, Register) and any(made.id == operand.id for operation in operations for made in writes(operation))


def _step(operations: list[Operation], counter: Register, test: Operation) -> int | None:
    """What one turn adds, when the only write is that addition and it comes before the test."""
    made = _only_writer(operations, counter.id)
    if made is None or made.op not in ("add", "sub") or made.guard is not None or made.dst != (counter,):
        return None
    if operations.index(made) > operations.index(test):
        return None
    a, b = made.src
    if a == counter and isinstance(b, Immediate):
        amount = signed(b.bits, f"s{BITS[made.dtype]}")
        return amount if made.op == "add" else -amount
    if made.op == "add" and b == counter and isinstance(a, Immediate):
        return signed(a.bits, f"s{BITS[made.dtype]}")
    return None


def _start(function: Function, index: int, counter: Register, dtype: str) -> int | None:
    """The counter's constant value before the loop."""
    before = [other for other in graph.predecessors(function.blocks)[index] if other != index]
    found: set[int] = set()
    for other in before:
        value = None
        for operation in function.blocks[other].operations:
            if any(made.id == counter.id for made in writes(operation)):
                plain = operation.op == "move" and operation.guard is None and isinstance(operation.src[0], Immediate)
                value = signed(operation.src[0].bits, dtype) if plain and isinstance(operation.src[0], Immediate) else None
        if value is None:
            return None
        found.add(value)
    return found.pop() if len(found) == 1 else None
