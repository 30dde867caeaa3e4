"""Declarations: registers, variables with initialisers, parameters.

In: a cursor behind the state-space word. Out: `Variable`s, or registers entered into the scopes.
"""

from __future__ import annotations

from archex.programs.ir import Register, Space
from archex.programs.ptx.cursor import Cursor
from archex.programs.ptx.expressions import constant, constant_or_name
from archex.programs.ptx.scopes import Scopes
from archex.programs.ptx.syntax import Variable
from archex.programs.ptx.tokens import DIRECTIVE, NUMBER, WORD
from archex.programs.types import BITS

_VECTORS = {".v2": 2, ".v4": 4, ".v8": 8}
_POINTER_SPACES = frozenset({".global", ".const", ".local", ".shared"})
_OPAQUE = frozenset({".texref", ".samplerref", ".surfref"})


def _type(cursor: Cursor) -> str:
    token = cursor.expect(DIRECTIVE, "a type such as `.b32`, `.u64` or `.f32`")
    if token.text in _OPAQUE:
        return "b64"
    name = token.text[1:]
    if name not in BITS:
        raise cursor.error(f"expected a type such as `.b32`, `.u64` or `.f32`, found `{token.text}`", token)
    return name


def parse_registers(cursor: Cursor, scopes: Scopes) -> list[Register]:
    """`.reg .type %a, %b<10>;` behind `.reg`, up to and with `;`."""
    lanes = 1
    if cursor.token.text in _VECTORS:
        lanes = _VECTORS[cursor.advance().text]
    dtype = _type(cursor)
    made: list[Register] = []
    while True:
        name = cursor.expect(WORD, "a register name")
        count = None
        if cursor.accept("<"):
            count = int(cursor.expect(NUMBER, "a register count").text, 0)
            cursor.need(">")
        register = scopes.declare(name.text, dtype, count, lanes)
        if register is not None:
            made.append(register)
        if not cursor.accept(","):
            break
    cursor.need(";")
    return made


def parse_parameter(cursor: Cursor, scopes: Scopes, entry: bool) -> Variable | Register:
    """One parameter of a function's header (`.param ...` or `.reg ...`)."""
    word = cursor.expect(DIRECTIVE, "`.param`")
    if word.text == ".reg" and not entry:
        dtype = _type(cursor)
        register = scopes.declare(cursor.expect(WORD, "a register name").text, dtype, None, 1)
        assert register is not None
        return register
    if word.text != ".param":
        raise cursor.error(f"expected `.param`, found `{word.text}`", word)
    variable = parse_variable(cursor, Space.PARAMETER, False)
    variable.formal = True
    return variable


def parse_variable(cursor: Cursor, space: Space, extern: bool) -> Variable:
    """`.align 4 .v4 .f32 name[3] = {...}` behind the space word, up to but without `,` or `;`."""
    align, lanes, dtype = 0, 1, ""
    place = (cursor.token.line, cursor.token.column)
    while cursor.token.kind == DIRECTIVE:
        text = cursor.token.text
        if text == ".align":
            cursor.advance()
            align = int(constant(cursor).value)
        elif text in _VECTORS:
            cursor.advance()
            lanes = _VECTORS[text]
        elif text == ".attribute":
            cursor.advance()
            cursor.skip_group()
        elif text == ".ptr":
            # What a pointer points at: its space and alignment, not those of the parameter.
            cursor.advance()
            if cursor.token.text in _POINTER_SPACES:
                cursor.advance()
            if cursor.accept(".align"):
                constant(cursor)
        else:
            dtype = _type(cursor)
    if not dtype:
        raise cursor.error("expected a type such as `.b32`, `.u64` or `.f32`")
    name = cursor.expect(WORD, "a variable name").text
    element = BITS[dtype] // 8 * lanes
    count, open_ended = 1, False
    if cursor.token.text == "<":  # a range of variables, as of registers; PTX allows it for parameters only
        raise cursor.error("expected a variable name without a range")
    while cursor.accept("["):
        if cursor.token.text == "]":
            open_ended = True
            count = 0
        else:
            count *= int(constant(cursor).value)
        cursor.need("]")
    variable = Variable(name, space, dtype, element * count, align or element, extern=extern or open_ended, place=place)
    if cursor.accept("="):
        end = _initialiser(cursor, variable, BITS[dtype] // 8, 0)
        if open_ended:
            variable.size, variable.extern = end, extern
    return variable


def _initialiser(cursor: Cursor, variable: Variable, element: int, at: int) -> int:
    if not cursor.accept("{"):
        value = constant_or_name(cursor, 0)
        variable.data.append((at, element, value))
        return at + element
    while cursor.token.text != "}":
        at = _initialiser(cursor, variable, element, at)
        if not cursor.accept(","):
            break
    cursor.need("}")
    return at
