"""Everything that is found about designs and a baseline.

In: a grid, the baseline, how many designs to show of each end. Out: `Findings`, plain values that every rendering reads.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from archex.reports.compare import mechanisms
from archex.reports.compare.flips import Flip, Winner, flips, winners
from archex.reports.compare.grid import Grid
from archex.reports.compare.sensitivity import Sensitivity, sensitivities
from archex.reports.compare.standings import Ratio, SpeedUps, Standing, speed_ups, standings
from archex.reports.compare.traffic import Moved, moved

#: Of these designs many every launch is explained, unless fewer are shown: the best, then the worst.
EXPLAINED = 6


@attrs.frozen
class Change:
    """One launch on a design and on the baseline: nanoseconds by mechanism, limiters, traffic."""

    launch: int
    ratio: Ratio
    old_ns: float
    new_ns: float
    contributions: dict[str, float]
    limiters: tuple[str | None, str | None]
    moved: list[Moved]


@attrs.frozen
class Explained:
    """A design against the baseline: speed-up by mechanism (their product is the mean), and each launch, most changed first."""

    design: int
    mean: Ratio
    factors: dict[str, float]
    changes: list[Change]


@attrs.frozen
class Missing:
    """A launch that some designs have no time of, though another has."""

    launch: int
    status: str
    designs: list[int]


@attrs.frozen(eq=False)
class Findings:
    """`shown` are the designs that tables list (those of both ends, and the baseline), fastest first; `explained` some of them."""

    grid: Grid
    baseline: int
    speed_ups: SpeedUps
    standings: list[Standing]
    shown: list[int]
    explained: list[Explained]
    flips: list[Flip]
    winners: list[Winner]
    sensitivities: list[Sensitivity]
    missing: list[Missing]

    def label(self, design: int) -> str:
        """Of a design."""
        return self.grid.designs[design].label


def find(grid: Grid, baseline: int, top: int) -> Findings:
    """Compare."""
    over = speed_ups(grid, baseline)
    ranking = standings(grid, baseline, over)
    order = [standing.design for standing in ranking]
    others = [design for design in order if design != baseline]
    listed = {baseline, *ends(others, top)}
    shown = [design for design in order if design in listed]
    means = {standing.design: standing.mean for standing in ranking}
    chosen = ends([design for design in others if design in listed and means[design]], min(top, EXPLAINED // 2))
    return Findings(
        grid,
        baseline,
        over,
        ranking,
        shown,
        [explain(grid, baseline, design, over, mean) for design in chosen if (mean := means[design])],
        flips(grid, shown),
        winners(grid, order[0]) if len(order) > 2 else [],
        sensitivities(grid.designs, [m.value if (m := means[place]) else None for place in range(len(order))]),
        missing(grid),
    )


def ends(order: Sequence[int], top: int) -> list[int]:
    """The first and the last few."""
    return list(order) if len(order) <= 2 * top else [*order[:top], *order[-top:]]


def explain(grid: Grid, baseline: int, design: int, over: SpeedUps, mean: Ratio) -> Explained:
    """Every launch of a design that both have."""
    changes, pairs = [], []
    for launch in range(len(grid.launches)):
        ratio = over.at(design, launch)
        old, new = grid.row(baseline, launch), grid.row(design, launch)
        if ratio is None or old is None or new is None:
            continue
        pairs.append((old, new))
        limiters = (old["limiter"], new["limiter"])
        found = mechanisms.contributions(old, new)
        changes.append(Change(launch, ratio, old["time_ns"], new["time_ns"], found, limiters, moved(old, new)))
    changes.sort(key=lambda change: -max(change.ratio.value, 1 / change.ratio.value))
    return Explained(design, mean, mechanisms.over_suite(pairs), changes)


def missing(grid: Grid) -> list[Missing]:
    """Launches without a time on some designs, by why."""
    none = grid.time_ns != grid.time_ns
    found = []
    for launch in range(len(grid.launches)):
        if not none[:, launch].any() or none[:, launch].all():
            continue
        by_status: dict[str, list[int]] = {}
        for design in none[:, launch].nonzero()[0]:
            by_status.setdefault(grid.said(int(design), launch), []).append(int(design))
        found += [Missing(launch, status, designs) for status, designs in by_status.items()]
    return found
