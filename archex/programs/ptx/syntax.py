"""What the parser hands over: a module of functions whose bodies are flat lists of statements with names resolved.

Registers are already `ir.Register`s numbered within their function; branch labels and variables are objects, so later
stages never look a name up.
"""

from __future__ import annotations

from typing import NamedTuple

import attrs

from archex.programs.ir import Register, Space, Special


class Number(NamedTuple):
    """A literal: kind `int`, `float` (decimal), `f32` or `f64` (value is then the raw bits)."""

    kind: str
    value: int | float


class Name(NamedTuple):
    """A name that is no register: a variable, label or function, plus a byte offset. `scope` says where it was used."""

    text: str
    scope: int = 0
    offset: int = 0


class Address(NamedTuple):
    """`[base + offset]`; `coordinates` only for tensor copies."""

    base: Register | Name | Number
    offset: int = 0
    coordinates: tuple[Argument, ...] = ()


class Vector(NamedTuple):
    """`{a, b, ...}`."""

    items: tuple[Argument, ...]


class Group(NamedTuple):
    """`(a, b, ...)` of a call."""

    items: tuple[Argument, ...]


class Pair(NamedTuple):
    """`a|b`: a second result."""

    first: Argument
    second: Argument


class Negated(NamedTuple):
    """`!p`."""

    register: Register


class Sink(NamedTuple):
    """`_`: the result is thrown away."""


Argument = Register | Special | Number | Name | Address | Vector | Group | Pair | Negated | Sink


@attrs.define(slots=True)
class Variable:
    """A declared variable with an address (or, for call parameters, a place)."""

    name: str
    space: Space
    dtype: str
    size: int
    align: int
    data: list[tuple[int, int, Number | Name]] = attrs.field(factory=list)  # (byte offset, bytes, value)
    extern: bool = False
    formal: bool = False  # a parameter of the function's header
    place: tuple[int, int] = (0, 0)  # line and column, which order the layout


@attrs.define(slots=True)
class Label:
    """A place in a body, with the pragmas that follow it."""

    id: int
    name: str
    line: int = 0


@attrs.define(slots=True)
class Pragma:
    """`.pragma "nounroll"` and kin."""

    text: str


@attrs.define(slots=True)
class Instruction:
    """One instruction: `name` is the first word of the opcode, `parts` the rest, `opcode` the whole as written."""

    opcode: str
    name: str
    parts: tuple[str, ...]
    arguments: list[Argument]
    columns: list[int]
    guard: Register | None = None
    guard_negated: bool = False
    line: int = 0
    column: int = 0


Statement = Instruction | Label | Pragma


@attrs.define(slots=True)
class Routine:
    """An entry or device function. A body of None is a declaration."""

    name: str
    entry: bool
    parameters: list[Variable | Register] = attrs.field(factory=list)
    results: list[Variable | Register] = attrs.field(factory=list)
    body: list[Statement] | None = None
    register_dtypes: list[str] = attrs.field(factory=list)
    register_names: list[str] = attrs.field(factory=list)
    variables: dict[tuple[int, str], Variable] = attrs.field(factory=dict)
    labels: dict[tuple[int, str], int] = attrs.field(factory=dict)
    branch_lists: dict[tuple[int, str], list[Name]] = attrs.field(factory=dict)
    scope_parent: list[int] = attrs.field(factory=lambda: [-1])
    directives: dict[str, tuple[int, ...]] = attrs.field(factory=dict)
    line: int = 0


@attrs.define(slots=True)
class Module:
    """A parsed file: entries and device functions by name, module variables, and the header's numbers."""

    file: str
    version: str = ""
    target: str = ""
    address_bits: int = 64
    entries: dict[str, Routine] = attrs.field(factory=dict)
    functions: dict[str, Routine] = attrs.field(factory=dict)
    variables: dict[str, Variable] = attrs.field(factory=dict)
