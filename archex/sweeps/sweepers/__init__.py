"""Which points are run, and in what order: what every sweeper keeps.

A sweeper is made of the axes of a request (`grammar.Axis`). It yields rounds of points; the next round is asked for when every row of
the round before was told, so that a search can learn and a grid has one round.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from archex.sweeps.points import Design, Point


class Sweeper(Protocol):
    """Points to run. `name` is the choice of `hydra/sweeper`."""

    name: str

    @property
    def total(self) -> int | None:
        """How many points there are; None where that isn't known beforehand."""

    def rounds(self) -> Iterator[Iterable[Point]]:
        """The points, lazily: nothing holds all of them."""

    def tell(self, design: Design, rows: Sequence[Mapping[str, Any]]) -> None:
        """All rows of a design are finished."""
