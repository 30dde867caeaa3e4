"""How much of a launch is simulated, and what the rest would have taken.

In: how much work workgroups have (counted on a few, spread over the grid) and how many are resident. Out: a `Plan`: the workgroups to
simulate in dispatch order and where to stop; afterwards the time that a measured rate gives to what was left out. No clock and no device
here: numbers in, numbers out.

Three ways, by size:
whole    everything in detail;
cut      the first generations and the last ones, whole workgroups; those between go at the rate of the steady part;
window   few long workgroups: their first instructions, then the rest at the rate of the window's later part.
"""

from __future__ import annotations

from collections.abc import Callable

import attrs
import numpy as np

#: A launch of up to so many wave-instructions is simulated whole.
WHOLE = 3_000_000
#: A window holds at least so many wave-instructions ...
LEAST = 1_500_000
#: ... and this many resident generations before and after the cut, unless that is more than MOST.
GENERATIONS_BEFORE = 3
GENERATIONS_AFTER = 1
MOST = 8_000_000
#: Workgroups counted, at first and at most; counting stops once they agree within AGREE (standard deviation over mean).
COUNTED = (4, 16, 64)
AGREE = 0.002
#: Work counted (wave-instructions) after which no more workgroups are added.
COUNT_MOST = 40_000_000
#: Share of the simulated instructions by which caches are brought to their steady state.
SETTLED = 0.3
#: Shares of the simulated instructions between which a sampled run's rate is taken.
STEADY = {"cut": (0.35, 0.75), "window": (0.5, 1.0)}


@attrs.frozen
class Work:
    """Wave-instructions of a launch: mean a workgroup, its spread (standard deviation over mean), all together."""

    workgroups: int
    mean: float
    spread: float
    total: float
    lane_share: float = 1.0


def count(instructions: Callable[[np.ndarray], np.ndarray], workgroups: int) -> Work:
    """Work of a launch from workgroups spread evenly over the grid. instructions(int64[n]) -> wave-instructions of each, float64[n].

    The first and the last workgroup stand for themselves (edges differ), those between for the rest.
    """
    chosen: np.ndarray = np.zeros(0, np.int64)
    found = np.zeros(0)
    for number in COUNTED:
        spread_out = np.unique(np.linspace(0, workgroups - 1, min(number, workgroups)).astype(np.int64))
        fresh = np.setdiff1d(spread_out, chosen)
        values = instructions(fresh) if len(fresh) else np.zeros(0)
        chosen, found = np.concatenate([chosen, fresh]), np.concatenate([found, values])
        mean = float(found.mean())
        spread = float(found.std() / mean) if mean else 0.0
        if len(chosen) == workgroups or spread < AGREE or found.sum() * 3 > COUNT_MOST:
            break
    if len(chosen) == workgroups:
        return Work(workgroups, mean, spread, float(found.sum()))
    order = np.argsort(chosen)
    inner = found[order][1:-1]
    total = float(found[order][0] + found[order][-1] + inner.mean() * (workgroups - 2))
    return Work(workgroups, total / workgroups, spread, total)


@attrs.frozen
class Plan:
    """What to simulate. order: workgroups in dispatch order. stop: wave-instructions after which to stop, 0 to the end.

    skipped_after: how many of `order` come before the cut (len(order) if there is none).
    """

    kind: str
    order: np.ndarray
    stop: int
    skipped_after: int


def plan(work: Work, resident: int, whole: bool) -> Plan:
    """The plan of a launch of `work` with `resident` workgroups at a time on the device."""
    everything = np.arange(work.workgroups, dtype=np.int64)
    if whole or work.total <= WHOLE:
        return Plan("whole", everything, 0, work.workgroups)
    generation = resident * work.mean
    before = max(GENERATIONS_BEFORE, int(np.ceil(LEAST / generation)))
    kept = (before + GENERATIONS_AFTER) * resident + work.workgroups % resident
    if (before + GENERATIONS_AFTER + 0.5) * generation <= MOST:
        if kept >= 0.8 * work.workgroups:
            return Plan("whole", everything, 0, work.workgroups)
        first = before * resident
        last = work.workgroups - (kept - first)
        return Plan("cut", np.concatenate([everything[:first], everything[last:]]), 0, first)
    return Plan("window", everything, min(MOST, max(LEAST, int(work.total))), work.workgroups)


@attrs.frozen
class Sample:
    """The state at one moment of a run: cycles passed and wave-instructions issued."""

    cycle: float
    instructions: float


def steady(samples: list[Sample], begin: float, end: float) -> tuple[float, float]:
    """(rate, relative uncertainty) of wave-instructions a cycle between the shares `begin` and `end` of the instructions.

    The uncertainty is half the difference between the rates of the two halves of that stretch.
    """
    total = samples[-1].instructions
    inside = [s for s in samples if begin * total <= s.instructions <= end * total]
    if len(inside) < 3:
        inside = samples
    rate = _rate(inside[0], inside[-1])
    middle = inside[len(inside) // 2]
    halves = _rate(inside[0], middle), _rate(middle, inside[-1])
    return rate, abs(halves[1] - halves[0]) / (2 * rate) if rate else 0.0


def _rate(first: Sample, last: Sample) -> float:
    return (last.instructions - first.instructions) / max(last.cycle - first.cycle, 1e-9)
