"""Values that are the same in every lane of a wave.

In: a function. Out: register numbers. A value is uniform when what it is computed from is, and when no two lanes can have written the
register on different ways: a register written several times stays uniform only if none of the writes depends on a branch that
divides the wave.
"""

from __future__ import annotations

from archex.programs import graph
from archex.programs.ir import Function, Operand, Operation, Register, Space, Special
from archex.programs.operands import writes

#: Special values that differ from lane to lane.
_VARYING = ("tid", "laneid", "lanemask")
#: Results that are the same in all lanes whatever the operands.
_ALWAYS = frozenset({"active_mask", "redux"})
_NEVER = frozenset(
    """atomic match shuffle elect matrix matrix_sparse matrix_load matrix_transpose matrix_async fragment_load mbarrier""".split()
)


def uniform_registers(function: Function, loads: bool = False) -> set[int]:
    """Registers with one value a wave; `loads` counts loads at uniform addresses from any memory, not only constants."""
    varying: set[int] = set()
    divergent: set[int] = set()  # blocks that part of a wave may run
    count = [0] * len(function.register_dtypes)
    for block in function.blocks:
        for operation in block.operations:
            for register in writes(operation):
                count[register.id] += 1
    changed = True
    while changed:
        changed = False
        for index, block in enumerate(function.blocks):
            for operation in block.operations:
                if not operation.dst:
                    continue
                alike = _is_uniform(operation, varying, loads)
                for register in writes(operation):
                    split = count[register.id] > 1 and index in divergent
                    if register.id not in varying and (not alike or split):
                        varying.add(register.id)
                        changed = True
            if _divides(block.operations[-1:], varying):
                region = _region(function, index) - divergent
                if region:
                    divergent |= region
                    changed = True
    return {number for number in range(len(function.register_dtypes)) if number not in varying}


def _varies(operand: Operand, varying: set[int]) -> bool:
    if isinstance(operand, Register):
        return operand.id in varying
    return isinstance(operand, Special) and operand.name.startswith(_VARYING)


def _is_uniform(operation: Operation, varying: set[int], loads: bool) -> bool:
    if operation.guard is not None and operation.guard.id in varying:
        return False
    if operation.op in _ALWAYS or operation.op == "vote":
        return True
    if operation.op in _NEVER:
        return False
    if operation.op == "load" and operation.space not in (Space.PARAMETER, Space.CONSTANT):
        if not loads or operation.space == Space.PRIVATE:
            return False
    return not any(_varies(source, varying) for source in operation.src)


def _divides(last: list[Operation], varying: set[int]) -> bool:
    if not last:
        return False
    operation = last[0]
    if operation.op == "branch_index":
        return _varies(operation.src[0], varying)
    return operation.op in ("branch", "exit", "trap") and operation.guard is not None and operation.guard.id in varying


def _region(function: Function, index: int) -> set[int]:
    """Blocks between a branch and where its ways meet again."""
    end = function.blocks[index].reconverge
    found: set[int] = set()
    if function.blocks[index].operations[-1].op in ("exit", "trap"):
        return found  # the lanes that go on stay together
    waiting = graph.successors(function.blocks[index])
    while waiting:
        at = waiting.pop()
        if at != end and at not in found:
            found.add(at)
            waiting += graph.successors(function.blocks[at])
    return found
