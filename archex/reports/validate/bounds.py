"""Bounds on how far off the model may be.

In: a section of `results/reference/bounds.yaml` or a file of one's own (name of a reference -> figure -> number), and what was found.
Out: `Judged`, a line a bound. Each figure has its side: errors stay under their bound, shares and the rank correlation above it.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs
import yaml
from rich.table import Table

from archex.base.errors import ABSENT, Problem, RequestError, closest
from archex.reports.text import NOTHING, table
from archex.reports.validate.errors import Errors
from archex.reports.validate.explained import Explained

FILE = "bounds.yaml"
#: Of the tracked file: what is promised, and what the model keeps today.
SECTIONS = ("stated", "held")


@attrs.frozen
class Figure:
    """A figure that may be bounded: what it is, its unit, whether more is worse, whether it is of repeated launches."""

    name: str
    meaning: str
    unit: str = "%"
    more_is_worse: bool = True
    warm: bool = False


FIGURES: dict[str, Figure] = {
    figure.name: figure
    for figure in (
        Figure("mape", "mean error"),
        Figure("median", "median error"),
        Figure("p90", "90 % within"),
        Figure("worst", "largest error"),
        Figure("family", "largest mean error of a family"),
        Figure("beyond_factor_two", "launches beyond a factor of 2", unit=""),
        Figure("rank", "rank correlation", unit="", more_is_worse=False),
        Figure("explained", "largest stall explained", more_is_worse=False),
        Figure("explained_not_memory", "the same where it isn't memory", more_is_worse=False),
        Figure("warm_mape", "mean error of warm times", warm=True),
        Figure("warm_median", "median error of warm times", warm=True),
    )
}


@attrs.frozen
class Judged:
    """A bound and what was found; None where this run cannot tell."""

    figure: Figure
    bound: float
    found: float | None

    @property
    def beyond(self) -> float:
        """How far beyond the bound; zero or less is within."""
        if self.found is None:
            return 0.0
        return (self.found - self.bound) * (1 if self.figure.more_is_worse else -1)

    @property
    def passed(self) -> bool:
        """Whether the bound is passed."""
        return self.beyond > 1e-9

    def __str__(self) -> str:
        side = "above" if self.figure.more_is_worse else "below"
        by = f"{self.beyond:.3g}{' points' if self.figure.unit == '%' else ''}"
        return f"{self.figure.meaning} {_shown(self.found, self.figure)} is {side} {_shown(self.bound, self.figure)} by {by}"


def figures(errors: Errors, why: Explained | None) -> dict[str, float]:
    """What was found, by the name of its figure; of repeated launches where `why` is None."""
    if why is None:
        return {"warm_mape": errors.mape, "warm_median": errors.quantile(0.5)}
    found = {
        "mape": errors.mape,
        "median": errors.quantile(0.5),
        "p90": errors.quantile(0.9),
        "worst": errors.quantile(1.0),
        "family": errors.worst_family,
        "beyond_factor_two": float(errors.beyond_factor_two),
        "rank": errors.rank_correlation,
        "explained": why.share,
        "explained_not_memory": why.share_not_memory,
    }
    return {name: value for name, value in found.items() if value is not None}


def judge(bounds: Mapping[str, float], found: Mapping[str, float]) -> list[Judged]:
    """Every bound, in the order of FIGURES."""
    return [Judged(figure, bounds[name], found.get(name)) for name, figure in FIGURES.items() if name in bounds]


def bounds_table(judged: list[Judged]) -> Table:
    """A line a bound."""
    lines = []
    for one in judged:
        margin = NOTHING if one.found is None else f"passed by {one.beyond:.3g}" if one.passed else f"kept by {abs(one.beyond):.3g}"
        lines.append([one.figure.meaning, _shown(one.bound, one.figure), _shown(one.found, one.figure), margin])
    return table("Bounds", ["", "bound", "found", "passed or kept"], lines)


def read(asked: str, reference: str, folder: Path) -> dict[str, float]:
    """The bounds of a reference: `asked` is `stated`, `held`, or a file. RequestError holds everything that is wrong with it."""
    path = folder / FILE if asked in SECTIONS else Path(asked)
    try:
        held = yaml.safe_load(path.read_text())
    except FileNotFoundError:
        raise RequestError([Problem("bounds", asked, "is no file", [*SECTIONS, "FILE"])]) from None
    except (OSError, UnicodeDecodeError) as error:
        raise RequestError([Problem("bounds", asked, f"does not read: {getattr(error, 'strerror', None) or 'it is no text'}")]) from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # a number of too many digits, brackets in brackets
        raise RequestError([Problem("bounds", asked, f"is not YAML: {' '.join(str(error).split())}")]) from None
    held = held.get(asked) if asked in SECTIONS and isinstance(held, dict) else held
    if not isinstance(held, dict):
        raise RequestError([Problem("bounds", asked, "must name references, and of each its figures: `h200: {mape: 6}`")])
    if reference not in held:
        raise RequestError([Problem("bounds", asked, f"has none for {reference}", sorted(map(str, held)))])
    return _checked(asked, reference, held[reference])


def _checked(asked: str, reference: str, given: Any) -> dict[str, float]:
    if not isinstance(given, dict) or not given:
        raise RequestError([Problem(f"bounds.{reference}", given, "must be figures and numbers: `{mape: 6, rank: 0.99}`", source=asked)])
    problems = []
    for name, value in given.items():
        if name not in FIGURES:
            problem = Problem(f"bounds.{reference}.{name}", ABSENT, "is no figure", list(FIGURES), closest(name, FIGURES), asked)
            problems.append(problem)
        elif isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= sys.float_info.max:
            problems.append(Problem(f"bounds.{reference}.{name}", value, "must be a number from 0", source=asked))
    if problems:
        raise RequestError(problems)
    return {name: float(value) for name, value in given.items()}


def _shown(value: float | None, figure: Figure) -> str:
    if value is None:
        return "needs repeat=N" if figure.warm else NOTHING
    return f"{value:.3g} %" if figure.unit == "%" else f"{value:.4g}"
