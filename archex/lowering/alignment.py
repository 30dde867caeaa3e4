"""What is known of a register's low bits: the power of two that divides it.

In: a function. Out: per register the number of low bits that are surely zero. Pointers that come as parameters promise nothing.
"""

from __future__ import annotations

from archex.programs.ir import Function, Immediate, Operand, Operation, Register
from archex.programs.operands import writes

MOST = 16


def alignments(function: Function) -> dict[int, int]:
    """Zero low bits of each register that some operation writes."""
    operations = [operation for block in function.blocks for operation in block.operations if operation.dst]
    known: dict[int, int] = {}
    for operation in operations:
        for register in writes(operation):
            known[register.id] = MOST
    changed = True
    while changed:
        changed = False
        for operation in operations:
            found = _zeros(operation, known)
            for register in writes(operation):
                if found < known[register.id]:
                    known[register.id] = found
                    changed = True
    return known


def zeros(operand: Operand, known: dict[int, int]) -> int:
    """Zero low bits of an operand."""
    if isinstance(operand, Immediate):
        return MOST if operand.bits == 0 else min(MOST, (operand.bits & -operand.bits).bit_length() - 1)
    return known.get(operand.id, 0) if isinstance(operand, Register) else 0


def _zeros(operation: Operation, known: dict[int, int]) -> int:
    each = [zeros(source, known) for source in operation.src]
    if operation.op in ("add", "sub", "or", "xor", "min", "max", "move", "convert", "neg"):
        return min(each)
    if operation.op == "and":
        return max(each)
    if operation.op in ("mul_lo", "mul_wide"):
        return min(MOST, each[0] + each[1])
    if operation.op in ("mad_lo", "mad_wide"):
        return min(MOST, each[0] + each[1], each[2])
    if operation.op == "shl" and isinstance(operation.src[1], Immediate):
        return min(MOST, each[0] + operation.src[1].bits)
    if operation.op == "select":
        return min(each[:2])
    return 0
