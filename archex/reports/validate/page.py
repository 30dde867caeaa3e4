"""The errors as one HTML file that asks for nothing.

In: errors, rows and a `Reference`. Out: the text of the page: every launch as a point (measured against modelled) and as a line of a
table, each with its counters beside silicon's; families, counters and bounds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from archex.records.schema import BY_NAME
from archex.reports.page import page
from archex.reports.reference import COUNTERS, Reference
from archex.reports.validate.bounds import Judged
from archex.reports.validate.counters import CLOSE, UNITS, counter_errors, difference, pair
from archex.reports.validate.errors import Errors, Row, families

_ASSETS = Path(__file__).with_name("assets")


def html(
    errors: Errors,
    rows: Sequence[Row],
    reference: Reference,
    blamed: Mapping[str, str],
    overview: Sequence[Sequence[str]],
    judged: Sequence[Judged],
    band: float,
) -> str:
    """The page. `overview`: lines of a name and a value; `band`: percent off where lines are drawn. Without `blamed` no counters."""
    data = _data(errors, rows, reference, blamed, judged, band)
    facts = f"{len(errors.errors)} launches of {reference.folder.name}, error of {errors.what}"
    lines = (f"<tr><td>{escape(name)}</td><td class=n>{escape(value)}</td></tr>" for name, value in overview)
    return page(_ASSETS, "validate", f"The model against {reference.folder.name}", facts, data, {"overview": "".join(lines)})


def _data(
    errors: Errors, rows: Sequence[Row], reference: Reference, blamed: Mapping[str, str], judged: Sequence[Judged], band: float
) -> dict[str, Any]:
    found = {row["launch"]: row for row in rows}
    counted = counter_errors(rows, reference) if blamed else []
    return {
        "unit": errors.unit,
        "what": errors.what,
        "band": band,
        "families": [
            {"name": name, "launches": [error.launch for error in some], "mean": sum(error.size for error in some) / len(some)}
            for name, some in families(errors)
        ],
        "launches": [
            {
                "name": error.launch,
                "family": error.family,
                "measured": error.measured,
                "model": error.modelled,
                "says": blamed.get(error.launch, ""),
                "counters": _counters(found[error.launch], reference) if blamed else [],
            }
            for error in errors.errors
        ],
        "counters": [[c.column, c.launches, _number(c.median), _number(c.ninth), c.unit, c.close] for c in counted],
        "bounds": [[one.figure.meaning, one.figure.unit, one.bound, one.found, one.passed] for one in judged],
    }


def _counters(row: Row, reference: Reference) -> list[list[Any]]:
    """[counter, unit, model, measured, how far off, in what, whether that is close]."""
    measured = reference.launches[row["launch"]]
    lines: list[list[Any]] = []
    for column, (_, how) in COUNTERS.items():
        if both := pair(row, measured, reference, column):
            off = difference(*both, how)
            lines.append([column, BY_NAME[column].unit, *both, _number(off), UNITS[how], off <= CLOSE[how]])
    return lines


def _number(value: float) -> float | None:
    """JSON has no infinity."""
    return value if abs(value) < float("inf") else None
