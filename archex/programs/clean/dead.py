"""What nobody needs: operations whose results are not read, and results of operations that stay.

In: a function in single-assignment form. Out: the same without them. Atomics that nobody asks for the old value become reductions.
"""

from __future__ import annotations

from archex.programs.ir import Function, Operation, Register
from archex.programs.operands import is_droppable, reads, writes

#: Operations that may leave a single result unwritten.
_OPTIONAL = frozenset({"compare", "shuffle", "match", "unpack", "add_carry", "sub_carry", "mad_carry", "elect", "barrier"})


def remove_dead(function: Function) -> bool:
    """Mark from what has an effect, sweep the rest; whether anything went."""
    definition: dict[Register, Operation] = {}
    for block in function.blocks:
        for operation in block.operations:
            for register in writes(operation):
                definition[register] = operation
    needed: set[Register] = set()
    kept: set[int] = set()
    waiting: list[Operation] = [
        operation for block in function.blocks for operation in block.operations if not is_droppable(operation) and operation.op != "phi"
    ]
    while waiting:
        operation = waiting.pop()
        if id(operation) in kept:
            continue
        kept.add(id(operation))
        for register in reads(operation):
            if register not in needed:
                needed.add(register)
                if register in definition:
                    waiting.append(definition[register])
    changed = False
    for block in function.blocks:
        left = [operation for operation in block.operations if id(operation) in kept]
        changed |= len(left) != len(block.operations)
        block.operations = left
        for operation in left:
            changed |= _drop_results(operation, needed)
    return changed


def _drop_results(operation: Operation, needed: set[Register]) -> bool:
    unused = [register for register in writes(operation) if register not in needed]
    if not unused:
        return False
    if operation.op == "atomic" and operation.mods[0] not in ("exch", "cas") and len(unused) == sum(1 for _ in writes(operation)):
        operation.op, operation.dst, operation.tied = "reduce_atomic", (), ()
        return True
    if operation.op not in _OPTIONAL:
        return False
    if operation.op == "compare" and operation.dst[0] in unused and operation.dst[1] is not None and operation.dst[1] in needed:
        return False  # the second result alone: kept as it is
    operation.dst = tuple(None if register in unused else register for register in operation.dst)
    if operation.tied:
        operation.tied = tuple(old if register is not None else None for old, register in zip(operation.tied, operation.dst, strict=True))
    return True
