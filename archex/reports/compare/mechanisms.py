"""Which mechanism explains a difference in time: contributions that add up to all of it.

In: two rows of a launch. Out: nanoseconds by mechanism; for a suite, factors by mechanism whose product is the geometric mean.

**What a time consists of.** The stall columns are waves in state x an issued instruction, s_x (issuing itself is 1). A wave has as many
lanes as its device gives it, so work is counted in lanes: with I lane-instructions, I s_x is the lane-time spent in x, and all of it over
the cycles with work in them is R, the lanes at work at a time (resident waves times the lanes active in their instructions). So, with f
the clock and d the cycles of launch and drain,

    t = g + d / f + sum over x of I s_x / (R f)

holds for every row by construction; g is the time that is not at the row's clock (the gap between repeated launches; in a sequence,
launches at another clock).

**How a difference is shared out.** A product is split by logarithmic means (the additive LMDI I of energy accounting: Ang, "The LMDI
approach to decomposition analysis", Energy Policy 33, 2005). With t_x the terms above and L(a, b) = (a - b) / ln(a / b),

    t_x' - t_x = L(t_x', t_x) (ln I'/I + ln s_x'/s_x - ln R'/R - ln f'/f)

and summing each factor over the terms gives the contribution of instructions (I), of each state (s_x), of lanes at work (R) and of the
clock (f). It is exact, leaves no rest that would have to be hidden, and changes only its sign when the two designs change places. A state
that one of the two does not have takes its whole term (the limit of the formula). What a row without counters cannot explain is
`unexplained`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import exp, log, log1p
from typing import Any

import attrs

from archex.records.schema import STALLS

Row = Mapping[str, Any]
ISSUE = "issue"
#: The states of a wave: issuing, and the stall columns.
STATES = (ISSUE, *(column.removeprefix("stall_") for column in STALLS))
INSTRUCTIONS, LANES, CLOCK, LAUNCH, GAP, UNEXPLAINED = "instructions", "lanes at work", "clock", "launch and drain", "gap", "unexplained"
MECHANISMS = (INSTRUCTIONS, *STATES[1:], LANES, CLOCK, LAUNCH, GAP, UNEXPLAINED)
#: Relative: differences below this are rounding.
_ROUNDING = 1e-9
#: Nearer to each other than this, the logarithm of two numbers' ratio is taken of their difference.
_NEAR = 0.5


@attrs.frozen
class Life:
    """What a row's time consists of: `stalls` are waves an instruction by state, `lanes` those at work at a time."""

    clock_hz: float
    instructions: float
    lanes: float
    stalls: Mapping[str, float]
    launch_cycles: float
    gap_ns: float

    def term_ns(self, state: str) -> float:
        """The part of the time that waves spend in a state."""
        return 1e9 * self.instructions * self.stalls[state] / (self.lanes * self.clock_hz)


def life(row: Row, counted: str = "lane_instructions") -> Life | None:
    """None where the row lacks the counters; `counted` is the column of the work."""
    cycles, clock, instructions = row["cycles"], row["clock_hz"], row[counted]
    if not cycles or not clock or not instructions:
        return None
    launch = min(row["launch_drain_cycles"] or 0.0, cycles)
    stalls = {ISSUE: 1.0} | {column.removeprefix("stall_"): row[column] or 0.0 for column in STALLS}
    spent = instructions * sum(stalls.values())
    working = cycles - launch
    gap = row["time_ns"] - 1e9 * cycles / clock
    return Life(
        clock_hz=clock,
        instructions=instructions,
        lanes=spent / working if working > 0 else float("inf"),  # no time with work: each term is nothing
        stalls=stalls,
        launch_cycles=launch,
        gap_ns=gap if abs(gap) > _ROUNDING * row["time_ns"] else 0.0,
    )


def contributions(old: Row, new: Row) -> dict[str, float]:
    """Nanoseconds by mechanism (MECHANISMS); their sum is the new time less the old one."""
    found = dict.fromkeys(MECHANISMS, 0.0)
    counted = "lane_instructions" if old["lane_instructions"] and new["lane_instructions"] else "wave_instructions"
    before, after = life(old, counted), life(new, counted)
    if before is None or after is None:
        found[UNEXPLAINED] = new["time_ns"] - old["time_ns"]
        return found
    clock = -log(after.clock_hz / before.clock_hz)
    factors = {INSTRUCTIONS: log(after.instructions / before.instructions), CLOCK: clock}
    if 0 < before.lanes < float("inf") and after.lanes < float("inf"):
        factors[LANES] = -log(after.lanes / before.lanes)
    for state in STATES:
        own = INSTRUCTIONS if state == ISSUE else state  # one issue an instruction: its term changes with the instructions alone
        _share(found, before.term_ns(state), after.term_ns(state), factors, own)
    _share(found, 1e9 * before.launch_cycles / before.clock_hz, 1e9 * after.launch_cycles / after.clock_hz, {CLOCK: clock}, LAUNCH)
    found[GAP] += after.gap_ns - before.gap_ns
    return found


def _share(found: dict[str, float], old: float, new: float, factors: Mapping[str, float], own: str) -> None:
    """Share a term's change out among `factors`; what they leave is the term's own."""
    if old <= 0 or new <= 0:
        found[own] += new - old
        return
    weight = mean(old, new)
    for name, logarithm in factors.items():
        found[name] += weight * logarithm
    found[own] += (new - old) - weight * sum(factors.values())


def mean(a: float, b: float) -> float:
    """The logarithmic mean of two positive numbers."""
    change = (a - b) / b
    if change == 0:
        return b
    return (a - b) / (log1p(change) if abs(change) < _NEAR else log(a) - log(b))


def over_suite(pairs: Iterable[tuple[Row, Row]]) -> dict[str, float]:
    """Speed-up by mechanism over several launches; the product of all is the geometric mean of the speed-ups.

    A launch's contributions over the logarithmic mean of its two times add up to the logarithm of their ratio; these are averaged.
    """
    sums = dict.fromkeys(MECHANISMS, 0.0)
    count = 0
    for old, new in pairs:
        weight = mean(old["time_ns"], new["time_ns"])
        for name, value in contributions(old, new).items():
            sums[name] -= value / weight
        count += 1
    return {name: exp(value / count) for name, value in sums.items()} if count else {}


def ranked(found: Mapping[str, float], least: float = 0.0) -> Sequence[tuple[str, float]]:
    """Contributions, the largest first, without those of `least` or under."""
    return sorted(((name, value) for name, value in found.items() if abs(value) > least), key=lambda item: -abs(item[1]))
