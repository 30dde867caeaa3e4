"""Addresses for the variables one entry reaches.

In: a module and an entry. Out: a `Symbol` a reached variable: workgroup variables from offset 0 and dynamic memory behind them,
private ones likewise, constants within their bank, global variables at absolute addresses.
"""

from __future__ import annotations

from collections.abc import Iterator

from archex.base.errors import UnsupportedError
from archex.programs.ir import CONSTANT_WINDOW, LOCAL_WINDOW, PRIVATE_WINDOW, VARIABLE_BASE, Function, Space, Symbol
from archex.programs.ptx.literals import encode
from archex.programs.ptx.syntax import Address, Argument, Group, Instruction, Module, Name, Number, Routine, Variable, Vector

_WINDOWS = {Space.CONSTANT: CONSTANT_WINDOW, Space.LOCAL: LOCAL_WINDOW, Space.PRIVATE: PRIVATE_WINDOW}


def find_variable(module: Module, routine: Routine, name: Name) -> Variable | None:
    """What a name in a routine stands for, from its scope outwards, then in the module."""
    scope = name.scope
    while scope >= 0:
        found = routine.variables.get((scope, name.text))
        if found is not None:
            return found
        scope = routine.scope_parent[scope]
    return module.variables.get(name.text)


def _align(value: int, step: int) -> int:
    return -(-value // step) * step


class Layout:
    """Symbols by variable, and how much of each space is taken."""

    def __init__(self, module: Module, entry: Routine, function: Function) -> None:
        self.module = module
        self.function = function
        self._symbols: dict[int, Symbol] = {}
        self._variables: list[Variable] = []
        self._taken = dict.fromkeys(Space, 0)
        self._taken[Space.GLOBAL] = VARIABLE_BASE
        for routine in _reachable(module, entry):
            self._collect(routine)
        fixed = [v for v in self._variables if not (v.space == Space.LOCAL and v.extern)]
        dynamic = [v for v in self._variables if v.space == Space.LOCAL and v.extern]
        for variable in sorted(fixed, key=lambda v: v.place):
            self._place(variable)
        function.local_bytes = self._taken[Space.LOCAL]
        function.private_bytes = self._taken[Space.PRIVATE]
        if dynamic:
            start = _align(self._taken[Space.LOCAL], max(v.align for v in dynamic))
            self._taken[Space.LOCAL] = function.local_bytes = start
            for variable in dynamic:
                self._enter(variable, start)
        for variable in self._variables:
            self._symbols[id(variable)].data = self._data(variable)

    def symbol(self, variable: Variable) -> Symbol:
        return self._symbols[id(variable)]

    def private(self, name: str, size: int, align: int) -> int:
        """Room in a thread's private memory for something that has no declaration; its offset."""
        variable = Variable(name, Space.PRIVATE, "b8", size, align)
        self._place(variable)
        self.function.private_bytes = self._taken[Space.PRIVATE]
        return self._symbols[id(variable)].offset

    def _collect(self, routine: Routine) -> None:
        for name in _names(routine):
            self._reach(find_variable(self.module, routine, name))

    def _reach(self, variable: Variable | None) -> None:
        if variable is None or variable.space == Space.PARAMETER or id(variable) in self._symbols:
            return
        self._symbols[id(variable)] = Symbol(variable.name, variable.space, variable.size, variable.align)
        self._variables.append(variable)
        for _, _, value in variable.data:
            if isinstance(value, Name):
                self._reach(self.module.variables.get(value.text.removeprefix("generic ")))

    def _place(self, variable: Variable) -> None:
        if variable.extern and not variable.size:
            raise UnsupportedError(f"extern variable `{variable.name}` has no size in this file")
        at = _align(self._taken[variable.space], variable.align)
        self._enter(variable, at)
        self._taken[variable.space] = at + variable.size

    def _enter(self, variable: Variable, at: int) -> None:
        name, copy = variable.name, 2
        while name in self.function.symbols:
            name, copy = f"{variable.name}#{copy}", copy + 1
        symbol = Symbol(name, variable.space, variable.size, variable.align, at, b"", variable.extern)
        self._symbols[id(variable)] = symbol
        self.function.symbols[name] = symbol

    def _data(self, variable: Variable) -> bytes:
        if not variable.data:
            return b""
        image = bytearray(variable.size)
        for at, size, value in variable.data:
            bits = encode(value, variable.dtype) if isinstance(value, Number) else self._address(value)
            if bits is None:
                raise UnsupportedError(f"an initial value of `{variable.name}` does not fit `.{variable.dtype}`")
            image[at : at + size] = (bits & ((1 << 8 * size) - 1)).to_bytes(size, "little")
        return bytes(image)

    def _address(self, name: Name) -> int:
        generic = name.text.startswith("generic ")
        variable = self.module.variables.get(name.text.removeprefix("generic "))
        if variable is None:
            raise UnsupportedError(f"an initial value that is the address of `{name.text}`")
        return self.symbol(variable).offset + name.offset + (_WINDOWS.get(variable.space, 0) if generic else 0)


def _names(routine: Routine) -> Iterator[Name]:
    for statement in routine.body or ():
        if isinstance(statement, Instruction):
            for argument in statement.arguments:
                yield from _names_in(argument)


def _names_in(argument: Argument) -> Iterator[Name]:
    if isinstance(argument, Name):
        yield argument
    elif isinstance(argument, Address):
        yield from _names_in(argument.base)
    elif isinstance(argument, Vector | Group):
        for item in argument.items:
            yield from _names_in(item)


def callee_name(instruction: Instruction) -> Name | None:
    """The function a `call` names, None for an indirect call."""
    for argument in instruction.arguments:
        if not isinstance(argument, Group):
            return argument if isinstance(argument, Name) else None
    return None


def _reachable(module: Module, entry: Routine) -> list[Routine]:
    found, waiting = [entry], [entry]
    while waiting:
        for statement in waiting.pop().body or ():
            if isinstance(statement, Instruction) and statement.name == "call":
                name = callee_name(statement)
                callee = module.functions.get(name.text) if name else None
                if callee is not None and all(callee is not routine for routine in found):
                    found.append(callee)
                    waiting.append(callee)
    return found
