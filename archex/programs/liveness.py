"""Which registers hold a value that is still needed, and how many at once.

In: a function (with or without `phi` operations). Out: live sets per block as bit masks over register numbers, and the largest
number of 32-bit registers live at once (predicates apart).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import attrs

from archex.programs.graph import successors
from archex.programs.ir import Block, Function, Operation, Register
from archex.programs.operands import writes
from archex.programs.types import BITS


@attrs.define(slots=True)
class Liveness:
    """Registers live where each block begins and ends."""

    begin: list[int]
    end: list[int]


def read_mask(operation: Operation) -> int:
    """The registers an operation reads, old values that it names included."""
    mask = 0
    for source in (*operation.src, *operation.tied, operation.guard):
        if type(source) is Register:
            mask |= 1 << source.id
    return mask


def write_mask(operation: Operation) -> int:
    """The registers an operation writes."""
    mask = 0
    for register in writes(operation):
        mask |= 1 << register.id
    return mask


#: Where a register's value is needed: in every lane, or in those that a predicate enables: (its register, negated).
_Lanes = tuple[int, bool]
_ALL = (-1, False)


def _steps(block: Block, end: int) -> Iterator[tuple[Operation, int, int]]:
    """Operations from last to first, each with the registers live behind it and those of its results whose old values it must keep.

    A guarded write keeps the old value in the other lanes. Nobody needs that when all who read the result do so under the same guard,
    or when a write under the opposite guard follows before anyone reads: the two ways of a branch become such pairs and such chains, and
    their registers would otherwise live from the program's start. The last one yielded is a `nop` that stands for the block's begin.
    """
    need: dict[int, _Lanes] = {}  # of the live registers, those that are not needed in all lanes
    alive = end
    for operation in reversed(block.operations):
        written, guard = write_mask(operation), operation.guard
        if operation.op == "phi" or guard is None or operation.tied:
            yield operation, alive, 0
            alive &= ~written
            lanes = _ALL
        else:
            lanes = (guard.id, operation.guard_negated)
            old = sum(1 << register for register in members(written & alive) if need.get(register) != lanes)
            yield operation, alive, old
            alive &= ~(written & ~old)
            for register in members(old):
                if register not in need:
                    need[register] = (guard.id, not operation.guard_negated)
        if need:
            # Under another value of the predicate nothing is known of the lanes.
            need = {register: where for register, where in need.items() if alive >> register & 1 and not written >> where[0] & 1}
        read = read_mask(operation) if operation.op != "phi" else 0
        for register in members(read):
            here = lanes if guard is None or register != guard.id else _ALL
            if not alive >> register & 1:
                if here != _ALL:
                    need[register] = here
            elif need.get(register, _ALL) != here:
                need.pop(register, None)
        alive |= read
    yield Operation("nop"), alive, 0


def _block_masks(block: Block) -> tuple[int, int]:
    """Registers needed where the block begins whatever follows, and those whose values before it nothing behind it sees."""
    written = 0
    for operation in block.operations:
        written |= write_mask(operation)
    *_, (_, needed, _) = _steps(block, 0)
    if all(operation.guard is None for operation in block.operations):
        return needed, written
    *_, (_, through, _) = _steps(block, written)
    return needed, written & ~through


def live(function: Function) -> Liveness:
    """Live sets at the borders of every block."""
    blocks = function.blocks
    masks = [_block_masks(block) for block in blocks]
    following = [successors(block) for block in blocks]
    # What a phi reads is live at the end of the block the value comes from.
    handed = [0] * len(blocks)
    for block in blocks:
        for operation in block.operations:
            if operation.op != "phi":
                break
            for source, origin in zip(operation.src, operation.target, strict=True):
                if type(source) is Register:
                    handed[origin] |= 1 << source.id
    begin = [0] * len(blocks)
    end = [0] * len(blocks)
    changed = True
    while changed:
        changed = False
        for index in range(len(blocks) - 1, -1, -1):
            after = handed[index]
            for target in following[index]:
                after |= begin[target]
            needed, written = masks[index]
            before = needed | after & ~written
            if after != end[index] or before != begin[index]:
                end[index], begin[index] = after, before
                changed = True
    return Liveness(begin, end)


def backwards(block: Block, end: int) -> Iterator[tuple[Operation, int]]:
    """Operations from last to first, each with the registers live behind it."""
    yield from ((operation, alive) for operation, alive, _ in islice(_steps(block, end), len(block.operations)))


def kept(block: Block, end: int) -> list[int]:
    """For each operation, those of its results whose old values it keeps because somebody needs them."""
    return [old for _, _, old in islice(_steps(block, end), len(block.operations))][::-1]


def members(mask: int) -> Iterator[int]:
    """Register numbers in a mask."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def registers_of(function: Function, mask: int, words: dict[int, int] | None = None) -> int:
    """How many 32-bit registers a set fills; predicates fill none."""
    widths = register_words(function) if words is None else words
    return sum(count * (mask & of_width).bit_count() for count, of_width in widths.items())


def register_words(function: Function) -> dict[int, int]:
    """Masks of the registers that fill 1, 2, 4 words."""
    masks: dict[int, int] = {}
    for index, dtype in enumerate(function.register_dtypes):
        if dtype != "pred":
            count = max(1, BITS[dtype] // 32)
            masks[count] = masks.get(count, 0) | 1 << index
    return masks


def register_demand(function: Function) -> int:
    """The most 32-bit registers live at once, in the order the operations stand in."""
    sets = live(function)
    words = register_words(function)
    most = 0
    for block, end in zip(function.blocks, sets.end, strict=True):
        for operation, alive in backwards(block, end):
            most = max(most, registers_of(function, alive | write_mask(operation), words))
    return most
