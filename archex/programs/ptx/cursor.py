"""A place in the token list, with the few moves a parser makes."""

from __future__ import annotations

from archex.base.errors import ProgramError
from archex.programs.ptx.tokens import END, Token, tokenize


class Cursor:
    """The tokens of one file and where reading stands."""

    def __init__(self, text: str, file: str) -> None:
        self.file = file
        self.tokens = tokenize(text, file)
        self.at = 0
        self.token = self.tokens[0]

    def advance(self) -> Token:
        """The token here, and move past it."""
        token = self.token
        if token.kind != END:
            self.at += 1
            self.token = self.tokens[self.at]
        return token

    def peek(self) -> Token:
        """The token after this one."""
        return self.tokens[min(self.at + 1, len(self.tokens) - 1)]

    def accept(self, text: str) -> bool:
        """Move past `text` if it stands here."""
        if self.token.text == text:
            self.advance()
            return True
        return False

    def need(self, text: str) -> Token:
        """Move past `text`, which must stand here."""
        if self.token.text != text:
            raise self.error(f"expected `{text}`")
        return self.advance()

    def expect(self, kind: str, what: str) -> Token:
        """Move past a token of `kind`, described to the reader as `what`."""
        if self.token.kind != kind:
            raise self.error(f"expected {what}")
        return self.advance()

    def skip_group(self) -> None:
        """Move past a balanced `( ... )`."""
        self.need("(")
        depth = 1
        while depth:
            if self.token.kind == END:
                raise self.error("expected `)`")
            depth += {"(": 1, ")": -1}.get(self.advance().text, 0)

    def error(self, message: str, token: Token | None = None) -> ProgramError:
        """A `ProgramError` at `token` (here if None); an `expected ...` message is closed by what was found."""
        place = token or self.token
        if message.startswith("expected") and "found" not in message:
            found = "the end of the file" if place.kind == END else f"`{place.text}`"
            message = f"{message}, found {found}"
        return ProgramError(message, self.file, place.line, place.column)
