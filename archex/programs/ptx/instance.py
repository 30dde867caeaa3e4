"""One use of a routine inside an entry: its registers, labels and parameters mapped into the entry's function.

The entry itself is one instance; each call makes another. `.param` variables of calls become registers when every access
agrees on offset and width, and private memory otherwise.
"""

from __future__ import annotations

import attrs

from archex.programs.ir import Function, Operation, Parameter, Register, Space
from archex.programs.ptx.call_parameters import register_accesses
from archex.programs.ptx.layout import Layout, find_variable
from archex.programs.ptx.syntax import Module, Name, Routine, Variable


@attrs.define(slots=True)
class Mark:
    """A label's place in the output."""

    label: int
    name: str


@attrs.define(slots=True)
class Note:
    """A pragma's place in the output."""

    text: str


@attrs.define(slots=True)
class Output:
    """What an entry grows into: operations between marks, before blocks are cut."""

    function: Function
    module: Module
    layout: Layout
    file: str
    items: list[Operation | Mark | Note] = attrs.field(factory=list)
    parameters: dict[str, Parameter] = attrs.field(factory=dict)
    labels: int = 0
    carry: Register | None = None

    def new_label(self) -> int:
        self.labels += 1
        return self.labels - 1


@attrs.define(slots=True)
class Place:
    """Where a call's `.param` variable lives: registers by (offset, bytes), or private memory at `memory`."""

    variable: Variable
    registers: dict[tuple[int, int], Register] = attrs.field(factory=dict)
    memory: int | None = None


class Instance:
    """A routine's names as the entry's registers, labels and places."""

    def __init__(self, routine: Routine, output: Output, caller: Instance | None = None) -> None:
        self.routine = routine
        self.module = output.module
        self.caller = caller
        self.base = len(output.function.register_dtypes)
        output.function.register_dtypes += routine.register_dtypes
        output.function.register_names += routine.register_names
        self.labels = [output.new_label() for _ in routine.labels]
        self.end = output.new_label()
        self.places: dict[int, Place] = {}

    def register(self, register: Register) -> Register:
        return Register(self.base + register.id)

    def variable(self, name: Name) -> Variable | None:
        return find_variable(self.module, self.routine, name)

    def label(self, name: Name) -> int | None:
        """The output label a name stands for."""
        scope = name.scope
        while scope >= 0:
            found = self.routine.labels.get((scope, name.text))
            if found is not None:
                return self.labels[found]
            scope = self.routine.scope_parent[scope]
        return None

    def branch_list(self, name: Name) -> list[Name] | None:
        scope = name.scope
        while scope >= 0:
            found = self.routine.branch_lists.get((scope, name.text))
            if found is not None:
                return found
            scope = self.routine.scope_parent[scope]
        return None

    def place(self, variable: Variable, output: Output) -> Place:
        """Where a `.param` variable of a call lives."""
        found = self.places.get(id(variable))
        if found is None:
            found = self.places[id(variable)] = Place(variable)
            if register_accesses(self.module, self.routine, variable) is None:
                self.memory_of(variable, output)
        return found

    def memory_of(self, variable: Variable, output: Output) -> int:
        """The private address of a `.param` variable; it moves to memory for good."""
        place = self.places.setdefault(id(variable), Place(variable))
        if place.memory is None:
            place.memory = output.layout.private(variable.name, max(variable.size, 1), max(variable.align, 1))
        return place.memory

    def depth(self) -> int:
        return 0 if self.caller is None else 1 + self.caller.depth()


def is_call_parameter(variable: Variable | None, routine: Routine) -> bool:
    """A `.param` variable that is not an entry's own parameter."""
    return variable is not None and variable.space == Space.PARAMETER and not (variable.formal and routine.entry)
