"""Loads rise over a short conditional part: what a memory answers later is asked before the branch, as in the reference compiler.

In: a function in single-assignment form whose short branches are gone. Out: the same where a load that runs whichever way a branch goes
stands before the branch, with what makes its address. Only past parts without a loop, a call or a barrier, and past no store that may
touch what is read.
"""

from __future__ import annotations

from archex.programs import graph
from archex.programs.clean.predicate import LONG
from archex.programs.ir import Block, Function, Operation, Register, Space
from archex.programs.operands import EFFECTS, is_pure, reads, writes

#: Loads that may run earlier, by how they are cached.
_PLAIN = frozenset({"", "nc", "ca", "cg"})
_WRITES = frozenset({"store", "atomic", "reduce_atomic"})


def lift_loads(function: Function) -> None:
    """Move loads up, past as many parts as they can pass."""
    before = graph.predecessors(function.blocks)
    for index in range(len(function.blocks) - 1, -1, -1):
        sides, meet = _part(function, index, before)
        if meet >= 0 and all(_passable(function.blocks[side]) for side in sides):
            _lift(function.blocks[index], function.blocks[meet], [function.blocks[side] for side in sides])


def _part(function: Function, index: int, before: list[list[int]]) -> tuple[list[int], int]:
    """The blocks that only a branch at the end of a block leads to, and the one where its ways meet; -1: it is no such branch."""
    block = function.blocks[index]
    branch = block.operations[-1] if block.operations else None
    if branch is None or branch.op != "branch" or branch.guard is None or block.next < 0:
        return [], -1
    ways = [block.next, branch.target[0]]
    for meet in (*ways, function.blocks[ways[0]].next):
        sides = [way for way in dict.fromkeys(ways) if way != meet]
        if meet in (-1, index) or not sides or any(before[side] != [index] or function.blocks[side].next != meet for side in sides):
            continue
        if sorted(before[meet]) == sorted([*sides, *([index] if len(sides) == 1 else [])]):
            return sides, meet
    return [], -1


def _passable(block: Block) -> bool:
    for operation in block.operations:
        if operation.op in graph.ENDS or (operation.op in EFFECTS and operation.op not in _WRITES):
            return False
        if operation.op in LONG and "approx" not in operation.mods:
            return False
    return True


def _lift(above: Block, meet: Block, sides: list[Block]) -> None:
    inside = {register for operation in meet.operations for register in writes(operation)}
    makers = {register: operation for operation in meet.operations for register in writes(operation)}
    passed = [operation for side in sides for operation in side.operations if operation.op in _WRITES]
    moved: list[Operation] = []
    for operation in list(meet.operations):
        if operation.op == "load" and _may_rise(operation, passed):
            chain = _chain(operation, makers, inside)
            for part in chain or ():
                moved.append(part)
                meet.operations = [other for other in meet.operations if other is not part]
                inside.difference_update(writes(part))
        elif operation.op in EFFECTS:
            if operation.op not in _WRITES:
                break
            passed.append(operation)
    at = len(above.operations) - 1
    above.operations[at:at] = moved


def _may_rise(load: Operation, passed: list[Operation]) -> bool:
    if load.guard is not None or load.cache not in _PLAIN or load.mods or load.space not in (Space.GLOBAL, Space.LOCAL):
        return False
    return load.cache == "nc" or all(other.space not in (load.space, Space.GENERIC) for other in passed)


def _chain(load: Operation, makers: dict[Register, Operation], inside: set[Register]) -> list[Operation] | None:
    """The load behind what makes its address in the same block; None where that stands on something that cannot move."""
    found: list[Operation] = []
    waiting = [load]
    while waiting:
        operation = waiting.pop()
        if any(operation is other for other in found):
            found = [other for other in found if other is not operation]
        found.append(operation)
        for register in reads(operation):
            if register not in inside:
                continue
            maker = makers[register]
            if maker.op == "phi" or maker.guard is not None or not is_pure(maker):
                return None
            waiting.append(maker)
    return found[::-1]
