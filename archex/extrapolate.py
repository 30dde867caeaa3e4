"""Carry a planned run out, and give what it leaves out its time and its counts.

In: a driver with its engine, a `Plan`, the `Work` it stands for. Out: the `Outcome` finished. A long launch runs most of its life with
caches that are full and dirty, so a sampled run is brought there early; what it leaves behind is brought to what the whole would leave.
"""

from __future__ import annotations

from collections.abc import Mapping

import attrs
import numpy as np

from archex import sampling
from archex.assembly import Device
from archex.driver import Driver
from archex.engine import tables as t
from archex.engine.run import Engine
from archex.records.outcome import Outcome
from archex.suite.launch import Launch

#: Times the largest cache level from which on nothing that a launch leaves in it is found again by the next ...
FAR = 4.0
#: ... and the share of a launch's time that its caches' state at the start may cost before it is simulated.
SLIGHT = 0.01


def last_generation(driver: Driver, instructions: float, shown: float, device: Device) -> float:
    """Cycles that the workgroups left over take by themselves, behind those before them.

    shown: wave-instructions of theirs up to where those before them were simulated; beyond, they would ask memory for lines that the
    launch has long had.
    """
    ended = driver.run(instructions, int(min(sampling.LEAST, max(shown, sampling.SHOWN))))
    cycles = driver.engine.cycles() - float(device.tables.device[[t.LAUNCH_CYCLES, t.DRAIN_CYCLES]].sum())
    if ended:
        return cycles
    done = driver.instructions
    return cycles + max(instructions - done, 0.0) / sampling.steady(driver.samples, sampling.LATER * done, done).rate


def advance(driver: Driver, plan: sampling.Plan, work: sampling.Work, outcome: Outcome, device: Device, tail: int) -> None:
    """Run what the plan says and give the rest its time, but for the `tail` last workgroups."""
    engine = driver.engine
    if plan.kind == "whole":
        driver.run()
        outcome.finish(engine.cycles(), engine.counters(), driver.instructions, driver.instructions, 0.0)
        return
    expected = work.mean * len(plan.order)
    generation = outcome.resident * work.mean
    first = plan.skipped_after * work.mean
    begin = max(sampling.CALM * generation, (1.0 - sampling.LATER) * first)  # of the steady stretch
    filled: Filled | None = None
    early = plan.early and not tail  # the last generation is run no further than the window comes

    def look() -> bool:
        # A long launch runs most of its life with full caches, dirty in the share of its stores.
        nonlocal filled
        now = driver.samples[-1]
        if filled is None and now.instructions >= min(sampling.SETTLED * (sampling.LEAST if early else expected), 2.8 * generation):
            before = sampling.nearest(driver.samples, now.instructions - min(0.7 * now.instructions, generation))
            filled = _fill(engine, device, before, now, work, outcome.launch, begin)
        return early and filled is not None and sampling.settled(driver.samples)

    ended = driver.run(min(expected, plan.stop or expected), plan.stop, look)
    done = driver.instructions
    if ended and plan.kind == "window":
        outcome.finish(engine.cycles(), engine.counters(), done, done, 0.0)
        return
    if plan.kind == "cut":
        stretch = sampling.steady(driver.samples, begin, first - 0.2 * generation, generation)
    else:
        stretch = sampling.steady(driver.samples, sampling.LATER * done, done)
    rest = max(work.total - done, 0.0)
    counters = {name: value + added for (name, value), added in zip(engine.counters().items(), stretch.counted(rest).values(), strict=True)}
    counters["matrix_instructions"] = work.products
    more, apart, unknown = max(rest - tail * work.mean, 0.0) / stretch.rate, 0.0, 0.0
    if plan.kind == "window" and outcome.resident == work.workgroups:
        # All run at once: the launch ends with the compute unit that has most of them, and there with the wave furthest behind.
        given = engine.started() * work.mean / engine.cluster
        more = sampling.last_end(stretch, engine.issued(), given)
        if work.spread <= sampling.ALIKE:
            each = work.mean / (engine.cluster * outcome.held.waves_per_workgroup)
            left = np.maximum(given - engine.issued(), 0.0)
            together, in_turn = sampling.uneven_end(stretch, engine.units_of_waves(), left, each)
            apart, unknown = max(together - more, 0.0), max(in_turn - max(together, more), 0.0)
            more += apart
    sooner = filled.sooner(stretch, counters) if filled is not None else 0.0
    cycles = engine.cycles() + more - sooner
    unseen = sampling.UNSEEN + (sampling.GUESSED if filled is not None and filled.until > 0.0 else 0.0)
    doubt = (sampling.HALVES * stretch.doubt + unseen) * more + 0.5 * (sooner + apart + unknown)
    outcome.finish(cycles, counters, done, done + rest, doubt / cycles)


@attrs.frozen
class Filled:
    """That caches were brought to their steady state at `now`, where the launch itself would have come there after `until`
    wave-instructions; `before`: since when it ran as it does without."""

    before: sampling.Sample
    now: sampling.Sample
    until: float

    def sooner(self, stretch: sampling.Steady, counters: dict[str, float]) -> float:
        """Cycles that the launch takes less because it ran so long without full caches; what it wrote back and waited less is taken
        from `counters`."""
        alike = sampling.Steady(self.before, self.now, 0.0)
        early = self.until - self.now.instructions
        if early <= 0.0 or alike.rate <= stretch.rate:
            return 0.0
        for name, value in stretch.counted(early).items():
            if name == "dram_write_bytes" or name.startswith("stall_"):
                counters[name] = max(counters[name] - max(value - alike.counted(early)[name], 0.0), 0.0)
        return early / stretch.rate - early / alike.rate


def _fill(
    engine: Engine, device: Device, before: sampling.Sample, now: sampling.Sample, work: sampling.Work, launch: Launch, begin: float
) -> Filled:
    """Fill the cache levels that the launch overflows, as dirty as what the launch has brought there so far.

    A level that the run fills by itself before `begin` wave-instructions is left alone.
    """
    grown = {name: value - before.counters[name] for name, value in now.counters.items()}
    written, missed = _through(grown)
    moved = (written + missed) * work.total / max(grown["wave_instructions"], 1)
    until = 0.0
    for level, (capacity, sector) in enumerate(levels(device), start=1):
        if moved * sector * min(begin / work.total, 1.0) < capacity < moved * sector and (level == 1 or reach(launch) > capacity):
            empty = engine.fill(level, 1.0, engine.dirty_share(level))
            until = max(until, now.instructions + empty * capacity / (moved * sector) * work.total)
    return Filled(before, now, until)


def leave(engine: Engine, device: Device, outcome: Outcome) -> None:
    """Caches after a sampled launch: one that touches more than a level holds has left nothing there that it would find again."""
    written, missed = _through(outcome.counters)
    for level, (capacity, _) in enumerate(levels(device), start=1):
        if touched(device, outcome) > capacity:
            engine.displace(level, written / max(written + missed, 1))


def flows_through(device: Device, outcome: Outcome) -> bool:
    """Whether a sampled launch takes as long whatever ran before: far more passes through every cache than it holds, and to bring in, or
    write back, all that caches hold takes a small share of the launch's time."""
    capacity = max(size for size, _ in levels(device))
    exchange = capacity / float(device.tables.dram[t.DRAM_BYTES])
    return outcome.simulated < outcome.total and touched(device, outcome) > FAR * capacity and exchange < SLIGHT * outcome.cycles


def touched(device: Device, outcome: Outcome) -> float:
    """Bytes that a launch may have touched: what came into the second level by reads and writes, at most all of its buffers."""
    return min(sum(_through(outcome.counters)) * levels(device)[0][1], reach(outcome.launch))


def _through(counters: Mapping[str, float]) -> tuple[float, float]:
    """Sectors written to the second level, and read into it."""
    return counters["l2_write_sectors"], counters["l2_lookups"] - counters["l2_hits"]


def reach(launch: Launch) -> int:
    """Bytes of a launch's buffers on its own device."""
    return sum(buffer.size for buffer in launch.buffers if not buffer.peer)


def levels(device: Device) -> list[tuple[float, int]]:
    """(bytes of all instances, bytes a sector) of the cache levels below the vector cache."""
    rows = device.tables.levels[1:]
    size = rows[:, t.LEVEL_INSTANCES] * rows[:, t.LEVEL_SLICES] * rows[:, t.LEVEL_SETS] * rows[:, t.LEVEL_WAYS] * rows[:, t.LEVEL_LINE]
    return list(zip(size.tolist(), rows[:, t.LEVEL_SECTOR].astype(int).tolist(), strict=True))
