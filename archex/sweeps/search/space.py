"""What a search may choose from, in the grammar that sweeps have.

In: axes of a request. Out: `Dimension`s, or problems. `a,b` and `choice(a,b)` are names without an order (`tag(ordered,choice(4,8,16))` has
one); `range(a,b,step)` has the values that a sweep would run; `interval(a,b)` is every number between, by orders of magnitude with the tag
`log`.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from math import prod

import attrs
from hydra.core.override_parser.types import ChoiceSweep, RangeSweep, Sweep

from archex.base.errors import Problem
from archex.sweeps.grammar import Axis
from archex.sweeps.points import Assignment
from archex.sweeps.ranges import LOG, ORDERED, in_bytes, strange

#: Digits of a real number that is tried: enough for any part, and short in a table.
_DIGITS = 6


@attrs.frozen
class Dimension:
    """An axis to choose from. Its values are places in its list, or for an interval the numbers from `low` to `high`, both included."""

    axis: Axis
    ordered: bool = False
    low: float = 0.0
    high: float = 0.0
    whole: bool = True
    log: bool = False

    @property
    def size(self) -> int | None:
        """How many values; None for any number of them."""
        return int(self.high - self.low) + 1 if self.whole else None

    def at(self, value: float) -> Assignment:
        """The assignment that a value stands for."""
        if not self.axis.interval:
            return self.axis[int(value)]
        if self.whole:
            return self.axis.assign(int(value))
        number = format(Decimal(f"{value:.{_DIGITS}g}"), "f")
        return self.axis.assign(number if self.axis.unit else float(number))


def size(dimensions: Sequence[Dimension]) -> int | None:
    """How many designs a space has; None without an end."""
    sizes = [dimension.size for dimension in dimensions]
    return None if None in sizes else prod(size for size in sizes if size is not None)


def combination(dimensions: Sequence[Dimension], place: int) -> tuple[float, ...]:
    """The values of the combination at `place` in the order of a sweep, the last dimension fastest."""
    values = []
    for dimension in reversed(dimensions):
        assert dimension.size is not None
        place, digit = divmod(place, dimension.size)
        values.append(dimension.low + digit)
    return tuple(reversed(values))


def dimension(axis: Axis) -> tuple[Dimension | None, list[Problem]]:
    """What an axis lets a search choose."""
    sweep = axis.override.value()
    tags = sweep.tags if isinstance(sweep, Sweep) else set()
    problems = strange(tags, axis.key)
    if axis.interval:
        found, wrong = _interval(axis, LOG in tags, axis.given)
        return (None if problems else found), [*problems, *wrong]
    if LOG in tags:
        problems.append(Problem(axis.key, axis.given, "is a list: log belongs to an interval, as in tag(log,interval(1,100))"))
    if isinstance(sweep, ChoiceSweep) and any(isinstance(item, Sweep) for item in sweep.list or ()):
        problems.append(Problem(axis.key, axis.given, "has a sweep within a list"))
    if isinstance(sweep, ChoiceSweep) and not problems:
        different = {assignment.text: value for assignment, value in zip(axis, axis.values, strict=True)}
        axis = attrs.evolve(axis, values=list(different.values()))
    ordered = isinstance(sweep, RangeSweep) or ORDERED in tags
    return (None if problems else Dimension(axis, ordered, high=len(axis) - 1.0)), problems


def _interval(axis: Axis, log: bool, given: str) -> tuple[Dimension | None, list[Problem]]:
    low, _, high = axis.values
    whole = isinstance(low, int) or in_bytes(axis.unit)
    problems = []
    if low >= high:
        problems.append(Problem(axis.key, given, "is empty: the first number of an interval is the smaller one"))
    if log and low <= 0:
        problems.append(Problem(axis.key, given, "must be above 0 for log"))
    if whole and (low != int(low) or high != int(high)):
        problems.append(Problem(axis.key, given, f"must have whole ends: bytes are tried in steps of 1 {axis.unit}"))
    return (None if problems else Dimension(axis, True, float(low), float(high), whole, log)), problems
