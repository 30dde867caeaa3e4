"""One order of a block's instructions: a greedy list scheduler, one instruction a cycle, longest way to the block's end first.

In: the nodes of a block in program order, latencies, how many registers are taken throughout and how many may be used, which values outlive
the block. Out: the nodes in issue order, and the most registers live at once; how long an order takes, what it has alive.
"""

from __future__ import annotations

from typing import Any

import attrs

from archex.base.layout import BESIDE
from archex.lowering.form import Value
from archex.lowering.memory_order import LOADS, MemoryOrder
from archex.lowering.node import Node

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


def attempt(
    nodes: list[Node], latency: dict[str, float], taken: int, room: int, outlive: set[Value], sparing: bool = False,
    kept: int = 0, wide: bool = False, queued: bool = False, deep: bool = False, thrifty: bool = False,
) -> tuple[list[Node], int]:  # fmt: skip
    order: list[Node] = []
    remaining = _use_counts(nodes, outlive)
    live = _entering(nodes)
    most = taken + sum(value.words for value in live)
    for segment in _segments(nodes):
        done, peak = _segment(segment, latency, taken, room, remaining, live, sparing, kept, wide, queued, deep, thrifty)
        order += done
        most = max(most, peak)
    return order, most


def lean_order(nodes: list[Node], latency: dict[str, float], outlive: set[Value]) -> list[Node]:
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
    kept: int, wide: bool, queued: bool, deep: bool, thrifty: bool,
) -> tuple[list[Node], int]:  # fmt: skip
    """`kept`: registers that loads leave free for the arithmetic that uses them up. `wide`: when full, what is ready goes first.

    `queued`: loads go in the order in which their results are wanted, even where that means to wait for an address. `deep`: what makes a
    load's address goes by that load's turn, so that one address is finished before the next is begun. `thrifty`: where nothing frees
    registers, what takes fewest goes.
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
                best = min(waiting, key=lambda task: (_growth(task.node, remaining, live) if thrifty else 0, task.place))
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
