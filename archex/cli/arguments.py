"""The arguments of verbs that aren't `run`: a few keys of their own beside overrides.

In: the arguments behind a verb and the names of its own keys. Out: those keys' values, and the rest.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Collection, Sequence

_OVERRIDE = re.compile(r"[-+~]|[\w./@]+=")


def take(arguments: Sequence[str], keys: Collection[str]) -> tuple[dict[str, str], list[str]]:
    """(values of `keys`, every other argument); the last value given wins."""
    taken, rest = {}, []
    for argument in arguments:
        key, equals, value = argument.partition("=")
        if equals and key in keys:
            taken[key] = value
        else:
            rest.append(argument)
    return taken, rest


def operands(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """(arguments that are no overrides, overrides): `copy_f1[n=262144]` is no override, `device=h200` is."""
    plain = [argument for argument in arguments if not _OVERRIDE.match(argument)]
    return plain, [argument for argument in arguments if argument not in plain]


def hang_up() -> None:
    """Whoever read the standard output has gone: there is nothing to flush to."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
