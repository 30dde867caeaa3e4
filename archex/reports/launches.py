"""The table at the end of a run: what each launch took and what decided it.

In: rows. Out: a rich table, and one line that counts the rows by status.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from rich.table import Table

from archex.reports.text import NOTHING, count, name, percent, table, time


def launches(rows: Sequence[dict[str, Any]]) -> Table:
    """Launch (and design, if there are several): cycles, time, limiter, occupancy, achieved of peak."""
    designs = {(row["device"], row["overrides"]) for row in rows}
    columns = ["launch", *(["design<"] if len(designs) > 1 else []), "cycles", "time", "limiter<", "occupancy", "of peak<"]
    lines = []
    for row in rows:
        design = [f"{row['device']} {row['overrides'] or ''}".strip()] if len(designs) > 1 else []
        if row["status"] == "ok":
            rest = [count(row["cycles"]), time(row["time_ns"]), name(row["limiter"]), percent(row["occupancy_pct"]), achieved(row)]
        else:
            rest = [NOTHING, NOTHING, f"{row['status']}: {row['error'] or ''}", NOTHING, NOTHING]
        lines.append([row["launch"], *design, *rest])
    return table("", columns, lines)


def achieved(row: dict[str, Any]) -> str:
    """The peak the launch comes nearest to, and how near."""
    peaks = [(row[column], what) for column, what in (("bandwidth_pct", "bandwidth"), ("mfu_pct", "flops")) if row[column] is not None]
    if not peaks:
        return NOTHING
    value, what = max(peaks)
    return f"{percent(value)} {what}"


def summary(rows: Sequence[dict[str, Any]]) -> str:
    """`8 launches: 7 ok, 1 unsupported`."""
    found = Counter(row["status"] for row in rows)
    listed = ", ".join(f"{found[status]} {status}" for status in ("ok", "unsupported", "error", "killed") if found[status])
    return f"{len(rows)} {'row' if len(rows) == 1 else 'rows'}: {listed or 'none'}"
