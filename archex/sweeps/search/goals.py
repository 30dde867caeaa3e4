"""What a search goes for and what it keeps to, as the command line says it.

In: `hydra.sweeper.objectives` (`time`, `max:issue_active_pct`) and `hydra.sweeper.constraints` (`l2.size <= 60MiB`). Out: `Objective`s and
`Constraint`s, or all problems.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from archex.base.errors import ABSENT, Problem
from archex.base.units import measure
from archex.records.trials import Goal
from archex.sweeps.search import quantities
from archex.sweeps.search.quantities import Missing, Quantity, Row

OBJECTIVES, CONSTRAINTS = "hydra.sweeper.objectives", "hydra.sweeper.constraints"
_DIRECTIONS = {"min": False, "max": True}
_COMPARISONS = ("<=", ">=")


@attrs.frozen
class Objective:
    """A quantity, to be made small or large."""

    quantity: Quantity
    maximize: bool = False
    path: str = ""  # where it is said, for what is wrong with it beside launches and designs

    def goal(self, config: Mapping[str, Any]) -> Goal:
        """For reports; `config`: of any design."""
        name = self.quantity.shown
        return Goal(f"max:{name}" if self.maximize else name, self.unit(config), self.maximize)

    def unit(self, config: Mapping[str, Any]) -> str:
        """Of its values."""
        if not self.quantity.key:
            return self.quantity.unit
        try:
            unit = quantities.value_of(config, self.quantity.key)[1]
        except Missing:
            return ""
        return "" if unit in ("count", "ratio") else unit


@attrs.frozen
class Constraint:
    """A quantity that must not pass a bound."""

    text: str
    quantity: Quantity
    least: bool  # the bound is the least that is allowed, not the most
    bound: float
    unit: str = "count"  # as it was written
    path: str = ""

    def excess(self, rows: Sequence[Row], config: Mapping[str, Any]) -> float:
        """How far beyond the bound, relative to it; at most 0 where it is kept. Missing if there is no number."""
        beyond = self.quantity.of(rows, config) - self.bound
        return (-beyond if self.least else beyond) / (abs(self.bound) or 1.0)


def objectives(found: Sequence[str]) -> tuple[list[Objective], list[Problem]]:
    """Of each text."""
    problems: list[Problem] = []
    if not found:
        problems.append(Problem(OBJECTIVES, ABSENT, "must name at least one: time, a column, or design:KEY"))
    parsed: list[Objective] = []
    for place, text in enumerate(found):
        path = f"{OBJECTIVES}[{place}]"
        direction, colon, rest = text.partition(":")
        directed = bool(colon) and direction.strip() in _DIRECTIONS
        quantity, wrong = quantities.parse(rest if directed else text, path)
        problems += wrong
        if quantity and any(quantity == other.quantity for other in parsed):
            problems.append(Problem(path, text, "is there twice"))
        elif quantity:
            parsed.append(Objective(quantity, directed and _DIRECTIONS[direction.strip()], path))
    return parsed, problems


def constraints(found: Sequence[str]) -> tuple[list[Constraint], list[Problem]]:
    """Of each text."""
    problems: list[Problem] = []
    parsed: list[Constraint] = []
    for place, text in enumerate(found):
        path = f"{CONSTRAINTS}[{place}]"
        sign = next((sign for sign in _COMPARISONS if sign in text), "")
        left, _, right = text.partition(sign) if sign else ("", "", "")
        if not left.strip() or not right.strip() or any(c in left + right for c in "<>="):
            problems.append(Problem(path, text, "must be QUANTITY <= NUMBER or QUANTITY >= NUMBER, such as 'l2.size <= 60MiB'"))
            continue
        quantity, wrong = quantities.parse(left.strip(), path)
        bound, unlike = quantity.bound(right.strip(), path) if quantity else (0.0, [])
        problems += [*wrong, *unlike]
        if quantity and not unlike:
            parsed.append(Constraint(text, quantity, sign == ">=", bound, measure(right)[1], path))
    return parsed, problems


def check(found: Sequence[Objective | Constraint], launches: Mapping[str, Sequence[str]]) -> list[Problem]:
    """What is wrong beside the launches that will run (ids by suite)."""
    return quantities.uncovered([(each.path, each.quantity) for each in found], launches)


def check_design(found: Sequence[Objective | Constraint], config: Mapping[str, Any]) -> list[Problem]:
    """What is wrong beside a design as such: values that it lacks, and bounds in another unit."""
    problems = []
    for each in found:
        if not each.quantity.key:
            continue
        text = each.text if isinstance(each, Constraint) else each.quantity.name
        try:
            unit = quantities.value_of(config, each.quantity.key)[1]
        except Missing as missing:
            problems.append(Problem(each.path, text, f"has no number: {missing}"))
            continue
        if isinstance(each, Constraint) and each.unit != unit and not (each.bound == 0 and each.unit == "count"):
            problems.append(Problem(each.path, text, f"compares {_units(unit)} with {_units(each.unit)}"))
    return problems


def _units(unit: str) -> str:
    return "a plain number" if unit == "count" else f"a number in {unit}"
