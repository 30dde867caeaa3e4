"""The file level of PTX: header, variables, functions.

In: the text of a file and its name for messages. Out: a `Module`. Anything that is not PTX is a `ProgramError` that gives
file, line, column and what was expected.
"""

from __future__ import annotations

from archex.base.errors import ProgramError
from archex.programs.ir import Space
from archex.programs.ptx.body import parse_body
from archex.programs.ptx.cursor import Cursor
from archex.programs.ptx.declarations import parse_parameter, parse_variable
from archex.programs.ptx.scopes import Scopes
from archex.programs.ptx.syntax import Module, Routine, Variable
from archex.programs.ptx.tokens import DIRECTIVE, END, NUMBER, STRING, WORD

_LINKING = frozenset({".visible", ".extern", ".weak", ".common"})
_SPACES = {".global": Space.GLOBAL, ".const": Space.CONSTANT, ".shared": Space.LOCAL}
#: Directives between a function's header and its body, with the most numbers each takes.
_TUNING = {
    ".maxntid": 3,
    ".reqntid": 3,
    ".minnctapersm": 1,
    ".maxnctapersm": 1,
    ".maxnreg": 1,
    ".noreturn": 0,
    ".reqnctapercluster": 3,
    ".explicitcluster": 0,
    ".maxclusterrank": 1,
    ".blocksareclusters": 0,
    ".abi_preserve": 1,
    ".abi_preserve_control": 1,
}


def parse(text: str, file: str = "<text>") -> Module:
    """Parse one PTX file."""
    cursor = Cursor(text, file)
    module = Module(file)
    while cursor.token.kind != END:
        _top_level(cursor, module)
    if not module.version:
        raise ProgramError("expected a `.version` directive: this is not a PTX file", file, 1, 1)
    return module


def _top_level(cursor: Cursor, module: Module) -> None:
    token = cursor.token
    if token.text == ";":
        cursor.advance()
    elif token.text == ".version":
        cursor.advance()
        module.version = cursor.expect(NUMBER, "a version number").text
    elif not module.version:
        raise cursor.error("expected `.version` at the start of a PTX file")
    elif token.text == ".target":
        cursor.advance()
        module.target = cursor.expect(WORD, "a target name").text
        while cursor.accept(","):
            cursor.expect(WORD, "a target option")
    elif token.text == ".address_size":
        cursor.advance()
        module.address_bits = int(cursor.expect(NUMBER, "32 or 64").text)
    elif token.text == ".section":
        _skip_section(cursor)
    elif token.text == ".pragma":
        cursor.advance()
        cursor.expect(STRING, "a quoted pragma")
        cursor.need(";")
    elif token.text == ".alias":
        _alias(cursor, module)
    else:
        _linked(cursor, module)


def _alias(cursor: Cursor, module: Module) -> None:
    cursor.advance()
    name = cursor.expect(WORD, "the alias").text
    cursor.need(",")
    target = cursor.expect(WORD, "the aliased function")
    cursor.need(";")
    if target.text not in module.functions:
        raise cursor.error(f"unknown function `{target.text}`", target)
    module.functions[name] = module.functions[target.text]


def _skip_section(cursor: Cursor) -> None:
    cursor.advance()
    cursor.advance()  # the section's name
    cursor.need("{")
    depth = 1
    while depth:
        if cursor.token.kind == END:
            raise cursor.error("expected `}` to close the section")
        depth += {"{": 1, "}": -1}.get(cursor.token.text, 0)
        cursor.advance()


def _linked(cursor: Cursor, module: Module) -> None:
    extern = False
    while cursor.token.text in _LINKING:
        extern = extern or cursor.token.text == ".extern"
        cursor.advance()
    token = cursor.token
    if token.text in (".entry", ".func"):
        _routine(cursor, module)
    elif token.text in _SPACES:
        cursor.advance()
        while True:
            variable = parse_variable(cursor, _SPACES[token.text], extern)
            module.variables[variable.name] = variable
            if not cursor.accept(","):
                break
        cursor.need(";")
    elif token.text in (".tex", ".surf"):
        raise cursor.error(f"`{token.text}` variables are not supported")
    else:
        raise cursor.error("expected a directive such as `.entry`, `.func`, `.global`, `.const` or `.shared`")


def _routine(cursor: Cursor, module: Module) -> None:
    entry = cursor.token.text == ".entry"
    cursor.advance()
    while cursor.token.text == ".attribute":
        cursor.advance()
        cursor.skip_group()
    routine = Routine("", entry, line=cursor.token.line)
    scopes = Scopes(routine)
    if cursor.token.text == "(":
        routine.results = _parameters(cursor, scopes, entry)
    routine.name = cursor.expect(WORD, "a function name").text
    if cursor.token.text == "(":
        routine.parameters = _parameters(cursor, scopes, entry)
    while cursor.token.kind == DIRECTIVE:
        _tuning(cursor, routine)
    table = module.entries if entry else module.functions
    if cursor.token.text == "{":
        known = table.get(routine.name)
        if known is not None and known.body is not None:
            raise cursor.error(f"`{routine.name}` is defined twice (first at line {known.line})")
        routine.body = []
        parse_body(cursor, routine, scopes, module)
    else:
        cursor.need(";")
        if routine.name in table:
            return
    table[routine.name] = routine


def _parameters(cursor: Cursor, scopes: Scopes, entry: bool) -> list:  # type: ignore[type-arg]
    cursor.need("(")
    found = []
    while cursor.token.text != ")":
        parameter = parse_parameter(cursor, scopes, entry)
        if isinstance(parameter, Variable):
            scopes.routine.variables[(0, parameter.name)] = parameter
        found.append(parameter)
        if not cursor.accept(","):
            break
    cursor.need(")")
    return found


def _tuning(cursor: Cursor, routine: Routine) -> None:
    token = cursor.token
    if token.text == ".pragma":
        cursor.advance()
        cursor.expect(STRING, "a quoted pragma")
        cursor.need(";")
        return
    if token.text == ".attribute":
        cursor.advance()
        cursor.skip_group()
        return
    if token.text not in _TUNING:
        raise cursor.error("expected a performance directive such as `.maxntid`, `.reqntid` or `.minnctapersm`, or `{`")
    cursor.advance()
    numbers: list[int] = []
    while cursor.token.kind == NUMBER and len(numbers) < _TUNING[token.text]:
        numbers.append(int(cursor.advance().text.rstrip("U"), 0))
        if not cursor.accept(","):
            break
    routine.directives[token.text[1:]] = tuple(numbers)
