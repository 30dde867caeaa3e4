"""Which memory operations of a block keep their order.

In: nodes one by one, in program order. Out: for each, the earlier ones that must stay before it.
"""

from __future__ import annotations

from archex.base.layout import BESIDE
from archex.lowering.form import Value
from archex.lowering.node import MEMORY, Node
from archex.programs.ir import Space

ORDERED = frozenset(
    """barrier fence group_commit group_wait matrix_fence signal signal_wait copy_bulk cluster_arrive cluster_wait set_registers""".split()
)
LOADS = ("load_",)


class MemoryOrder:
    """Which memory operations must stay in order: a store against everything it may touch, barriers against all.

    The assembler takes read-only loads at most a few instructions past a barrier: here they stay on their side of it.
    """

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
            found = [other for other, _ in self.seen] + self.fences
            self.fences.append(place)
            return found
        if not node.name.startswith(MEMORY):
            if node.flags & BESIDE == 0:
                return []
            self.seen.append((place, node))
            return list(self.fences)
        found = list(self.fences)
        found += [other for other, earlier in self.seen if may_conflict(earlier, node)]
        self.seen.append((place, node))
        return found


def _read_only(node: Node) -> bool:
    return node.name == "load_global" and node.source is not None and node.source.cache == "nc"


def may_conflict(a: Node, b: Node) -> bool:
    """Whether two memory operations may touch the same bytes, or are volatile both."""
    if (a.flags | b.flags) & BESIDE:
        return False
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
    if node.source is not None and node.source.op == "async_copy":
        return Space.GLOBAL if node.name == "load_global" else Space.LOCAL
    return node.source.space if node.source is not None else Space.PRIVATE


def _volatile(node: Node) -> bool:
    return node.source is not None and (node.source.cache in ("volatile", "relaxed", "acquire") or "volatile" in node.source.mods)
