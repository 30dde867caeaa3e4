"""The model against silicon: how far off, where, and by which counter.

In: rows and a `Reference`. Out: `Errors`, whose tables are printed by `archex validate`. The error of a launch is |model - measured| /
measured; launches that the reference marks noisy are left out, and so is what the model could not run (counted, not hidden).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import numpy as np
from rich.table import Table

from archex.reports.reference import COUNTERS, Measured, Reference
from archex.reports.text import NOTHING, count, percent, signed, table

Row = Mapping[str, Any]
SMALL_FAMILY = 4
OTHERS = "(families of under four)"


#: The matrix unit's counter has moves of constants too: without products they keep it busy for less than this.
MOVES_ACTIVE_PCT = 3.0


@attrs.frozen
class Error:
    """One launch: measured and modelled (cycles or microseconds)."""

    launch: str
    family: str
    measured: float
    modelled: float

    @property
    def signed(self) -> float:
        """In percent of the measured; above zero the model is too slow."""
        return 100 * (self.modelled - self.measured) / self.measured

    @property
    def size(self) -> float:
        """Without its sign."""
        return abs(self.signed)


@attrs.frozen
class Errors:
    """All launches that could be compared, and how many could not."""

    errors: tuple[Error, ...]
    unit: str
    left_out: Mapping[str, int]

    @property
    def mape(self) -> float:
        """Mean of the errors, in percent."""
        return float(np.mean(self._sizes()))

    def quantile(self, share: float) -> float:
        """The error that `share` of the launches stay within, in percent."""
        return float(np.quantile(self._sizes(), share))

    @property
    def rank_correlation(self) -> float | None:
        """Spearman's, between measured and modelled; None for under three launches."""
        return spearman([e.measured for e in self.errors], [e.modelled for e in self.errors])

    @property
    def beyond_factor_two(self) -> int:
        """Launches that are off by more than a factor of two, either way."""
        return sum(not 0.5 <= e.modelled / e.measured <= 2 for e in self.errors)

    def _sizes(self) -> list[float]:
        return [error.size for error in self.errors]


def compare(rows: Sequence[Row], reference: Reference) -> Errors:
    """Hold every row that the reference knows against its measurement."""
    errors, left_out = [], Counter[str]()
    for row in rows:
        measured = reference.launches.get(row["launch"])
        if measured is None:
            left_out["not measured"] += 1
        elif row["status"] != "ok":
            left_out[row["status"]] += 1
        elif measured.noisy:
            left_out["noisy"] += 1
        else:
            modelled = reference.modelled(measured, row["cycles"], row["time_ns"])
            errors.append(Error(row["launch"], measured.family, reference.target(measured), modelled))
    return Errors(tuple(errors), "us" if reference.timed else "cycles", dict(left_out))


def spearman(a: Sequence[float], b: Sequence[float]) -> float | None:
    """Rank correlation, ties at their mean rank."""
    if len(a) < 3:
        return None
    x, y = _ranks(a), _ranks(b)
    if np.std(x) == 0 or np.std(y) == 0:
        return None
    return float(np.corrcoef(x, y)[0, 1])


def _ranks(values: Sequence[float]) -> np.ndarray[Any, np.dtype[np.float64]]:
    _, position, counts = np.unique(np.asarray(values), return_inverse=True, return_counts=True)
    upper = np.cumsum(counts)
    return (upper - (counts - 1) / 2)[position]


def overview(errors: Errors) -> Table:
    """The whole in one line a number."""
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
    return table(f"Error of {'time' if errors.unit == 'us' else 'cycles'}", ["", "all launches"], lines)


def worst(errors: Errors, most: int = 10) -> Table:
    """The launches that are furthest off."""
    found = sorted(errors.errors, key=lambda error: -error.size)[:most]
    lines = [[e.launch, count_or(e.measured, errors.unit), count_or(e.modelled, errors.unit), signed(e.signed)] for e in found]
    return table(f"Worst {len(found)}", ["launch", f"measured {errors.unit}", f"model {errors.unit}", "error"], lines)


def count_or(value: float, unit: str) -> str:
    """Cycles as a count, microseconds with four digits."""
    return count(value) if unit == "cycles" else f"{value:,.4g}"


def by_family(errors: Errors) -> Table:
    """Error by family, the worst first; families with under four launches share the last line."""
    families: dict[str, list[Error]] = {}
    for error in errors.errors:
        families.setdefault(error.family, []).append(error)
    small = [error for found in families.values() if len(found) < SMALL_FAMILY for error in found]
    groups = {family: found for family, found in families.items() if len(found) >= SMALL_FAMILY}
    ranked = sorted(groups.items(), key=lambda item: -float(np.mean([e.size for e in item[1]])))
    lines = [_family_line(family, found) for family, found in ranked + ([(OTHERS, small)] if small else [])]
    return table("By family", ["family", "launches", "mean error", "median", "worst", "mean with sign"], lines)


def _family_line(family: str, found: Sequence[Error]) -> list[str]:
    sizes = [error.size for error in found]
    numbers = [float(np.mean(sizes)), float(np.median(sizes)), max(sizes)]
    return [family, str(len(found)), *(percent(n, 1) for n in numbers), signed(float(np.mean([e.signed for e in found])))]


def by_counter(rows: Sequence[Row], reference: Reference) -> Table | None:
    """Error of each counter; None where only times were measured."""
    lines = []
    for column, (_, how) in COUNTERS.items():
        pairs = _pairs(rows, reference, column)
        if not pairs:
            continue
        differences = [_difference(new, old, how) for new, old in pairs]
        finite = [d for d in differences if np.isfinite(d)]
        median, ninth = (float(np.quantile(finite, share)) for share in (0.5, 0.9)) if finite else (float("nan"), float("nan"))
        close = 100 * sum(d <= (10 if how == "relative" else 5 if how == "points" else 1) for d in differences) / len(differences)
        unit = {"relative": "%", "points": "points", "waves": "waves"}[how]
        lines.append([column, str(len(pairs)), f"{median:.3g} {unit}", f"{ninth:.3g} {unit}", percent(close)])
    if not lines:
        return None
    title = "By counter (close: within 10 %, 5 points, or 1 wave an instruction)"
    return table(title, ["counter", "launches", "median off", "90 % within", "close"], lines)


def _pairs(rows: Sequence[Row], reference: Reference, column: str) -> list[tuple[float, float]]:
    """(model, measured) of a counter; where both are zero there is nothing to compare."""
    found = []
    for row in rows:
        measured = reference.launches.get(row["launch"])
        if measured is None or measured.noisy or row["status"] != "ok" or row[column] is None:
            continue
        if column.startswith("local_memory_") and not measured.uses_local_memory:
            continue
        if column == "matrix_instructions" and not row[column] and measured.values.get("tensor_active_pct", 0.0) < MOVES_ACTIVE_PCT:
            continue
        value = reference.counter(measured, column)
        if value is not None and (value or row[column]):
            found.append((float(row[column]), _within_a_wave(column, row, measured, value)))
    return found


def _within_a_wave(column: str, row: Row, measured: Measured, value: float) -> float:
    """Passes of local memory are compared within one a wave: the hardware counts some of its own."""
    if column != "local_memory_wavefronts":
        return value
    axes = [measured.values.get(f"{part}_{axis}", 1.0) for part in ("grid", "block") for axis in "xyz"]
    waves = axes[0] * axes[1] * axes[2] * -(-axes[3] * axes[4] * axes[5] // 32)
    return float(row[column]) if abs(row[column] - value) <= waves else value


def _difference(model: float, measured: float, how: str) -> float:
    if how != "relative":
        return abs(model - measured)
    return 100 * abs(model - measured) / measured if measured else float("inf")
