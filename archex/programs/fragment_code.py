"""Writes the operations that fragments are taken apart into: address arithmetic by lane, loads, packing.

In: a function and the operation at hand. Out: operations appended to its block under its guard; what depends on the lane alone stands
once, at the function's start.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from archex.base.errors import ProgramError
from archex.programs.ir import Block, Function, Immediate, Operand, Operation, Register, Space, Special
from archex.programs.types import BITS

_NARROW = (Space.LOCAL, Space.PRIVATE)


class Address(NamedTuple):
    """A base and what is added to it."""

    base: Operand
    offset: int


class Writer:
    """One function being rewritten."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.first: list[Operation] = []  # what depends on the lane and on constants only
        self.known: dict[Any, Operand] = {}
        self.constants = _constants(function)

    def begin(self, block: Block, operation: Operation) -> None:
        """What follows replaces `operation`."""
        self.block, self.operation = block, operation

    def finish(self) -> None:
        """Put what all share at the function's start."""
        self.function.blocks[0].operations[:0] = self.first

    def error(self, message: str) -> ProgramError:
        return ProgramError(f"`{self.operation.opcode}`: {message}", self.function.source, self.operation.line)

    # --- operations
    def new(self, dtype: str) -> Register:
        return self.function.new_register(dtype)

    def dtype(self, register: Register) -> str:
        return self.function.register_dtypes[register.id]

    def emit(
        self, op: str, dtype: str, dst: Iterable[Register | None], src: Iterable[Operand], guarded: bool = False, **fields: Any
    ) -> None:
        guard = self.operation.guard if guarded else None
        self.block.operations.append(
            Operation(
                op, dtype, tuple(dst), tuple(src), guard=guard, guard_negated=self.operation.guard_negated and guarded,
                line=self.operation.line, opcode=self.operation.opcode, **fields,
            )
        )  # fmt: skip

    def _value(self, op: str, dtype: str, *src: Operand, fixed: bool = False, **fields: Any) -> Register:
        """The result of a pure operation; `fixed`: its sources are known at the start."""
        made = self.new(fields.pop("result", dtype))
        if fixed:
            self.first.append(Operation(op, dtype, (made,), src, line=self.operation.line, opcode=self.operation.opcode, **fields))
        else:
            self.emit(op, dtype, (made,), src, **fields)
        return made

    def _shared(self, key: Any, op: str, *src: Operand) -> Operand:
        """A 32-bit value of fixed sources, made once."""
        if key not in self.known:
            self.known[key] = self._value(op, "u32", *src, fixed=True)
        return self.known[key]

    def constant(self, operand: Operand) -> Operand:
        """A register that only ever holds a constant, as the constant."""
        if isinstance(operand, Register) and operand.id in self.constants:
            return Immediate(self.constants[operand.id])
        return operand

    # --- 32-bit arithmetic; on fixed values at the start
    def lane_bits(self, bit: int, size: int) -> Operand:
        """bit 0, size 8: lane % 8; else bit number `bit` of the lane, times `size`."""
        lane = self._shared("lane", "move", Special("laneid"))
        if bit == 0:
            return self._shared((0, size), "and", lane, Immediate(size - 1))
        down = self._shared(("down", bit), "shr", lane, Immediate(bit))
        one = down if bit == 4 else self._shared(("one", bit), "and", down, Immediate(1))
        return self._shared((bit, size), "shl", one, Immediate(size.bit_length() - 1))

    def line(self) -> Operand:
        """lane / 4."""
        return self._shared("line", "shr", self._shared("lane", "move", Special("laneid")), Immediate(2))

    def place(self) -> Operand:
        """lane % 4."""
        return self._shared("place", "and", self._shared("lane", "move", Special("laneid")), Immediate(3))

    def _arithmetic(self, op: str, *src: Operand) -> Operand:
        if all(isinstance(value, Immediate) or value in self.known.values() for value in src):
            return self._shared((op, *src), op, *src)
        return self._value(op, "u32", *src)

    def add32(self, a: Operand, b: Operand) -> Operand:
        if Immediate(0) in (a, b):
            return b if a == Immediate(0) else a
        return self._arithmetic("add", a, b)

    def mad32(self, a: Operand, b: Operand, c: Operand) -> Operand:
        b = self.constant(b)
        return self._arithmetic("mul_lo", a, b) if c == Immediate(0) else self._arithmetic("mad_lo", a, b, c)

    def shift32(self, a: Operand, amount: int) -> Operand:
        if isinstance(a, Immediate):
            return Immediate((a.bits << amount) & 0xFFFF_FFFF)
        return self._arithmetic("shl", a, Immediate(amount)) if amount else a

    def divided(self, stride: Operand, shift: int) -> Operand:
        """A stride in units of 2 ** shift elements; it is a multiple of them."""
        stride = self.constant(stride)
        if isinstance(stride, Immediate):
            return Immediate(stride.bits >> shift)
        return self._value("shr", "u32", stride, Immediate(shift)) if shift else stride

    # --- addresses
    def _narrow(self) -> bool:
        base = self.operation.src[0]
        wide = isinstance(base, Register) and BITS[self.dtype(base)] == 64
        return not wide and (self.operation.space in _NARROW or isinstance(base, Register))

    def address(self, step: Operand, stride: Operand, lines: int, more: int, size: int) -> Address:
        """base + step bytes + lines * stride elements + more bytes."""
        base, offset = self.operation.src[0], self.operation.offset + more
        start = self.plus(base, step)
        stride = self.constant(stride)
        if isinstance(stride, Immediate):
            return Address(start, offset + lines * stride.bits * size)
        return Address(self.steps(start, stride, lines * size), offset)

    def plus(self, base: Operand, step: Operand) -> Operand:
        """base + an unsigned 32-bit number of bytes."""
        if base == Immediate(0) and self._narrow():
            return step
        if self._narrow():
            return self._value("add", "u32", base, step)
        return self._value("add", "u64", base, self._value("convert", "u64", step, source_dtype="u32"))

    def scaled(self, base: Operand, factor: Operand, scale: int, add: Operand) -> Operand:
        """base + (line * factor + add) * scale bytes, all but the base by lane."""
        shift = scale.bit_length() - 1
        if self._narrow():
            return self.plus(base, self.shift32(self.mad32(self.line(), factor, add), shift))
        wide = self._value("convert", "u64", add, source_dtype="u32") if not isinstance(add, Immediate) else add
        index = self._value("mad_wide", "u64", self.line(), factor, wide, source_dtype="u32")
        return self._value("add", "u64", base, self._value("shl", "u64", index, Immediate(shift)))

    def steps(self, base: Operand, stride: Operand, size: int) -> Operand:
        """base + stride * size bytes."""
        if size == 0:
            return base
        if self._narrow():
            return self._value("mad_lo", "u32", stride, Immediate(size), base)
        return self._value("mad_wide", "u64", stride, Immediate(size), base, source_dtype="u32")

    def pieces_along(self, pieces: Sequence[tuple[int, int]], positions: int, bits: int, stride: Operand) -> Iterator[Address]:
        """Addresses of pieces whose positions follow each other in memory."""
        unit = positions * bits // 8
        factor = self.divided(stride, positions.bit_length() - 1)
        start = self.scaled(self.operation.src[0], factor, unit, self.place())
        lines: dict[int, Operand] = {}
        for g, t in pieces:
            offset = self.operation.offset + t * bits // 8
            if isinstance(factor, Immediate):
                yield Address(start, offset + g * factor.bits * unit)
                continue
            if g not in lines:
                lines[g] = self.steps(start, factor, g * unit)
            yield Address(lines[g], offset)

    def pieces_across(self, pieces: Sequence[tuple[int, int]], positions: int, size: int, stride: Operand) -> Iterator[list[Address]]:
        """Addresses of each element of pieces whose lines follow each other in memory."""
        stride = self.constant(stride)
        first = self.shift32(self.place(), positions.bit_length() - 1)
        base = self.operation.src[0]
        if self._narrow():
            start = self.plus(base, self.shift32(self.mad32(first, stride, self.line()), size.bit_length() - 1))
        else:
            line = self._value("convert", "u64", self.line(), source_dtype="u32")
            index = self._value("mad_wide", "u64", first, stride, line, source_dtype="u32")
            start = self._value("add", "u64", base, self._value("shl", "u64", index, Immediate(size.bit_length() - 1)))
        columns: dict[int, Operand] = {}
        for g, t in pieces:
            found = []
            for position in range(t, t + positions):
                offset = self.operation.offset + g * size
                if isinstance(stride, Immediate):
                    found.append(Address(start, offset + position * stride.bits * size))
                    continue
                if position not in columns:
                    columns[position] = self.steps(start, stride, position * size)
                found.append(Address(columns[position], offset))
            yield found

    # --- values
    def pack(self, parts: Sequence[Register], bits: int) -> Register:
        """Short elements, lowest first, in one register."""
        if bits == 16:
            return self._value("pack", "b32", *parts, source_dtype="b16")
        made: Operand = self._value("convert", "u32", parts[0], source_dtype="u16", result="b32")
        for index, part in enumerate(parts[1:], 1):
            wide = self._value("convert", "u32", part, source_dtype="u16", result="b32")
            made = self._value("bitfield_insert", "b32", wide, made, Immediate(bits * index), Immediate(bits))
        assert isinstance(made, Register)
        return made

    def unpack(self, value: Operand, bits: int, count: int) -> list[Operand]:
        """The short elements of a register."""
        made = [self.new(f"b{bits}") for _ in range(count)]
        self.emit("unpack", f"b{bits}", made, (value,), source_dtype="b32")
        return list(made)

    def convert_all(self, values: Sequence[Operand], source: str, target: str) -> list[Operand]:
        """Accumulators of another type."""
        if (source, target) == ("f16", "f32"):
            halves = [half for value in values for half in self.unpack(value, 16, 2)]
            return [self._value("convert", "f32", half, source_dtype="f16") for half in halves]
        if (source, target) == ("f32", "f16"):
            pairs = zip(values[1::2], values[::2], strict=True)
            return [self._value("convert", "f16x2", high, low, source_dtype="f32", mods=("rn",), result="b32") for high, low in pairs]
        raise self.error(f"accumulators of type {source} and results of type {target}")


def _constants(function: Function) -> dict[int, int]:
    """Registers that one unguarded move of a constant is all that ever writes."""
    writes: dict[int, int] = {}
    found: dict[int, int] = {}
    for block in function.blocks:
        for operation in block.operations:
            for target in operation.dst:
                if target is not None:
                    writes[target.id] = writes.get(target.id, 0) + 1
                    first = operation.src[0] if operation.src else None
                    if operation.op == "move" and operation.guard is None and isinstance(first, Immediate):
                        found[target.id] = first.bits
    return {register: bits for register, bits in found.items() if writes[register] == 1}
