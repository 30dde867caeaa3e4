"""Clean-up: what every back end does before it looks at a device.

In: a function as its source says. Out: a new function that computes the same on every bit with fewer operations: copies and address-space
changes gone, constants folded, equal expressions shared along a path, constant offsets inside memory operations, multiply and add
joined, short branches turned into guards, loads moved up past longer ones, jumps to the end into guarded exits, dead code dropped,
blocks merged, copies of loop variables coalesced.

For the lowering: a shift and an addition come as `mad_lo` by a power of two with mods ("lea",); wide products and additions as `mad_wide`.
Three-way additions, signs of floating-point operands, three-way logic and chains of comparisons stay separate here: whether one
instruction does them is the device's business. An unguarded `branch` stands only where the way on is not the next block.
"""

from __future__ import annotations

from archex.programs import graph
from archex.programs.clean.addresses import fold_offsets
from archex.programs.clean.chains import join_branches
from archex.programs.clean.combine import combine
from archex.programs.clean.dead import remove_dead
from archex.programs.clean.flow import lay_out, tidy
from archex.programs.clean.form import enter
from archex.programs.clean.leave import leave
from archex.programs.clean.lift import lift_loads
from archex.programs.clean.number import number
from archex.programs.clean.predicate import guard_exits, predicate_branches
from archex.programs.ir import Function

#: Rounds after which a function that still changes is left as it is.
_ROUNDS = 8


def clean(function: Function, repeated: bool = False) -> Function:
    """A new function that computes the same with fewer operations. `repeated`: it was clean before loops in it were repeated."""
    function = enter(function)
    tidy(function)
    _settle(function)
    for _ in range(_ROUNDS):
        changed = combine(function) | fold_offsets(function)
        guard_exits(function)
        changed |= predicate_branches(function, not repeated) | join_branches(function)
        tidy(function)
        _settle(function)
        if not changed:
            break
    lift_loads(function)
    leave(function)
    lay_out(function)
    graph.finish(function)
    return function


def _settle(function: Function) -> None:
    for _ in range(_ROUNDS):
        changed = number(function)
        tidy(function)
        if not (remove_dead(function) or changed):
            break
