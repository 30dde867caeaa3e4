"""The copy of a search's trials that Optuna's tools read: written beside the search, never read for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import optuna
import pytest
from archex.records.trials import Goal, Trial
from archex.reports.trials import best, summary, value
from archex.reports.trials_plot import draw
from test_search_laws import SPACE, cost, go, search

TOLD: dict[str, Any] = {"n_trials": 12, "objectives": ["time", "design:l2.size"], "constraints": ["l2.ways <= 16"]}


def study(storage: Any) -> Any:
    (name,) = optuna.get_all_study_names(storage)
    return optuna.load_study(study_name=name, storage=storage)


def journal(path: Path) -> Any:
    return optuna.storages.JournalStorage(optuna.storages.journal.JournalFileBackend(str(path)))


def run(folder: Path, simulate: Any = cost, **more: Any) -> Any:
    found = search(*SPACE, "clock=interval(1GHz,2GHz)", **TOLD | more)
    found.begin(folder)
    return go(found, simulate)


@pytest.mark.parametrize("storage", [None, "study.db", "own.log", "sqlite:///address.db"])
def test_every_trial_is_there_once_however_often_it_is_run(storage: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    first = run(tmp_path, storage=storage, n_trials=8)
    again = run(tmp_path, storage=storage)
    assert first.trials == again.trials[:8]
    assert not again.notes
    kept = study(
        f"sqlite:///{storage.removeprefix('sqlite:///')}" if storage and ".db" in storage else journal(tmp_path / (storage or "study.log"))
    )
    assert [tuple(trial.values) for trial in kept.trials] == [trial.values for trial in again.trials]
    assert [trial.user_attrs["overrides"] for trial in kept.trials] == [trial.overrides for trial in again.trials]
    sizes = [int(trial.overrides.partition("=")[2].partition("MiB")[0]) * 2**20 for trial in again.trials]
    assert [trial.params["l2.size"] for trial in kept.trials] == sizes
    assert {trial.params["wave_scheduler"] for trial in kept.trials} <= {"oldest", "youngest", "random"}
    assert all(1 <= trial.params["clock (GHz)"] <= 2 for trial in kept.trials)
    solving = {trial.number for trial in again.trials if trial.solves}
    assert {trial.number for trial in kept.trials if all(x <= 0 for x in trial.constraints.values())} == solving


def test_other_results_replace_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run(tmp_path, storage="study.db")
    slower = run(tmp_path, lambda config: cost(config) | {"time_ns": 7.0}, storage="study.db")
    assert [trial.values[0] for trial in study("sqlite:///study.db").trials] == [7.0] * 12 == [t.values[0] for t in slower.trials]


def test_a_search_goes_on_without_it(tmp_path: Path) -> None:
    found = run(tmp_path / "missing", storage=None)
    assert len(found.trials) == 12
    (note,) = found.notes
    assert note.startswith("the copy of the trials ends early: FileNotFoundError")


def test_none_is_asked_for(tmp_path: Path) -> None:
    run(tmp_path, storage="off")
    run(tmp_path / "rows.parquet", storage=None)
    assert not list(tmp_path.iterdir())


GOALS = (Goal("geomean:time", "ns"), Goal("max:mfu_pct", "%", True), Goal("l2.size", "B"), Goal("sum:dram_read_bytes", "bytes"))


def printed(trials: list[Trial], goals: tuple[Goal, ...]) -> list[list[str]]:
    table = best(trials, goals)
    return [[str(cell) for cell in column.cells] for column in table.columns]


def test_the_front_in_words() -> None:
    trials = [
        Trial(0, "h200", "l2.ways=8", (1500.0, 50.0, 2.0**20, 1e6)),
        Trial(1, "h200", "l2.ways=9", (2500.0, 40.0, 2.0**20, 1e6)),
        Trial(2, "h200", "", (900.0, 30.0, 2.0**21, 1e6)),
        Trial(3, "h200", "l2.ways=7", (1.0, None, 1.0, 1.0), ("copy: error: no", "l2.size <= 3")),
    ]
    assert printed(trials, GOALS)[0] == ["h200", "l2.ways=8"]
    assert printed(trials, GOALS)[2:] == [["900 ns", "1.5 us"], ["30.0 %", "50.0 %"], ["2 MiB", "1 MiB"], ["1,000,000", "1,000,000"]]
    assert summary(trials, GOALS) == [
        "4 designs tried: 3 keep every constraint, 2 on the front",
        "no solution, 1 of them: copy: error: no",
    ]
    one = [Trial(t.number, t.device, t.overrides, t.values[1:2]) for t in trials]
    assert printed(one, GOALS[1:2])[1:] == [["0", "1", "2"], ["50.0 %", "40.0 %", "30.0 %"]]  # ranked
    assert value(None, GOALS[0]) == "-"


@pytest.mark.parametrize("goals", [1, 2, 3])
def test_a_picture(goals: int, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    trials = [Trial(n, "d", "", (100.0 + n, 50.0 - n, 2.0**20 * n)[:goals], ("no",) if n == 3 else ()) for n in range(5)]
    draw([*trials, Trial(5, "d", "", (None,) * goals, ("failed",))], GOALS[:goals], tmp_path / "p.png")
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")
    draw([], GOALS[:goals], tmp_path / "empty.png")
