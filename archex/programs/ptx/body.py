"""The inside of a function: statements in nested scopes.

In: a cursor at `{`. Out: the routine's flat list of statements, its labels, branch lists and variables. Names used before
they are declared (labels, functions) are checked when the body closes.
"""

from __future__ import annotations

from archex.base.errors import closest
from archex.programs.ir import Register, Space
from archex.programs.ptx.cursor import Cursor
from archex.programs.ptx.declarations import parse_registers, parse_variable
from archex.programs.ptx.expressions import argument, group
from archex.programs.ptx.scopes import Scopes
from archex.programs.ptx.syntax import Address, Argument, Group, Instruction, Label, Module, Name, Pragma, Routine, Vector
from archex.programs.ptx.tokens import DIRECTIVE, END, STRING, WORD, Token

_SPACES = {
    ".shared": Space.LOCAL,
    ".local": Space.PRIVATE,
    ".global": Space.GLOBAL,
    ".const": Space.CONSTANT,
    ".param": Space.PARAMETER,
}
_BEHIND_OPERAND = frozenset({",", ";", "|", "+", "-"})


def parse_body(cursor: Cursor, routine: Routine, scopes: Scopes, module: Module) -> None:
    """Read `{ ... }` into `routine`."""
    assert routine.body is not None
    cursor.need("{")
    depth = 1
    used: list[tuple[Name, Token]] = []
    while depth:
        token = cursor.token
        if token.kind == END:
            raise cursor.error(f"expected `}}` to close the body of `{routine.name}`")
        if token.text == "{":
            cursor.advance()
            scopes.open()
            depth += 1
        elif token.text == "}":
            cursor.advance()
            depth -= 1
            if depth:
                scopes.close()
        elif token.text == ";":
            cursor.advance()
        elif token.kind == DIRECTIVE:
            _directive(cursor, routine, scopes)
        elif token.kind == WORD and cursor.peek().text == ":":
            _label(cursor, routine, scopes, used)
        elif token.kind == WORD or token.text == "@":
            routine.body.append(_instruction(cursor, scopes, used))
        else:
            raise cursor.error("expected an instruction, a label or a declaration")
    _check_names(cursor, routine, module, used)


def _directive(cursor: Cursor, routine: Routine, scopes: Scopes) -> None:
    token = cursor.advance()
    if token.text == ".reg":
        parse_registers(cursor, scopes)
    elif token.text in _SPACES:
        while True:
            variable = parse_variable(cursor, _SPACES[token.text], False)
            routine.variables[(scopes.current, variable.name)] = variable
            if not cursor.accept(","):
                break
        cursor.need(";")
    elif token.text == ".pragma":
        assert routine.body is not None
        routine.body.append(Pragma(cursor.expect(STRING, "a quoted pragma").text.strip('"')))
        while cursor.accept(","):
            cursor.expect(STRING, "a quoted pragma")
        cursor.need(";")
    elif token.text in (".section", ".calltargets", ".callprototype"):
        while cursor.token.text != ";" and cursor.token.kind != END:
            cursor.advance()
    else:
        raise cursor.error("expected a declaration such as `.reg`, `.shared` or `.local`, found `" + token.text + "`", token)


def _label(cursor: Cursor, routine: Routine, scopes: Scopes, used: list[tuple[Name, Token]]) -> None:
    token = cursor.advance()
    cursor.need(":")
    key = (scopes.current, token.text)
    if cursor.token.text == ".branchtargets":
        cursor.advance()
        names: list[Name] = []
        while True:
            target = cursor.expect(WORD, "a label")
            names.append(Name(target.text, scopes.current))
            used.append((names[-1], target))
            if not cursor.accept(","):
                break
        cursor.need(";")
        routine.branch_lists[key] = names
        return
    if cursor.token.text in (".callprototype", ".calltargets"):
        routine.branch_lists[key] = []
        return  # only indirect calls read it, and those are refused by name
    if key in routine.labels:
        raise cursor.error(f"label `{token.text}` is defined twice", token)
    assert routine.body is not None
    routine.labels[key] = len(routine.labels)
    routine.body.append(Label(routine.labels[key], token.text, token.line))


def _instruction(cursor: Cursor, scopes: Scopes, used: list[tuple[Name, Token]]) -> Instruction:
    start = cursor.token
    guard: Register | None = None
    negated = False
    if cursor.accept("@"):
        negated = cursor.accept("!")
        token = cursor.expect(WORD, "a predicate register")
        found = scopes.register(token.text)
        if not isinstance(found, Register) or scopes.routine.register_dtypes[found.id] != "pred":
            raise cursor.error(f"expected a predicate register as guard, found `{token.text}`", token)
        guard = found
    opcode = cursor.expect(WORD, "an instruction")
    name, *parts = opcode.text.split(".")
    arguments: list[Argument] = []
    columns: list[int] = []
    while cursor.token.text != ";":
        token = cursor.token
        if not arguments and token.line > opcode.line and token.kind == WORD and cursor.peek().text not in _BEHIND_OPERAND:
            raise cursor.error(f"expected `;` behind `{opcode.text}`")
        if token.text == "(" and name == "call":
            value: Argument = group(cursor, scopes)
        else:
            value = argument(cursor, scopes)
        _note(value, token, used)
        arguments.append(value)
        columns.append(token.column)
        if not cursor.accept(","):
            break
    if cursor.token.text != ";":
        raise cursor.error(
            f"expected `,` or `;` behind an operand of `{opcode.text}`" if arguments else f"expected an operand of `{opcode.text}` or `;`"
        )
    cursor.advance()
    return Instruction(opcode.text, name, tuple(parts), arguments, columns, guard, negated, start.line, opcode.column)


def _note(value: Argument, token: Token, used: list[tuple[Name, Token]]) -> None:
    if isinstance(value, Name):
        used.append((value, token))
    elif isinstance(value, Address):
        _note(value.base, token, used)
    elif isinstance(value, Vector | Group):
        for item in value.items:
            _note(item, token, used)


def _check_names(cursor: Cursor, routine: Routine, module: Module, used: list[tuple[Name, Token]]) -> None:
    for name, token in used:
        scope = name.scope
        while scope >= 0:
            key = (scope, name.text)
            if key in routine.labels or key in routine.variables or key in routine.branch_lists:
                break
            scope = routine.scope_parent[scope]
        else:
            if name.text in module.variables or name.text in module.functions or name.text in (routine.name, "generic"):
                continue
            known = [key[1] for key in (*routine.labels, *routine.variables)] + [*module.variables, *module.functions]
            meant = closest(name.text, known)
            raise cursor.error(f"unknown name `{name.text}`" + (f"; did you mean `{meant}`?" if meant else ""), token)
