"""Who wins: geometric means, error bounds, flips, missing launches, swept numbers."""

from __future__ import annotations

import pytest
from archex.base.errors import RequestError
from archex.reports.compare.findings import Findings, find
from archex.reports.compare.grid import Grid, pick
from archex.reports.compare.standings import Verdict
from by_hand import a_grid, a_row, failed, frame, swept


def found(grid: Grid, baseline: int = 0, top: int = 10) -> Findings:
    return find(grid, baseline, top)


def test_means_count_what_both_have() -> None:
    findings = found(swept({"k=1": [100, 100, 100], "k=2": [50, 200, None], "k=4": [25, 25, 100]}))
    assert [findings.label(s.design) for s in findings.standings] == ["k=4", "k=1", "k=2"]
    best, _, worst = findings.standings
    assert best.mean is not None
    assert best.mean.value == pytest.approx(16 ** (1 / 3))
    assert (best.launches, best.faster, best.slower, best.best, best.worst) == (3, 2, 0, (0, 4.0), (2, 1.0))
    assert (worst.launches, worst.faster, worst.slower, worst.missing) == (2, 1, 1, 1)
    assert [(m.launch, m.status, m.designs) for m in findings.missing] == [(2, "error", [1])]


def test_a_difference_within_the_bounds_is_no_win() -> None:
    times = {"k=1": [100.0, 100.0, 100.0], "k=2": [95.0, 80.0, 99.5], "k=4": [95.0, 80.0, 99.5]}
    findings = found(swept(times, {"k=1": 0.03, "k=2": 0.03}))
    by_label = {findings.label(s.design): s for s in findings.standings}
    assert [findings.speed_ups.at(1, launch).verdict for launch in range(3)] == [Verdict.WITHIN_ERROR, Verdict.FASTER, Verdict.SAME]
    assert (by_label["k=2"].faster, by_label["k=2"].within_error) == (1, 1)
    assert (by_label["k=4"].faster, by_label["k=4"].within_error) == (2, 0), "only one of the two is extrapolated"
    mean = by_label["k=2"].mean
    assert mean is not None
    assert mean.low == pytest.approx(mean.value * 0.97 / 1.03)
    assert mean.high == pytest.approx(mean.value * 1.03 / 0.97)
    itself = by_label["k=1"].mean
    assert itself is not None
    assert itself.exact


def test_flips_are_beyond_error_and_the_largest_first() -> None:
    times = {"k=1": [100.0, 100.0, 100.0, 100.0], "k=2": [20.0, 150.0, 104.0, 300.0]}
    exact = found(swept(times))
    assert [(flip.launch, flip.first, flip.second) for flip in exact.flips] == [(3, 1, 0), (1, 1, 0), (2, 1, 0)]
    assert exact.flips[0].here.value == pytest.approx(3.0)
    assert exact.winners == [], "two designs: the same as the flips"
    assert [flip.launch for flip in found(swept(times, {"k=2": 0.05})).flips] == []  # over the suite 1.02x is within error
    fast = {"k=1": [100.0, 100.0], "k=2": [20.0, 104.0]}
    assert [flip.launch for flip in found(swept(fast)).flips] == [1]
    assert found(swept(fast, {"k=2": 0.05})).flips == []


def test_winners_that_are_not_the_overall_one() -> None:
    findings = found(swept({"k=1": [100, 100, 100], "k=2": [20, 60, 101], "k=4": [40, 50, 99.5]}))
    assert [(w.launch, w.design, round(w.lead.value, 2)) for w in findings.winners] == [(1, 2, 1.2), (2, 2, 1.02)]


def test_thousands_are_shown_by_their_ends() -> None:
    findings = found(swept({f"k={k}": [1000.0 / k] for k in range(1, 101)}), baseline=50, top=3)
    assert [findings.label(design) for design in findings.shown] == ["k=100", "k=99", "k=98", "k=51", "k=3", "k=2", "k=1"]
    assert [findings.label(one.design) for one in findings.explained] == ["k=100", "k=99", "k=98", "k=3", "k=2", "k=1"]


def test_one_swept_number_with_choices_beside_it() -> None:
    times = {f"l2.size={size}MiB, policy={name}": [t] for (size, name), t in
             {(16, "a"): 100.0, (8, "a"): 200.0, (16, "b"): 50.0, (8, "b"): 100.0}.items()}  # fmt: skip
    (one,) = found(swept(times)).sensitivities
    assert (one.parameter, [value.text for value in one.rows], one.columns) == ("l2.size", ["8MiB", "16MiB"], ["policy=a", "policy=b"])
    assert one.speed_ups == [[pytest.approx(0.5), pytest.approx(1.0)], [pytest.approx(1.0), pytest.approx(2.0)]]


def test_two_swept_numbers_are_a_grid() -> None:
    times = {f"l2.ways={w}, clock={c}": [100.0 / w * k] for w in (4, 8, 16) for k, c in ((1, "2 GHz"), (2, "1000 MHz"))}
    (one,) = found(swept(times)).sensitivities
    assert (one.parameter, one.beside, one.columns) == ("l2.ways", "clock", ["1000 MHz", "2 GHz"])
    assert one.speed_ups[0] == [pytest.approx(0.5), pytest.approx(1.0)]


def test_more_swept_numbers_stand_by_themselves() -> None:
    times = {f"a={a}, b={b}, c={c}": [100.0 * a] for a in (1, 2) for b in (1, 2) for c in range(60)}
    first, second, third = found(swept(times)).sensitivities
    assert first.speed_ups == [[pytest.approx(1.0)], [pytest.approx(0.5)]]
    assert second.speed_ups == [[pytest.approx(0.5**0.5)]] * 2
    assert [value.text for value in third.rows][:2] == ["0 to 5", "6 to 11"]
    assert len(third.rows) == 10


def test_a_later_row_replaces_an_earlier_and_the_best_variant_counts() -> None:
    grid = a_grid(
        failed("d", "a", "k=1"),
        a_row("d", "a", 100, "k=1"),
        a_row("d", "a", 70, "k=2", variant="tiles"),
        a_row("d", "a", 50, "k=2", variant="rows"),
        a_row("d", "a", 60, "k=2", variant="rows"),
        failed("d", "a", "k=2") | {"variant": "lines"},
    )
    assert grid.time_ns.tolist() == [[100], [60]]
    assert grid.row(1, 0)["variant"] == "rows"


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [(None, 0), ("x", 2), ("d l2.ways=8", 1), ("l2.ways=8", 1), ("x l2.size=64 MiB", 2), ("l2.size=64MiB l2.ways=8", 1), ("f-x-l2", 2)],
)
def test_a_baseline_has_many_names(wanted: str | None, expected: int) -> None:
    rows = [("d", "l2.size=64 MiB, l2.ways=4"), ("d", "l2.size=64 MiB, l2.ways=8"), ("x", "l2.size=64 MiB, l2.ways=4")]
    assert pick(a_grid(*(a_row(device, "a", 1, overrides) for device, overrides in rows)), wanted) == expected


def test_a_baseline_without_a_time() -> None:
    grid = a_grid(failed("d", "a"), a_row("x", "a", 1), a_row("y", "a", 2), a_row("z", "b", 2))
    assert pick(grid, None) == 1
    for wanted, said in (("d", "has no launch that is ok"), ("z", "has no launch in common"), ("q", "names no design")):
        with pytest.raises(RequestError, match=said):
            pick(grid, wanted)
    with pytest.raises(RequestError, match="no launch of any design is ok"):
        pick(a_grid(failed("d", "a"), failed("x", "a")), None)


def test_an_empty_frame_has_no_design() -> None:
    assert a_grid().designs == []
    assert frame([]).height == 0
