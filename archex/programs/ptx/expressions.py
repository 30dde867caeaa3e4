"""Operands and constant expressions.

In: a cursor at an operand. Out: an `Argument`; registers are looked up, other names stay names with their scope.
"""

from __future__ import annotations

import operator
from collections.abc import Callable

from archex.programs.ir import Register, Special
from archex.programs.ptx.cursor import Cursor
from archex.programs.ptx.literals import negated, read_number
from archex.programs.ptx.scopes import Scopes, special_name
from archex.programs.ptx.syntax import Address, Argument, Group, Name, Negated, Number, Pair, Sink, Vector
from archex.programs.ptx.tokens import NUMBER, WORD

_LEVELS: list[dict[str, Callable[[int, int], int]]] = [
    {"||": lambda a, b: int(bool(a or b))},
    {"&&": lambda a, b: int(bool(a and b))},
    {"^": operator.xor},
    {"&": operator.and_},
    {"==": lambda a, b: int(a == b), "!=": lambda a, b: int(a != b)},
    {"<": lambda a, b: int(a < b), ">": lambda a, b: int(a > b), "<=": lambda a, b: int(a <= b), ">=": lambda a, b: int(a >= b)},
    {"<<": operator.lshift, ">>": operator.rshift},
    {"+": operator.add, "-": operator.sub},
    {"*": operator.mul, "/": lambda a, b: int(a / b) if b else 0, "%": lambda a, b: a - b * int(a / b) if b else 0},
]


def constant(cursor: Cursor) -> Number:
    """A constant expression."""
    return _binary(cursor, 0)


def _binary(cursor: Cursor, level: int) -> Number:
    if level == len(_LEVELS):
        return _unary(cursor)
    left = _binary(cursor, level + 1)
    while cursor.token.text in _LEVELS[level]:
        sign = cursor.advance()
        right = _binary(cursor, level + 1)
        if left.kind != "int" or right.kind != "int":
            raise cursor.error("expected integers around the operator of a constant expression", sign)
        left = Number("int", _LEVELS[level][sign.text](int(left.value), int(right.value)))
    return left


def _unary(cursor: Cursor) -> Number:
    token = cursor.token
    if token.text == "-":
        cursor.advance()
        return negated(_unary(cursor))
    if token.text == "+":
        cursor.advance()
        return _unary(cursor)
    if token.text in ("~", "!"):
        cursor.advance()
        value = int(_unary(cursor).value)
        return Number("int", ~value if token.text == "~" else int(not value))
    if token.text == "(":
        cursor.advance()
        if cursor.token.text in (".u64", ".s64"):  # a cast
            cursor.advance()
            cursor.need(")")
            return _unary(cursor)
        value_in = constant(cursor)
        cursor.need(")")
        return value_in
    if token.kind != NUMBER:
        raise cursor.error("expected a number")
    cursor.advance()
    return read_number(token.text)


def constant_or_name(cursor: Cursor, scope: int) -> Number | Name:
    """An initialiser's element: a constant, `name`, `name + 8`, `generic(name) + 8`, `0xFF00(name)` (refused)."""
    token = cursor.token
    if token.kind != WORD:
        return constant(cursor)
    cursor.advance()
    text = token.text
    if text == "generic" and cursor.accept("("):
        text = "generic " + cursor.expect(WORD, "a variable name").text
        cursor.need(")")
    return Name(text, scope, _displacement(cursor))


def _displacement(cursor: Cursor) -> int:
    if cursor.token.text == "+":
        cursor.advance()
        return int(_binary(cursor, 7).value)
    if cursor.token.text == "-":
        return int(_binary(cursor, 7).value)
    return 0


def argument(cursor: Cursor, scopes: Scopes) -> Argument:
    """One operand of an instruction."""
    token = cursor.token
    text = token.text
    if token.kind == WORD:
        first = _word(cursor, scopes)
        if cursor.token.text == "|":
            cursor.advance()
            return Pair(first, _word(cursor, scopes))
        return first
    if token.kind == NUMBER:
        following = cursor.peek().text
        if following in (",", ";", "]", "}", ")"):
            cursor.advance()
            return read_number(text)
        return constant(cursor)
    if text == "[":
        return _address(cursor, scopes)
    if text == "{":
        return Vector(_items(cursor, scopes, "}"))
    if text == "!" and cursor.peek().kind == WORD:
        cursor.advance()
        register = _word(cursor, scopes)
        if not isinstance(register, Register):
            raise cursor.error("expected a predicate register behind `!`", token)
        return Negated(register)
    if text in ("-", "+", "~", "!", "("):
        return constant(cursor)
    raise cursor.error("expected an operand: a register, a number, a name, `[address]` or `{vector}`")


def _word(cursor: Cursor, scopes: Scopes) -> Argument:
    token = cursor.expect(WORD, "a register or a name")
    text = token.text
    register = scopes.register(text)
    if register is not None:
        return register
    if text == "_":
        return Sink()
    if text.startswith("%"):
        special = special_name(text)
        if special is not None:
            return Special(special)
        raise cursor.error(f"unknown register `{text}`{scopes.hint(text)}", token)
    if text == "WARP_SZ":
        return Number("int", 32)
    return Name(text, scopes.current, _displacement(cursor))


def _items(cursor: Cursor, scopes: Scopes, close: str) -> tuple[Argument, ...]:
    cursor.advance()
    items: list[Argument] = []
    while cursor.token.text != close:
        items.append(argument(cursor, scopes))
        if not cursor.accept(","):
            break
    cursor.need(close)
    return tuple(items)


def group(cursor: Cursor, scopes: Scopes) -> Group:
    """`(a, b)` of a call."""
    return Group(_items(cursor, scopes, ")"))


def _address(cursor: Cursor, scopes: Scopes) -> Address:
    cursor.need("[")
    base: Argument
    offset = 0
    if cursor.token.kind == WORD:
        base = _word(cursor, scopes)
        offset = _displacement(cursor)
        if isinstance(base, Vector) and len(base.items) == 1:
            base = base.items[0]
    else:
        base = constant(cursor)
    if not isinstance(base, Register | Name | Number):
        raise cursor.error("expected a register, a variable or a number as address")
    coordinates: tuple[Argument, ...] = ()
    while cursor.accept(","):
        coordinates += _items(cursor, scopes, "}") if cursor.token.text == "{" else (argument(cursor, scopes),)
    cursor.need("]")
    return Address(base, offset, coordinates)
