"""What an assembler changes in a program beside unrolling: loops end with their test, and one lane does an atomic for all.

In: a cleaned-up function. Out: the same function changed in place; block numbers stay.
An integer atomic on an address that all lanes share is done by one of them: the lanes' values are combined first, and where the
old value is
wanted, each lane's share is added to it. What the assembler writes as a loop of compare and swap gets a block of its own.
"""

from __future__ import annotations

from archex.programs.ir import Block, Function, Immediate, Operand, Operation, Register, Space, Special
from archex.programs.uniform import uniform_registers

#: Marks an atomic that machine code repeats until all its lanes have had their turn.
REPEATED = "repeated"


def separate_loops(function: Function, loops: frozenset[str]) -> bool:
    """Give each atomic on local memory of these kinds (`type.operation`) a block of its own; whether anything changed."""
    changed = False
    for block in list(function.blocks):
        while True:
            at = next((k for k, operation in enumerate(block.operations) if is_loop(operation, loops)), -1)
            if at < 0:
                break
            changed = True
            loop, rest = Block(), Block(block.operations[at + 1 :], block.next)
            loop.operations = [block.operations[at]]
            loop.operations[0].mods = (*loop.operations[0].mods, REPEATED)
            block.operations, block.next = block.operations[:at], len(function.blocks)
            loop.next = len(function.blocks) + 1
            function.blocks += [loop, rest]
            block = rest
    return changed


def is_loop(operation: Operation, loops: frozenset[str]) -> bool:
    """Whether machine code has a loop for an operation that isn't marked yet."""
    atomic = operation.op in ("atomic", "reduce_atomic") and operation.space == Space.LOCAL and REPEATED not in operation.mods
    return atomic and f"{operation.dtype}.{operation.mods[0]}" in loops


def end_loops_with_test(function: Function) -> bool:
    """`leave when done; jump back` -> `jump back unless done; leave`; whether anything changed."""
    changed = False
    for index, block in enumerate(function.blocks):
        last = block.operations[-1] if block.operations else None
        if last is None or last.op != "exit" or last.guard is None or block.next < 0:
            continue
        jump = function.blocks[block.next]
        back = jump.operations[-1] if len(jump.operations) == 1 else None
        if back is None or back.op != "branch" or back.guard is not None or back.target[0] > index:
            continue
        if sum(other.next == block.next or block.next in _targets(other) for other in function.blocks) != 1:
            continue
        last.op, last.target, last.guard_negated = "branch", back.target, not last.guard_negated
        jump.operations = [Operation("exit", line=back.line, opcode="ret")]
        jump.next = -1
        changed = True
    return changed


def _targets(block: Block) -> tuple[int, ...]:
    return block.operations[-1].target if block.operations else ()


def aggregate_atomics(function: Function, kinds: frozenset[str]) -> bool:
    """Let one lane do atomics of these kinds on a shared address; whether anything changed."""
    if not kinds or not any(operation.op in ("atomic", "reduce_atomic") for block in function.blocks for operation in block.operations):
        return False
    uniform = uniform_registers(function)
    read = {
        source.id for block in function.blocks for operation in block.operations for source in operation.src if isinstance(source, Register)
    }
    read |= {operation.guard.id for block in function.blocks for operation in block.operations if operation.guard is not None}
    changed = False
    for block in function.blocks:
        made: list[Operation] = []
        for operation in block.operations:
            found = _aggregated(function, operation, uniform, read, kinds)
            changed |= found is not None
            made += found or [operation]
        block.operations = made
    return changed


def _aggregated(
    function: Function, operation: Operation, uniform: set[int], read: set[int], kinds: frozenset[str]
) -> list[Operation] | None:
    if (
        operation.op not in ("atomic", "reduce_atomic")
        or operation.space not in (Space.GLOBAL, Space.LOCAL)
        or operation.dtype not in ("u32", "s32", "b32")
    ):
        return None
    kind = operation.mods[0]
    base, value = operation.src[0], operation.src[1]
    if kind not in kinds or operation.guard is not None or (isinstance(base, Register) and base.id not in uniform):
        return None
    result = operation.dst[0] if operation.dst and operation.dst[0] is not None and operation.dst[0].id in read else None
    constant = isinstance(value, Immediate) or (isinstance(value, Register) and value.id in uniform)
    if operation.space == Space.LOCAL and result is None:
        return None
    if result is not None and not (constant and kind == "add"):
        return None
    line = operation.line

    def new(op: str, dtype: str, src: tuple[Operand, ...], mods: tuple[str, ...] = (), kept: str = "b32") -> Register:
        register = function.new_register(kept)
        dst: tuple[Register | None, ...] = (register, None) if op in ("compare", "shuffle") else (register,)
        made.append(Operation(op, dtype, dst, src, mods, dtype if op in ("compare", "set") else "", line=line))
        return register

    made: list[Operation] = []
    lanes = new("active_mask", "b32", ())
    leader = new("find_msb", "u32", (lanes,))
    chosen = new("compare", "u32", (leader, Special("laneid")), ("eq",), "pred")
    combined: Operand
    if kind == "add" and constant:
        count = new("popcount", "b32", (lanes,))
        combined = count if value == Immediate(1) else new("mul_lo", "u32", (count, value))
    elif constant:
        combined = value
    else:
        combined = new("redux", operation.dtype, (value, lanes), (kind,))
    old = function.new_register("b32") if result is not None else None
    made.append(
        Operation(
            operation.op if result is not None else "reduce_atomic",
            operation.dtype,
            (old,) if old is not None else (),
            (base, combined, *operation.src[2:]),
            operation.mods,
            guard=chosen,
            space=operation.space,
            offset=operation.offset,
            width=operation.width,
            cache=operation.cache,
            line=line,
            opcode=operation.opcode,
        )
    )
    if result is not None and old is not None:
        below = new("and", "b32", (lanes, Special("lanemask_lt")))
        before = new("popcount", "b32", (below,))
        first = new("shuffle", "b32", (old, leader, Immediate(31), lanes), ("idx",))
        if value == Immediate(1):
            made.append(Operation("add", "u32", (result,), (first, before), line=line))
        else:
            made.append(Operation("mad_lo", "u32", (result,), (before, value, first), line=line))
    return made
