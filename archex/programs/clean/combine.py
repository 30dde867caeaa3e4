"""Neighbours in the expression tree that one operation does.

In: a function in single-assignment form. Out: multiply and add joined (`mad_lo`, `mad_wide`), shift and add as `mad_lo` by a power of two
with mods `lea`, extension and shift as one wide product. An operand is only taken over from the same loop, so that nothing that
was done once is repeated.
"""

from __future__ import annotations

from archex.programs import graph
from archex.programs.ir import Function, Immediate, Operand, Operation, Register
from archex.programs.operands import reads, writes
from archex.programs.types import BITS, FLOATS

_WIDE = frozenset({"s32", "u32"})
#: The joined operation: its name, the two factors, mods, and the factors' type where it differs.
_Joined = tuple[str, tuple[Operand, ...], tuple[str, ...], str]


class _Combiner:
    def __init__(self, function: Function) -> None:
        self.function = function
        self.definition: dict[Register, Operation] = {}
        self.home: dict[Register, int] = {}
        self.block_of: dict[Operand, int] = {}
        self.users: dict[Register, list[Operation]] = {}
        loop_of = [-1] * len(function.blocks)
        for number, loop in enumerate(graph.loops(function)):
            for index in loop.blocks:
                loop_of[index] = number
        for index, block in enumerate(function.blocks):
            for operation in block.operations:
                for register in writes(operation):
                    self.definition[register] = operation
                    self.home[register] = loop_of[index]
                    self.block_of[register] = index
                for register in reads(operation):
                    self.users.setdefault(register, []).append(operation)
        self.loop_of = loop_of

    def source(self, operand: Operand, loop: int) -> Operation | None:
        """The unguarded operation behind an operand, if it runs as often as this place does."""
        if not isinstance(operand, Register) or self.home.get(operand) != loop:
            return None
        found = self.definition[operand]
        return found if found.guard is None else None

    def dies_with(self, operand: Register, taker: str) -> bool:
        """Whether every user of a value is an addition that would take it over."""
        return all(user.op == taker and user.guard is None and not user.mods for user in self.users.get(operand, ()))

    def note(self, operation: Operation, old: tuple[Operand, ...]) -> None:
        """Keep the lists of users right after sources changed."""
        for operand in old:
            if isinstance(operand, Register):
                self.users[operand] = [user for user in self.users.get(operand, ()) if user is not operation]
        for operand in operation.src:
            if isinstance(operand, Register):
                self.users.setdefault(operand, []).append(operation)

    def shifted_extension(self, operation: Operation, block: int) -> bool:
        """`extend(x) << k` is the wide product of x and 2**k.

        Only within a block: across blocks the reference compiler keeps the extension and shifts it where it is used.
        """
        amount = operation.src[1] if operation.op == "shl" else None
        if not isinstance(amount, Immediate) or BITS[operation.dtype] != 64 or amount.bits > 30:
            return False
        source = self.source(operation.src[0], self.loop_of[block])
        if source is None or self.block_of[operation.src[0]] != block or not self._extends(source):
            return False
        old = operation.src
        operation.op, operation.dtype, operation.source_dtype = "mul_wide", "s64", "s32"
        operation.src = (source.src[0], Immediate(1 << amount.bits))
        self.note(operation, old)
        return True

    def _extends(self, source: Operation) -> bool:
        if source.op != "convert" or source.source_dtype != "s32" or source.mods or source.dtype in FLOATS:
            return False
        value = source.src[0]
        return isinstance(value, Register) and BITS[self.function.register_dtypes[value.id]] == 32

    def multiply_add(self, operation: Operation, loop: int) -> bool:
        """An addition takes a product of its own loop over."""
        if (
            operation.op != "add"
            or operation.mods
            or len(operation.src) != 2
            or operation.dtype in FLOATS
            or BITS.get(operation.dtype, 0) < 32
        ):
            return False
        if operation.dtype.endswith("x2"):
            return False
        for place in (0, 1):
            operand = operation.src[place]
            source = self.source(operand, loop)
            if source is None or (source.mods and source.op != "shl"):
                continue
            assert isinstance(operand, Register)
            made = self._taken(operation, source, operand)
            if made is None:
                continue
            old = operation.src
            op, factors, mods, source_dtype = made
            operation.op, operation.src = op, (*factors, old[1 - place])
            operation.mods, operation.source_dtype = mods, source_dtype
            if op == "mad_wide":
                operation.dtype = source.dtype
            self.note(operation, old)
            return True
        return False

    def _taken(
        self, operation: Operation, source: Operation, operand: Register
    ) -> tuple[str, tuple[Operand, ...], tuple[str, ...], str] | None:
        width = BITS[operation.dtype]
        if source.op == "mul_wide" and source.source_dtype in _WIDE and width == 64:
            # One instruction instead of the two of a 64-bit addition, even when the product stays for others.
            return "mad_wide", source.src, (), source.source_dtype
        if BITS.get(source.dtype) != width or not self.dies_with(operand, "add"):
            return None
        if source.op == "mul_lo" and len(self.users[operand]) == 1:
            return "mad_lo", source.src, (), ""
        amount = source.src[1] if source.op == "shl" else None
        if isinstance(amount, Immediate) and 0 < amount.bits < width:
            return "mad_lo", (source.src[0], Immediate(1 << amount.bits)), ("lea",), ""
        return None


def combine(function: Function) -> bool:
    """One pass over all operations in order; whether anything changed."""
    work = _Combiner(function)
    changed = False
    for index in graph.reverse_postorder([graph.successors(block) for block in function.blocks], 0):
        loop = work.loop_of[index]
        for operation in function.blocks[index].operations:
            if operation.guard is None:
                changed |= work.shifted_extension(operation, index) or work.multiply_add(operation, loop)
    return changed
