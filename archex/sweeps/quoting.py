"""Ids of launches and paths as people type them, quoted for Hydra's grammar.

In: the arguments behind a verb. Out: the same, with the value of `suite.only` (brackets, commas and equals signs are part of an id), of
`output` and of `suite.path` in quotes where Hydra would read them as lists, sweeps or errors.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

LITERAL = ("suite.only", "output")


def quote(text: str) -> str:
    """`text` as one string of Hydra's grammar: in single quotes, with quotes and the backslashes before them escaped."""
    escaped = ""
    for part in text.split("'"):
        tail = len(part) - len(part.rstrip("\\"))
        escaped += part + "\\" * tail + "\\'"
    return f"'{escaped[:-2]}'"


def quote_argument(argument: str) -> str:
    """One argument, quoted if it is an override whose value is always one literal."""
    key, equals, value = argument.partition("=")
    bare = key.lstrip("+")
    if not equals or not value or value[0] in "'\"" or value == "null":
        return argument
    if bare in LITERAL and not (bare == "suite.only" and _is_list(value)):
        return f"{key}={quote(value)}"
    if bare == "suite.path" and os.path.exists(value):
        return f"{key}={quote(value)}"
    return argument


def _is_list(value: str) -> bool:
    """`[a,'b[n=1]']`: a list of Hydra's grammar, not an id (no id starts with a bracket)."""
    return value.startswith("[") and value.endswith("]")


def quote_arguments(arguments: Iterable[str]) -> list[str]:
    """All arguments behind a verb."""
    return [quote_argument(argument) for argument in arguments]
