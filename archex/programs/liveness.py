"""Which registers hold a value that is still needed, and how many at once.

In: a function (with or without `phi` operations). Out: live sets per block as bit masks over register numbers, and the largest
number of 32-bit registers live at once (predicates apart).
"""

from __future__ import annotations

from collections.abc import Iterator

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
    """The registers an operation needs, with the old values of guarded results."""
    mask = 0
    for source in operation.src:
        if type(source) is Register:
            mask |= 1 << source.id
    if operation.guard is not None:
        mask |= 1 << operation.guard.id
        if not operation.tied:
            mask |= write_mask(operation)
    for tied in operation.tied:
        if type(tied) is Register:
            mask |= 1 << tied.id
    return mask


def write_mask(operation: Operation) -> int:
    """The registers an operation writes."""
    mask = 0
    for register in writes(operation):
        mask |= 1 << register.id
    return mask


def _block_masks(block: Block) -> tuple[int, int]:
    needed = written = 0
    for operation in reversed(block.operations):
        if operation.op == "phi":
            defined = write_mask(operation)
            needed &= ~defined
            written |= defined
            continue
        defined = write_mask(operation)
        needed = needed & ~defined | read_mask(operation)
        written |= defined
    return needed, written


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
    alive = end
    for operation in reversed(block.operations):
        yield operation, alive
        alive &= ~write_mask(operation)
        if operation.op != "phi":
            alive |= read_mask(operation)


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
