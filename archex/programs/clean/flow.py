"""The shape of the control flow while a function is in single-assignment form.

In: a function some pass has changed. Out: the same with unreachable blocks gone, phis that match their block's predecessors, jumps to
the next block dropped, and chains of blocks merged.
"""

from __future__ import annotations

from archex.programs import graph
from archex.programs.ir import Block, Function, Immediate, Operation


def tidy(function: Function) -> None:
    """All of the below until nothing changes."""
    while True:
        _straighten(function)
        _drop_unreachable(function)
        repair_phis(function)
        if not (_skip_empty(function) or _merge(function)):
            return


def _straighten(function: Function) -> None:
    """A branch without guard, or whose two ways are one, leaves a single way."""
    for block in function.blocks:
        last = block.operations[-1] if block.operations else None
        if last is None:
            continue
        if last.op == "branch":
            if last.guard is not None and last.target == (block.next,):
                block.operations.pop()
            elif last.guard is None:
                # The way on is `next`; whether a jump is needed follows from the order of blocks at the very end.
                block.operations.pop()
                block.next = last.target[0]
        elif last.op in ("exit", "trap", "branch_index") and last.guard is None:
            block.next = -1


def _drop_unreachable(function: Function) -> None:
    edges = [graph.successors(block) for block in function.blocks]
    reached = set(graph.reverse_postorder(edges, 0))
    if len(reached) == len(function.blocks):
        return
    for block in function.blocks:
        for operation in block.operations:
            if operation.op == "phi":
                _keep_sources(operation, reached)
    graph.keep(function, [index for index in range(len(function.blocks)) if index in reached])


def _keep_sources(phi: Operation, origins: set[int]) -> None:
    kept = [(source, origin) for source, origin in zip(phi.src, phi.target, strict=True) if origin in origins]
    phi.src = tuple(source for source, _ in kept)
    phi.target = tuple(origin for _, origin in kept)


def repair_phis(function: Function) -> None:
    """Drop what phis would take from blocks that no longer lead here; a phi of one way is a move."""
    before = graph.predecessors(function.blocks)
    for index, block in enumerate(function.blocks):
        phis = [operation for operation in block.operations if operation.op == "phi"]
        if not phis:
            continue
        moves = []
        for phi in phis:
            _keep_sources(phi, set(before[index]))
            if len(phi.src) == 1:
                phi.op, phi.src, phi.target = "move", (Immediate(0) if phi.src[0] is None else phi.src[0],), ()
                moves.append(phi)
            elif not phi.src:
                phi.op, phi.src, phi.target = "move", (Immediate(0),), ()
                moves.append(phi)
        if moves:
            rest = [operation for operation in block.operations if all(operation is not move for move in moves)]
            heads = sum(operation.op == "phi" for operation in rest)
            block.operations = rest[:heads] + moves + rest[heads:]


def _skip_empty(function: Function) -> bool:
    """Send jumps to an empty block where it leads, when no phi there needs to tell the ways apart."""
    before = graph.predecessors(function.blocks)
    for index, block in enumerate(function.blocks):
        after = block.next
        if block.operations or after < 0 or after == index or index == 0:
            continue
        phis = [operation for operation in function.blocks[after].operations if operation.op == "phi"]
        if any(origin in before[after] for origin in before[index]) and phis:
            continue  # two ways from one block into one phi
        for phi in phis:
            value = phi.src[phi.target.index(index)]
            kept = [(s, o) for s, o in zip(phi.src, phi.target, strict=True) if o != index]
            kept += [(value, origin) for origin in before[index]]
            phi.src, phi.target = tuple(s for s, _ in kept), tuple(o for _, o in kept)
        if block.pragmas and not function.blocks[after].pragmas:
            function.blocks[after].pragmas = block.pragmas
        for origin in before[index]:
            _redirect(function, origin, index, after)
        block.next = -1
        block.operations = [Operation("exit")]
        _drop_unreachable(function)
        return True
    return False


def _redirect(function: Function, origin: int, old: int, new: int) -> None:
    block = function.blocks[origin]
    if block.next == old:
        block.next = new
    last = block.operations[-1] if block.operations else None
    if last is not None and last.target and last.op != "phi":
        last.target = tuple(new if target == old else target for target in last.target)


def _merge(function: Function) -> bool:
    """Join a block with its only successor when that has no other way in."""
    before = graph.predecessors(function.blocks)
    gone: set[int] = set()
    for index, block in enumerate(function.blocks):
        if index in gone:
            continue
        while True:
            after = block.next
            ways = graph.successors(block)
            if len(ways) != 1 or ways[0] != after or after == index or before[after] != [index] or after == 0:
                break
            if block.operations and block.operations[-1].op in graph.ENDS:
                break
            following = function.blocks[after]
            if any(operation.op == "phi" for operation in following.operations):
                break
            block.operations += following.operations
            block.next = following.next
            block.pragmas += following.pragmas
            following.operations, following.next = [Operation("exit")], -1
            gone.add(after)
            for target in graph.successors(block):
                before[target] = [index if origin == after else origin for origin in before[target]]
                for operation in function.blocks[target].operations:
                    if operation.op == "phi":
                        operation.target = tuple(index if origin == after else origin for origin in operation.target)
    if gone:
        _drop_unreachable(function)
    return bool(gone)


def lay_out(function: Function) -> None:
    """Turn ways on to a block that does not stand next into jumps; run once the order of blocks is final.

    Blocks keep their order. Where the branch's target stands next and the other way does not, the branch is inverted.
    """
    for index, block in enumerate(function.blocks):
        if block.next < 0 or block.next == index + 1:
            continue
        last = block.operations[-1] if block.operations else None
        if last is not None and last.op == "branch" and last.guard is not None and last.target[0] == index + 1:
            last.guard_negated = not last.guard_negated
            last.target, block.next = (block.next,), index + 1
        elif last is not None and last.op in graph.ENDS:
            continue  # a guarded end whose way on is elsewhere: `with_jumps` gives it a block of its own
        else:
            block.operations.append(Operation("branch", target=(block.next,), mods=("uniform",), opcode="bra"))
            block.next = -1
    _with_jumps(function)


def _with_jumps(function: Function) -> None:
    """A block of one jump behind every block that ends under a guard and whose way on does not stand next."""
    order: list[int] = []
    for index in range(len(function.blocks)):
        order.append(index)
        block = function.blocks[index]
        if block.next >= 0 and block.next != index + 1:
            function.blocks.append(Block([Operation("branch", target=(block.next,), mods=("uniform",), opcode="bra")]))
            block.next = len(function.blocks) - 1
            order.append(block.next)
    if len(order) > 0 and order != list(range(len(function.blocks))):
        graph.keep(function, order)
