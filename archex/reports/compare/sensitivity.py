"""Speed-up over a swept number.

In: designs with their values of what differs, and their mean speed-ups. Out: `Sensitivity` tables: over one number with a column for each
choice beside it, over two numbers as a grid; with more, over each number by itself (the geometric mean of all designs that have the value).
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from math import exp, log
from typing import NamedTuple

import attrs

from archex.base import units
from archex.reports.designs import Design

#: Wider tables, and longer ones, say less than the mean over groups of values.
_COLUMNS, _VALUES, _GROUPS = 12, 24, 10
_UNITS = ("cycles", "B", "Hz", "s", "B/s", "B/cycle", "ratio")
ALL = "all designs"


class Value(NamedTuple):
    """A value of an axis: the number to order and draw by, and as it was given."""

    number: float
    text: str


@attrs.frozen
class Sensitivity:
    """Speed-ups by `rows` values of `parameter`; `columns` are values of `beside`, or choices.

    `cells` says in which row and column a design stands (None: in none); `speed_ups` is a list a row, None where no design is.
    """

    parameter: str
    rows: list[Value]
    beside: str
    columns: list[str]
    cells: list[tuple[int, int] | None]
    speed_ups: list[list[float | None]]


def sensitivities(designs: Sequence[Design], means: Sequence[float | None]) -> list[Sensitivity]:
    """What the designs were swept over; none where no number differs."""
    names = list(dict.fromkeys(name for design in designs for name in design.differs))
    swept = {name: values for name in names if (values := _numbers([d.differs.get(name) for d in designs])) is not None}
    if not swept:
        return []
    others = [_choices(design, designs, swept) for design in designs]
    series = list(dict.fromkeys(others))
    first, *rest = swept
    if len(swept) == 1 and len(series) <= _COLUMNS and _count(swept[first]) <= _VALUES:
        return [_table(first, swept[first], "", others, series, means)]
    if len(swept) == 2 and len(series) == 1 and all(_count(swept[name]) <= _VALUES for name in swept):
        row, column = sorted((first, rest[0]), key=lambda name: -_count(swept[name]))
        across = sorted({value for value in swept[column] if value is not None})
        if len(across) <= _COLUMNS:
            texts = [value.text if value else "" for value in swept[column]]
            return [_table(row, swept[row], column, texts, [value.text for value in across], means)]
    return [_table(name, _grouped(values), "", [ALL] * len(designs), [ALL], means) for name, values in swept.items()]


def _table(
    name: str, at: Sequence[Value | None], beside: str, of: Sequence[str], columns: list[str], means: Sequence[float | None]
) -> Sensitivity:
    rows = sorted({value for value in at if value is not None})
    row = {value: place for place, value in enumerate(rows)}
    column = {text: place for place, text in enumerate(columns)}
    cells = [None if value is None else (row[value], column[text]) for value, text in zip(at, of, strict=True)]
    logs: dict[tuple[int, int], list[float]] = {}
    for cell, mean in zip(cells, means, strict=True):
        if cell is not None and mean is not None:
            logs.setdefault(cell, []).append(log(mean))
    means_of = {cell: exp(sum(found) / len(found)) for cell, found in logs.items()}
    speed_ups = [[means_of.get((r, c)) for c in range(len(columns))] for r in range(len(rows))]
    return Sensitivity(name, rows, beside, list(columns), cells, speed_ups)


def _numbers(texts: Sequence[str | None]) -> list[Value | None] | None:
    """The values if they are numbers of one unit and more than one differs; None for designs without one."""
    for unit in _UNITS:
        with suppress(ValueError):
            parsed = {text: Value(float(units.parse(text, unit)), text) for text in {*texts} if text is not None}
            return [parsed.get(text) if text is not None else None for text in texts] if len(set(parsed.values())) > 1 else None
    return None


def _choices(design: Design, designs: Sequence[Design], swept: dict[str, list[Value | None]]) -> str:
    """What sets a design apart beside the numbers."""
    said = [f"{name}={value}" for name, value in design.differs.items() if name not in swept]
    several = len({d.device for d in designs[:1000]}) > 1
    return " ".join([*([design.run] if design.run else []), *([design.device] if several else []), *said]) or ALL


def _count(values: Sequence[Value | None]) -> int:
    return len({value for value in values if value is not None})


def _grouped(values: list[Value | None]) -> list[Value | None]:
    """The values themselves if they are few, else groups of about as many designs each."""
    if _count(values) <= _VALUES:
        return values
    present = sorted(value for value in values if value is not None)
    edges = [present[len(present) * k // _GROUPS] for k in range(_GROUPS)]
    groups = {}
    for low, next_low in zip(edges, [*edges[1:], None], strict=True):
        inside = [value for value in present if value >= low and (next_low is None or value < next_low)]
        if inside:
            groups.update(dict.fromkeys(inside, Value(inside[0].number, f"{inside[0].text} to {inside[-1].text}")))
    return [groups[value] if value is not None else None for value in values]
