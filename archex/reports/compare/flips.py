"""Launches that change the order: where another design is the faster one than over the whole suite.

In: a grid. Out: `Flip`s between two designs and `Winner`s among all, the largest first. Where the error bounds leave open who is faster, at
the launch or over the suite, there is no order and so no flip.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import attrs
import numpy as np

from archex.reports.compare.grid import Grid
from archex.reports.compare.standings import Ratio, Verdict, speed_ups, standings


@attrs.frozen
class Flip:
    """`first` is faster than `second` by `overall` over the launches both have, and at this launch `second` is, by `here`."""

    launch: int
    first: int
    second: int
    overall: Ratio
    here: Ratio


@attrs.frozen
class Winner:
    """At this launch `design` is the fastest, and `lead` times faster than the design that is the fastest overall."""

    launch: int
    design: int
    lead: Ratio


def flips(grid: Grid, shown: Sequence[int]) -> list[Flip]:
    """Between any two of the designs shown."""
    part = subset(grid, shown)
    found = []
    against = [speed_ups(part, place) for place in range(len(shown))]
    means = [{s.design: s.mean for s in standings(part, place, against[place])} for place in range(len(shown))]
    for a, b in combinations(range(len(shown)), 2):
        mean = means[a][b]
        if mean is None or mean.verdict not in (Verdict.FASTER, Verdict.SLOWER):
            continue
        second, first = (a, b) if mean.verdict is Verdict.FASTER else (b, a)
        for launch in range(len(grid.launches)):
            here = against[first].at(second, launch)
            overall = means[second][first]
            if here is not None and here.verdict is Verdict.FASTER and overall is not None:
                found.append(Flip(launch, shown[first], shown[second], overall, here))
    return sorted(found, key=lambda flip: -flip.here.value)


def winners(grid: Grid, overall: int) -> list[Winner]:
    """Launches whose fastest design is not the one that is the fastest overall."""
    found = []
    over = speed_ups(grid, overall)
    fastest = np.where(np.isnan(over.value), -np.inf, over.value).argmax(axis=0)
    for launch, design in enumerate(fastest):
        lead = over.at(int(design), launch)
        if lead is not None and lead.verdict is Verdict.FASTER:
            found.append(Winner(launch, int(design), lead))
    return sorted(found, key=lambda winner: -winner.lead.value)


def subset(grid: Grid, designs: Sequence[int]) -> Grid:
    """The grid of some designs, in that order."""
    places = list(designs)
    return attrs.evolve(
        grid,
        designs=[grid.designs[place] for place in places],
        **{name: getattr(grid, name)[places] for name in ("time_ns", "error_bound", "status", "at")},
    )
