"""The rows of the tables that say why: mechanisms over the suite, and launch by launch.

In: findings. Out: rows of text; what is too small for a word of its own stands as `others`, so that every line adds up.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from archex.reports.compare.findings import Change, Explained, Findings
from archex.reports.compare.flips import subset
from archex.reports.compare.grid import Grid
from archex.reports.compare.mechanisms import MECHANISMS, ranked
from archex.reports.compare.names import mark, mechanism, signed_time
from archex.reports.compare.standings import Verdict, speed_ups, verdicts
from archex.reports.compare.traffic import Moved
from archex.reports.text import NOTHING, limiter_name, ratio, signed

#: Launches of a design that are explained, mechanisms and counters of a launch that are named.
_LAUNCHES, _NAMED, _TRAFFIC = 12, 4, 3
#: A factor nearer to 1 than this has no line of its own; nor a contribution under this share of the old time.
_NOTABLE = 0.01


def unbeaten(grid: Grid, designs: Sequence[int], launch: int) -> set[int]:
    """The designs that none of these beats at this launch, beyond the errors; none where all are alike."""
    timed = [design for design in designs if not np.isnan(grid.time_ns[design, launch])]
    part = subset(grid, timed)
    found = set()
    for place, design in enumerate(timed):
        over = speed_ups(part, place)
        if not (verdicts(over.value, over.low, over.high)[:, launch] == Verdict.FASTER).any():
            found.add(design)
    return found if len(found) < len(timed) else set()


def factor_rows(found: Findings) -> list[list[str]]:
    """A row a mechanism that matters somewhere, the largest first; then all others, then the product."""
    every = found.explained
    size = {name: max((abs(one.factors[name] - 1) for one in every), default=0.0) for name in MECHANISMS}
    named = sorted((name for name in MECHANISMS if size[name] >= _NOTABLE), key=lambda name: -size[name])
    if not named:
        return []
    rows = [[mechanism(name), *(ratio(one.factors[name]) for one in every)] for name in named]
    rest = [name for name in MECHANISMS if name not in named]
    rows.append(["others", *(ratio(prod(one.factors[name] for name in rest)) for one in every)])
    return [*rows, ["together", *(f"{ratio(one.mean.value)}{mark(one.mean)}" for one in every)]]


def change_rows(found: Findings, one: Explained) -> list[list[str]]:
    """The launches whose time changed most."""
    rows = []
    for change in one.changes[:_LAUNCHES]:
        if change.ratio.verdict is Verdict.SAME:
            continue
        cells = [f"{ratio(change.ratio.value)}{mark(change.ratio)}", signed_time(change.new_ns - change.old_ns), made_up_of(change)]
        traffic = ", ".join(_moved(m) for m in change.moved[:_TRAFFIC]) or NOTHING
        rows.append([found.grid.launches[change.launch], *cells, _limiter(change), traffic])
    return rows


def made_up_of(change: Change) -> str:
    """`memory -1.2 us, clock +30 ns, others -2 ns`."""
    named = ranked(change.contributions, _NOTABLE * change.old_ns)[:_NAMED]
    rest = change.new_ns - change.old_ns - sum(value for _, value in named)
    words = [f"{mechanism(name)} {signed_time(value)}" for name, value in named]
    return ", ".join([*words, *([f"others {signed_time(rest)}"] if abs(rest) > 1e-4 * change.old_ns else [])])


def _limiter(change: Change) -> str:
    old, new = map(limiter_name, change.limiters)
    return old if old == new else f"{old} -> {new}"


def _moved(moved: Moved) -> str:
    if moved.share:
        return f"{moved.what} {moved.old:.0f} -> {moved.new:.0f} %"
    return f"{moved.what} {signed(moved.change, 0)}" if moved.old else f"{moved.what} from none"
