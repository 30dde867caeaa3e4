"""Who is how much faster than the baseline, and how sure that is.

In: a grid and the baseline. Out: a `Standing` a design. A row's time t may be off by its `error_bound` e, so it lies in t (1 - e) to
t (1 + e); the speed-up of a launch then lies between t0 (1 - e0) / (t1 (1 + e1)) and t0 (1 + e0) / (t1 (1 - e1)), and the geometric
mean between the geometric means of these. That is the worst case: all errors at their bound, all in the same direction. A difference counts
as faster or slower where one is outside its interval and beyond one percent.
"""

from __future__ import annotations

from enum import IntEnum

import attrs
import numpy as np
from numpy.typing import NDArray

from archex.reports.compare.grid import Floats, Grid

#: Below this two times are the same.
MARGIN = 0.01
#: An extrapolation may not be trusted at all: the interval stays finite.
LARGEST_BOUND = 0.99


class Verdict(IntEnum):
    """What may be said of a pair of times."""

    NONE = 0
    SAME = 1
    FASTER = 2
    SLOWER = 3
    WITHIN_ERROR = 4


@attrs.frozen
class Ratio:
    """A speed-up and the interval that the error bounds leave."""

    value: float
    low: float
    high: float

    @property
    def verdict(self) -> Verdict:
        """What the interval allows to say."""
        return Verdict(int(verdicts(np.array(self.value), np.array(self.low), np.array(self.high))))

    @property
    def exact(self) -> bool:
        """Whether nothing was extrapolated."""
        return self.low == self.high


@attrs.frozen
class Standing:
    """One design: geometric mean over the launches that are ok on it and on the baseline (None without any), and how they fall.

    `best` and `worst` are launches by number. `missing`: those that only one of the two has.
    """

    design: int
    mean: Ratio | None
    launches: int
    faster: int
    slower: int
    within_error: int
    best: tuple[int, float] | None
    worst: tuple[int, float] | None
    missing: int


@attrs.frozen(eq=False)
class SpeedUps:
    """Designs x launches over the baseline; nan where either has no time."""

    value: Floats
    low: Floats
    high: Floats

    def at(self, design: int, launch: int) -> Ratio | None:
        """Of one launch."""
        value = float(self.value[design, launch])
        return None if np.isnan(value) else Ratio(value, float(self.low[design, launch]), float(self.high[design, launch]))


def speed_ups(grid: Grid, baseline: int) -> SpeedUps:
    """How many times faster than the baseline each design is at each launch."""
    bound = np.minimum(grid.error_bound, LARGEST_BOUND)
    value = grid.time_ns[baseline] / grid.time_ns
    low, high = value * (1 - bound[baseline]) / (1 + bound), value * (1 + bound[baseline]) / (1 - bound)
    for array in (low, high):
        array[baseline] = value[baseline]  # the same run has the same error
    return SpeedUps(value, low, high)


def verdicts(value: Floats, low: Floats, high: Floats) -> NDArray[np.int8]:
    """A `Verdict` for each; NONE for nan."""
    beyond = np.abs(value - 1) > MARGIN
    found = np.where(beyond, Verdict.WITHIN_ERROR, Verdict.SAME)
    found = np.where(beyond & (low > 1), Verdict.FASTER, found)
    found = np.where(beyond & (high < 1), Verdict.SLOWER, found)
    return np.where(np.isnan(value), Verdict.NONE, found).astype(np.int8)


def standings(grid: Grid, baseline: int, found: SpeedUps) -> list[Standing]:
    """Every design's, the fastest first; those without a mean last. The baseline stands among them with 1."""
    known = ~np.isnan(found.value)
    count = known.sum(axis=1)
    means = [_mean(values, known, count) for values in (found.value, found.low, found.high)]
    verdict = verdicts(found.value, found.low, found.high)
    tally = {kind: (verdict == kind).sum(axis=1) for kind in Verdict}
    timed = ~np.isnan(grid.time_ns)
    missing = (timed ^ timed[baseline]).sum(axis=1)
    best = np.where(known, found.value, -np.inf).argmax(axis=1)
    worst = np.where(known, found.value, np.inf).argmin(axis=1)
    standing = []
    for design in range(len(grid.designs)):
        some = bool(count[design])
        top, bottom = ((int(place[design]), float(found.value[design, place[design]])) if some else None for place in (best, worst))
        standing.append(
            Standing(
                design,
                mean=Ratio(*(float(mean[design]) for mean in means)) if some else None,
                launches=int(count[design]),
                faster=int(tally[Verdict.FASTER][design]),
                slower=int(tally[Verdict.SLOWER][design]),
                within_error=int(tally[Verdict.WITHIN_ERROR][design]),
                best=top,
                worst=bottom,
                missing=int(missing[design]),
            )
        )
    return sorted(standing, key=lambda s: (s.mean is None, -s.mean.value if s.mean else 0.0, s.design != baseline))


def _mean(values: Floats, known: NDArray[np.bool_], count: NDArray[np.int64]) -> Floats:
    """Geometric mean over the known launches."""
    logs = np.log(np.where(known, values, 1.0)).sum(axis=1)
    mean: Floats = np.exp(logs / np.maximum(count, 1))
    return mean
