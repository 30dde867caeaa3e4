"""What must be executed to know where a kernel goes and which addresses it touches.

In: a function. Out: per block the operations whose results matter for branches, guards and addresses of recorded memory operations:
arithmetic behind them, shuffles, and loads, with the stores that may feed those loads. Everything else costs time but changes no
trace.
"""

from __future__ import annotations

from collections.abc import Callable

import attrs

from archex.programs.assumed import Assumed, assumptions
from archex.programs.clean.addresses import ADDRESSED
from archex.programs.graph import memory_slots
from archex.programs.ir import Function, Immediate, Operand, Operation, Register, Space
from archex.programs.operands import writes

#: What decides what runs, or who waits; bulk copies count their bytes at barriers.
_CONTROL = frozenset({"branch", "branch_index", "exit", "trap", "barrier", "mbarrier", "cluster_barrier", "bulk_copy"})
_WRITING = frozenset({"store", "atomic", "reduce_atomic", "fragment_store", "matrix_store", "async_copy", "bulk_copy"})
_READING = frozenset({"load", "atomic", "matrix_load", "matrix_async", "fragment_load"})
#: Roots of an address: offsets of pointer parameters; None when unknown.
Roots = frozenset[int] | None


@attrs.define(slots=True)
class TimingSlice:
    """operations: indices per block. assumed: comparisons not executed, with the predicate's value in their place.

    full: stores to global memory feed loads of the slice, so that memory must be kept while timing.
    local: the same for the workgroup's memory.
    """

    operations: list[set[int]]
    assumed: list[Assumed]
    full: bool = False
    local: bool = False


def timing_slice(function: Function, same_buffer: Callable[[int, int], bool] = lambda a, b: a == b) -> TimingSlice:
    """The slice. `same_buffer` says whether two pointer parameters (by offset) may name one buffer."""
    return _Slicer(function, same_buffer).run()


class _Slicer:
    def __init__(self, function: Function, same_buffer: Callable[[int, int], bool]) -> None:
        self.function = function
        self.same_buffer = same_buffer
        self.found = TimingSlice([set() for _ in function.blocks], assumptions(function))
        self.skipped = {(assumed.block, assumed.operation) for assumed in self.found.assumed}
        self.writers: dict[int, list[tuple[int, int]]] = {}
        self.needed: set[int] = set()
        self.waiting: list[int] = []
        self.loads: list[Operation] = []
        self.roots = address_roots(function)
        for index, block in enumerate(function.blocks):
            for place, operation in enumerate(block.operations):
                for register in writes(operation):
                    self.writers.setdefault(register.id, []).append((index, place))

    def run(self) -> TimingSlice:
        for block in self.function.blocks:
            for operation in block.operations:
                self._roots_of(operation)
        self._close()
        while self._feed():
            self._close()
        return self.found

    def _need(self, *operands: Operand | None) -> None:
        for operand in operands:
            if isinstance(operand, Register) and operand.id not in self.needed:
                self.needed.add(operand.id)
                self.waiting.append(operand.id)

    def _roots_of(self, operation: Operation) -> None:
        if operation.op in _CONTROL:
            self._need(operation.guard, *operation.src)
        elif operation.op == "matrix_async":  # where its second operand begins
            self._need(operation.guard, operation.src[operation.groups[0]])
        elif operation.op in ADDRESSED and (operation.space not in (Space.PARAMETER, Space.CONSTANT) or memory_slots(operation)):
            self._need(operation.guard, operation.src[0])
            if operation.op == "async_copy":
                self._need(*operation.src[1:])

    def _close(self) -> None:
        while self.waiting:
            for index, place in self.writers.get(self.waiting.pop(), ()):
                if (index, place) not in self.skipped and place not in self.found.operations[index]:
                    self._take(index, place)

    def _take(self, index: int, place: int) -> None:
        operation = self.function.blocks[index].operations[place]
        self.found.operations[index].add(place)
        self._need(operation.guard, *operation.src)
        if operation.op in _READING:
            self.loads.append(operation)
        elif operation.op == "async_copy" or (operation.op == "bulk_copy" and operation.mods[0] == "in"):
            self.loads.append(Operation("load", src=operation.src[1:2], space=Space.GLOBAL, line=operation.line))
        elif operation.op == "bulk_copy":
            self.loads.append(Operation("load", src=operation.src[:1], space=Space.LOCAL, line=operation.line))

    def _feed(self) -> bool:
        """Take stores and atomics that may write what the slice's loads read."""
        changed = False
        for index, block in enumerate(self.function.blocks):
            for place, operation in enumerate(block.operations):
                if operation.op not in _WRITING or place in self.found.operations[index]:
                    continue
                if any(self._may_feed(operation, load) for load in self.loads):
                    self._take(index, place)
                    self.found.full |= operation.space in (Space.GLOBAL, Space.GENERIC)
                    self.found.local |= operation.space in (Space.LOCAL, Space.GENERIC)
                    changed = True
        return changed

    def _may_feed(self, store: Operation, load: Operation) -> bool:
        space = Space.LOCAL if load.op == "matrix_async" else load.space
        if space in (Space.PARAMETER, Space.CONSTANT) or load.cache == "nc" or load is store:
            return False
        if store.space != space and Space.GENERIC not in (store.space, space):
            return False
        if Space.GLOBAL not in (store.space, space) or Space.GENERIC in (store.space, space):
            return True
        a, b = self.roots(store.src[int(store.op == "bulk_copy")]), self.roots(load.src[0])
        return a is None or b is None or any(self.same_buffer(x, y) for x in a for y in b)


#: Operations a pointer passes through, with the sources that may be the pointer.
_POINTER = {"add": (0, 1), "sub": (0,), "move": (0,), "mad_wide": (2,), "mad_lo": (2,), "select": (0, 1), "or": (0, 1), "and": (0, 1)}


def address_roots(function: Function) -> Callable[[Operand], Roots]:
    """A function from an address to the pointer parameters it may come from.

    Indices are added to pointers too: a source that leads to no 64-bit parameter is taken as an index.
    """
    known: dict[int, set[int]] = {}
    opaque: set[int] = set()  # registers that hold something loaded from memory or otherwise unknown
    changed = True
    while changed:
        changed = False
        for block in function.blocks:
            for operation in block.operations:
                for register in writes(operation):
                    before = (len(known.setdefault(register.id, set())), register.id in opaque)
                    _pass_on(operation, register, known, opaque)
                    changed |= before != (len(known[register.id]), register.id in opaque)

    def roots(operand: Operand) -> Roots:
        if not isinstance(operand, Register) or operand.id in opaque or not known.get(operand.id):
            return None
        return frozenset(known[operand.id])

    return roots


def _pass_on(operation: Operation, register: Register, known: dict[int, set[int]], opaque: set[int]) -> None:
    if operation.op == "load" and operation.space == Space.PARAMETER and operation.width == 8 and isinstance(operation.src[0], Immediate):
        lane = operation.dst.index(register)
        known[register.id].add(operation.src[0].bits + operation.offset + 8 * lane)
    elif operation.op in _POINTER:
        for place in _POINTER[operation.op]:
            source = operation.src[place] if place < len(operation.src) else None
            if isinstance(source, Register):
                known[register.id] |= known.get(source.id, set())
                if source.id in opaque:
                    opaque.add(register.id)
    elif operation.op == "load" and operation.width == 8:
        opaque.add(register.id)  # a pointer out of memory
