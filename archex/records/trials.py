"""Trials of a search: what was tried, what it came to, which of them nothing beats.

In: trials as the search made them. Out: the front (with one goal: the best), and the file that holds it.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

import attrs


@attrs.frozen
class Goal:
    """What a search goes for: `name` as asked for, the unit of its values, which way is better."""

    name: str
    unit: str
    maximize: bool = False


@attrs.frozen
class Trial:
    """A design tried. values: of each goal, None where there is none; broken: the constraints that it breaks, the launches that failed."""

    number: int
    device: str
    overrides: str
    values: tuple[float | None, ...]
    broken: tuple[str, ...] = ()

    @property
    def solves(self) -> bool:
        """Whether it has every value and keeps every constraint."""
        return not self.broken and None not in self.values


@attrs.frozen
class Found:
    """What a search came to: every trial in order, what it went for, what a person should know."""

    trials: tuple[Trial, ...]
    goals: tuple[Goal, ...]
    notes: tuple[str, ...] = ()


def costs(trial: Trial, goals: Sequence[Goal]) -> tuple[float, ...]:
    """Its values, the smaller the better."""
    return tuple(-value if goal.maximize else value for value, goal in zip(trial.values, goals, strict=True) if value is not None)


def front(trials: Sequence[Trial], goals: Sequence[Goal]) -> list[Trial]:
    """The trials that no other beats: none is as good in every goal and better in one. In the order of the first goal."""
    kept: list[tuple[tuple[float, ...], Trial]] = []
    # In this order a trial can only be beaten by one before it, so that it is compared with the front alone.
    solving = ((costs(trial, goals), trial) for trial in trials if trial.solves)
    for cost, trial in sorted(solving, key=lambda found: (found[0], found[1].number)):
        if not any(other != cost and all(a <= b for a, b in zip(other, cost, strict=True)) for other, _ in kept):
            kept.append((cost, trial))
    return [trial for _, trial in kept]


def table(trials: Sequence[Trial], goals: Sequence[Goal]) -> str:
    """Trials as comma-separated values: number, device, overrides, a column a goal in the goal's unit."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["trial", "device", "overrides", *(f"{goal.name} ({goal.unit})" if goal.unit else goal.name for goal in goals)])
    for trial in trials:
        writer.writerow([trial.number, trial.device, trial.overrides, *map(repr, trial.values)])
    return text.getvalue()
