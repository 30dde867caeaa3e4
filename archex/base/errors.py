"""What can be wrong, in three forms: a request, a program, something a device lacks.

In: facts found by a checker. Out: one exception each, whose text is ready to print. `RequestError` carries *all* problems of a
request, each with its dotted path, the value, the rule and what would be right. Nobody above catches and rewords these.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any, NamedTuple


class ArchexError(Exception):
    """Base of everything archex raises on purpose."""


class Problem(NamedTuple):
    """One thing wrong in a request.

    path: dotted, as in overrides and `show`. value: what stood there (`ABSENT` if nothing). rule: what should hold, as a
    sentence without a capital. choices: what may stand there. suggestion: the nearest choice. source: file it came from.
    combined: the value is right by itself (known key, type, unit, range) and wrong beside others; in a sweep that is one point's failure.
    """

    path: str
    value: Any
    rule: str
    choices: Sequence[str] = ()
    suggestion: str | None = None
    source: str | None = None
    combined: bool = False

    def __str__(self) -> str:
        shown = "" if self.value is ABSENT else f" {_show(self.value)}"
        text = f"{self.path}:{shown} {self.rule}"
        if self.suggestion:
            text += f"; did you mean {self.suggestion}?"
        if self.choices:
            text += f" (choices: {', '.join(map(str, self.choices))})"
        return text + (f" ({self.source})" if self.source else "")


class _Absent:
    """A problem whose point is that nothing stands there."""

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT = _Absent()


def _show(value: Any) -> str:
    text = value.__name__ if isinstance(value, type) else value if isinstance(value, str) and value.strip() else repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def closest(name: Any, choices: Iterable[str]) -> str | None:
    """The choice a typing mistake most likely meant, or None."""
    options = list(choices)
    found = get_close_matches(str(name), options, n=1, cutoff=0.6)
    if not found:
        lowered = {option.lower().replace("-", "_"): option for option in options}
        found = [lowered[m] for m in get_close_matches(str(name).lower().replace("-", "_"), lowered, n=1, cutoff=0.6)]
    return found[0] if found and found[0] != name else None


def unknown(path: str, value: Any, choices: Iterable[str], what: str = "choice") -> Problem:
    """The problem of a name that isn't one of `choices`: `rule` names what it should have been."""
    options = sorted(choices)
    name = path.rpartition(".")[2] if value is ABSENT else value
    return Problem(path, value, f"is not a known {what}", tuple(options), closest(name, options))


class RequestError(ArchexError):
    """The request itself is wrong (exit code 2, nothing written). Holds every problem found, in order of path."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = list(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


class UnsupportedError(ArchexError):
    """A valid program that archex or the device cannot run; `reason` names the instruction, shape or limit with its number."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


class ProgramError(ArchexError):
    """A wrong program, launch or buffer, at a place in its source. `line` and `column` count from 1; 0 is unknown."""

    def __init__(self, message: str, file: str = "", line: int = 0, column: int = 0) -> None:
        self.message, self.file, self.line, self.column = message, file, line, column
        place = ":".join(str(part) for part in (file, line, column) if part)
        super().__init__(f"{place}: {message}" if place else message)
