"""A program's matrix product on a device's shapes: which shape, how many of its instructions.

In: an operation of the program (`matrix`, `matrix_sparse`, `matrix_async`), the device's `Abilities`. Out: a `Plan`, or `UnsupportedError`
that says which types and lengths there are. The rule: as many instructions as the products need, `ceil(products / (m n k))`, of the shape
that holds the unit shortest.
"""

from __future__ import annotations

import math
import re

import attrs

from archex.base.errors import UnsupportedError
from archex.parts.abilities import Abilities
from archex.parts.matrix_unit import OPERATION, ShapeSpec
from archex.programs.ir import Operation

_EXTENTS = re.compile(r"m(\d+)n(\d+)k(\d+)$")
#: Bits of an element in registers and in local memory.
ELEMENT_BITS = {"f16": 16, "bf16": 16, "tf32": 32, "f32": 32, "f64": 64, "s8": 8, "u8": 8, "s4": 4, "u4": 4, "e4m3": 8, "e5m2": 8}
#: Lanes that one product of a program belongs to; a wider wave works on several.
GROUP = 32
#: Groups that share a product whose operands lie in local memory.
TOGETHER = 4


@attrs.frozen
class Product:
    """What the program asks of a group of lanes: extents, types. `beside`: it runs beside its wave."""

    m: int
    n: int
    k: int
    elements: tuple[str, ...]
    accumulator: str
    sparse: bool
    beside: bool

    @property
    def size(self) -> float:
        """Bytes of an element of the operands."""
        return ELEMENT_BITS[self.elements[0]] / 8


@attrs.frozen
class Plan:
    """`count` machine operations `operation` of a shape, each holding the unit for `interval` cycles."""

    operation: str
    shape: ShapeSpec
    count: int
    interval: float
    beside: bool


def product(operation: Operation) -> Product:
    """The product that an operation is, of one group of lanes."""
    extents = next((found for part in operation.mods if (found := _EXTENTS.match(part))), None)
    types = [part for part in operation.mods if part in ELEMENT_BITS or part == "s32"]
    if extents is None or len(types) < 2:
        raise UnsupportedError(f"{operation.opcode} (line {operation.line}): its extents and types are not known here")
    m, n, k = (int(extent) for extent in extents.groups())
    beside = operation.op == "matrix_async"
    if beside:
        m //= TOGETHER
        elements = tuple(types[1:3])
    else:
        elements = tuple(types[1:3]) if len(types) >= 3 else ("f16",)
    sparse = operation.op == "matrix_sparse" or any(part == "sp" or part.startswith("sp::") for part in operation.mods)
    return Product(m, n, k, tuple(dict.fromkeys(elements)), types[0], sparse, beside)


def fits(wanted: Product, shape: ShapeSpec) -> bool:
    """Whether a shape has the product's types."""
    return (
        all(element in shape.elements.split() for element in wanted.elements)
        and wanted.accumulator in shape.accumulators.split()
        and shape.sparse == wanted.sparse
    )


def plan(operation: Operation, abilities: Abilities) -> Plan:
    """The shape that holds the unit shortest. A product beside its wave falls back to shapes that read registers."""
    wanted = product(operation)
    for source in ("local_memory", "registers") if wanted.beside else ("registers",):
        found = [
            _on(wanted, name, shape, abilities.lanes)
            for name, shape in abilities.shapes.items()
            if shape.source == source and fits(wanted, shape)
        ]
        if found:
            return min(found, key=lambda choice: (choice.count * choice.interval, choice.count))
    raise UnsupportedError(_refusal(operation, wanted, abilities))


def _on(wanted: Product, name: str, shape: ShapeSpec, lanes: int) -> Plan:
    rows = wanted.m * max(1, lanes // GROUP)
    beside = shape.source == "local_memory"
    columns = min(wanted.n, shape.n_most or shape.n) if beside else shape.n
    count = math.ceil(rows * wanted.n * wanted.k / (shape.m * columns * shape.k))
    return Plan(OPERATION + name, shape, count, max(shape.least, shape.interval * math.ceil(columns / shape.n)), beside)


def _refusal(operation: Operation, wanted: Product, abilities: Abilities) -> str:
    source = "" if wanted.beside else "registers"
    kind = "sparse " if wanted.sparse else ""
    has = " ".join(
        dict.fromkeys(
            element
            for shape in abilities.shapes.values()
            if shape.sparse == wanted.sparse and source in ("", shape.source) and wanted.accumulator in shape.accumulators.split()
            for element in shape.elements.split()
        )
    )
    what = f"{kind}{' and '.join(wanted.elements)} with {wanted.accumulator} accumulators"
    return f"{operation.opcode} (line {operation.line}): the matrix unit has no shape for {what} (has: {has or 'none'})"
