"""Errors as tables of a terminal.

In: errors, rows and a `Reference`. Out: tables, and the figures of the first one by name, which `bounds` judges.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from rich.table import Table

from archex.reports.reference import Reference
from archex.reports.text import NOTHING, count, percent, signed, table
from archex.reports.validate.counters import counter_errors
from archex.reports.validate.errors import Error, Errors, Row, families
from archex.reports.validate.explained import Explained


def overview(errors: Errors, why: Explained | None = None) -> Table:
    """The whole in one line a number."""
    return table(f"Error of {errors.what}", ["", "all launches"], overview_lines(errors, why))


def overview_lines(errors: Errors, why: Explained | None = None) -> list[list[str]]:
    """What a number is, and the number."""
    correlation = errors.rank_correlation
    lines = [
        ["launches compared", str(len(errors.errors))],
        *([what, str(number)] for what, number in sorted(errors.left_out.items())),
        ["mean error (MAPE)", percent(errors.mape, 1)],
        ["median", percent(errors.quantile(0.5), 1)],
        ["90 % within", percent(errors.quantile(0.9), 1)],
        ["beyond a factor of 2", str(errors.beyond_factor_two)],
        ["rank correlation", NOTHING if correlation is None else f"{correlation:.3f}"],
    ]
    if why is not None and why.launches:
        lines.append([f"largest stall explained, of {why.launches}", percent(why.share, 1)])
        lines.append([f"the same where it isn't memory, of {why.launches_not_memory}", percent(why.share_not_memory, 1)])
    return lines


def ranked(errors: Errors, most: int) -> list[Error]:
    """The launches that are furthest off."""
    return sorted(errors.errors, key=lambda error: -error.size)[:most]


def worst(errors: Errors, most: int = 10, blamed: Mapping[str, str] | None = None) -> Table:
    """The launches that are furthest off, with what each points at where `blamed` (launch -> phrase) says it."""
    found = ranked(errors, most)
    lines = [[e.launch, count_or(e.measured, errors.unit), count_or(e.modelled, errors.unit), signed(e.signed)] for e in found]
    columns = ["launch", f"measured {errors.unit}", f"model {errors.unit}", "error"]
    if blamed is not None:
        columns.append("what it points at<")
        lines = [[*line, blamed.get(error.launch, NOTHING)] for line, error in zip(lines, found, strict=True)]
    return table(f"Worst {len(found)}", columns, lines)


def count_or(value: float, unit: str) -> str:
    """Cycles as a count, microseconds with four digits."""
    return count(value) if unit == "cycles" else f"{value:,.4g}"


def by_family(errors: Errors) -> Table:
    """Error by family, the worst first; families with under four launches share the last line."""
    lines = [family_line(family, found) for family, found in families(errors)]
    return table("By family", ["family", "launches", "mean error", "median", "worst", "mean with sign"], lines)


def family_line(family: str, found: Sequence[Error]) -> list[str]:
    """A family's cells."""
    sizes = [error.size for error in found]
    numbers = [float(np.mean(sizes)), float(np.median(sizes)), max(sizes)]
    return [family, str(len(found)), *(percent(n, 1) for n in numbers), signed(float(np.mean([e.signed for e in found])))]


def by_counter(rows: Sequence[Row], reference: Reference) -> Table | None:
    """Error of each counter; None where only times were measured."""
    lines = counter_lines(rows, reference)
    if not lines:
        return None
    title = "By counter (close: within 10 %, 5 points, or 1 wave an instruction)"
    return table(title, ["counter", "launches", "median off", "90 % within", "close"], lines)


def counter_lines(rows: Sequence[Row], reference: Reference) -> list[list[str]]:
    """A counter's cells, each."""
    return [
        [c.column, str(c.launches), f"{c.median:.3g} {c.unit}", f"{c.ninth:.3g} {c.unit}", percent(c.close)]
        for c in counter_errors(rows, reference)
    ]
