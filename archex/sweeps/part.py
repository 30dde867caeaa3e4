"""A part of a sweep: every n-th design, for machines that share nothing.

In: `3/16`. Out: `Part`, which picks from points in their order; the parts of one sweep have each design once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice
from typing import Any, TypeVar

import attrs

from archex.base.errors import Problem

KEY = "part"
_FORM = re.compile(r"([0-9]{1,9})/([0-9]{1,9})")
_RULE = "must be K/N, the K-th of N parts of a sweep, K from 1 to N, such as 3/16"

Item = TypeVar("Item")


@attrs.frozen
class Part:
    """The `number`-th of `of`, counted from 1."""

    number: int = 1
    of: int = 1

    @property
    def whole(self) -> bool:
        """Whether it is everything."""
        return self.of == 1

    def pick(self, points: Iterable[Item]) -> Iterable[Item]:
        """Every `of`-th from the `number`-th."""
        return islice(points, self.number - 1, None, self.of)

    def count(self, total: int | None) -> int | None:
        """How many of `total` those are."""
        return None if total is None else len(range(self.number - 1, total, self.of))

    def problems(self, total: int | None) -> list[Problem]:
        """Why a sweep of `total` points has no such part."""
        if self.whole or self.count(total):
            return []
        if total is None:
            return [Problem(KEY, str(self), "is for sweeps over all combinations; a search learns from all rows")]
        return [Problem(KEY, str(self), f"is empty: the sweep has {total:,} {'design' if total == 1 else 'designs'}")]

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"


def parse(value: Any, problems: list[Problem]) -> Part:
    """The part that a config says; the whole for null."""
    if value is None:
        return Part()
    found = _FORM.fullmatch(value) if isinstance(value, str) else None
    if not found or not 1 <= int(found[1]) <= int(found[2]):
        problems.append(Problem(KEY, value, _RULE))
        return Part()
    return Part(int(found[1]), int(found[2]))
