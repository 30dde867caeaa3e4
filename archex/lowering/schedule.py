"""The order of a block's instructions: results early, loads first, within a register budget.

In: the nodes of a block in program order, latencies, how many registers are taken throughout, which values outlive the block. Out:
the nodes in issue order, and the most registers live at once: the best of several orders that `listing` makes.
"""

from __future__ import annotations

from collections.abc import Iterator

from archex.lowering.form import Value
from archex.lowering.late import lower_loads
from archex.lowering.listing import attempt, lean_order, length, profile
from archex.lowering.node import Node

#: More registers than any machine has.
PLENTY = 1 << 20
#: Blocks of more operations are not tried in many ways.
MANY = 400
#: Inside a block an allocator that moves instructions and makes cheap values anew manages with this share fewer registers than a fixed
#: order has values alive. Values that cross a block's borders leave it no choice.
SLACK = 0.2
#: An order this much longer than the one with registers without end is good enough.
ENOUGH = 1.25
#: A block that takes this many times the registers there are, when it is to do with them, will not fit.
HOPELESS = 1.3
#: Whether loads are `queued`, addresses made `deep`, and a full block `thrifty`: see `listing`.
PLAIN = ((False, False, False), (True, False, False))
VARIANTS = (*PLAIN, (False, True, False), (False, False, True), (False, True, True))


def schedule(
    nodes: list[Node], latency: dict[str, float], taken: int, budget: int, outlive: set[Value], searched: bool = True
) -> tuple[list[Node], int]:
    """Order `nodes` (see `_schedule`), loads of local memory not earlier than the assembler has them.

    searched: where registers are short, among many orders; else the first that fits, as a scheduler of one pass has it.
    """
    order, most = (_schedule if searched else _first)(nodes, latency, taken, budget, outlive)
    ahead = int(latency.get("local_ahead", 0.0))
    return (lower_loads(order, ahead) if ahead else order), most


def _schedule(nodes: list[Node], latency: dict[str, float], taken: int, budget: int, outlive: set[Value]) -> tuple[list[Node], int]:
    """Order `nodes`; `taken` registers hold values that only pass through; `outlive`: values needed after the block.

    Eager first. Where registers don't suffice for that, the order that takes a wave the shortest of several that keep registers back from
    loads; where none fits, again with ever less room for values made early, then from an order that keeps few values. Where nothing does,
    the shortest that an allocator makes fit that makes cheap values anew.
    """
    best = attempt(nodes, latency, taken, PLENTY, outlive)
    if best[1] <= budget:
        return best
    enough = ENOUGH * length(best[0], latency)
    fitting = []
    for room in (0, 1, 2, 4, 6):
        found = _shortest(nodes, latency, taken, budget - room, budget, outlive)
        best = min(best, found, key=lambda found: found[1])
        if found[1] <= budget:
            fitting.append(found)
            if length(found[0], latency) <= enough:
                break
        elif found[1] > HOPELESS * budget:
            break
    if fitting:
        return min(fitting, key=lambda found: length(found[0], latency))
    lean = lean_order(nodes, latency, outlive)
    spare = list(_spare(nodes, lean, latency, taken, budget, outlive))
    fitting = [found for found in spare if found[1] <= budget]
    if fitting:
        return min(fitting, key=lambda found: length(found[0], latency))
    best = _fewest([best, *spare], (lean, nodes), taken, outlive)
    most = int(budget * (1.0 + SLACK))
    if best[1] > most:
        return best
    fitting = [_shortest(nodes, latency, taken, most - room, most, outlive) for room in (0, 2, 4, 6)]
    return min((found for found in fitting if found[1] <= most), key=lambda found: length(found[0], latency), default=best)


def _first(nodes: list[Node], latency: dict[str, float], taken: int, budget: int, outlive: set[Value]) -> tuple[list[Node], int]:
    """As `_schedule`, but of plain orders, and the first that fits once values must not be made early."""
    best = attempt(nodes, latency, taken, PLENTY, outlive)
    if best[1] > budget:
        best = _shortest(nodes, latency, taken, budget, budget, outlive, PLAIN)
    if best[1] <= budget:
        return best
    lean, tried = lean_order(nodes, latency, outlive), []
    for found in _spare(nodes, lean, latency, taken, budget, outlive):
        if found[1] <= budget:
            return found
        tried.append(found)
    return _fewest([best, *tried], (lean, nodes), taken, outlive)


def _spare(
    nodes: list[Node], lean: list[Node], latency: dict[str, float], taken: int, budget: int, outlive: set[Value]
) -> Iterator[tuple[list[Node], int]]:
    """Orders with ever less room for values made early, from an order that keeps few values (`lean`) and from the program's."""
    for room in (budget, budget - 3, budget - 6, budget - 10, budget - 16, budget - 24, 0):
        for order, sparing in ((lean, False), (nodes, True), (lean, True)):
            if room >= 0:
                yield attempt(order, latency, taken, room, outlive, sparing)


def _fewest(found: list[tuple[list[Node], int]], orders: tuple[list[Node], ...], taken: int, outlive: set[Value]) -> tuple[list[Node], int]:
    """What takes fewest registers: of those found, and of these orders as they are."""
    asis = [(list(order), max([taken, *profile(order, taken, outlive)])) for order in orders]
    return min([*found, *asis], key=lambda found: found[1])


def _shortest(
    nodes: list[Node], latency: dict[str, float], taken: int, room: int, most: int, outlive: set[Value],
    variants: tuple[tuple[bool, bool, bool], ...] = VARIANTS,
) -> tuple[list[Node], int]:  # fmt: skip
    """The shortest of the orders that try to do with `room` and take at most `most`; the one that takes fewest if none does."""
    found = [
        attempt(nodes, latency, taken, room, outlive, kept=kept, wide=wide, queued=queued, deep=deep, thrifty=thrifty)
        for kept in (((0, 4, 8, 12) if room == most else (0, 4)) if len(nodes) <= MANY else (0,))
        for wide in (False, True)
        for queued, deep, thrifty in variants
    ]
    fitting = [one for one in found if one[1] <= most]
    if fitting:
        return min(fitting, key=lambda found: length(found[0], latency))
    return min(found, key=lambda found: found[1])
