"""Clean-up: what every back end does before it looks at a device."""

from __future__ import annotations

from archex.programs import graph
from archex.programs.clean.dead import remove_dead
from archex.programs.clean.flow import lay_out, tidy
from archex.programs.clean.form import enter
from archex.programs.clean.leave import leave
from archex.programs.clean.number import number
from archex.programs.ir import Function


def clean(function: Function) -> Function:
    """A new function that computes the same with fewer operations."""
    function = enter(function)
    tidy(function)
    for _ in range(6):
        changed = number(function)
        tidy(function)
        if not (remove_dead(function) or changed):
            break
    leave(function)
    lay_out(function)
    graph.finish(function)
    return function
