"""Which points are run, and in what order: what every sweeper keeps.

A sweeper is made of the axes of a request (`grammar.Axis`). It yields rounds of points; the next round is asked for when every row of
the round before was told, so that a search can learn and a grid has one round.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from archex.base.errors import Problem
from archex.records.trials import Found
from archex.sweeps.points import Design, Point
from archex.sweeps.settings import Suite


class Sweeper(Protocol):
    """Points to run. `name` is the choice of `hydra/sweeper`. One that derives from this needs `total`, `rounds` and `tell`."""

    name: str

    @property
    def total(self) -> int | None:
        """How many points there are; None where that isn't known beforehand."""

    @property
    def found(self) -> Found | None:
        """What it came to so far, if it searches for something."""
        return None

    def check(self, designs: Iterable[Design], launches: Mapping[Suite, Mapping[str, Any]]) -> list[Problem]:
        """What is wrong with it beside some of its designs, and the launches of each suite."""
        return []

    def begin(self, path: Path) -> None:
        """Where rows will be: a file, or a folder that is there once there are rows. Comes before the first round."""
        return None

    def rounds(self) -> Iterator[Iterable[Point]]:
        """The points, lazily: nothing holds all of them."""

    def tell(self, design: Design, rows: Sequence[Mapping[str, Any]]) -> None:
        """All rows of a design are finished."""
