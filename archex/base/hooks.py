"""The marker a plugin puts on its hook functions: `from archex import hookimpl`.

In: a function. Out: the same function, marked. The mark is what pluggy's own marker leaves (an attribute), written here so
that a plugin's parts import nothing but the base.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])
PROJECT = "archex"


def hookimpl(function: F) -> F:
    """Mark a function as the implementation of the hook of its name."""
    options = {"wrapper": False, "hookwrapper": False, "optionalhook": False, "tryfirst": False, "trylast": False, "specname": None}
    setattr(function, f"{PROJECT}_impl", options)
    return function
