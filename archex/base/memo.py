"""Functions of frozen values, remembered by which objects the values are (numbers and names: by their value).

A sweep changes one part of a device; what is made of the other parts alone is the same object as before. Values are kept as long as what
was made of them, so that an identity is never taken for another's. What is handed out is shared: nobody changes it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

Made = TypeVar("Made")


def by_identity(kept: int) -> Callable[[Callable[..., Made]], Callable[..., Made]]:
    """Remember the last `kept` results of a function of positional arguments."""

    def remembering(function: Callable[..., Made]) -> Callable[..., Made]:
        known: OrderedDict[tuple[Any, ...], tuple[tuple[Any, ...], Made]] = OrderedDict()

        @wraps(function)
        def remembered(*values: Any) -> Made:
            key = tuple((value,) if isinstance(value, (str, int, float)) else id(value) for value in values)
            if key not in known:
                known[key] = (values, function(*values))
                if len(known) > kept:
                    known.popitem(last=False)
            known.move_to_end(key)
            return known[key][1]

        return remembered

    return remembering
