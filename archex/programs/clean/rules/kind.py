"""What a rule is, and the few moves rules make.

In: an operation and the walk's knowledge (`value`, `operation`, `replace`, `fits`). Out: True if the operation was changed in place,
None if its results already stand for something else, False if nothing is known. Every rule is exact on all bits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from archex.programs.ir import Function, Immediate, Operand, Operation, Register
from archex.programs.types import BITS, FLOATS


class Knowledge(Protocol):
    """What a rule may ask."""

    function: Function

    def operation(self, operand: Operand) -> Operation | None: ...
    def replace(self, register: Register, value: Operand) -> None: ...
    def fits(self, register: Register, value: Operand) -> bool: ...


Outcome = bool | None
Rule = Callable[[Operation, Knowledge], Outcome]
_RULES: dict[str, list[Rule]] = {}


def rule(*names: str) -> Callable[[Rule], Rule]:
    def enter(rule: Rule) -> Rule:
        for name in names:
            _RULES.setdefault(name, []).append(rule)
        return rule

    return enter


def simplify(operation: Operation, known: Knowledge) -> Outcome:
    """Apply the first rule that knows something."""
    for rule in _RULES.get(operation.op, ()):
        outcome = rule(operation, known)
        if outcome is not False:
            return outcome
    return False


def becomes(operation: Operation, known: Knowledge, value: Operand) -> Outcome:
    result = operation.dst[0]
    if result is None or not known.fits(result, value):
        return False
    known.replace(result, value)
    return None


def constant_bits(operand: Operand) -> int | None:
    return operand.bits if isinstance(operand, Immediate) else None


def is_integer(operation: Operation) -> bool:
    return operation.dtype not in FLOATS and not operation.dtype.endswith("x2") and operation.dtype in BITS


def change(
    operation: Operation, op: str, *sources: Operand, mods: tuple[str, ...] = (), dtype: str = "", source_dtype: str = ""
) -> Outcome:
    operation.op, operation.src, operation.mods = op, sources, mods
    operation.dtype = dtype or operation.dtype
    operation.source_dtype = source_dtype
    return True


def same_width(a: Operation, b: Operation) -> bool:
    return BITS.get(a.dtype) == BITS.get(b.dtype) and not a.mods
