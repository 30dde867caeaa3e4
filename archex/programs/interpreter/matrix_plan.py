"""What a product of small matrices is made of: extents, types, tables; the common part of its header for the compiled code.

In: shape, types, where the operands are. Out: header entries, counts of registers and the words of scratch it needs.
"""

from __future__ import annotations

from typing import NamedTuple

import attrs

from archex.base.errors import UnsupportedError
from archex.programs.interpreter import matrix as m
from archex.programs.interpreter import matrix_layout as layout
from archex.programs.interpreter import table as n
from archex.programs.interpreter.builder import Builder
from archex.programs.interpreter.convert_lane import integer_code
from archex.programs.interpreter.rounding import FORMATS, NEAREST
from archex.programs.ir import Operation
from archex.programs.types import BITS

#: Types of elements that products take.
ELEMENTS = frozenset({"f16", "bf16", "tf32", "f64", "e4m3", "e5m2", "s8", "u8", "s4", "u4"})
_TAKEN = {
    "s32": ("s8", "u8", "s4", "u4"), "f64": ("f64",), "f32": ("f16", "bf16", "tf32", "e4m3", "e5m2"), "f16": ("f16", "e4m3", "e5m2"),
}  # fmt: skip
#: How an index of stored elements counts, in half positions: whole elements, half ones, pairs.
_INDEX_SCALES = {32: 1, 4: 4}


class Shape(NamedTuple):
    """Extents of a product."""

    rows: int
    columns: int
    depth: int


def _code(dtype: str) -> int:
    return FORMATS[dtype] if dtype in FORMATS else integer_code(BITS[dtype], dtype.startswith("s"))


@attrs.frozen
class Plan:
    """A product of one group of 32 lanes."""

    shape: Shape
    first: str
    second: str
    total: str
    sparse: bool = False
    selector: int = 0
    first_in_memory: bool = False
    second_in_memory: bool = False

    @property
    def terms(self) -> int:
        """Elements of a row of the first operand that are stored."""
        return self.shape.depth // 2 if self.sparse else self.shape.depth

    @property
    def first_registers(self) -> int:
        return _count(self.shape.rows * self.terms, self.first)

    @property
    def second_registers(self) -> int:
        return _count(self.shape.columns * self.shape.depth, self.second)

    @property
    def sum_registers(self) -> int:
        return _count(self.shape.rows * self.shape.columns, self.total)

    @property
    def scratch(self) -> int:
        rows, columns, depth = self.shape
        return 2 * rows * self.terms + columns * depth + rows * columns

    def header(self, builder: Builder, operation: Operation) -> list[int]:
        """Entries of the header; registers, and what only some products have, are filled in by the caller."""
        rows, columns, depth = self.shape
        bits = BITS[self.first]
        if bits != BITS[self.second] or depth * bits < 128 or self.first not in _TAKEN[self.total]:
            raise UnsupportedError(f"{operation.opcode or operation.op} (line {operation.line})")
        entries = [0] * m.HEADER_COLUMNS
        entries[m.ROWS], entries[m.COLUMNS], entries[m.DEPTH], entries[m.TERMS] = rows, columns, depth, self.terms
        entries[m.FIRST_TYPE], entries[m.SECOND_TYPE], entries[m.SUM_TYPE] = _code(self.first), _code(self.second), _code(self.total)
        entries[m.FIRST_SIZE], entries[m.SECOND_SIZE] = bits // 8, bits // 8
        entries[m.MODE], entries[m.KEEP], entries[m.INDEX_TABLE] = NEAREST, n.ALWAYS, -1
        entries[m.FLAGS] = (m.SATURATE if "satfinite" in operation.mods else 0) | (m.SHORT if self.total == "f16" else 0)
        entries[m.SUM_TABLE] = builder.table_of(layout.accumulator, rows, columns, BITS[self.total])
        if self.first_in_memory:
            entries[m.FLAGS] |= m.FIRST_IN_MEMORY
        else:
            entries[m.FIRST_TABLE] = builder.table_of(layout.operand, rows, self.terms, bits)
        if self.second_in_memory:
            entries[m.FLAGS] |= m.SECOND_IN_MEMORY
        else:
            entries[m.SECOND_TABLE] = builder.table_of(layout.operand, columns, depth, bits)
        if self.sparse:
            entries[m.INDEX_TABLE] = builder.table_of(layout.metadata, depth, bits, self.selector)
            entries[m.INDEX_SCALE] = _INDEX_SCALES.get(bits, 2)
        return entries


def _count(elements: int, dtype: str) -> int:
    """Registers a lane holds of so many elements."""
    return max(1, elements * BITS[dtype] // (32 * max(32, BITS[dtype])))
