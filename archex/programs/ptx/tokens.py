"""PTX text -> tokens with their place.

In: the text. Out: a list of `Token(kind, text, line, column)`, comments and `.loc`/`.file` lines left out. A character that
belongs to no token is a `ProgramError` at its place.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from archex.base.errors import ProgramError

WORD, DIRECTIVE, NUMBER, STRING, PUNCTUATION, END = "word", "directive", "number", "string", "punctuation", "end of file"


class Token(NamedTuple):
    """One token; `line` and `column` count from 1."""

    kind: str
    text: str
    line: int
    column: int


_TOKEN = re.compile(
    r"""
    (?P<space>[ \t\r\f\v]+|//[^\n]*)
  | (?P<newline>\n)
  | (?P<comment>/\*.*?\*/)
  | (?P<line>(?:\.(?:loc|file)\b|\#|@@DWARF)[^\n]*)
  | (?P<number>0[fF][0-9a-fA-F]{8}\b|0[dD][0-9a-fA-F]{16}\b|0[xX][0-9a-fA-F]+U?|0[bB][01]+U?
              |\d+\.\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\d+U?(?![\w$]))
  | (?P<word>[A-Za-z_$%][\w$%]*(?:(?:\.|::)\w+)*)
  | (?P<directive>\.[A-Za-z_]\w*(?:::\w+)*)
  | (?P<string>"(?:[^"\\\n]|\\.)*")
  | (?P<punctuation><<|>>|<=|>=|==|!=|&&|\|\||[-+*/%(){}\[\]<>,;:@!|=~&^?])
  | (?P<shape>\d+\w+)
    """,
    re.VERBOSE | re.DOTALL,
)


def tokenize(text: str, file: str) -> list[Token]:
    """All tokens, closed by one of kind `END`."""
    tokens: list[Token] = []
    line, line_start, at, size = 1, 0, 0, len(text)
    match = _TOKEN.match
    while at < size:
        found = match(text, at)
        if found is None:
            raise ProgramError(f"unexpected character {text[at]!r}", file, line, at - line_start + 1)
        kind = found.lastgroup
        end = found.end()
        if kind == "newline":
            line += 1
            line_start = end
        elif kind == "comment" or kind == "string":
            if kind == "string":
                tokens.append(Token(STRING, found.group(), line, at - line_start + 1))
            breaks = text.count("\n", at, end)
            if breaks:
                line += breaks
                line_start = text.rfind("\n", at, end) + 1
        elif kind != "space" and kind != "line":
            if kind == "shape":
                raise ProgramError(f"malformed number `{found.group()}`", file, line, at - line_start + 1)
            tokens.append(Token(str(kind), found.group(), line, at - line_start + 1))
        at = end
    tokens.append(Token(END, "", line, at - line_start + 1))
    return tokens
