"""Loads not earlier than the assembler puts them: it lets a result of local memory stand only so long before it is used.

In: a block's nodes in the order found, how many instructions a load of local memory stands before its first use at most. Out: the order
with those loads moved down. Registers are only held for less time.
"""

from __future__ import annotations

from archex.lowering.form import Value
from archex.lowering.memory_order import ORDERED, may_conflict
from archex.lowering.node import Node


def lower_loads(order: list[Node], ahead: int) -> list[Node]:
    """Move each load of local memory down to `ahead` instructions before its first use, unless something must stay behind it."""
    found = list(order)
    for node in reversed(order):
        if node.name != "load_local" or not node.writes:
            continue
        place = found.index(node)
        results = set(node.writes)
        bases = {value.incoming for value in node.reads if value.incoming >= 0}
        stop = place + 1
        while stop < len(found) and not _stays_behind(found[stop], node, results, bases):
            stop += 1
        used = stop < len(found) and not results.isdisjoint(found[stop].reads)
        target = stop - 1 - ahead if used else place
        if target > place:
            del found[place]
            found.insert(target, node)
    return found


def _stays_behind(other: Node, load: Node, results: set[Value], bases: set[int]) -> bool:
    """Whether a later node must stay behind the load: it uses the result, ends or orders something, or changes the memory or the base."""
    if not results.isdisjoint(other.reads) or other.ends or other.wall or other.name in ORDERED or other.name.startswith("reconverge"):
        return True
    if other.name.startswith(("store_", "atomic_", "reduce_")) and may_conflict(load, other):
        return True
    return any(register in bases for value in other.writes for register in value.registers)
