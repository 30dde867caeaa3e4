"""The order of a block's instructions: results early, loads first, within a register budget.

In: the nodes of a block in program order, latencies, how many registers are taken throughout, which values outlive the block. Out:
the nodes in
issue order, and the most registers live at once. A greedy list scheduler, one instruction a cycle, longest way to the block's end first.
"""

from __future__ import annotations

import attrs

from archex.lowering.form import Value
from archex.lowering.node import MEMORY, Node
from archex.programs.ir import Space

#: Everything stays on its side of these.
WALLS = frozenset({"call", "exit"})
ORDERED = frozenset({"barrier", "fence"})
LOADS = ("load_",)


@attrs.define(slots=True, eq=False)
class _Task:
    node: Node
    place: int
    after: list[int] = attrs.field(factory=list)
    delay: list[float] = attrs.field(factory=list)
    waits: int = 0
    height: float = 0.0
    ready: float = 0.0


def is_wall(node: Node) -> bool:
    """Whether instructions stay on their side: ends, calls, branches within an expansion."""
    return node.ends or node.wall or node.name in WALLS or (node.name == "branch" and not node.ends)


def schedule(nodes: list[Node], latency: dict[str, float], taken: int, budget: int, outlive: set[Value]) -> tuple[list[Node], int]:
    """Order `nodes`; `taken` registers hold values that only pass through; `outlive`: values needed after the block.

    Eager first; where that overflows, again with ever less room for values made early, starting from an order that keeps few values.
    """
    best = _attempt(nodes, latency, taken, budget, outlive)
    if best[1] <= budget:
        return best
    lean = _lean_order(nodes, latency, outlive)
    for room in (budget, budget - 3, budget - 6, budget - 10, budget - 16, budget - 24, 0):
        for order, sparing in ((lean, False), (nodes, True), (lean, True)):
            found = _attempt(order, latency, taken, room, outlive, sparing) if room >= 0 else best
            if found[1] <= budget:
                return found
            if found[1] < best[1]:
                best = found
    for order in (lean, nodes):
        most = max([taken, *profile(order, taken, outlive)])
        if most < best[1]:
            best = list(order), most
    return best


def _segments(nodes: list[Node]) -> list[list[Node]]:
    """Nodes between walls, each wall at the end of its segment."""
    found: list[list[Node]] = [[]]
    for node in nodes:
        found[-1].append(node)
        if is_wall(node):
            found.append([])
    return [segment for segment in found if segment]


def _attempt(
    nodes: list[Node], latency: dict[str, float], taken: int, room: int, outlive: set[Value], sparing: bool = False
) -> tuple[list[Node], int]:
    order: list[Node] = []
    remaining = _use_counts(nodes, outlive)
    live = _entering(nodes)
    most = taken + sum(value.words for value in live)
    for segment in _segments(nodes):
        done, peak = _segment(segment, latency, taken, room, remaining, live, sparing)
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
    nodes: list[Node], latency: dict[str, float], taken: int, budget: int, remaining: dict[Value, int], live: set[Value], sparing: bool
) -> tuple[list[Node], int]:
    tasks = _tasks(nodes, latency)
    waiting = [task for task in tasks if task.waits == 0]
    order: list[Node] = []
    cycle = 0.0
    held = taken + sum(value.words for value in live)
    most = held
    while waiting:
        at_time = [task for task in waiting if task.ready <= cycle]
        best = (
            max(at_time, key=lambda task: (task.height, -task.place))
            if at_time
            else min(waiting, key=lambda task: (task.ready, -task.height, task.place))
        )
        if held + _growth(best.node, remaining, live) > budget or held >= budget:
            # Too full: whatever frees registers, else what comes next in the order given (`sparing`: what takes fewest).
            frees = waiting if sparing else [task for task in waiting if _growth(task.node, remaining, live) <= 0]
            best = (
                min(frees, key=lambda task: (_growth(task.node, remaining, live), task.place))
                if frees
                else min(waiting, key=lambda task: task.place)
            )
        waiting.remove(best)
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
    memory = _MemoryOrder()
    for place, node in enumerate(nodes):
        before: dict[int, float] = {}
        for value in node.reads:
            if value in made:
                maker = made[value]
                before[maker] = max(before.get(maker, 0.0), latency.get(nodes[maker].name, 4.0))
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


class _MemoryOrder:
    """Which memory operations must stay in order: a store against everything it may touch, barriers against all but read-only loads."""

    def __init__(self) -> None:
        self.seen: list[tuple[int, Node]] = []
        self.fences: list[int] = []
        self.start: dict[int, Value] = {}

    def old(self, register: int, nodes: list[Node]) -> Value:
        """The value a register had when the segment began."""
        if not self.start:
            for node in nodes:
                for value in node.reads:
                    if value.incoming >= 0:
                        self.start.setdefault(value.incoming, value)
            self.start.setdefault(-1, Value())
        return self.start.get(register, self.start[-1])

    def before(self, place: int, node: Node) -> list[int]:
        """Earlier nodes that must stay before this one."""
        ordered = node.name in ORDERED or (node.name.startswith("reconverge") and node.source is None)
        if ordered:
            found = [other for other, earlier in self.seen if not _read_only(earlier)] + self.fences
            self.fences.append(place)
            return found
        if not node.name.startswith(MEMORY):
            return []
        found = [] if _read_only(node) else list(self.fences)
        found += [other for other, earlier in self.seen if _may_conflict(earlier, node)]
        self.seen.append((place, node))
        return found


def _read_only(node: Node) -> bool:
    return node.name == "load_global" and node.source is not None and node.source.cache == "nc"


def _may_conflict(a: Node, b: Node) -> bool:
    if a.name.startswith(LOADS) and b.name.startswith(LOADS):
        return _volatile(a) and _volatile(b)
    if _read_only(a) or _read_only(b):
        return False
    spaces = {_space(a), _space(b)}
    if len(spaces) == 2 and Space.GENERIC not in spaces:
        return False
    if a.base is not None and a.base is b.base:
        return a.offset < b.offset + b.bytes and b.offset < a.offset + a.bytes
    return True


def _space(node: Node) -> Space:
    return node.source.space if node.source is not None else Space.PRIVATE


def _volatile(node: Node) -> bool:
    return node.source is not None and (node.source.cache in ("volatile", "relaxed", "acquire") or "volatile" in node.source.mods)
