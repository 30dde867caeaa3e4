"""The order of a block's instructions: results early, loads first, within a register budget.

In: the nodes of a block in program order, latencies, how many registers are taken throughout, which values outlive the block. Out:
the nodes in
issue order, and the most registers live at once. A greedy list scheduler, one instruction a cycle, longest way to the block's end first.
"""

from __future__ import annotations

from typing import Any

import attrs

from archex.base.layout import BESIDE
from archex.lowering.form import Value
from archex.lowering.late import lower_loads
from archex.lowering.memory_order import LOADS, MemoryOrder
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
#: Everything stays on its side of these.
WALLS = frozenset({"call", "exit"})


@attrs.define(slots=True, eq=False)
class _Task:
    node: Node
    place: int
    after: list[int] = attrs.field(factory=list)
    delay: list[float] = attrs.field(factory=list)
    waits: int = 0
    height: float = 0.0
    aim: float = 0.0
    ready: float = 0.0
    issued: bool = False


def is_wall(node: Node) -> bool:
    """Whether instructions stay on their side: ends, calls, branches within an expansion."""
    return node.ends or node.wall or node.name in WALLS or (node.name == "branch" and not node.ends)


def schedule(nodes: list[Node], latency: dict[str, float], taken: int, budget: int, outlive: set[Value]) -> tuple[list[Node], int]:
    """Order `nodes` (see `_schedule`), loads of local memory not earlier than the assembler has them."""
    order, most = _schedule(nodes, latency, taken, budget, outlive)
    ahead = int(latency.get("local_ahead", 0.0))
    return (lower_loads(order, ahead) if ahead else order), most


def _schedule(nodes: list[Node], latency: dict[str, float], taken: int, budget: int, outlive: set[Value]) -> tuple[list[Node], int]:
    """Order `nodes`; `taken` registers hold values that only pass through; `outlive`: values needed after the block.

    Eager first. Where registers don't suffice for that, the order that takes a wave the shortest of several that keep registers back from
    loads; where none fits, again with ever less room for values made early, then from an order that keeps few values. Where nothing does,
    the shortest that an allocator makes fit that makes cheap values anew.
    """
    best = _attempt(nodes, latency, taken, PLENTY, outlive)
    if best[1] <= budget:
        return best
    enough = ENOUGH * length(best[0], latency)
    fitting = []
    for room in (0, 1, 2, 4, 6):
        found = _shortest(nodes, latency, taken, budget - room, budget, outlive)
        best = min(best, found, key=lambda attempt: attempt[1])
        if found[1] <= budget:
            fitting.append(found)
            if length(found[0], latency) <= enough:
                break
        elif found[1] > HOPELESS * budget:
            break
    if fitting:
        return min(fitting, key=lambda attempt: length(attempt[0], latency))
    lean = _lean_order(nodes, latency, outlive)
    for room in (budget, budget - 3, budget - 6, budget - 10, budget - 16, budget - 24, 0):
        for order, sparing in ((lean, False), (nodes, True), (lean, True)):
            found = _attempt(order, latency, taken, room, outlive, sparing) if room >= 0 else best
            if found[1] <= budget:
                fitting.append(found)
            best = min(best, found, key=lambda attempt: attempt[1])
    if fitting:
        return min(fitting, key=lambda attempt: length(attempt[0], latency))
    for order in (lean, nodes):
        most = max([taken, *profile(order, taken, outlive)])
        if most < best[1]:
            best = list(order), most
    most = int(budget * (1.0 + SLACK))
    if best[1] > most:
        return best
    fitting = [_shortest(nodes, latency, taken, most - room, most, outlive) for room in (0, 2, 4)]
    return min((found for found in fitting if found[1] <= most), key=lambda found: length(found[0], latency), default=best)


def _shortest(
    nodes: list[Node], latency: dict[str, float], taken: int, room: int, most: int, outlive: set[Value]
) -> tuple[list[Node], int]:
    """The shortest of the orders that try to do with `room` and take at most `most`; the one that takes fewest if none does."""
    found = [
        _attempt(nodes, latency, taken, room, outlive, kept=kept, wide=wide, queued=queued, deep=deep)
        for kept in ((0, 4, 8, 12) if len(nodes) <= MANY else (0,))
        for wide in (False, True)
        for queued, deep in ((False, False), (True, False), (False, True))
    ]
    fitting = [attempt for attempt in found if attempt[1] <= most]
    if fitting:
        return min(fitting, key=lambda attempt: length(attempt[0], latency))
    return min(found, key=lambda attempt: attempt[1])


def length(order: list[Node], latency: dict[str, float]) -> float:
    """Cycles a wave alone takes for an order: one instruction a cycle, each when what it reads is there."""
    made: dict[Value, float] = {}
    cycle = 0.0
    for node in order:
        cycle = max([cycle + 1, *(made.get(value, 0.0) + _guard(node, value, latency) for value in node.reads)])
        for value in node.writes:
            made[value] = cycle + latency.get(node.name, 4.0)
    return cycle


def _guard(node: Node, value: Value, latency: dict[str, float]) -> float:
    """A predicate that guards takes longer than one that is read."""
    return latency.get("guard", 0.0) if value.words == 0 and not value.shared and (node.guarded or node.name == "branch") else 0.0


def _segments(nodes: list[Node]) -> list[list[Node]]:
    """Nodes between walls, each wall at the end of its segment."""
    found: list[list[Node]] = [[]]
    for node in nodes:
        found[-1].append(node)
        if is_wall(node):
            found.append([])
    return [segment for segment in found if segment]


def _attempt(
    nodes: list[Node], latency: dict[str, float], taken: int, room: int, outlive: set[Value], sparing: bool = False,
    kept: int = 0, wide: bool = False, queued: bool = False, deep: bool = False,
) -> tuple[list[Node], int]:  # fmt: skip
    order: list[Node] = []
    remaining = _use_counts(nodes, outlive)
    live = _entering(nodes)
    most = taken + sum(value.words for value in live)
    for segment in _segments(nodes):
        done, peak = _segment(segment, latency, taken, room, remaining, live, sparing, kept, wide, queued, deep)
        order += done
        most = max(most, peak)
    return order, most


def _lean_order(nodes: list[Node], latency: dict[str, float], outlive: set[Value]) -> list[Node]:
    """From the end backwards, each time what shortens most lives: values are made just before their users."""
    live = set(outlive)
    reverse: list[Node] = []
    for segment in reversed(_segments(nodes)):
        tasks = _tasks(segment, latency)
        before: list[list[int]] = [[] for _ in tasks]
        users = [len(task.after) for task in tasks]
        for task in tasks:
            for place in task.after:
                before[place].append(task.place)
        waiting = {task.place: 0 for task in tasks if users[task.place] == 0}
        stamp = 0
        while waiting:
            place = min(waiting, key=lambda place: (_backward_growth(tasks[place].node, live), -waiting[place], -place))
            del waiting[place]
            node = tasks[place].node
            reverse.append(node)
            live.difference_update(node.writes)
            live.update(node.reads)
            stamp += 1
            for other in before[place]:
                users[other] -= 1
                if users[other] == 0:
                    waiting[other] = stamp
    return reverse[::-1]


def _backward_growth(node: Node, live: set[Value]) -> int:
    ends = sum(value.words for value in node.writes if value in live)
    return sum(value.words for value in {*node.reads} - live) - ends


def profile(nodes: list[Node], taken: int, outlive: set[Value]) -> list[int]:
    """Registers live behind each node, in the order given."""
    remaining = _use_counts(nodes, outlive)
    live = _entering(nodes)
    held = taken + sum(value.words for value in live)
    found = []
    for node in nodes:
        held += _issue(node, remaining, live)
        found.append(held)
    return found


def _entering(nodes: list[Node]) -> set[Value]:
    made: set[Value] = set()
    found: set[Value] = set()
    for node in nodes:
        found.update(value for value in node.reads if value not in made)
        made.update(node.writes)
    return found


def _use_counts(nodes: list[Node], outlive: set[Value]) -> dict[Value, int]:
    count: dict[Value, int] = {}
    for node in nodes:
        for value in node.reads:
            count[value] = count.get(value, 0) + 1
        for value in node.writes:
            count.setdefault(value, 0)
    for value in outlive:
        count[value] = count.get(value, 0) + 1
    return count


def _segment(
    nodes: list[Node], latency: dict[str, float], taken: int, budget: int, remaining: dict[Value, int], live: set[Value], sparing: bool,
    kept: int, wide: bool, queued: bool, deep: bool,
) -> tuple[list[Node], int]:  # fmt: skip
    """`kept`: registers that loads leave free for the arithmetic that uses them up. `wide`: when full, what is ready goes first.

    `queued`: loads go in the order in which their results are wanted, even where that means to wait for an address. `deep`: what makes a
    load's address goes by that load's turn, so that one address is finished before the next is begun.
    """
    tasks = _tasks(nodes, latency)
    if deep:
        _take_aim(tasks)
    waiting = [task for task in tasks if task.waits == 0]
    order: list[Node] = []
    cycle = 0.0
    held = taken + sum(value.words for value in live)
    most = held
    queue = sorted((task for task in tasks if queued and _is_load(task)), key=lambda task: (task.height, -task.place))
    while waiting:
        while queue and queue[-1].issued:
            queue.pop()
        first = queue[-1] if queue else None
        best = _longest([task for task in waiting if not queued or task is first or not _is_load(task)], cycle) or _longest(waiting, cycle)
        if kept and _is_load(best) and held + _growth(best.node, remaining, live) > budget - kept:
            best = _longest([task for task in waiting if not _is_load(task)], cycle) or best
        if held + _growth(best.node, remaining, live) > budget or held >= budget:
            # Too full: whatever frees registers, else what comes next in the order given (`sparing`: what takes fewest).
            frees = waiting if sparing else [task for task in waiting if _growth(task.node, remaining, live) <= 0]
            if not frees:
                best = min(waiting, key=lambda task: task.place)
            elif wide:
                best = _longest(frees, cycle)
            else:
                best = min(frees, key=lambda task: (_growth(task.node, remaining, live), task.place))
        waiting.remove(best)
        best.issued = True
        cycle = max(cycle, best.ready) + 1
        order.append(best.node)
        held += _issue(best.node, remaining, live)
        most = max(most, held)
        for place, delay in zip(best.after, best.delay, strict=True):
            task = tasks[place]
            task.waits -= 1
            task.ready = max(task.ready, cycle - 1 + delay)
            if task.waits == 0:
                waiting.append(task)
    return order, most


def _take_aim(tasks: list[_Task]) -> None:
    """How soon the load is wanted that each operation is, or leads to without another load between."""
    for task in reversed(tasks):
        task.aim = task.height if _is_load(task) else max((tasks[place].aim for place in task.after), default=0.0)


def _is_load(task: _Task) -> bool:
    return task.node.name.startswith(LOADS)


def _longest(waiting: list[_Task], cycle: float) -> Any:
    """What could go now and has the longest way to the end; if nothing could, what can soonest. None of nothing."""
    at_time = [task for task in waiting if task.ready <= cycle]
    if at_time:
        return max(at_time, key=lambda task: (task.aim, task.height, -task.place))
    return min(waiting, key=lambda task: (task.ready, -task.height, task.place), default=None)


def _growth(node: Node, remaining: dict[Value, int], live: set[Value]) -> int:
    """Registers more (or fewer) once this node has been issued."""
    growth = sum(value.words for value in node.writes if value not in live and remaining.get(value, 0) > 0)
    return growth - sum(value.words for value in set(node.reads) if remaining.get(value, 0) == 1 and value in live)


def _issue(node: Node, remaining: dict[Value, int], live: set[Value]) -> int:
    change = 0
    for value in set(node.reads):
        remaining[value] -= node.reads.count(value)
        if remaining[value] <= 0 and value in live:
            live.discard(value)
            change -= value.words
    for value in node.writes:
        if value not in live and remaining.get(value, 0) > 0:
            live.add(value)
            change += value.words
    return change


def _tasks(nodes: list[Node], latency: dict[str, float]) -> list[_Task]:
    tasks = [_Task(node, place) for place, node in enumerate(nodes)]
    made: dict[Value, int] = {}
    readers: dict[Value, list[int]] = {}
    memory = MemoryOrder()
    fence, fenced = -1, set[int]()
    for place, node in enumerate(nodes):
        before: dict[int, float] = {}
        if node.name == "matrix_fence":
            fence, fenced = place, set[int]()
        elif node.flags & BESIDE and fence >= 0:  # the fence is what makes the registers of these products theirs
            for maker in {made[value] for value in node.reads if made.get(value, place) < fence} - fenced:
                fenced.add(maker)
                tasks[maker].after.append(fence)
                tasks[maker].delay.append(1.0)
                tasks[fence].waits += 1
        for value in node.reads:
            if value in made:
                maker = made[value]
                delay = latency.get(nodes[maker].name, 4.0) + _guard(node, value, latency)
                before[maker] = max(before.get(maker, 0.0), delay)
            readers.setdefault(value, []).append(place)
        for value in node.writes:
            for other in readers.get(value, ()):
                if other != place:
                    before.setdefault(other, 0.0)
            if value in made:
                before.setdefault(made[value], 1.0)
            made[value] = place
            # A register's new value takes the old one's place: old readers come first.
            for register in value.registers:
                for other in readers.get(memory.old(register, nodes), ()):
                    if other != place:
                        before.setdefault(other, 0.0)
        for other in memory.before(place, node):
            before.setdefault(other, 1.0)
        if is_wall(node):
            for other in range(place):
                before.setdefault(other, 0.0)
        for other, delay in before.items():
            tasks[other].after.append(place)
            tasks[other].delay.append(delay)
        tasks[place].waits = len(before)
    for task in reversed(tasks):
        task.height = max((delay + tasks[place].height for place, delay in zip(task.after, task.delay, strict=True)), default=0.0) + (
            latency.get(task.node.name, 4.0) if task.node.writes else 1.0
        ) * (not task.after)
    return tasks
