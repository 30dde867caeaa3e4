"""Short branches into guarded operations, and jumps to the end into guarded exits.

In: a function in single-assignment form. Out: the same where a branch around (or a choice between) a few plain operations is
gone: the operations run under the branch's predicate, and values that met behind it keep their old value under the false guard.
"""

from __future__ import annotations

from archex.programs import graph
from archex.programs.ir import Block, Function, Operand, Operation, Register, Space
from archex.programs.operands import EFFECTS, writes
from archex.programs.types import BITS

#: How many operations (64-bit ones count double) a branch may hold back, both sides together: what the reference compiler does.
LIMIT = 7
#: ... where much is gained: behind it, outside of loops, stands more than one operation, or anywhere a load from global memory, which would
#: wait for the branch.
LIMIT_GAIN = 19
#: Effects a guard can hold back one lane at a time. Atomics keep their branch, as in the reference compiler.
_GUARDABLE = frozenset({"store", "prefetch", "bulk_copy", "mbarrier"})
#: Operations of all lanes together, or that lanes wait in: a branch around them stays.
_TOGETHER = frozenset({"matrix", "matrix_sparse"})
_WAITS = frozenset({"try_wait", "test_wait"})
#: Operations that become long sequences with branches of their own.
LONG = frozenset({"div", "rem", "sqrt", "rsqrt", "rcp", "sin", "cos"})
#: What a branch that is gone left to choose.
_MET = "met"
#: Operations that make addresses where they are done on 64 bits.
_ADDRESSES = frozenset({"add", "shl", "mul_wide", "mad_wide", "mad_lo"})


def predicate_branches(function: Function, gains: bool = True) -> bool:
    """One pass over the blocks, last to first, so that inner branches go before outer ones; whether anything changed.

    gains: where much is gained, more is held back (what is left of a repeated loop stays behind its branch).
    """
    changed = False
    inside = {index for loop in graph.loops(function) for index in loop.blocks}
    for index in range(len(function.blocks) - 1, -1, -1):
        changed |= _convert(function, index, inside, LIMIT_GAIN if gains else LIMIT)
    return changed


def _convert(function: Function, index: int, inside: set[int], most: int) -> bool:
    block = function.blocks[index]
    branch = block.operations[-1] if block.operations else None
    if branch is None or branch.op != "branch" or branch.guard is None or block.next < 0:
        return False
    taken, after = branch.target[0], block.next
    before = graph.predecessors(function.blocks)
    blocks = function.blocks
    for side, meet, negated in ((after, taken, not branch.guard_negated), (taken, after, branch.guard_negated)):
        if side != meet and before[side] == [index] and blocks[side].next == meet:
            if not _is_short([blocks[side]], min(most, _limit(blocks[meet], meet in inside))):
                continue
            _take_in(function, index, side, meet, branch.guard, negated)
            return True
    meet = blocks[after].next
    if after == taken or before[after] != [index] or before[taken] != [index] or blocks[taken].next != meet or meet in (-1, index):
        return False
    if not _is_short([blocks[after], blocks[taken]], min(most, _limit(blocks[meet], meet in inside))):
        return False
    _take_both(function, index, (after, taken), meet, branch)
    return True


def _limit(meet: Block, inside: bool) -> int:
    """How much a branch may hold back, given where its ways meet and whether that is in a loop."""
    if any(operation.op == "load" and operation.space == Space.GLOBAL for operation in meet.operations):
        return LIMIT_GAIN
    work = sum(operation.op != "phi" and operation.op not in graph.ENDS and not _addresses(operation) for operation in meet.operations)
    return LIMIT_GAIN if work > 1 and not inside else LIMIT


def _addresses(operation: Operation) -> bool:
    return operation.op in ("convert", "move") or (operation.op in _ADDRESSES and BITS.get(operation.dtype) == 64)


def _is_short(sides: list[Block], limit: int) -> bool:
    size = 0
    for operation in (operation for block in sides for operation in block.operations):
        if operation.guard is not None or _MET in operation.mods or operation.op in graph.ENDS or operation.op == "phi":
            return False  # guards are not put under guards, nor what was chosen by one
        if operation.op in _TOGETHER or (operation.op in EFFECTS and operation.op not in _GUARDABLE):
            return False
        if operation.op == "mbarrier" and not _WAITS.isdisjoint(operation.mods):
            return False
        if operation.op in LONG and "approx" not in operation.mods:
            return False
        size += _size(operation)
    return size <= limit


def _size(operation: Operation) -> int:
    """Roughly, instructions."""
    if operation.op == "convert" and operation.source_dtype == "u32":
        return 0
    wide = BITS.get(operation.dtype, 0) == 64 and operation.op in ("add", "sub", "shl", "shr", "and", "or", "xor", "select", "mad_lo")
    return 2 if wide else 1


def _take_in(function: Function, index: int, side: int, meet: int, guard: Register, negated: bool) -> None:
    block, body = function.blocks[index], function.blocks[side]
    block.operations.pop()
    made = _under(block, body, guard, negated)
    used: set[Register] = set()
    for phi in _phis(function.blocks[meet]):
        kept, new = phi.src[phi.target.index(index)], phi.src[phi.target.index(side)]
        value = _meeting(function, block, phi, new, kept, (guard, negated), made, used)
        _arrives(phi, value, index, (index, side))
    body.operations, body.next = [Operation("exit")], -1
    block.next = meet


def _take_both(function: Function, index: int, sides: tuple[int, int], meet: int, branch: Operation) -> None:
    """A choice between two sides: the one that is jumped to first, then the other, whose results keep those of the first."""
    block = function.blocks[index]
    following, taken = (function.blocks[side] for side in sides)
    assert branch.guard is not None
    block.operations.pop()
    first = _under(block, taken, branch.guard, branch.guard_negated)
    second = _under(block, following, branch.guard, not branch.guard_negated)
    used: set[Register] = set()
    for phi in _phis(function.blocks[meet]):
        new, old = (phi.src[phi.target.index(side)] for side in sides)
        if isinstance(new, Register) and new in second:
            value = _meeting(function, block, phi, new, old, (branch.guard, not branch.guard_negated), second, used)
        else:
            value = _meeting(function, block, phi, old, new, (branch.guard, branch.guard_negated), first, used)
        _arrives(phi, value, index, sides)
    for body in (following, taken):
        body.operations, body.next = [Operation("exit")], -1
    block.next = meet


def _under(block: Block, body: Block, guard: Register, negated: bool) -> dict[Register, Operation]:
    """Put a side's operations behind the block's, under a guard; what makes each register."""
    for operation in body.operations:
        operation.guard, operation.guard_negated = guard, negated
        operation.tied = (None,) * len(operation.dst)
    block.operations += body.operations
    return {register: operation for operation in body.operations for register in writes(operation)}


def _phis(block: Block) -> list[Operation]:
    return [operation for operation in block.operations if operation.op == "phi"]


def _meeting(
    function: Function, block: Block, phi: Operation, new: Operand | None, kept: Operand | None, guard: tuple[Register, bool],
    made: dict[Register, Operation], used: set[Register],
) -> Operand | None:  # fmt: skip
    """What a phi takes in place of `new`, made under the guard, and `kept`."""
    maker = made.get(new) if isinstance(new, Register) else None
    if maker is None or new in used:
        return _chosen(function, block, phi, new, kept, *guard)
    maker.tied = tuple(kept if register == new else old for register, old in zip(maker.dst, maker.tied, strict=True))
    used.add(new)  # type: ignore[arg-type]
    return new


def _arrives(phi: Operation, value: Operand | None, index: int, gone: tuple[int, int]) -> None:
    pairs = [(source, origin) for source, origin in zip(phi.src, phi.target, strict=True) if origin not in gone] + [(value, index)]
    phi.src, phi.target = tuple(source for source, _ in pairs), tuple(origin for _, origin in pairs)  # type: ignore[misc]


def _chosen(
    function: Function, block: Block, phi: Operation, new: Operand | None, kept: Operand | None, guard: Register, negated: bool
) -> Operand | None:
    if new == kept or kept is None or new is None:
        return kept if new is None else new  # where one way has no value, the other's will do
    result = phi.dst[0]
    assert result is not None
    dtype = function.register_dtypes[result.id]
    made = function.new_register(dtype, function.register_names[result.id])
    if dtype == "pred":
        move = Operation("move", "pred", (made,), (new,), guard=guard, guard_negated=negated, tied=(kept,), opcode="mov")
        block.operations.append(move)
    else:
        sources = (kept, new, guard) if negated else (new, kept, guard)
        block.operations.append(Operation("select", f"b{BITS[dtype]}", (made,), sources, (_MET,), opcode="selp"))
    return made


def guard_exits(function: Function) -> bool:
    """A branch to a block that only ends the program is an exit under the branch's guard."""
    changed = False
    for block in function.blocks:
        last = block.operations[-1] if block.operations else None
        if last is None or last.op != "branch" or last.guard is None:
            continue
        if _only_exits(function.blocks[last.target[0]]):
            last.op, last.target, last.mods = "exit", (), ()
            changed = True
        elif block.next >= 0 and _only_exits(function.blocks[block.next]):
            last.op, last.mods = "exit", ()
            last.guard_negated = not last.guard_negated
            block.next, last.target = last.target[0], ()
            changed = True
    return changed


def _only_exits(block: Block) -> bool:
    return len(block.operations) == 1 and block.operations[0].op == "exit" and block.operations[0].guard is None
