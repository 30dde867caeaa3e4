"""Control flow of a function: cutting into blocks, successors, dominators, post-dominators, loops, memory slots.

In: a function, or a flat list of operations between marks. Out: block numbers and sets of them.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from archex.programs.ir import Block, Function, Immediate, Operation, Space

#: Operations that produce a memory record for each execution of their block, in these spaces.
RECORDED = frozenset({"load", "store", "atomic", "reduce_atomic"})
RECORDED_SPACES = frozenset({Space.GLOBAL, Space.LOCAL, Space.PRIVATE, Space.GENERIC})
_BANKS = frozenset({Space.CONSTANT, Space.PARAMETER})
#: Operations with records of their own kind, and how many each time.
OWN_RECORDS = {"matrix_load": 1, "matrix_store": 1, "matrix_async": 1, "async_copy": 2, "bulk_copy": 1, "mbarrier": 1}
ENDS = frozenset({"branch", "branch_index", "exit", "trap"})


def successors(block: Block) -> list[int]:
    """Blocks that may follow, the branch's targets first."""
    found: list[int] = []
    if block.operations:
        last = block.operations[-1]
        if last.op in ("branch", "branch_index"):
            found += last.target
    if block.next >= 0:
        found.append(block.next)
    return list(dict.fromkeys(found))


def predecessors(blocks: Sequence[Block]) -> list[list[int]]:
    """Blocks that may come before each block."""
    found: list[list[int]] = [[] for _ in blocks]
    for index, block in enumerate(blocks):
        for following in successors(block):
            found[following].append(index)
    return found


def reverse_postorder(edges: Sequence[Sequence[int]], root: int) -> list[int]:
    """Nodes reachable from `root`, each before its successors where the graph has no cycle."""
    order: list[int] = []
    seen = {root}
    stack = [(root, iter(edges[root]))]
    while stack:
        node, following = stack[-1]
        for target in following:
            if target not in seen:
                seen.add(target)
                stack.append((target, iter(edges[target])))
                break
        else:
            order.append(node)
            stack.pop()
    return order[::-1]


def immediate_dominators(edges: Sequence[Sequence[int]], root: int) -> list[int]:
    """The closest dominator of each node (Cooper, Harvey, Kennedy); -1 for the root and for unreachable nodes."""
    order = reverse_postorder(edges, root)
    position = {node: place for place, node in enumerate(order)}
    before: list[list[int]] = [[] for _ in edges]
    for node in order:
        for target in edges[node]:
            before[target].append(node)
    dominator = [-1] * len(edges)
    dominator[root] = root
    changed = True
    while changed:
        changed = False
        for node in order[1:]:
            best = -1
            for candidate in before[node]:
                if dominator[candidate] < 0:
                    continue
                if best < 0:
                    best = candidate
                    continue
                while best != candidate:
                    while position[candidate] > position[best]:
                        candidate = dominator[candidate]
                    while position[best] > position[candidate]:
                        best = dominator[best]
            if dominator[node] != best:
                dominator[node] = best
                changed = True
    dominator[root] = -1
    return dominator


def dominators(function: Function) -> list[int]:
    """Each block's immediate dominator, -1 for the first."""
    return immediate_dominators([successors(block) for block in function.blocks], 0)


def post_dominators(blocks: Sequence[Block]) -> list[int]:
    """Each block's immediate post-dominator, -1 where only the end is left.

    A guarded exit is no edge: its lanes are gone, the others go on and meet again where they would have anyway. A loop without a
    way out counts as ending at its last block.
    """
    end = len(blocks)
    backwards: list[list[int]] = [[] for _ in range(end + 1)]
    for index, block in enumerate(blocks):
        following = successors(block)
        for target in following:
            backwards[target].append(index)
        if not following:
            backwards[end].append(index)
    reached = set(reverse_postorder(backwards, end))
    for index in range(end - 1, -1, -1):
        if index not in reached:
            backwards[end].append(index)
            reached = set(reverse_postorder(backwards, end))
    found = immediate_dominators(backwards, end)
    return [-1 if node == end else node for node in found[:end]]


@attrs.define(slots=True)
class Loop:
    """A natural loop: its header, the blocks in it (header too), and the blocks that jump back."""

    header: int
    blocks: set[int]
    back: list[int]
    parent: int = -1  # index of the next loop around it

    depth: int = 1


def dominates(dominator: Sequence[int], above: int, below: int) -> bool:
    """Whether every path to `below` runs through `above`."""
    node = below
    while node >= 0:
        if node == above:
            return True
        node = dominator[node]
    return False


def loops(function: Function) -> list[Loop]:
    """Natural loops, outer ones first."""
    dominator = dominators(function)
    before = predecessors(function.blocks)
    by_header: dict[int, Loop] = {}
    for index, block in enumerate(function.blocks):
        for header in successors(block):
            if not dominates(dominator, header, index):
                continue
            loop = by_header.setdefault(header, Loop(header, {header}, []))
            loop.back.append(index)
            waiting = [index]
            while waiting:
                node = waiting.pop()
                if node not in loop.blocks:
                    loop.blocks.add(node)
                    waiting += before[node]
    found = sorted(by_header.values(), key=lambda loop: -len(loop.blocks))
    for index, loop in enumerate(found):
        for outer in range(index - 1, -1, -1):
            if loop.header in found[outer].blocks and loop.header != found[outer].header:
                loop.parent, loop.depth = outer, found[outer].depth + 1
                break
    return found


def finish(function: Function) -> None:
    """Set what follows from the blocks: reconvergence and memory slots."""
    for block, after in zip(function.blocks, post_dominators(function.blocks), strict=True):
        block.reconverge = after
    assign_memory_slots(function)


def memory_slots(operation: Operation) -> int:
    """How many records the operation puts into the trace; they are numbered from its `memory_slot` on."""
    if operation.op in OWN_RECORDS:
        return OWN_RECORDS[operation.op]
    if operation.op == "load" and operation.space in _BANKS:  # which words lanes read is seen only where registers say it
        return int(not isinstance(operation.src[0], Immediate))
    return int(operation.op in RECORDED and operation.space in RECORDED_SPACES)


def assign_memory_slots(function: Function) -> None:
    """Number the recorded memory operations of each block."""
    for block in function.blocks:
        slot = 0
        for operation in block.operations:
            taken = memory_slots(operation)
            operation.memory_slot = slot if taken else -1
            slot += taken


def remove_unreachable(function: Function) -> None:
    """Drop blocks no path reaches and renumber, keeping their order."""
    reached = set(reverse_postorder([successors(block) for block in function.blocks], 0))
    if len(reached) != len(function.blocks):
        keep(function, [index for index in range(len(function.blocks)) if index in reached])


def keep(function: Function, order: Sequence[int]) -> None:
    """Keep the blocks of `order`, in that order, and renumber every reference to them."""
    new = {old: place for place, old in enumerate(order)}
    function.blocks = [function.blocks[old] for old in order]
    for block in function.blocks:
        block.next = new.get(block.next, -1)
        block.reconverge = new.get(block.reconverge, -1)
        for operation in block.operations:
            if operation.target:
                operation.target = tuple(new[target] for target in operation.target)
