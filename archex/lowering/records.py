"""What machine operations refer to in a trace: memory records, groups of what runs beside the wave, barriers in local memory.

In: an operation of the program and the nodes made of it. Out: the nodes with record, bytes and offset filled in.
A copy by lane has two records: its source, and behind it where it goes to.
"""

from __future__ import annotations

from archex.base.layout import BESIDE, BYPASS, CLOSES, GROUP_BULK, GROUP_COPIES, GROUP_MATRIX, READ_ONLY
from archex.lowering.facts import Named
from archex.lowering.form import Ref, Value
from archex.lowering.node import MEMORY, RECORDED, Node
from archex.lowering.products import Products
from archex.programs.ir import Immediate, Operation, Space

_GROUPS = {
    "async_commit": GROUP_COPIES, "async_wait": GROUP_COPIES, "bulk_commit": GROUP_BULK, "bulk_wait": GROUP_BULK,
    "matrix_commit": GROUP_MATRIX, "matrix_wait": GROUP_MATRIX,
}  # fmt: skip
#: Bytes of a row of a small matrix, which one lane's address stands for; of an element of a transposed one.
_ROW, _ELEMENT = 16, 2
#: Groups closed or not: everything under way.
_ALL = -1
_SPACES = (Space.GLOBAL, Space.LOCAL, Space.PRIVATE, Space.GENERIC)


#: Operations whose address in local memory is a vector register, the base of local memory included.
BASED = frozenset({"async_copy", "matrix_load", "matrix_store"})
#: What makes an address and can add the base as well.
_ADDING = frozenset({"add", "shl", "shift_add", "mad_lo"})


class Records(Products):
    """The part of emission that knows what operations refer to."""

    def _before_access(self, environment: dict[str, list[Ref]]) -> None:
        """The base added to an address, unless its maker does it."""
        address = environment["a"][0]
        if "local_address" not in self.rules.steps:
            return
        if isinstance(address, Value) and address.item is not None and address.item.op in _ADDING:
            return
        environment["a"] = [self._shared_steps("local_address", [[address]], None)]

    def _records(self, operation: Operation, made: list[Node], base: list[Ref]) -> None:
        if operation.op == "matrix_commit" and not made:
            self._close()
        elif operation.op in _GROUPS:
            _groups(operation, made)
        elif operation.op == "set_max_registers":
            for node in made:
                node.bytes = _number(operation)
        elif operation.space in _SPACES or operation.memory_slot >= 0:
            self._memory(operation, made, base)

    def _close(self) -> None:
        """Where no instruction closes a group, its last product does; without one in the block it takes an instruction."""
        if not any(shape.source == "local_memory" for shape in self.abilities.shapes.values()):
            return
        last = next((node for node in reversed(self.target) if node.flags & BESIDE or node.name == "group_wait"), None)
        if last is not None and last.flags & BESIDE and not last.flags & CLOSES:
            last.flags |= CLOSES
        else:
            self.target.append(Node("group_commit", [], [], self.source, offset=GROUP_MATRIX))

    def _memory(self, operation: Operation, made: list[Node], base: list[Ref]) -> None:
        for node in made:
            if not node.name.startswith(RECORDED):
                continue
            node.record, node.bytes, node.offset = operation.memory_slot, _bytes(operation, node), operation.offset
            if operation.op == "async_copy":
                node.record += node.name == "store_local"
                node.flags |= BYPASS * (operation.cache == "cg" and node.name in ("copy_async", "load_global"))
            else:
                node.base = base[0] if base and isinstance(base[0], Value) else None
            if operation.space == Space.LOCAL and node.name != "load_global" and self.rules.single["local_base"]:
                node.reads.append(self._outside(Named("local_base", 0), node.name))
        if made and _is_global(operation) and self.rules.single["memory_prologue"]:
            made[-1].reads.append(self._outside(Named("memory_prologue", 0), "branch"))


def _is_global(operation: Operation) -> bool:
    return operation.space in (Space.GLOBAL, Space.GENERIC) or operation.op == "async_copy"


def _bytes(operation: Operation, node: Node) -> int:
    if operation.op in ("matrix_load", "matrix_store"):
        return _ELEMENT if "trans" in operation.mods and not node.name.endswith("_matrix") else _ROW
    return operation.width * operation.vector if node.name.startswith((*MEMORY, "constant_load")) else 0


def _groups(operation: Operation, made: list[Node]) -> None:
    for node in made:
        if node.name in ("group_commit", "group_wait"):
            node.offset = _GROUPS[operation.op]
            node.bytes = _number(operation) if node.name == "group_wait" else 0
            node.flags |= READ_ONLY * ("read" in operation.mods)
            # Registers that products beside the wave use may be read behind the wait only.
            node.wall = operation.op == "matrix_wait"


def _number(operation: Operation) -> int:
    first = operation.src[0] if operation.src else None
    return first.bits if isinstance(first, Immediate) else _ALL
