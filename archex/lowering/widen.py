"""Matrix products on types that the matrix unit lacks: their operands turned into a type it has, their accumulators into wider ones.

In: a cleaned-up function, which type stands in for which (`InstructionSetSpec.widened`), the device's `Abilities`. Out: the same function,
or a new one, cleaned up again, in which such products are conversions, products on the other type, and additions. Elements of half the
size make two products of half the length: one on the lower, one on the upper elements of each register. Each starts from zero,
so that equal products of one loop are made once; an addition to the accumulator follows.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import attrs

from archex.lowering.facts import Facts, facts
from archex.lowering.shapes import ELEMENT_BITS, fits, product
from archex.parts.abilities import Abilities
from archex.programs.clean import clean
from archex.programs.ir import Function, Immediate, Operand, Operation, Register


def widen(function: Function, widened: Mapping[str, str], abilities: Abilities) -> Function:
    """The function with products that the unit can do."""
    if not abilities.shapes or not any(operation.op == "matrix" for block in function.blocks for operation in block.operations):
        return function
    changed = False
    known = facts(function)
    made = attrs.evolve(
        function,
        register_dtypes=list(function.register_dtypes),
        register_names=list(function.register_names),
        symbols=dict(function.symbols),
    )
    blocks: list[list[Operation]] = []
    ahead: list[list[Operation]] = [[] for _ in function.blocks]
    for index, block in enumerate(function.blocks):
        blocks.append([])
        for operation in block.operations:
            found = _Widening(made, operation, known, index, ahead).run(widened, abilities) if operation.op == "matrix" else None
            changed |= found is not None
            blocks[-1] += found if found is not None else [attrs.evolve(operation)]
    made.blocks = [
        attrs.evolve(block, operations=_before_end(operations, more))
        for block, operations, more in zip(function.blocks, blocks, ahead, strict=True)
    ]
    return clean(made) if changed else function


def _before_end(operations: list[Operation], more: list[Operation]) -> list[Operation]:
    at = len(operations) - bool(operations and operations[-1].op in ("branch", "branch_index", "exit", "trap"))
    return [*operations[:at], *more, *operations[at:]]


class _Widening:
    """One product."""

    def __init__(self, function: Function, operation: Operation, known: Facts, block: int, ahead: list[list[Operation]]) -> None:
        self.function, self.operation, self.known, self.block, self.ahead = function, operation, known, block, ahead
        self.made: list[Operation] = []
        self.target = self.made

    def run(self, widened: Mapping[str, str], abilities: Abilities) -> list[Operation] | None:
        """What stands for the product, None if it may stay."""
        operation, wanted = self.operation, product(self.operation)
        shapes = [shape for shape in abilities.shapes.values() if shape.source == "registers"]
        if any(fits(wanted, shape) for shape in shapes) or len(operation.groups) < 3:
            return None
        first, second, third = self._groups()
        element = wanted.elements[0]
        other = widened.get(element, element)
        narrow = ELEMENT_BITS[element] == 8 and ELEMENT_BITS.get(other) == 16
        wider = wanted.accumulator == "f16" and not any("f16" in shape.accumulators.split() for shape in shapes)
        if not narrow and not wider:
            return None
        accumulator = "f32" if wider else wanted.accumulator
        mods = self._mods(wanted.elements, other, accumulator, 2 if narrow else 1)
        operands = [(first, second)]
        if narrow:
            lower, upper = zip(*(self._halves(value, element) for value in (*first, *second)), strict=True)
            operands = [(part[: len(first)], part[len(first) :]) for part in (lower, upper)]
        count = len(third) * (2 if wider else 1)
        start: tuple[Operand, ...] = tuple(self._apart(third)) if wider and not narrow else (Immediate(0),) * count
        for a, b in operands:
            results = tuple(self._new("b32") for _ in range(count))
            self._emit("matrix", accumulator, results, (*a, *b, *start), mods, groups=(len(a), len(b), count))
            start = results
        self._end(third, start, accumulator, wider, narrow)
        return self.made

    def _groups(self) -> list[tuple[Operand, ...]]:
        found, at = [], 0
        for length in self.operation.groups[:3]:
            found.append(self.operation.src[at : at + length])
            at += length
        return found

    def _mods(self, elements: tuple[str, ...], other: str, accumulator: str, parts: int) -> tuple[str, ...]:
        found = []
        types = 0
        for mod in self.operation.mods:
            extents = re.match(r"(m\d+n\d+k)(\d+)$", mod)
            if extents:
                found.append(f"{extents[1]}{int(extents[2]) // parts}")
            elif mod in ELEMENT_BITS or mod == "s32":
                types += 1
                found.append(other if mod in elements and types in (2, 3) else accumulator)
            elif not mod.startswith("kind"):
                found.append(mod)
        return tuple(found)

    def _halves(self, value: Operand, element: str) -> tuple[Register, Register]:
        """Two registers of 16-bit floats from one of four 8-bit ones; made before a loop in which it does not change."""
        place = self.block
        for blocks, before in self.known.around[self.block]:
            if not isinstance(value, Register) or value.id not in self.known.written_in(blocks):
                place = before
            else:
                break
        self.target = self.ahead[place] if place != self.block and self.operation.guard is None else self.made
        parts = (self._new("b16"), self._new("b16"))
        self._emit("unpack", "b16", parts, (value,), (), "b32")
        found = self._converted(parts[0], element), self._converted(parts[1], element)
        self.target = self.made
        return found

    def _converted(self, part: Register, element: str) -> Register:
        found = self._new("b32")
        self._emit("convert", "f16x2", (found,), (part,), ("rn",), f"{element}x2")
        return found

    def _apart(self, values: tuple[Operand, ...]) -> list[Register]:
        """Pairs of 16-bit floats as 32-bit floats."""
        found = []
        for value in values:
            parts = (self._new("b16"), self._new("b16"))
            self._emit("unpack", "b16", parts, (value,), (), "b32")
            for part in parts:
                wide = self._new("b32")
                self._emit("convert", "f32", (wide,), (part,), (), "f16")
                found.append(wide)
        return found

    def _end(self, third: tuple[Operand, ...], sums: tuple[Operand, ...], accumulator: str, wider: bool, narrow: bool) -> None:
        for at, result in enumerate(self.operation.dst):
            if result is None:
                continue
            value: Operand = sums[at]
            if wider:
                value = self._new("b32")
                self._emit("convert", "f16x2", (value,), (sums[2 * at + 1], sums[2 * at]), ("rn",), "f32")
            if narrow:
                dtype = "f16x2" if wider or accumulator == "f16" else accumulator
                self._emit("add", dtype, (result,), (value, third[at]))
            else:
                self._emit("move", "b32", (result,), (value,))

    def _new(self, dtype: str) -> Register:
        return self.function.new_register(dtype)

    def _emit(
        self, op: str, dtype: str, dst: tuple[Register, ...], src: tuple[Operand, ...], mods: tuple[str, ...] = (), source_dtype: str = "",
        groups: tuple[int, ...] = (),
    ) -> None:  # fmt: skip
        line, opcode = self.operation.line, self.operation.opcode
        guard, negated = self.operation.guard, self.operation.guard_negated
        self.target.append(
            Operation(op, dtype, dst, src, mods, source_dtype, guard=guard, guard_negated=negated, line=line, opcode=opcode, groups=groups)
        )
