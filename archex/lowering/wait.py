"""Waits that a program must contain where the hardware does not watch registers of outstanding memory operations.

In: scheduled blocks. Out: the same with a wait before the first use of a result that no earlier wait covers. Operations of one
kind finish in
order, so a wait for one covers all before it.
"""

from __future__ import annotations

from archex.base.layout import BESIDE
from archex.lowering.form import Value
from archex.lowering.node import Node
from archex.parts.matrix_unit import OPERATION

#: Operations whose results must be waited for, and the counter that counts them.
COUNTERS = {
    "load_global": 0, "atomic_global": 0, "load_private": 0,
    "load_local": 1, "atomic_local": 1, "shuffle": 1, "constant_load": 1, "constant_load_uniform": 1,
}  # fmt: skip


#: What copies by lane on either side of it have no common steps before them.
_PARTING = ("load_local", "store_local", "atomic_local", "barrier")
#: A product's result is waited for explicitly by what stands so close behind it.
NEAR = 2


def insert_waits(blocks: list[list[Node]], name: str) -> list[list[Node]]:
    """Blocks with waits."""
    elsewhere: dict[object, set[int]] = {}
    for index, nodes in enumerate(blocks):
        for node in nodes:
            if node.name in COUNTERS:
                for value in node.writes:
                    elsewhere.setdefault(_name(value), set()).add(index)
    return [_waits(index, nodes, name, elsewhere) for index, nodes in enumerate(blocks)]


def behind_products(nodes: list[Node], name: str, hold: int) -> list[Node]:
    """A step before what needs a product's result within `NEAR` instructions; before the block's end if nothing came after it.

    Hardware does not watch a product's registers: the product itself holds its wave for `hold` cycles, and the step and what follows for
    the rest.
    """
    found: list[Node] = []
    last: Node | None = None
    distance = 0
    for node in nodes:
        if last is not None and distance < NEAR and (node.ends or not set(last.writes).isdisjoint(node.reads)):
            found.append(Node(name, [], [], last.source))
            last.offset = hold
            last = None
        found.append(node)
        distance += 1
        if node.name.startswith(OPERATION) and not node.flags & BESIDE:
            last, distance = node, 0
    if last is not None and distance < NEAR and not (found and found[-1].ends):
        found.append(Node(name, [], [], last.source))
        last.offset = hold
    return found


def before_copies(nodes: list[Node], names: list[str]) -> list[Node]:
    """A block with steps before its first copy by lane, and before one behind other accesses of local memory or a barrier."""
    found: list[Node] = []
    ahead = False
    for node in nodes:
        if node.name == "copy_async" and not ahead:
            found += [Node(name, [], [], node.source) for name in names]
            ahead = True
        ahead = ahead and not node.name.startswith(_PARTING)
        found.append(node)
    return found


def behind_copies(blocks: list[list[Node]], following: list[list[int]]) -> None:
    """What comes behind copies by lane waits until their address registers are free: those are written anew, or counted on, for the next.

    A block that goes on behind its copies waits at its end: what it writes until then has registers of its own. Without a branch the
    first register that it writes behind them waits, or the first of a block behind it. `following`: the blocks that can come after each.
    """
    first = [next((node for node in nodes if _takes_register(node)), None) for nodes in blocks]
    for index, nodes in enumerate(blocks):
        last = max((at for at, node in enumerate(nodes) if node.name == "copy_async"), default=-1)
        if last < 0:
            continue
        rest = nodes[last + 1 :]
        behind = [node for node in rest if node.ends][:1] or [node for node in rest if _takes_register(node)][:1]
        free = Value(0)
        nodes[last].writes.append(free)
        for node in behind or [node for after in following[index] if (node := first[after]) is not None]:
            node.reads.insert(0, free)


def _takes_register(node: Node) -> bool:
    return any(value.words for value in node.writes)


def _name(value: Value) -> object:
    if value.incoming >= 0:
        return value.incoming
    return value.registers[0] if value.registers else value


def _waits(index: int, nodes: list[Node], name: str, elsewhere: dict[object, set[int]]) -> list[Node]:
    issued: dict[object, tuple[int, int]] = {}
    count = [0, 0]
    covered = [0, 0]
    entered = False  # whether something from before the block has been waited for
    found: list[Node] = []
    for node in nodes:
        need = False
        for value in node.reads:
            key = _name(value)
            if key in issued:
                counter, number = issued[key]
                if number > covered[counter]:
                    covered[counter] = number
                    need = True
            elif not entered and elsewhere.get(key, set()) - {index}:
                entered = need = True
        if need:
            found.append(Node(name, [], [], node.source))
        found.append(node)
        if node.name in COUNTERS:
            counter = COUNTERS[node.name]
            count[counter] += 1
            for value in node.writes:
                issued[_name(value)] = counter, count[counter]
        else:
            for value in node.writes:
                issued.pop(_name(value), None)
    return found
