"""The end of a search in words: the designs that nothing beats, or with one goal the best ones.

In: trials and goals. Out: a table, and a line that says how many trials came to nothing and why.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rich.table import Table

from archex.base import units
from archex.records.trials import Goal, Trial, front
from archex.reports import text

MOST = 20
#: With one goal the front is one design; the next best are shown too.
_RANKED = 10


def best(trials: Sequence[Trial], goals: Sequence[Goal], most: int = MOST) -> Table:
    """The front in the order of the first goal; with one goal the best designs, ranked."""
    if len(goals) == 1:
        sign = -1 if goals[0].maximize else 1
        shown = sorted((trial for trial in trials if trial.solves), key=lambda trial: (sign * (trial.values[0] or 0.0), trial.number))[
            :_RANKED
        ]
        title = f"Best designs by {goals[0].name}"
    else:
        found = front(trials, goals)
        shown, left = found[:most], len(found) - most
        title = f"Designs that none beats in {', '.join(goal.name for goal in goals)}" + (f" (and {left} more)" if left > 0 else "")
    several = len({trial.device for trial in shown}) > 1
    rows = [
        [f"{trial.device} {trial.overrides}".strip() if several else trial.overrides or trial.device, str(trial.number)]
        + [value(number, goal) for number, goal in zip(trial.values, goals, strict=True)]
        for trial in shown
    ]
    return text.table(title, ["design", "trial", *(goal.name for goal in goals)], rows)


def value(number: float | None, goal: Goal) -> str:
    """A goal's value as a person reads it."""
    if number is None:
        return text.NOTHING
    if goal.unit == "ns":
        return text.time(number)
    if goal.unit in ("B", "Hz", "s", "B/s"):
        return units.show(number, goal.unit)
    if goal.unit == "%":
        return text.percent(number, 1)
    return text.count(number) if float(number).is_integer() or abs(number) >= 1000 else f"{number:.4g}"


def summary(trials: Sequence[Trial], goals: Sequence[Goal]) -> list[str]:
    """How many trials there were, and why some are no solutions: the commonest reasons."""
    failed = [trial for trial in trials if not trial.solves]
    solved = len(trials) - len(failed)
    lines = [f"{len(trials)} designs tried: {solved} keep every constraint, {len(front(trials, goals))} on the front"]
    why = Counter(trial.broken[0] for trial in failed if trial.broken)
    lines += [f"no solution, {count} of them: {reason}" for reason, count in why.most_common(3)]
    return lines
