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

from bisect import bisect_left
from collections.abc import Callable, Mapping

import attrs
import numpy as np

#: A launch of up to so many wave-instructions is simulated whole.
WHOLE = 6_000_000
#: A window holds at least so many wave-instructions ...
LEAST = 5_000_000
#: ... and may end once its last three stretches, each this share of it, agree so well (largest rate over smallest, less one).
STRETCH = 0.2
AGREED = 0.005
#: ... and compute units are alike in its second half (of those that work the slowest, against the mean): a launch ends with the slowest.
ALIKE_UNITS = 0.02
#: ... and waves are (standard deviation over mean, of the blocks they have begun in it): who is served last ends with little company.
ALIKE_WAVES = 0.1
#: ... and this many resident generations before and after the cut, unless that is more than MOST.
GENERATIONS_BEFORE = 8
GENERATIONS_AFTER = 2
MOST = 16_000_000
#: Times MOST up to which a launch of several generations that no cut makes smaller is simulated whole.
WINDOW_WHOLE = 1.5
#: Workgroups counted, at first and at most; counting stops once they agree within AGREE (standard deviation over mean) or, from ENOUGH of
#: them on, their mean is known within KNOWN (its standard error over it).
COUNTED = (4, 16, 64, 256, 1024)
AGREE = 0.002
ENOUGH = 64
KNOWN = 0.005
#: Work counted (wave-instructions) after which no more workgroups are added.
COUNT_MOST = 40_000_000
#: Generations of workgroups after which their ends have drifted apart, so that the last one is no longer apart from the others ...
UNSETTLED = 20
#: ... and the spread of their work (standard deviation over mean) up to which they end together at all.
ALIKE = 0.05
#: Spread from which on compute units are unequally loaded, which no stretch of a launch shows: simulated whole where that can be paid for.
UNLIKE = 0.3
#: Share of the simulated instructions by which caches are brought to their steady state.
SETTLED = 0.3
#: Wave-instructions of a last generation that are simulated at least.
SHOWN = 250_000
#: Generations after which resident workgroups no longer do the same thing at the same time.
CALM = 2.6
#: Share of a window's instructions after which its rate is taken.
LATER = 0.5
#: Doubt of a stretch too short to be halved.
_UNSURE = 0.04
#: What a wave spends however few others there are: issuing, waiting for results of fixed latency and for its own branches.
ALONE = ("stall_selected", "stall_dependency", "stall_branch")
NEAR = 1.1
#: What halves of a stretch show of its doubt, and what no stretch shows: how generations meet, how the last waves end. So large that of 99
#: launches simulated whole too, 94 in 100 lie within (docs/decisions/0006).
HALVES = 2.0
UNSEEN = 0.048
#: ... and what caches that were filled at once don't show: lines that came in together leave together, so channels are busy by turns.
GUESSED = 0.06


@attrs.frozen
class Work:
    """Wave-instructions of a launch: mean a workgroup, its spread (standard deviation over mean), all; matrix operations of them; times
    each block of the program runs, where that was counted."""

    workgroups: int
    mean: float
    spread: float
    total: float
    products: float = 0.0
    entries: np.ndarray = attrs.field(factory=lambda: np.zeros(0), repr=False, eq=False)


def _spread_out(number: int, workgroups: int) -> np.ndarray:
    """So many workgroups over the whole grid, the first and the last among them, one somewhere in each equal share of it.

    Not at equal distances: in a grid of several dimensions those would all lie on a few lines.
    """
    if number >= workgroups:
        return np.arange(workgroups, dtype=np.int64)
    share = np.arange(number)
    places = ((share + share * 0.6180339887498949 % 1.0) / number * workgroups).astype(np.int64)
    places[-1] = workgroups - 1
    return np.unique(places)


def count(instructions: Callable[[np.ndarray], np.ndarray], workgroups: int) -> Work:
    """Work of a launch from workgroups spread evenly over the grid.

    instructions(int64[n]) -> wave-instructions of each, matrix operations of them, and maybe times that each block runs in it:
    float64[n, 2 + blocks].

    The first and the last workgroup stand for themselves (edges differ), those between for the rest.
    """
    chosen: np.ndarray = np.zeros(0, np.int64)
    found = np.zeros((0, 2))  # widened by what comes
    for number in COUNTED:
        fresh = np.setdiff1d(_spread_out(number, workgroups), chosen, assume_unique=True)
        values = instructions(fresh) if len(fresh) else found[:0]
        chosen, found = np.concatenate([chosen, fresh]), np.concatenate([found, values]) if len(found) else values
        mean = float(found[:, 0].mean())
        spread = float(found[:, 0].std() / mean) if mean else 0.0
        known = len(chosen) >= ENOUGH and spread < KNOWN * len(chosen) ** 0.5
        if len(chosen) == workgroups or spread < AGREE or known or found[:, 0].sum() * 3 > COUNT_MOST:
            break
    if len(chosen) == workgroups:
        return _work(workgroups, found.sum(0), spread, mean)
    order = np.argsort(chosen)
    inner = found[order][1:-1]
    return _work(workgroups, found[order][0] + found[order][-1] + inner.mean(0) * (workgroups - 2), spread)


def _work(workgroups: int, sums: np.ndarray, spread: float, mean: float | None = None) -> Work:
    total, products = float(sums[0]), float(sums[1])
    return Work(workgroups, total / workgroups if mean is None else mean, spread, total, products, sums[2:])


@attrs.frozen
class Plan:
    """What to simulate. order: workgroups in dispatch order. stop: wave-instructions after which to stop, 0 to the end.

    skipped_after: how many of `order` come before the cut (len(order) if there is none). early: it may stop once the rate has settled.
    """

    kind: str
    order: np.ndarray
    stop: int
    skipped_after: int
    early: bool = False


def plan(work: Work, resident: int, whole: bool) -> Plan:
    """The plan of a launch of `work` with `resident` workgroups at a time on the device."""
    everything = np.arange(work.workgroups, dtype=np.int64)
    if whole or work.total <= (2 * MOST if work.spread > UNLIKE else WHOLE):
        return Plan("whole", everything, 0, work.workgroups)
    generation = resident * work.mean
    if resident == work.workgroups:  # one generation
        if work.total <= MOST:
            return Plan("whole", everything, 0, work.workgroups)
        rest = work.total > WINDOW_WHOLE * MOST  # else to the end, unless it may stop early
        return Plan("window", everything, MOST if rest else int(work.total), work.workgroups, True)
    before = max(GENERATIONS_BEFORE, int(np.ceil(LEAST / generation)))
    kept = (before + GENERATIONS_AFTER) * resident + work.workgroups % resident
    if (before + GENERATIONS_AFTER + 0.5) * generation <= MOST:
        if kept >= 0.8 * work.workgroups:
            return Plan("whole", everything, 0, work.workgroups)
        first = before * resident
        last = work.workgroups - (kept - first)
        return Plan("cut", np.concatenate([everything[:first], everything[last:]]), 0, first)
    if work.total <= WINDOW_WHOLE * MOST:  # a window would hold nearly all of it
        return Plan("whole", everything, 0, work.workgroups)
    return Plan("window", everything, MOST, work.workgroups, generation > MOST)  # else it shows how one generation follows another


def left_over(work: Work, resident: int, plan: Plan) -> int:
    """Workgroups of a last generation that does not fill the device, where that matters and a window can't show it; else 0.

    Resident workgroups of one size end together, so the last few run by themselves: they take a generation's latencies with little of its
    throughput.
    """
    if plan.kind != "window" or work.workgroups <= resident or work.workgroups > UNSETTLED * resident or work.spread > ALIKE:
        return 0
    tail = work.workgroups % resident
    return tail if plan.stop < work.total - tail * work.mean else 0  # else the window has shown some of them


@attrs.frozen
class Sample:
    """The state at one moment of a run: cycles passed, wave-instructions issued, all counters, what each compute unit has issued, blocks
    that each wave's context has begun."""

    cycle: float
    instructions: float
    counters: Mapping[str, float] = attrs.field(factory=dict, repr=False)
    issued: np.ndarray = attrs.field(factory=lambda: np.zeros(0), repr=False, eq=False)
    begun: np.ndarray = attrs.field(factory=lambda: np.zeros(0), repr=False, eq=False)


@attrs.frozen
class Steady:
    """The stretch of a run that stands for what was left out. doubt: relative uncertainty of its rate."""

    first: Sample
    last: Sample
    doubt: float

    @property
    def rate(self) -> float:
        """Wave-instructions a cycle."""
        return _rate(self.first, self.last)

    def counted(self, instructions: float) -> dict[str, float]:
        """Counters of so many more instructions at this stretch's shares."""
        scale = instructions / max(self.last.instructions - self.first.instructions, 1.0)
        return {name: (value - self.first.counters[name]) * scale for name, value in self.last.counters.items()}


def steady(samples: list[Sample], begin: float, end: float, period: float = 0.0) -> Steady:
    """The steady stretch between `begin` and `end` wave-instructions; whole periods of `period` where it holds at least one.

    Resident workgroups start together and stay in step for long: the rate swings with each generation. The doubt is half the difference
    between the rates of the stretch's halves, each of whole periods where there are two or more.
    """
    if period > 0.0 and end - begin > period:
        end = begin + (end - begin) // period * period
    first, last = nearest(samples, begin), nearest(samples, end)
    if last.instructions <= first.instructions:
        first, last = samples[0], samples[-1]
    turns = round((last.instructions - first.instructions) / period) if period > 0.0 else 2
    half = first.instructions + (turns // 2 * period if turns > 1 and period > 0.0 else (last.instructions - first.instructions) / 2)
    middle = nearest(samples, half)
    rate = _rate(first, last)
    if turns < 2 or middle in (first, last) or rate <= 0.0:
        return Steady(first, last, _UNSURE)
    return Steady(first, last, abs(_rate(middle, last) - _rate(first, middle)) / (2.0 * rate))


def last_end(stretch: Steady, issued: np.ndarray, given: np.ndarray) -> float:
    """Cycles until the last compute unit is through, when each goes on as in `stretch`.

    issued: wave-instructions of each compute unit by now; given: what its workgroups have in all.
    """
    left = np.maximum(given - issued, 0.0)
    moved = stretch.last.issued - stretch.first.issued
    running = (left > 0) & (moved > 0)
    if not running.any():
        return 0.0
    return float((left[running] / moved[running]).max() * (stretch.last.cycle - stretch.first.cycle))


def settled(samples: list[Sample]) -> bool:
    """Whether the rate has come to rest: a window of LEAST at least whose last stretches agree, compute units too."""
    done = samples[-1].instructions
    if done < LEAST:
        return False
    ends = [nearest(samples, done * (1.0 - STRETCH * k)) for k in range(4)]
    if len({end.instructions for end in ends}) < 4:
        return False
    rates = [_rate(ends[k + 1], ends[k]) for k in range(3)]
    half = nearest(samples, done * LATER)
    moved, begun = samples[-1].issued - half.issued, samples[-1].begun - half.begun
    working = moved[moved > 0]
    alike = not working.size or working.min() >= (1.0 - ALIKE_UNITS) * working.mean()
    alike = alike and (not begun.size or begun.std() <= max(ALIKE_WAVES * begun.mean(), 1.0))
    return max(rates) <= (1.0 + AGREED) * min(rates) and bool(alike)


def uneven_end(stretch: Steady, units: np.ndarray, left: np.ndarray, each: float) -> tuple[float, float]:
    """Cycles until the last wave of the last compute unit is through, all waves being resident: where those that have kept pace share what
    others leave over, and where one after the other takes it (as is not known).

    units: compute unit of each wave; left: wave-instructions of each compute unit still to come; each: of a wave in all. Where some waves
    are ahead of others, the last ones run with less company than those of the stretch: as fast as their own results let them, which are
    there after so long however few waves there are. A block more or less in the stretch is no difference in pace.
    """
    begun, since = stretch.last.begun, stretch.last.begun - stretch.first.begun
    size = stretch.last.instructions / max(float(begun.sum()), 1.0)  # of a block
    ahead = (since - since.mean()) * _lasting(stretch.first.begun, since)
    pace = since.mean() + np.sign(ahead) * np.maximum(np.abs(ahead) - 1.0, 0.0)
    moved = (stretch.last.issued - stretch.first.issued) / max(stretch.last.cycle - stretch.first.cycle, 1e-9)
    alone = sum(stretch.last.counters[name] - stretch.first.counters[name] for name in ALONE)
    most = (stretch.last.instructions - stretch.first.instructions) / max(alone, 1.0)
    together, in_turn = 0.0, 0.0
    for unit in np.unique(units):
        order = np.argsort(-begun[units == unit], kind="stable")
        done, speed = begun[units == unit][order] * size, pace[units == unit][order]
        if not speed.any():  # blocks so long that none of these waves began one: all alike
            speed = np.ones_like(speed)
        rest = np.maximum(each - done, 0.0)
        if rest.sum() > 0.0 and moved[unit] > 0.0:
            share = speed * (moved[unit] / max(speed.sum(), 1e-9))
            rest *= left[unit] / rest.sum()
            together = max(together, _all_through(rest, share, _ranks(done, size), most))
            in_turn = max(in_turn, _all_through(rest, share, np.arange(len(rest)), most))
    return together, max(together, in_turn)


def _lasting(before: np.ndarray, since: np.ndarray) -> float:
    """How far waves that were ahead of others went on to be faster (correlation, 0 to 1): who has luck for a while is not preferred."""
    apart, faster = before - before.mean(), since - since.mean()
    both = float(np.sqrt((apart**2).sum() * (faster**2).sum()))
    return max(float((apart * faster).sum()) / both, 0.0) if both > 0.0 else 1.0


def _ranks(done: np.ndarray, size: float) -> np.ndarray:
    """Which waves are served alike, by what they have done (falling; `size`: of a block): those that have kept pace so far."""
    apart = max(ALIKE_WAVES * float(done.mean()), size)
    ranks = np.zeros(len(done), np.int64)
    first = 0
    for k in range(1, len(done)):
        if done[first] - done[k] > apart:
            first = k
        ranks[k] = ranks[k - 1] + (first == k)
    return ranks


def _all_through(rest: np.ndarray, speed: np.ndarray, ranks: np.ndarray, most: float) -> float:
    """Cycles until all of `rest` is done: waves go on at their speeds, and what those that have ended leave over goes to the first rank
    of the others, to all of it alike, up to the speed `most`; where the fastest comes near that, it is as fast as waves go."""
    fastest, total, cycles = float(speed.max()), float(speed.sum()), 0.0
    most = most if most > NEAR * fastest else fastest
    live = rest > 1e-6
    while live.any():
        rate = np.where(live, speed, 0.0)
        room = np.where(live, most - speed, 0.0)
        wide = np.bincount(ranks, room)
        given = np.clip(total - rate.sum() - (np.cumsum(wide) - wide), 0.0, wide) / np.maximum(wide, 1e-12)
        rate += room * given[ranks]
        moving = live & (rate > 0.0)
        step = float((rest[moving] / rate[moving]).min())
        rest = rest - rate * step
        cycles += step
        live = rest > 1e-6
    return cycles


def nearest(samples: list[Sample], instructions: float) -> Sample:
    """The sample nearest to a number of wave-instructions, the first of equals. Samples are in the order they were taken in."""
    after = bisect_left(samples, instructions, key=_issued)
    near = min(samples[max(after - 1, 0) : after + 1], key=lambda sample: abs(sample.instructions - instructions))
    return samples[bisect_left(samples, near.instructions, hi=after, key=_issued)] if after else near


def _issued(sample: Sample) -> float:
    return sample.instructions


def _rate(first: Sample, last: Sample) -> float:
    return (last.instructions - first.instructions) / max(last.cycle - first.cycle, 1e-9)
