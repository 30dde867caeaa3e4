"""The trials of a search as a picture.

In: trials and goals. Out: an image file: with one goal the best so far by trial, with two all trials and the front, with more each pair.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, combinations
from pathlib import Path
from typing import Any

from archex.records.trials import Goal, Trial, front

#: Unit of a goal -> larger ones.
_SCALES = {
    "ns": (("us", 1e3), ("ms", 1e6), ("s", 1e9)),
    "B": (("KiB", 2.0**10), ("MiB", 2.0**20), ("GiB", 2.0**30)),
    "bytes": (("MB", 1e6), ("GB", 1e9), ("TB", 1e12)),
    "Hz": (("MHz", 1e6), ("GHz", 1e9)),
    "B/s": (("GB/s", 1e9), ("TB/s", 1e12)),
}
_TRIED, _FRONT, _BROKEN = "#8a94a3", "#c2410c", "#d9dee5"


def draw(trials: Sequence[Trial], goals: Sequence[Goal], path: Path) -> None:
    """Write the picture; ImportError without matplotlib."""
    from matplotlib.figure import Figure  # without pyplot: no window, no global state

    pairs = list(combinations(range(len(goals)), 2))
    figure = Figure(figsize=(6.4, 4.4 * max(1, len(pairs))), layout="constrained")
    if not pairs:
        _history(figure.subplots(), trials, goals[0])
    for place, (x, y) in enumerate(pairs, start=1):
        _pair(figure.add_subplot(len(pairs), 1, place), trials, goals, x, y)
    figure.savefig(path, dpi=130)


def _history(axes: Any, trials: Sequence[Trial], goal: Goal) -> None:
    """Every trial, and the best until then."""
    solving = [(trial.number, value) for trial in trials if trial.solves and (value := trial.values[0]) is not None]
    numbers, values = [number for number, _ in solving], [value for _, value in solving]
    better = max if goal.maximize else min
    unit, factor = _scale(values, goal)
    values = [value / factor for value in values]
    until = list(accumulate(values, better))
    axes.scatter(numbers, values, s=16, color=_TRIED, label="tried")
    axes.step(numbers, until, where="post", color=_FRONT, label="best so far")
    axes.set_xlabel("trial")
    axes.set_ylabel(_label(goal, unit))
    _finish(axes)


def _pair(axes: Any, trials: Sequence[Trial], goals: Sequence[Goal], x: int, y: int) -> None:
    """Every trial by two goals; the front of all goals, and a line along the front of these two."""
    groups = [(_BROKEN, "breaks a constraint", [t for t in trials if not t.solves]), (_TRIED, "tried", [t for t in trials if t.solves])]
    kept = front(trials, goals)
    scales = [_scale([t.values[at] for t in trials if t.values[at] is not None], goals[at]) for at in (x, y)]
    for colour, label, group in [*groups, (_FRONT, "front", kept)]:
        points = [_scaled(t, (x, y), scales) for t in group if t.values[x] is not None and t.values[y] is not None]
        if points:
            axes.scatter(*zip(*points, strict=True), s=16, color=colour, label=label)
    if len(goals) == 2 and kept:
        axes.plot(*zip(*(_scaled(t, (x, y), scales) for t in kept), strict=True), color=_FRONT, linewidth=1)
    axes.set_xlabel(_label(goals[x], scales[0][0]))
    axes.set_ylabel(_label(goals[y], scales[1][0]))
    _finish(axes)


def _scaled(trial: Trial, which: tuple[int, int], scales: Sequence[tuple[str, float]]) -> tuple[float, ...]:
    return tuple((trial.values[at] or 0.0) / factor for at, (_, factor) in zip(which, scales, strict=True))


def _scale(values: Sequence[float | None], goal: Goal) -> tuple[str, float]:
    """The unit that a goal's values are drawn in, and how many of its own make one."""
    largest = max((abs(value) for value in values if value), default=0.0)
    units = [(unit, factor) for unit, factor in _SCALES.get(goal.unit, ()) if factor <= largest]
    return max(units, key=lambda found: found[1], default=(goal.unit, 1.0))


def _label(goal: Goal, unit: str) -> str:
    return f"{goal.name} ({unit})" if unit else goal.name


def _finish(axes: Any) -> None:
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25)
    if axes.get_legend_handles_labels()[0]:
        axes.legend(frameon=False)
