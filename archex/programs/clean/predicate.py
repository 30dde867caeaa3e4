"""Short branches into guarded operations, and jumps to the end into guarded exits.

In: a function in single-assignment form. Out: the same where a branch around (or a choice between) a few plain operations is
gone: the operations run under the branch's predicate, and values that met behind it keep their old value under the false guard.
"""

from __future__ import annotations

from archex.programs import graph
from archex.programs.ir import Block, Function, Operand, Operation, Register
from archex.programs.operands import EFFECTS, writes
from archex.programs.types import BITS

#: How many operations (64-bit ones count double) a side may have: what the reference compiler does.
LIMIT = 7
#: Effects a guard can hold back one lane at a time. Atomics keep their branch, as in the reference compiler.
_GUARDABLE = frozenset({"store", "prefetch", "bulk_copy", "mbarrier"})
#: Operations of all lanes together, or that lanes wait in: a branch around them stays.
_TOGETHER = frozenset({"matrix", "matrix_sparse"})
_WAITS = frozenset({"try_wait", "test_wait"})
#: Operations that become long sequences with branches of their own.
_LONG = frozenset({"div", "rem", "sqrt", "rsqrt", "rcp", "sin", "cos"})


def predicate_branches(function: Function) -> bool:
    """One pass over the blocks, last to first, so that inner branches go before outer ones; whether anything changed."""
    changed = False
    for index in range(len(function.blocks) - 1, -1, -1):
        changed |= _convert(function, index)
    return changed


def _convert(function: Function, index: int) -> bool:
    block = function.blocks[index]
    branch = block.operations[-1] if block.operations else None
    if branch is None or branch.op != "branch" or branch.guard is None or block.next < 0:
        return False
    taken, after = branch.target[0], block.next
    before = graph.predecessors(function.blocks)
    for side, meet, negated in ((after, taken, not branch.guard_negated), (taken, after, branch.guard_negated)):
        if side != meet and before[side] == [index] and function.blocks[side].next == meet and _is_short(function.blocks[side]):
            _take_in(function, index, side, meet, branch.guard, negated)
            return True
    return False


def _is_short(block: Block) -> bool:
    size = 0
    for operation in block.operations:
        if operation.guard is not None or operation.op in graph.ENDS or operation.op == "phi":
            return False
        if operation.op in _TOGETHER or (operation.op in EFFECTS and operation.op not in _GUARDABLE):
            return False
        if operation.op == "mbarrier" and not _WAITS.isdisjoint(operation.mods):
            return False
        if operation.op in _LONG and "approx" not in operation.mods:
            return False
        size += _size(operation)
    return size <= LIMIT


def _size(operation: Operation) -> int:
    """Roughly, instructions."""
    if operation.op == "convert" and operation.source_dtype == "u32":
        return 0
    wide = BITS.get(operation.dtype, 0) == 64 and operation.op in ("add", "sub", "shl", "shr", "and", "or", "xor", "select", "mad_lo")
    return 2 if wide else 1


def _take_in(function: Function, index: int, side: int, meet: int, guard: Register, negated: bool) -> None:
    block, body = function.blocks[index], function.blocks[side]
    block.operations.pop()
    made_here = {register: operation for operation in body.operations for register in writes(operation)}
    for operation in body.operations:
        operation.guard, operation.guard_negated = guard, negated
        operation.tied = (None,) * len(operation.dst)
    block.operations += body.operations
    used: set[Register] = set()
    for phi in function.blocks[meet].operations:
        if phi.op != "phi":
            break
        kept = phi.src[phi.target.index(index)]
        new = phi.src[phi.target.index(side)]
        maker = made_here.get(new) if isinstance(new, Register) else None
        if maker is not None and new not in used:
            maker.tied = tuple(kept if register == new else old for register, old in zip(maker.dst, maker.tied, strict=True))
            used.add(new)  # type: ignore[arg-type]
            value: Operand | None = new
        else:
            value = _chosen(function, block, phi, new, kept, guard, negated)
        pairs = [(s, o) for s, o in zip(phi.src, phi.target, strict=True) if o not in (index, side)] + [(value, index)]
        phi.src, phi.target = tuple(s for s, _ in pairs), tuple(o for _, o in pairs)  # type: ignore[misc]
    body.operations, body.next = [Operation("exit")], -1
    block.next = meet


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
        block.operations.append(Operation("select", f"b{BITS[dtype]}", (made,), sources, opcode="selp"))
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
