"""Contributions of mechanisms: they add up, they mean what they say, they change their sign with the baseline."""

from __future__ import annotations

from itertools import product
from math import exp, isclose, log, prod

import pytest
from archex.records.schema import STALLS
from archex.reports.compare.mechanisms import CLOCK, GAP, INSTRUCTIONS, LANES, LAUNCH, UNEXPLAINED, contributions, mean, over_suite
from by_hand import Row, a_row
from hypothesis import given, settings
from hypothesis import strategies as st

quickly = settings(max_examples=60, deadline=None)
positive = st.floats(1e-3, 1e9)
some = st.one_of(st.just(0.0), st.floats(1e-6, 1e4))


@st.composite
def rows(draw: st.DrawFn) -> Row:
    cycles, clock = draw(st.floats(1, 1e9)), draw(st.floats(1e6, 1e10))
    time = 1e9 * cycles / clock + draw(st.one_of(st.just(0.0), st.floats(0, 1e6)))
    launch = cycles * draw(st.one_of(st.just(1.0), st.floats(0, 0.999)))
    stalls = {column: draw(some) for column in STALLS}
    return a_row("d", "x", time, cycles=cycles, clock_hz=clock, launch_drain_cycles=launch, **stalls) | {
        "wave_instructions": draw(positive),
        "lane_instructions": draw(st.one_of(st.none(), positive)),
    }


@quickly
@given(rows(), rows())
def test_contributions_add_up(old: Row, new: Row) -> None:
    found = contributions(old, new)
    assert isclose(sum(found.values()), new["time_ns"] - old["time_ns"], rel_tol=1e-9, abs_tol=1e-9 * max(old["time_ns"], new["time_ns"]))
    assert found[UNEXPLAINED] == 0


@quickly
@given(rows(), rows())
def test_they_change_their_sign_with_the_baseline(old: Row, new: Row) -> None:
    forth, back = contributions(old, new), contributions(new, old)
    scale = 1e-6 * max(old["time_ns"], new["time_ns"])
    assert all(isclose(forth[name], -back[name], rel_tol=1e-6, abs_tol=scale) for name in forth)


@quickly
@given(st.lists(st.tuples(rows(), rows()), min_size=1, max_size=5))
def test_factors_of_a_suite_multiply_to_its_geometric_mean(pairs: list[tuple[Row, Row]]) -> None:
    speed_up = exp(sum(log(old["time_ns"] / new["time_ns"]) for old, new in pairs) / len(pairs))
    assert isclose(prod(over_suite(pairs).values()), speed_up, rel_tol=1e-6)


def changed(old: Row, new: Row) -> dict[str, float]:
    return {name: round(value, 9) for name, value in contributions(old, new).items() if abs(value) > 1e-9}


def a_time(time: float, memory: float = 1.0, **values: float) -> Row:
    return a_row("d", "x", time, stall_memory=memory, **values)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        # half the time in memory, a quarter of the time less: the wave-time of 200 becomes 150 with as many lanes at work
        (a_time(200), a_time(150, memory=0.5), {"memory": -50}),
        # the same work by half the lanes
        (a_time(200), a_time(400), {LANES: 200}),
        (a_time(200), a_time(400, wave_instructions=200, lane_instructions=6400), {INSTRUCTIONS: 200}),
        # waves of 64 lanes: half the instructions of waves, the same work
        (a_time(200), a_time(200, wave_instructions=50), {}),
        (a_time(200), a_time(100, cycles=200.0, clock_hz=2e9), {CLOCK: -100}),
        (a_time(200), a_time(230, launch_drain_cycles=30.0), {LAUNCH: 30}),
        (a_time(200), a_time(1200, cycles=200.0), {GAP: 1000}),
        # a state that the other does not have takes all of its time
        (a_time(200), a_time(300, stall_barrier=1.0), {"barrier": 100}),
    ],
)
def test_one_change_is_one_mechanism(old: Row, new: Row, expected: dict[str, float]) -> None:
    assert changed(old, new) == expected


def test_opposite_changes_stand_beside_each_other() -> None:
    """Twice the waves, each waiting three times as long: the time is 200 + 100, and both are said."""
    found = changed(a_time(200, memory=1), a_time(300, memory=5))
    assert found["memory"] > 0 > found[LANES]
    assert isclose(found["memory"] + found[LANES], 100)


@pytest.mark.parametrize("lost", ["cycles", "clock_hz", "lane_instructions and wave_instructions"])
def test_without_counters_nothing_is_explained(lost: str) -> None:
    old, new = a_time(200), a_time(150) | dict.fromkeys(lost.split(" and "))
    assert changed(old, new) == changed(new, old | {"time_ns": 100}) | {UNEXPLAINED: -50}


def test_an_empty_kernel_has_no_time_with_work() -> None:
    empty = a_time(200, launch_drain_cycles=200.0)
    assert changed(a_time(200, launch_drain_cycles=100.0), empty) == {LAUNCH: 100, INSTRUCTIONS: -50, "memory": -50}
    assert changed(empty, empty) == {}


@given(st.floats(1e-6, 1e6), st.floats(1e-6, 1e6))
def test_the_mean_lies_between(a: float, b: float) -> None:
    assert min(a, b) * (1 - 1e-9) <= mean(a, b) <= max(a, b) * (1 + 1e-9)


def test_the_mean_of_near_numbers() -> None:
    for a, factor in product((1e-3, 1.0, 1e9), (1 + 1e-15, 1 + 1e-12, 1 + 1e-6)):
        assert isclose(mean(a * factor, a), a * (1 + factor) / 2, rel_tol=1e-12)
