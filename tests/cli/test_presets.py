"""Presets that ask a question of many designs."""

from __future__ import annotations

from pathlib import Path

import pytest
from archex.base.errors import RequestError
from archex.cli import run
from archex.records import store
from cli_fakes import STEPS

SWEEP = "# @package _global_\nquestion: Which size?\nhydra: {sweeper: {params: {l2.size: '64,32', suite.only: 'copy[n=1]'}}}\n"


def go(*arguments: str) -> int:
    return run.main(["suite.path=kernels", "workers=1", *arguments], STEPS)


@pytest.fixture
def presets(place: Path) -> Path:
    (place / "experiments/sizes.yaml").write_text(SWEEP)
    (place / "experiments/both.yaml").write_text("# @package _global_\nhydra: {sweeper: {params: {experiments: 'null,narrow'}}}\n")
    (place / "experiments/narrow_sizes.yaml").write_text(SWEEP + "l2: {ways: 2}\n")
    (place / "experiments/wrong.yaml").write_text("# @package _global_\nhydra: {sweeper: {params: {l2.sise: '1,2', l2.ways: 'x'}}}\n")
    return place


def overrides() -> list[str]:
    return store.read(Path("rows.parquet"))["overrides"].to_list()


def test_a_preset_sweeps_and_says_what_it_asks(presets: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert go("-m", "experiments=sizes", "output=rows.parquet") == 0
    assert overrides() == ["l2.size=64", "l2.size=32"]
    assert "asked: Which size?" in capsys.readouterr().out


def test_the_command_line_beats_what_a_preset_sweeps(presets: Path) -> None:
    assert go("-m", "l2.size=16", "experiments=sizes", "suite.only=gather", "output=rows.parquet") == 0
    assert overrides() == ["l2.size=16"]
    assert store.read(Path("rows.parquet"))["launch"].to_list() == ["gather"]


def test_a_preset_may_sweep_over_presets(presets: Path) -> None:
    assert go("-m", "experiments=both", "suite.only=gather", "output=rows.parquet") == 0
    assert overrides() == ["experiments=null", "experiments=narrow"]


def test_a_preset_that_sets_values_too_stays_named(presets: Path) -> None:
    assert go("-m", "experiments=narrow_sizes", "output=rows.parquet") == 0
    assert overrides() == ["l2.size=64, experiments=narrow_sizes", "l2.size=32, experiments=narrow_sizes"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("experiments=sizes",), ["l2.size: 64,32 gives several values; sweeps need -m: archex run -m ..."]),
        (
            ("-m", "experiments=wrong"),
            [
                "l2.sise: 1 is not a known key (choices: size, ways)",
                "l2.ways: x must be a whole number",
                "l2.sise: 2 is not a known key (choices: size, ways)",
            ],
        ),
        (("-m", "experiments=sizes", "l2.size=x"), ["l2.size: x must be a whole number"]),
    ],
)
def test_what_is_wrong_is_said_and_nothing_written(presets: Path, arguments: tuple[str, ...], said: list[str]) -> None:
    before = sorted(presets.iterdir())
    with pytest.raises(RequestError) as caught:
        go(*arguments)
    assert sorted(str(problem) for problem in caught.value.problems) == sorted(said)
    assert sorted(presets.iterdir()) == before
