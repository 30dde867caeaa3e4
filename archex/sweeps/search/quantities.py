"""A number of a design: what its launches took or did, or a value of the design itself.

In: text: `[AGGREGATE:]time[:WHERE]`, `[AGGREGATE:]COLUMN[:WHERE]`, `[design:]l2.size`. Out: a `Quantity`, which turns rows into a number.
WHERE is a suite's name, or a glob of launch ids. A design that a launch of these failed on has no such number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import exp, log
from typing import Any

import attrs

from archex.base.errors import Problem, closest
from archex.base.units import measure
from archex.records import schema

Row = Mapping[str, Any]
TIME, DESIGN = "time", "design"


def _geometric(values: Sequence[float]) -> float:
    if len(values) == 1 or min(values) <= 0:
        return max(0.0, min(values))
    return exp(sum(map(log, values)) / len(values))


AGGREGATES: dict[str, Callable[[Sequence[float]], float]] = {
    "sum": sum,
    "mean": lambda values: sum(values) / len(values),
    "geomean": _geometric,
    "smallest": min,
    "largest": max,
}
#: Columns of times; a launch weighs in them as much as any other, however long it takes.
_TIMES = ("cycles", "time_ns", "launch_drain_cycles")
#: Units that add up over launches.
_ADD_UP = ("bytes", "sectors", "requests", "passes", "instructions", "operations")
#: Unit of a column -> the unit that a person writes, and how many of the column's are one of it.
_WRITTEN = {"ns": ("s", 1e9), "bytes": ("B", 1.0), "Hz": ("Hz", 1.0), "%": ("ratio", 100.0), "cycles": ("cycles", 1.0)}


class Missing(Exception):
    """A design has no such number; the text says why."""


@attrs.frozen
class Quantity:
    """name: as asked for; column (of rows) or key (of the design, dotted); how a column's values become one; of which launches."""

    name: str
    column: str = ""
    key: str = ""
    aggregate: str = ""
    where: str = "*"

    @property
    def unit(self) -> str:
        """Of its values; of a design's value it is known with the value."""
        return schema.BY_NAME[self.column].unit if self.column else ""

    @property
    def shown(self) -> str:
        """With what was not said: the aggregate."""
        if self.key or self.name.startswith(f"{self.aggregate}:"):
            return self.name
        return f"{self.aggregate}:{self.name}"

    def of(self, rows: Sequence[Row], config: Mapping[str, Any]) -> float:
        """The number; Missing if there is none."""
        return value_of(config, self.key)[0] if self.key else self._aggregated(rows)

    def covers(self, suite: str, launch: str) -> bool:
        """Whether a launch is one of those that count."""
        from archex.suite.launch import matches

        return self.where in ("*", suite) or matches(launch, self.where)

    def _aggregated(self, rows: Sequence[Row]) -> float:
        covered = [row for row in rows if self.covers(row["suite"], row["launch"])]
        for row in covered:
            if row["status"] != "ok":
                raise Missing(f"{row['launch']}: {row['status']}: {row['error'] or 'no reason given'}")
        values = [float(row[self.column]) for row in covered if row[self.column] is not None]
        if not values:
            raise Missing(f"{self.name}: no launch has a value")
        return float(AGGREGATES[self.aggregate](values))

    def bound(self, text: str, path: str) -> tuple[float, list[Problem]]:
        """A number that this quantity is compared with, in its unit."""
        try:
            value, unit = measure(text)
        except ValueError as error:
            return 0.0, [Problem(path, text, str(error))]
        if self.key or unit == "count":
            return value, []
        written, factor = _WRITTEN.get(self.unit, ("count", 1.0))
        if unit != written:
            return 0.0, [Problem(path, text, f"is not comparable: {self.name} is in {self.unit or 'plain numbers'}")]
        return value * factor, []


def fastest(rows: Sequence[Row]) -> list[Row]:
    """A design's rows, one a launch: of its variants the fastest that is ok."""
    kept: dict[str, Row] = {}
    for row in rows:
        known = kept.get(row["launch"])
        if known is None or (row["status"] == "ok" and (known["status"] != "ok" or row["cycles"] < known["cycles"])):
            kept[row["launch"]] = row
    return list(kept.values())


def value_of(config: Mapping[str, Any], key: str) -> tuple[float, str]:
    """A design's value as a number in base units, and which; Missing if it is absent or no number."""
    found: Any = config
    for part in key.split("."):
        if not isinstance(found, Mapping) or part not in found:
            raise Missing(f"{key}: the design has no such value")
        found = found[part]
    if found is None:
        raise Missing(f"{key}: is null")
    try:
        return measure(found)
    except ValueError:
        raise Missing(f"{key}: {found} is not a number") from None


def numeric() -> list[str]:
    """The columns that a search may use: numbers that are the same in identical runs."""
    return [column.name for column in schema.COLUMNS if column.type != "text" and column.name not in schema.COSTS]


def parse(text: str, path: str) -> tuple[Quantity | None, list[Problem]]:
    """The quantity that `text` names."""
    parts = [part.strip() for part in text.split(":")]
    aggregate = parts.pop(0) if parts[0] in AGGREGATES and len(parts) > 1 else ""
    name, where = parts[0], ":".join(parts[1:])
    if name == DESIGN or "." in name:
        key = where if name == DESIGN else name
        if aggregate or not key or (where and name != DESIGN):
            return None, [Problem(path, text, "must be design:KEY, such as design:l2.size: a value of the design has no launches")]
        return Quantity(key, key=key), []
    column = schema.BY_NAME.get("time_ns" if name == TIME else name)
    if column is None or column.name not in numeric():
        return None, [_no_number(text, name, column, path)]
    usual = "geomean" if column.name in _TIMES else "sum" if column.unit in _ADD_UP else "mean"
    return Quantity(":".join(filter(None, (aggregate, name, where))), column.name, "", aggregate or usual, where or "*"), []


def _no_number(text: str, name: str, column: schema.Column | None, path: str) -> Problem:
    choices = (TIME, "design:KEY", *numeric())
    if column is None:
        if name in AGGREGATES:
            return Problem(path, text, "says how launches become one number, not of what; expected AGGREGATE:COLUMN", choices)
        return Problem(path, name, "is not a known column", choices, closest(name, choices))
    if column.name in schema.COSTS:
        return Problem(path, text, "is what the run itself cost, which no two runs have alike", choices)
    return Problem(path, text, "holds text, not numbers", choices)


def uncovered(quantities: Iterable[tuple[str, Quantity]], launches: Mapping[str, Iterable[str]]) -> list[Problem]:
    """(path, quantity) of launches that no suite has; `launches`: the ids of each suite."""
    every = [(suite, launch) for suite, ids in launches.items() for launch in ids]
    names = list(dict.fromkeys([*launches, *(launch for _, launch in every)]))
    return [
        Problem(path, quantity.where, f"fits no suite and no launch, in {quantity.name}", tuple(names), closest(quantity.where, names))
        for path, quantity in quantities
        if every and quantity.column and not any(quantity.covers(suite, launch) for suite, launch in every)
    ]
