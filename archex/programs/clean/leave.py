"""Out of single assignment: phis and kept values become copies, and copies that cost nothing vanish.

In: a function with phis. Out: the same function without; values whose lives do not overlap share a register wherever a copy joined
them (deepest loops first), so that a loop variable is one register again. What is left of a group of copies is put in an order that
loses nothing. Registers are numbered afresh.
"""

from __future__ import annotations

from collections.abc import Iterator

from archex.programs import graph
from archex.programs.ir import Block, Function, Operand, Operation, Register
from archex.programs.liveness import backwards, live, members, write_mask
from archex.programs.operands import reads, writes
from archex.programs.types import BITS

#: A group of copies that happen at once: dst and src run in parallel. Only inside this module.
COPIES = "copies"


def leave(function: Function) -> None:
    """Take `function` out of single assignment, in place."""
    for index, block in enumerate(function.blocks):
        _lower_phis(function, index, block)
    for block in function.blocks:
        block.operations = list(_lower_ties(block))
    joined = _coalesce(function)
    _rename(function, joined)
    for block in function.blocks:
        block.operations = list(_sequence(function, block))
    _number_afresh(function)


def _lower_phis(function: Function, index: int, block: Block) -> None:
    phis = [operation for operation in block.operations if operation.op == "phi"]
    if not phis:
        return
    arrive: list[tuple[Register, Operand]] = []
    for phi in phis:
        result = phi.dst[0]
        assert result is not None
        between = function.new_register(function.register_dtypes[result.id], function.register_names[result.id])
        arrive.append((result, between))
        for source, origin in zip(phi.src, phi.target, strict=True):
            if source is not None:
                _append_copy(function.blocks[origin], between, source)
    block.operations = [_copies(arrive), *block.operations[len(phis) :]]


def _copies(pairs: list[tuple[Register, Operand]]) -> Operation:
    return Operation(COPIES, dst=tuple(to for to, _ in pairs), src=tuple(value for _, value in pairs))


def _append_copy(block: Block, to: Register, value: Operand) -> None:
    """Add to the group of copies before the block's end."""
    operations = block.operations
    at = len(operations)
    if operations and operations[-1].op in graph.ENDS:
        at -= 1
    if at and operations[at - 1].op == COPIES and operations[at - 1].line == -1:
        group = operations[at - 1]
        group.dst += (to,)
        group.src += (value,)
    else:
        operations.insert(at, Operation(COPIES, dst=(to,), src=(value,), line=-1))


def _lower_ties(block: Block) -> Iterator[Operation]:
    for operation in block.operations:
        if operation.tied and operation.op != COPIES:
            pairs = [(to, old) for to, old in zip(operation.dst, operation.tied, strict=True) if to is not None and old is not None]
            if pairs:
                yield _copies(pairs)
            operation.tied = ()
        yield operation


class _Classes:
    """Registers joined so far: members and whom they may not meet, as masks per class."""

    def __init__(self, count: int, conflicts: list[int]) -> None:
        self.parent = list(range(count))
        self.member = [1 << index for index in range(count)]
        self.conflict = conflicts

    def find(self, index: int) -> int:
        while self.parent[index] != index:
            self.parent[index] = self.parent[self.parent[index]]
            index = self.parent[index]
        return index

    def join(self, a: int, b: int) -> bool:
        a, b = self.find(a), self.find(b)
        if a == b:
            return True
        if self.conflict[a] & self.member[b] or self.conflict[b] & self.member[a]:
            return False
        self.parent[b] = a
        self.member[a] |= self.member[b]
        self.conflict[a] |= self.conflict[b]
        return True


def _conflicts(function: Function) -> list[int]:
    """For each register, those that hold another value while it is written."""
    found = [0] * len(function.register_dtypes)
    sets = live(function)
    for block, end in zip(function.blocks, sets.end, strict=True):
        for operation, alive in backwards(block, end):
            if operation.op == COPIES:
                written = write_mask(operation)
                same: dict[Operand, int] = {}
                for to, value in zip(operation.dst, operation.src, strict=True):
                    assert to is not None
                    same[value] = same.get(value, 0) | 1 << to.id
                for to, value in zip(operation.dst, operation.src, strict=True):
                    assert to is not None
                    # Copies of one source hold the same value, and so does the source unless the group writes over it.
                    equal = same[value]
                    if isinstance(value, Register) and not written >> value.id & 1:
                        equal |= 1 << value.id
                    found[to.id] |= (alive | written) & ~equal
            else:
                written = write_mask(operation)
                for register in writes(operation):
                    found[register.id] |= (alive | written) & ~(1 << register.id)
    # Values live where the function begins were never written; they still may not share.
    return found


def _coalesce(function: Function) -> _Classes:
    classes = _Classes(len(function.register_dtypes), _conflicts(function))
    depth = [0] * len(function.blocks)
    for loop in graph.loops(function):
        for index in loop.blocks:
            depth[index] = max(depth[index], loop.depth)
    pairs: list[tuple[int, int, Register, Register]] = []
    for index, block in enumerate(function.blocks):
        for operation in block.operations:
            if operation.op == COPIES:
                for to, value in zip(operation.dst, operation.src, strict=True):
                    if isinstance(value, Register) and to is not None:
                        pairs.append((-depth[index], len(pairs), to, value))
    for _, _, to, value in sorted(pairs):
        kinds = function.register_dtypes[to.id], function.register_dtypes[value.id]
        if BITS[kinds[0]] == BITS[kinds[1]]:
            classes.join(to.id, value.id)
    return classes


def _rename(function: Function, classes: _Classes) -> None:
    new = [Register(classes.find(index)) for index in range(len(function.register_dtypes))]
    for block in function.blocks:
        for operation in block.operations:
            operation.src = tuple(new[source.id] if isinstance(source, Register) else source for source in operation.src)
            operation.dst = tuple(None if register is None else new[register.id] for register in operation.dst)
            if operation.guard is not None:
                operation.guard = new[operation.guard.id]


def _sequence(function: Function, block: Block) -> Iterator[Operation]:
    for operation in block.operations:
        if operation.op == COPIES:
            yield from _in_order(function, operation)
        else:
            yield operation


def _in_order(function: Function, group: Operation) -> Iterator[Operation]:
    """Moves with the effect of copies that happen at once; a cycle is broken by a spare register."""
    waiting: dict[Register, Operand] = {}
    for to, value in zip(group.dst, group.src, strict=True):
        assert to is not None
        if to != value:
            waiting[to] = value
    while waiting:
        needed = {value for value in waiting.values() if isinstance(value, Register)}
        free = [to for to in waiting if to not in needed]
        if free:
            for to in free:
                yield _move(function, to, waiting.pop(to))
            continue
        to = next(iter(waiting))
        spare = function.new_register(function.register_dtypes[to.id])
        yield _move(function, spare, to)
        for other, value in waiting.items():
            if value == to:
                waiting[other] = spare


def _move(function: Function, to: Register, value: Operand) -> Operation:
    return Operation("move", function.register_dtypes[to.id], (to,), (value,), opcode="mov")


def _number_afresh(function: Function) -> None:
    used = 0
    for block in function.blocks:
        for operation in block.operations:
            used |= write_mask(operation)
            for register in reads(operation):
                used |= 1 << register.id
    new = {old: place for place, old in enumerate(members(used))}
    function.register_dtypes = [function.register_dtypes[old] for old in new]
    function.register_names = [function.register_names[old] for old in new]
    for block in function.blocks:
        for operation in block.operations:
            operation.src = tuple(Register(new[source.id]) if isinstance(source, Register) else source for source in operation.src)
            operation.dst = tuple(None if register is None else Register(new[register.id]) for register in operation.dst)
            if operation.guard is not None:
                operation.guard = Register(new[operation.guard.id])
