"""Short texts of a comparison: names that head columns, intervals, contributions.

In: findings and their values. Out: strings.
"""

from __future__ import annotations

from collections.abc import Sequence

from archex.reports.compare.findings import Findings
from archex.reports.compare.standings import Ratio, Verdict
from archex.reports.text import NOTHING, name, ratio, time

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def short_names(found: Findings, room: int = 80) -> dict[int, str]:
    """Design -> what heads its column: the label where all of them fit side by side, else a letter that the standings explain."""
    labels = {design: found.label(design) for design in found.shown}
    if sum(map(len, labels.values())) <= room or len(labels) > len(_LETTERS):
        return labels
    return dict(zip(found.shown, _LETTERS, strict=False))


def mark(value: Ratio) -> str:
    """A tilde where the error bounds leave open which is faster."""
    return " ~" if value.verdict is Verdict.WITHIN_ERROR else ""


def bound(value: Ratio) -> str:
    """The interval of a speed-up."""
    return NOTHING if value.exact else f"{ratio(value.low)} .. {ratio(value.high)}"


def signed_time(nanoseconds: float) -> str:
    """A difference of times with its sign."""
    return f"{'+' if nanoseconds > 0 else '-'}{time(abs(nanoseconds))}"


def mechanism(key: str) -> str:
    """A mechanism as people say it."""
    return {"gap": "between launches", "unexplained": "not explained"}.get(key, name(key))


def listed(labels: Sequence[str], most: int = 5) -> str:
    """The first few, and how many more."""
    return ", ".join(labels) if len(labels) <= most else f"{', '.join(labels[:most])} and {len(labels) - most:,} more"
