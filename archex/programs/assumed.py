"""Comparisons that a timing run takes as decided: kernels compare a result with an odd constant only to keep it alive.

In: a function. Out: where such comparisons stand, and the value each predicate has. Floating-point values are never equal to a finite
constant other than zero; nor are integers to a constant other than zero where they come out of a matrix product.
"""

from __future__ import annotations

import attrs

from archex.programs.ir import Function, Immediate, Operand, Operation, Register
from archex.programs.operands import writes
from archex.programs.types import BITS, float_value

_EQUALITY = {"eq": 0, "equ": 0, "ne": 1, "neu": 1}
_FLOATS = ("f16", "bf16", "f32", "f64")
_PRODUCTS = frozenset({"matrix", "matrix_sparse", "matrix_async"})
#: What hands on as many different values as it was given. Comparisons, single bits, remainders and memory don't: their results may well
#: meet a constant.
_HANDS_ON = frozenset(
    """add sub mul_lo mul_wide mad_lo mad_wide mul24 mad24 fma mul neg abs min max add_carry sub_carry xor or not shl funnel_left
    funnel_right lop3 select move convert pack unpack permute dot4 dot2 shuffle redux""".split()
)


@attrs.define(slots=True, frozen=True)
class Assumed:
    """A comparison taken as decided: an equality that never holds."""

    block: int
    operation: int
    value: int  # of the predicate
    line: int


def assumptions(function: Function) -> list[Assumed]:
    """The comparisons of a function taken as decided."""
    products: set[int] | None = None
    found = []
    for index, block in enumerate(function.blocks):
        for place, operation in enumerate(block.operations):
            if operation.op != "compare" or len(operation.src) != 2 or operation.mods[0] not in _EQUALITY or operation.dst[1] is not None:
                continue
            constants = [source for source in operation.src if isinstance(source, Immediate)]
            if operation.guard is not None or len(constants) != 1:
                continue
            if operation.dtype in _FLOATS:
                decided = _is_ordinary(float_value(constants[0].bits, operation.dtype))
            elif operation.dtype[0] in "usb":
                products = from_products(function) if products is None else products
                (other,) = (source for source in operation.src if not isinstance(source, Immediate))
                decided = _names(other, products) and constants[0].bits & ((1 << BITS[operation.dtype]) - 1) != 0
            else:
                continue
            if decided:
                found.append(Assumed(index, place, _EQUALITY[operation.mods[0]], operation.line))
    return found


def _is_ordinary(value: float) -> bool:
    return value not in (0.0, float("inf"), float("-inf")) and value == value


def from_products(function: Function) -> set[int]:
    """Registers that may hold something computed, through registers alone, from the result of a matrix product."""
    operations = [operation for block in function.blocks for operation in block.operations]
    found = {register.id for operation in operations if operation.op in _PRODUCTS for register in writes(operation)}
    if not found:
        return found
    passing = [operation for operation in operations if operation.op in _HANDS_ON and operation.dtype != "pred"]
    before = -1
    while before < len(found):
        before = len(found)
        for operation in passing:
            if any(_names(source, found) for source in _values(operation)):
                found.update(register.id for register in writes(operation))
    return found


def _values(operation: Operation) -> tuple[Operand, ...]:
    """The sources whose values the result is made of; what they are selected or shuffled by is not."""
    if operation.op == "select":
        return operation.src[:2]
    return operation.src[:1] if operation.op == "shuffle" else operation.src


def _names(operand: Operand, registers: set[int]) -> bool:
    return isinstance(operand, Register) and operand.id in registers
