"""Every combination of the axes' values, in order, the last axis fastest.

In: axes. Out: points, made when they are asked for: a sweep of 10^6 points costs nothing to hold.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import prod
from typing import Any

from archex.sweeps.grammar import Axis
from archex.sweeps.points import Design, Point
from archex.sweeps.sweepers import Sweeper


class Grid(Sweeper):
    """The sweeper `archex`."""

    name = "archex"

    def __init__(self, axes: Sequence[Axis]) -> None:
        self.axes = tuple(axes)

    @property
    def total(self) -> int:
        """The product of the axes' lengths."""
        return prod(map(len, self.axes))

    def places(self, index: int) -> list[int]:
        """Which value of each axis the point at a place of the order has."""
        found = []
        for axis in reversed(self.axes):
            index, place = divmod(index, len(axis))
            found.append(place)
        return found[::-1]

    def index(self, places: Sequence[int]) -> int:
        """The place in the order of the point with these values."""
        found = 0
        for axis, place in zip(self.axes, places, strict=True):
            found = found * len(axis) + place
        return found

    def at(self, index: int) -> Point:
        """The point at a place of the order."""
        return Point(index, tuple(axis[place] for axis, place in zip(self.axes, self.places(index), strict=True)))

    def rounds(self) -> Iterator[Iterable[Point]]:
        """One round: all of them."""
        yield map(self.at, range(self.total))

    def tell(self, design: Design, rows: Sequence[Mapping[str, Any]]) -> None:
        """Nothing to learn."""
