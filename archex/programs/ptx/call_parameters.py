"""Which `.param` variables of calls can be registers.

In: a routine and one of its `.param` variables. Out: the (offset, bytes) accesses it and the routines it is handed to make, or
None when its address is taken or accesses overlap: then it must be memory.
"""

from __future__ import annotations

from archex.programs.ir import Register
from archex.programs.ptx.layout import callee_name, find_variable
from archex.programs.ptx.syntax import Address, Argument, Group, Instruction, Module, Name, Routine, Variable, Vector
from archex.programs.types import BITS

_LANES = {"v2": 2, "v4": 4, "v8": 8}


def register_accesses(module: Module, routine: Routine, variable: Variable) -> frozenset[tuple[int, int]] | None:
    """The distinct accesses, None where registers cannot stand for the variable."""
    found: set[tuple[int, int]] = set()
    if not _collect(module, routine, variable, found, set()):
        return None
    covered = -1
    for offset, size in sorted(found):
        if offset < covered:
            return None
        covered = offset + size
    return frozenset(found)


def _collect(module: Module, routine: Routine, variable: Variable, found: set[tuple[int, int]], seen: set[int]) -> bool:
    if id(variable) in seen:
        return True
    seen.add(id(variable))
    for statement in routine.body or ():
        if not isinstance(statement, Instruction):
            continue
        for position, argument in enumerate(statement.arguments):
            if not _mentions(module, routine, argument, variable):
                continue
            if statement.name == "call":
                if not _through_call(module, statement, position, variable, routine, found, seen):
                    return False
            elif statement.name in ("ld", "st") and isinstance(argument, Address):
                _note(statement, argument, found)
            else:
                return False
    return True


def _note(statement: Instruction, address: Address, found: set[tuple[int, int]]) -> None:
    types = [part for part in statement.parts if part in BITS]
    size = BITS[types[-1]] // 8 if types else 4
    lanes = next((_LANES[part] for part in statement.parts if part in _LANES), 1)
    base = address.base
    start = address.offset + (base.offset if isinstance(base, Name) else 0)
    found.update((start + lane * size, size) for lane in range(lanes))


def _through_call(
    module: Module, call: Instruction, position: int, variable: Variable, routine: Routine, found: set[tuple[int, int]], seen: set[int]
) -> bool:
    name = callee_name(call)
    callee = module.functions.get(name.text) if name else None
    if callee is None or callee.body is None:
        return True  # refused by name when the call itself is reached
    group = call.arguments[position]
    assert isinstance(group, Group)
    first_group = position == 0 and len(call.arguments) > 1 and isinstance(call.arguments[1], Name)
    formals = callee.results if first_group else callee.parameters
    for item, formal in zip(group.items, formals, strict=False):
        if isinstance(item, Name) and find_variable(module, routine, item) is variable:
            if isinstance(formal, Register):
                return False
            if not _collect(module, callee, formal, found, seen):
                return False
    return True


def _mentions(module: Module, routine: Routine, argument: Argument, variable: Variable) -> bool:
    if isinstance(argument, Name):
        return argument.text == variable.name and find_variable(module, routine, argument) is variable
    if isinstance(argument, Address):
        return isinstance(argument.base, Name) and _mentions(module, routine, argument.base, variable)
    if isinstance(argument, Vector | Group):
        return any(_mentions(module, routine, item, variable) for item in argument.items)
    return False
