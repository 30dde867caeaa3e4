"""Values that belong to objects: made once in an object's life.

In: an object, how to make its value. Out: the value. Objects are told apart by identity, so that they need no hash, and aren't kept alive.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any, Generic, TypeVar

Value = TypeVar("Value")


class Once(Generic[Value]):
    """One value for each object."""

    def __init__(self) -> None:
        self._made: dict[int, tuple[weakref.ref[Any], Value]] = {}

    def of(self, thing: Any, make: Callable[[], Value]) -> Value:
        """The value of `thing`."""
        name = id(thing)
        found = self._made.get(name)
        if found is not None and found[0]() is thing:
            return found[1]
        value = make()
        self._made[name] = weakref.ref(thing, lambda _: self._made.pop(name, None)), value
        return value
