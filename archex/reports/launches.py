"""The table at the end of a run: what each launch took and what decided it.

In: rows. Out: a rich table, and one line that counts the rows by status.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.table import Table

from archex.records.schema import STALLS, STATUSES
from archex.reports.designs import labels
from archex.reports.text import NOTHING, count, limiter_name, name, percent, table, time


def launches(rows: Sequence[dict[str, Any]]) -> Table:
    """Launch (its designs below each other, if there are several): cycles, time, limiter, occupancy, achieved of peak."""
    known = labels(rows)
    several = len(known) > 1
    varied = any(row["variant"] for row in rows)
    columns = [
        "launch",
        *(["design<"] if several else []),
        *(["variant<"] if varied else []),
        "cycles",
        "time",
        "limiter<",
        "occupancy<",
        "of peak<",
    ]
    order = list(dict.fromkeys(row["launch"] for row in rows))
    lines, last = [], None
    for row in sorted(rows, key=lambda row: order.index(row["launch"])) if several else rows:
        design = [known[row["device"] or "", row["overrides"] or ""]] if several else []
        launch = ["" if several and row["launch"] == last else row["launch"], *design]
        last = row["launch"]
        if row["status"] == "ok":
            rest = [count(row["cycles"]), time(row["time_ns"]), limiter(row), occupancy(row), achieved(row)]
        else:
            rest = [NOTHING, NOTHING, row["status"], NOTHING, NOTHING]
        lines.append([*launch, *([row["variant"] or NOTHING] if varied else []), *rest])
    return table("", columns, lines)


def failures(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Why rows have no result: a line a reason, with the launches (and designs, if there are several) that it holds for."""
    known = labels(rows)
    found: dict[tuple[str, str], tuple[dict[str, None], dict[str, None]]] = {}
    for row in rows:
        if row["status"] != "ok":
            launches_of, designs_of = found.setdefault((row["status"], row["error"] or "no reason given"), ({}, {}))
            launches_of[row["launch"]] = designs_of[known[row["device"] or "", row["overrides"] or ""]] = None
    several = len(known) > 1
    return [
        f"{_listed(list(launches_of))}{f' on {_listed(list(designs_of))}' if several else ''}: {status}: {why}"
        for (status, why), (launches_of, designs_of) in found.items()
    ]


def _listed(names: Sequence[str], most: int = 3) -> str:
    return ", ".join(names) if len(names) <= most else f"{', '.join(names[:most])} and {len(names) - most} more"


def limiter(row: dict[str, Any]) -> str:
    """What decides the time: a resource that is busy, or what waves wait for and the share of their time in that."""
    found = row["limiter"]
    if found not in STALLS:
        return name(found)
    spent = 1.0 + sum(row[column] or 0.0 for column in STALLS)  # waves an instruction: those that wait and the one that issues
    return f"{limiter_name(found)} {percent(100 * row[found] / spent)}"


def occupancy(row: dict[str, Any]) -> str:
    """Waves resident of those that fit, and what keeps more out."""
    held = percent(row["occupancy_pct"])
    return held if row["occupancy_limiter"] in (None, "waves") else f"{held} ({name(row['occupancy_limiter'])})"


def achieved(row: dict[str, Any]) -> str:
    """The peak the launch comes nearest to, and how near."""
    peaks = [(row[column], what) for column, what in (("bandwidth_pct", "bandwidth"), ("mfu_pct", "flops")) if row[column] is not None]
    if not peaks:
        return NOTHING
    value, what = max(peaks)
    return f"{percent(value)} {what}"


def summary(counts: Mapping[str, int]) -> str:
    """`8 rows: 7 ok, 1 unsupported`."""
    listed = ", ".join(f"{counts[status]:,} {status}" for status in STATUSES if counts.get(status))
    rows = sum(counts.values())
    return f"{rows:,} {'row' if rows == 1 else 'rows'}: {listed or 'none'}"
