"""Which bank of the register file each operand lies in, as an assembler places them, and what each instruction reads from each bank.

In: nodes of each block in issue order, the class of registers that each value belongs to. Out: a packed word an instruction: reads from
either of two banks, and how many of them the instruction before has left at the same operand, so that they are not read again behind it.

Parts of one wide access lie in registers side by side, so in banks in turn; wide values lie in both. Every other value goes where the
operands it is read together with are not.
"""

from __future__ import annotations

from collections.abc import Callable

from archex.lowering.form import Value
from archex.lowering.memory_order import LOADS
from archex.lowering.node import Node
from archex.parts.matrix_unit import OPERATION

BANKS = 2
#: Read their operands at a pace of their own, from a queue.
_QUEUED = (*LOADS, "store_", "atomic_", "reduce_", "constant_", "shuffle", "copy_", "signal", OPERATION, "barrier")
_MOST = 15
#: An operand that is left from the instruction before is read after all when another wave has come between: it counts, but little.
_READ = 4


def bank_reads(blocks: list[list[Node]], class_of: Callable[[Value], object]) -> list[list[int]]:
    """For each node the reads from bank 0 and bank 1, 4 bits each, then those that the node before has left."""
    places = _places(blocks, class_of)
    found = []
    for nodes in blocks:
        row, before = [], list[object]()
        for node in nodes:
            operands = _operands(node, class_of)
            reads, kept = [0, 0], [0, 0]
            for at, (key, words) in enumerate(operands):
                again = _left(at, key, before)
                for bank in range(BANKS) if words > 1 else (places.get(key, 0),):
                    reads[bank] += 1
                    kept[bank] += again
            most = max(2, round(node.interval))
            reads = [min(count, most, _MOST) for count in reads]
            kept = [min(pair) for pair in zip(kept, reads, strict=True)]
            row.append(reads[0] | reads[1] << 4 | kept[0] << 8 | kept[1] << 12)
            before = _stays(node, operands, class_of)
        found.append(row)
    return found


def _stays(node: Node, operands: list[tuple[object, int]], class_of: Callable[[Value], object]) -> list[object]:
    """What a node's operands leave behind: those that it does not change itself."""
    changed = {class_of(value) for value in node.writes}
    return [None if key in changed else key for key, _ in operands]


def _left(at: int, key: object, before: list[object]) -> bool:
    """Whether the node before had this operand at the same place; factors change places."""
    return (at < len(before) and before[at] == key) or (at < 2 and key in before[:2])


def _operands(node: Node, class_of: Callable[[Value], object]) -> list[tuple[object, int]]:
    """The vector registers a node reads in the pace of issue, each once."""
    if node.name.startswith(_QUEUED) or node.ends:
        return []
    return list(dict.fromkeys((class_of(value), value.words) for value in node.reads if value.words))


def _places(blocks: list[list[Node]], class_of: Callable[[Value], object]) -> dict[object, int]:
    places: dict[object, int] = {}
    beside: dict[object, dict[object, int]] = {}
    for nodes in blocks:
        before = list[object]()
        for node in nodes:
            parts = [class_of(value) for value in node.writes if value.words == 1]
            if len(parts) > 1:
                for at, key in enumerate(parts):
                    places.setdefault(key, at % BANKS)
            operands = _operands(node, class_of)
            left = {key for at, (key, _) in enumerate(operands) if _left(at, key, before)}
            before = _stays(node, operands, class_of)
            keys = [key for key, words in operands if words == 1]
            for key in keys:
                others = beside.setdefault(key, {})
                for other in keys:
                    if other != key:
                        others[other] = others.get(other, 0) + (1 if key in left or other in left else _READ)
    turn = 0
    for key, others in beside.items():
        if key in places:
            continue
        taken = [0] * BANKS
        for other, times in others.items():
            if other in places:
                taken[places[other]] += times
        places[key] = turn if taken[0] == taken[1] else int(taken[1] < taken[0])
        turn = 1 - places[key]
    return places
