"""What stands out of a large run: the best and worst designs, and why rows failed.

In: the frame of a run's rows. Out: tables and lines; the time this takes does not depend on how many designs there are (but for reading).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from rich.console import RenderableType

from archex.records.reasons import FAILED, kind_of
from archex.reports.text import ratio, table, time

if TYPE_CHECKING:
    import polars

#: Designs listed from each end, reasons listed, characters of an example.
_DESIGNS, _REASONS = 5, 10


def overview(rows: polars.DataFrame) -> Iterator[RenderableType]:
    """Best and worst designs, then reasons of failures."""
    ranked = ranking(rows)
    if ranked.height:
        yield _designs(ranked)
    yield from reasons(rows)


def ranking(rows: polars.DataFrame) -> polars.DataFrame:
    """Designs with a time for every launch that any has one for, by the geometric mean of their times (ns), the fastest first."""
    import polars

    design = ["device", "overrides"]
    timed = rows.filter((polars.col("status") == "ok") & (polars.col("time_ns") > 0))
    best = timed.group_by(*design, "suite", "launch", maintain_order=True).agg(polars.col("time_ns").min())  # of variants the fastest
    means = best.group_by(design, maintain_order=True).agg(
        polars.len().alias("launches"), polars.col("time_ns").log().mean().exp().alias("mean_ns")
    )
    whole = means.filter(polars.col("launches") == polars.col("launches").max())
    return whole.sort("mean_ns", maintain_order=True)


def _designs(ranked: polars.DataFrame) -> RenderableType:
    """The ends of the ranking, each with its mean and how much faster it is than the slowest."""
    slowest = ranked["mean_ns"][-1]
    if ranked.height <= 2 * _DESIGNS:
        shown: list[tuple[int, Any]] = list(enumerate(ranked.iter_rows(named=True), 1))
    else:
        ends = (ranked.head(_DESIGNS), ranked.tail(_DESIGNS))
        places = [*range(1, _DESIGNS + 1), *range(ranked.height - _DESIGNS + 1, ranked.height + 1)]
        shown = list(zip(places, [row for end in ends for row in end.iter_rows(named=True)], strict=True))
    lines = [
        [f"{place:,}", f"{row['device'] or ''} {row['overrides'] or ''}".strip(), time(row["mean_ns"]), ratio(slowest / row["mean_ns"])]
        for place, row in shown
    ]
    return table("", ["", "design<", "mean time", "over the slowest"], lines, left=0)


def reasons(rows: polars.DataFrame) -> list[str]:
    """A line a kind of reason, the most frequent first: how many rows, and one of them as an example."""
    import polars

    bad = rows.filter(polars.col("status") != "ok").with_columns(polars.col("error").fill_null("no reason given"))
    same = bad.group_by("status", "error", maintain_order=True).agg(
        polars.len().alias("rows"), polars.first("launch", "device", "overrides")
    )
    kinds: dict[tuple[str, str], dict[str, Any]] = {}
    for row in same.iter_rows(named=True):
        found = kinds.setdefault((row["status"], kind_of(row["error"])), row | {"rows": 0})
        found["rows"] += row["rows"]
    ranked = sorted(kinds.values(), key=lambda row: (row["status"] not in FAILED, -row["rows"]))
    lines = []
    for row in ranked[:_REASONS]:
        design = f"{row['device'] or ''} {row['overrides'] or ''}".strip()
        number = f"{row['rows']:,} {'row' if row['rows'] == 1 else 'rows'}"
        lines.append(f"{number} {row['status']}, such as {row['launch']} on {design}: {row['error']}")
    if len(ranked) > _REASONS:
        lines.append(f"{len(ranked) - _REASONS:,} more kinds of reasons")
    return lines
