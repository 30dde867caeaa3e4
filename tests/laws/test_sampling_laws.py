"""Laws of sampling on made-up numbers: when a rate has settled, how a generation of waves that are apart ends, caches that fill late."""

from __future__ import annotations

from collections.abc import Callable

import attrs
import numpy as np
import pytest
from archex import sampling
from archex.extrapolate import Filled
from archex.sampling import LEAST, MOST, Sample, Steady, Work, plan, settled, uneven_end


def ran(rate: Callable[[float], float], until: float, looks: int = 48) -> list[Sample]:
    """Samples of a run that issues `rate` wave-instructions a cycle after so many of them."""
    samples, cycle, step = [Sample(0.0, 0.0)], 0.0, until / looks
    for k in range(1, looks + 1):
        cycle += step / rate(k * step)
        samples.append(Sample(cycle, k * step))
    return samples


def test_a_steady_rate_is_settled_once_there_is_enough_of_it() -> None:
    assert settled(ran(lambda _: 100.0, LEAST))
    assert not settled(ran(lambda _: 100.0, 0.9 * LEAST))
    assert not settled(ran(lambda _: 100.0, LEAST, looks=2))


def test_a_rate_that_drifts_or_swings_is_not() -> None:
    assert not settled(ran(lambda done: 100.0 + 10.0 * done / LEAST, LEAST))
    assert not settled(ran(lambda done: 100.0 if done < 0.7 * LEAST else 103.0, LEAST))
    assert settled(ran(lambda done: 50.0 if done < 0.3 * LEAST else 100.0, LEAST))  # its start is no part of it


def test_units_at_different_speeds_are_not() -> None:
    """The launch ends with the slowest, whose speed a short stretch does not tell."""

    def at(speeds: np.ndarray) -> bool:
        return settled(
            [Sample(s.cycle, s.instructions, issued=s.instructions * speeds / speeds.sum()) for s in ran(lambda _: 100.0, LEAST)]
        )

    assert at(np.array([1.0, 1.0, 0.99, 0.0]))
    assert not at(np.array([1.0, 1.0, 0.9, 1.0]))


def test_only_one_generation_or_part_of_one_may_stop_early() -> None:
    """A window that shows how one generation follows another is not cut short."""
    assert plan(Work(132, 1e6, 0.0, 1.32e8), 132, False).early
    assert plan(Work(1320, 1e6, 0.0, 1.32e9), 132, False).early
    assert not plan(Work(1320, 5e4, 0.0, 6.6e7), 132, False).early
    assert plan(Work(132, 0.9 * MOST / 132, 0.0, 0.9 * MOST), 132, False).kind == "whole"


def stretch(begun: list[float], rate: float, latency: float) -> Steady:
    """One compute unit that issues `rate` a cycle, whose waves have begun so many blocks of one instruction and wait `latency` for each."""
    counters = dict.fromkeys(sampling.ALONE, 0.0)
    last = Sample(
        sum(begun) / rate,
        sum(begun),
        counters | {"stall_selected": sum(begun), "stall_dependency": (latency - 1.0) * sum(begun)},
        np.array([sum(begun)]),
        np.array(begun),
    )
    return Steady(Sample(0.0, 0.0, counters, np.zeros(1), np.zeros(len(begun))), last, 0.0)


def end(begun: list[float], rate: float, latency: float, each: float) -> float:
    left = np.array([each * len(begun) - sum(begun)])
    return uneven_end(stretch(begun, rate, latency), np.zeros(len(begun), np.int64), left, each)[0]


def test_waves_side_by_side_end_together() -> None:
    assert end([100.0] * 8, 1.0, 4.0, 400.0) == pytest.approx(8 * 300.0)


def test_waves_that_others_have_let_wait_run_a_turn_of_their_own() -> None:
    """Four waves of latency 4 fill the unit; of six, the last two are alone at half its rate."""
    assert end([100.0] * 4 + [0.0] * 2, 1.0, 4.0, 400.0) == pytest.approx(
        4 * 300.0 + 4 * 400.0, rel=2e-3
    )  # of the block that paces are known within


def test_waves_that_were_let_wait_alike_share_what_is_left() -> None:
    """Eight waves behind eight others, all as slow: they end together, and nothing is lost (in turn, the last would be alone)."""
    assert end([100.0] * 8 + [20.0] * 8, 1.0, 4.0, 400.0) == pytest.approx(16 * 400.0 - 960.0, rel=0.01)


def test_who_was_lucky_for_a_while_is_not_preferred() -> None:
    """Waves that are ahead, but that were behind before, end with the others; where they were ahead before, they go on to be."""

    def after(lead: list[float]) -> float:
        some = stretch([60.0, 40.0, 60.0, 40.0], 1.0, 4.0)
        before = np.array(lead)
        some = Steady(attrs.evolve(some.first, begun=before), attrs.evolve(some.last, begun=some.last.begun + before), 0.0)
        return uneven_end(some, np.zeros(4, np.int64), np.array([1600.0 - 200.0 - before.sum()]), 400.0)[0]

    assert after([40.0, 60.0, 40.0, 60.0]) < after([60.0, 40.0, 60.0, 40.0])


def test_a_lead_that_does_not_grow_costs_no_more_than_itself() -> None:
    """Waves that go on at one pace end as far apart as they are."""
    some = stretch([100.0] * 8, 1.0, 4.0)
    lead = np.array([30.0] + [0.0] * 7)
    some = Steady(attrs.evolve(some.first, begun=lead), attrs.evolve(some.last, begun=some.last.begun + lead), 0.0)
    assert uneven_end(some, np.zeros(8, np.int64), np.array([8 * 300.0 - 30.0]), 400.0)[0] <= 8 * 300.0 + 30.0


def test_one_wave_after_the_other_loses_nothing_where_each_fills_the_unit() -> None:
    assert end([100.0] + [0.0] * 3, 1.0, 1.0, 400.0) == pytest.approx(300.0 + 3 * 400.0, rel=0.02)


def test_it_never_ends_before_its_work_is_done() -> None:
    for begun in ([30.0, 20.0, 10.0], [300.0, 1.0, 1.0], [399.0, 200.0, 0.0]):
        assert end(begun, 0.7, 3.0, 400.0) >= (1200.0 - sum(begun)) / 0.7 * (1 - 1e-9)


def test_a_launch_gains_what_it_runs_before_its_caches_are_full() -> None:
    """Filled at 1,000 in place of 5,000: those 4,000 would have run at twice the rate, and written nothing back."""

    def at(cycle: float, done: float, written: float) -> Sample:
        return Sample(cycle, done, {"dram_write_bytes": written, "stall_memory": 10.0 * cycle, "dram_read_bytes": done})

    filled = Filled(at(0.0, 0.0, 0.0), at(100.0, 1_000.0, 0.0), 5_000.0)
    slow = Steady(at(200.0, 2_000.0, 0.0), at(400.0, 3_000.0, 500.0), 0.0)
    counters = {"dram_write_bytes": 10_000.0, "stall_memory": 50_000.0, "dram_read_bytes": 9_000.0}
    assert filled.sooner(slow, counters) == pytest.approx(4_000 / 5 - 4_000 / 10)
    assert counters == {"dram_write_bytes": 8_000.0, "stall_memory": 46_000.0, "dram_read_bytes": 9_000.0}
    assert Filled(filled.before, filled.now, 900.0).sooner(slow, counters) == 0.0
