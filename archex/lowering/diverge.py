"""Where lanes that part meet again, and what instructions that takes.

In: a function and the registers that all lanes share. Out: for each block, whether it ends by noting a meeting place (before the
branches that
part lanes) and whether it begins with reaching one.
"""

from __future__ import annotations

from archex.lowering.facts import Facts
from archex.programs import graph


def meeting_places(facts: Facts) -> tuple[list[int], list[int]]:
    """Per block: meeting places noted before its end, and reached at its begin (a count each)."""
    blocks = facts.function.blocks
    notes = [0] * len(blocks)
    reached = [0] * len(blocks)
    parting: dict[int, set[int]] = {}
    for index, block in enumerate(blocks):
        last = block.operations[-1] if block.operations else None
        if last is None or block.reconverge < 0 or len(graph.successors(block)) < 2:
            continue
        shared = last.op == "branch" and last.guard is not None and _shared(facts, last.guard.id)
        if not shared and not _only_ends(facts, block.reconverge):
            parting.setdefault(block.reconverge, set()).add(index)
    for place, branches in parting.items():
        above = facts.common(branches)
        while True:
            outside = [before for inside, before in facts.around[above] if place not in inside]
            if not outside:
                break
            above = outside[-1]
        notes[above] += 1
        reached[place] += 1
    return notes, reached


def _shared(facts: Facts, register: int) -> bool:
    return register in facts.uniform


def _only_ends(facts: Facts, index: int) -> bool:
    """Lanes need not meet to end."""
    operations = facts.function.blocks[index].operations
    return len(operations) == 1 and operations[0].op == "exit"


def order(facts: Facts) -> list[int]:
    """Blocks in the order of their code: each behind the block that runs into it, as far as possible."""
    blocks = facts.function.blocks
    placed: list[int] = []
    seen: set[int] = set()
    into: dict[int, list[int]] = {}
    for index, block in enumerate(blocks):
        if block.next >= 0:
            into.setdefault(block.next, []).append(index)
    for relaxed in (False, True):
        for start in range(len(blocks)):
            if start in seen or (not relaxed and start and any(other not in seen and other != start for other in into.get(start, ()))):
                continue
            node = start
            while node >= 0 and node not in seen:
                placed.append(node)
                seen.add(node)
                node = blocks[node].next if blocks[node].next >= 0 else _jump(facts, node)
    return placed


def _jump(facts: Facts, index: int) -> int:
    """Where a block that only jumps goes."""
    operations = facts.function.blocks[index].operations
    return operations[-1].target[0] if operations and operations[-1].op == "branch" else -1
