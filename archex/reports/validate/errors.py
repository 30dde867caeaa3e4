"""How far off the model is.

In: rows and a `Reference`. Out: `Errors`. The error of a launch is |model - measured| / measured; launches that the reference marks
noisy are left out, and so is what the model could not run (counted, not hidden).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import numpy as np

from archex.reports.reference import Reference

Row = Mapping[str, Any]
#: A family with fewer launches has no mean of its own.
SMALL_FAMILY = 4
OTHERS = "(families of under four)"
#: Warm times are compared from here (microseconds): below, the gap between launches is most of them.
WARM_FROM_US = 20.0


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
    """All launches that could be compared, and how many could not. `what` is compared: cycles, time, warm time."""

    errors: tuple[Error, ...]
    unit: str
    left_out: Mapping[str, int]
    what: str = "cycles"

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

    @property
    def worst_family(self) -> float:
        """The largest mean error of a family, in percent."""
        return max(float(np.mean([error.size for error in found])) for _, found in families(self))

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
    unit, what = ("us", "time") if reference.timed else ("cycles", "cycles")
    return Errors(tuple(errors), unit, dict(left_out), what)


def warm(rows: Sequence[Row], reference: Reference) -> Errors:
    """Hold rows of launches that were repeated (`repeat=N`) against the time a launch took on silicon when repeated."""
    errors, left_out = [], Counter[str]()
    for row in rows:
        measured = reference.launches.get(row["launch"])
        warm_us = None if measured is None else measured.warm_us
        if measured is None or warm_us is None:
            left_out["not measured"] += 1
        elif warm_us <= WARM_FROM_US:
            left_out[f"under {WARM_FROM_US:g} us"] += 1
        elif row["status"] != "ok":
            left_out[row["status"]] += 1
        else:
            errors.append(Error(row["launch"], measured.family, warm_us, row["time_ns"] / 1e3))
    return Errors(tuple(errors), "us", dict(left_out), "warm time")


def families(errors: Errors) -> list[tuple[str, list[Error]]]:
    """The errors by family, the worst mean first; families with under four launches together at the end."""
    found: dict[str, list[Error]] = {}
    for error in errors.errors:
        found.setdefault(error.family, []).append(error)
    small = [error for some in found.values() if len(some) < SMALL_FAMILY for error in some]
    large = [(family, some) for family, some in found.items() if len(some) >= SMALL_FAMILY]
    ranked = sorted(large, key=lambda item: -float(np.mean([error.size for error in item[1]])))
    return [*ranked, *([(OTHERS, small)] if small else [])]


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
