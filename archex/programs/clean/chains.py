"""Two branches to one place with only a comparison between them become one.

In: a function in single-assignment form. Out: `@p branch X; compare q; @q branch X` as `compare q or p; @q branch X`: the comparison runs
for every lane and takes the first condition in.
"""

from __future__ import annotations

import attrs

from archex.programs import graph
from archex.programs.ir import Function, Operation
from archex.programs.types import FLOATS

_INVERSE = {"eq": "ne", "ne": "eq", "lt": "ge", "ge": "lt", "gt": "le", "le": "gt", "lo": "hs", "hs": "lo", "hi": "ls", "ls": "hi"}
_FLOAT_INVERSE = {"eq": "neu", "ne": "equ", "lt": "geu", "le": "gtu", "gt": "leu", "ge": "ltu", "num": "nan"}
_FLOAT_INVERSE |= {value: key for key, value in _FLOAT_INVERSE.items()}


def join_branches(function: Function) -> bool:
    """One pass; whether anything changed."""
    before = graph.predecessors(function.blocks)
    changed = False
    for index, block in enumerate(function.blocks):
        first = block.operations[-1] if block.operations else None
        if first is None or first.op != "branch" or first.guard is None or block.next < 0 or before[block.next] != [index]:
            continue
        following = function.blocks[block.next]
        if len(following.operations) != 2:
            continue
        compare, second = following.operations
        if _joins(first, compare, second) and _same_values(function, first.target[0], index, block.next):
            _join(function, index, first, compare, second)
            changed = True
    return changed


def _joins(first: Operation, compare: Operation, second: Operation) -> bool:
    if second.op != "branch" or second.target != first.target or compare.op != "compare" or compare.guard is not None:
        return False
    if len(compare.src) != 2 or compare.dst[1] is not None or second.guard != compare.dst[0]:
        return False
    return not second.guard_negated or compare.mods[0] in (_FLOAT_INVERSE if compare.dtype in FLOATS else _INVERSE)


def _same_values(function: Function, target: int, a: int, b: int) -> bool:
    """Whether what meets in the target does not depend on which of the two branches was taken."""
    for phi in function.blocks[target].operations:
        if phi.op != "phi":
            break
        if phi.src[phi.target.index(a)] != phi.src[phi.target.index(b)]:
            return False
    return True


def _join(function: Function, index: int, first: Operation, compare: Operation, second: Operation) -> None:
    block = function.blocks[index]
    following = function.blocks[block.next]
    mode, *rest = compare.mods
    if second.guard_negated:
        mode = (_FLOAT_INVERSE if compare.dtype in FLOATS else _INVERSE)[mode]
    assert first.guard is not None
    result = function.new_register("pred")
    mods = (mode, "or", *(("negated",) if first.guard_negated else ()), *rest)
    joined = attrs.evolve(compare, dst=(result, None), src=(*compare.src, first.guard), mods=mods)
    second.guard, second.guard_negated = result, False
    # The plain outcome stays for whoever else reads it, and is dead otherwise.
    block.operations[-1:] = [compare, joined]
    following.operations = [second]
    for phi in function.blocks[first.target[0]].operations:
        if phi.op != "phi":
            break
        kept = [(source, origin) for source, origin in zip(phi.src, phi.target, strict=True) if origin != index]
        phi.src, phi.target = tuple(source for source, _ in kept), tuple(origin for _, origin in kept)
