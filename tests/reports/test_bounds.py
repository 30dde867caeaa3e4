"""Bounds on the errors: what a file may hold, which are passed and by how much, and that the tracked ones only tighten."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from archex.base import folders
from archex.base.errors import RequestError
from archex.reports.validate import Error, Errors
from archex.reports.validate.bounds import FIGURES, FILE, SECTIONS, figures, judge, read
from archex.reports.validate.explained import Explained

#: The most that may ever stand in the tracked file (of shares and the rank: the least).
CEILING = {
    "h200": {
        "mape": 6,
        "median": 4,
        "p90": 14,
        "worst": 40,
        "family": 15,
        "rank": 0.995,
        "explained": 80,
        "explained_not_memory": 60,
        "warm_mape": 8,
    },
    "mi300a": {"mape": 12},
}


def errors(*sizes: float) -> Errors:
    return Errors(
        tuple(Error(f"l{place}", "f", 100.0 * (place + 1), (100.0 + size) * (place + 1)) for place, size in enumerate(sizes)), "cycles", {}
    )


def test_the_stated_bounds_only_tighten() -> None:
    for name, ceiling in CEILING.items():
        stated = read("stated", name, folders.reference())
        for figure, limit in ceiling.items():
            worse = stated[figure] > limit if FIGURES[figure].more_is_worse else stated[figure] < limit
            assert not worse, f"{name}: {figure} {stated[figure]} is looser than {limit}"


def test_every_tracked_bound_reads() -> None:
    held = yaml.safe_load((folders.reference() / FILE).read_text())
    assert set(held) == set(SECTIONS)
    for section, names in held.items():
        for name in names:
            assert read(section, name, folders.reference())
            assert (folders.reference() / name / "launches.json").exists()


def test_what_is_passed_and_by_how_much() -> None:
    found = figures(errors(1, -2, 9), Explained(3, 4, 0, 0))
    assert found == pytest.approx(
        {"mape": 4, "median": 2, "p90": 7.6, "worst": 9, "family": 4, "beyond_factor_two": 0, "rank": 1, "explained": 75}
    )
    judged = judge({"mape": 3.5, "worst": 9, "explained": 80, "rank": 0.9, "warm_mape": 8, "explained_not_memory": 60}, found)
    assert [(one.figure.name, one.passed) for one in judged] == [
        ("mape", True),
        ("worst", False),
        ("rank", False),
        ("explained", True),
        ("explained_not_memory", False),
        ("warm_mape", False),
    ]
    assert [str(one) for one in judged if one.passed] == [
        "mean error 4 % is above 3.5 % by 0.5 points",
        "largest stall explained 75 % is below 80 % by 5 points",
    ]
    assert figures(errors(1, -2, 9), None) == pytest.approx({"warm_mape": 4, "warm_median": 2})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: [", "bounds: FILE is not YAML: "),
        ("[1, 2]", "bounds: FILE must name references, and of each its figures: `h200: {mape: 6}`"),
        ("other: {mape: 6}", "bounds: FILE has none for h200 (choices: other)"),
        ("h200: 6", "bounds.h200: 6 must be figures and numbers: `{mape: 6, rank: 0.99}` (FILE)"),
        ("h200: {}", "bounds.h200: {} must be figures and numbers: `{mape: 6, rank: 0.99}` (FILE)"),
        ("h200: {maep: 6}", "bounds.h200.maep: is no figure; did you mean mape? (choices: mape, "),
        ("h200: {mape: six}", "bounds.h200.mape: six must be a number from 0 (FILE)"),
        ("h200: {mape: -1}", "bounds.h200.mape: -1 must be a number from 0 (FILE)"),
        ("h200: {mape: yes}", "bounds.h200.mape: True must be a number from 0 (FILE)"),
        (f"h200: {{mape: 1{'0' * 400}}}", "bounds.h200.mape: 1000"),
        (f"h200: {{mape: {'1' * 5000}}}", "bounds: FILE is not YAML: Exceeds the limit"),
        ("[" * 5000, "bounds: FILE is not YAML: maximum recursion depth exceeded"),
        ("h200: {mape: .nan}", "bounds.h200.mape: nan must be a number from 0 (FILE)"),
    ],
)
def test_files_that_are_wrong(text: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("FILE").write_text(text)
    with pytest.raises(RequestError) as caught:
        read("FILE", "h200", tmp_path)
    (problem,) = caught.value.problems
    assert str(problem).startswith(said)
    assert "\n" not in str(problem)


def test_no_such_file(tmp_path: Path) -> None:
    for asked in ("held", str(tmp_path / "none.yaml")):
        with pytest.raises(RequestError, match=r"is no file \(choices: stated, held, FILE\)"):
            read(asked, "h200", tmp_path)
    with pytest.raises(RequestError, match="does not read: Is a directory"):
        read(str(tmp_path), "h200", tmp_path)
