"""`archex run -m hydra/sweeper=archex_optuna` from the command line to its files."""

from __future__ import annotations

import csv
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from archex.base.errors import RequestError
from archex.cli import run
from archex.records import schema, store
from archex.sweeps.jobs import Steps
from cli_fakes import STEPS

SEARCH = ("-m", "hydra/sweeper=archex_optuna", "suite.path=kernels", "workers=1")
SPACE = ("l2.ways=tag(ordered,choice(1,2,4,8,16))", "l2.size=range(16,80,8)", "wave_scheduler=greedy_then_oldest,loose_round_robin")
GOALS = ("hydra.sweeper.objectives=[time,max:design:l2.size]", "hydra.sweeper.constraints=['l2.ways >= 2']")


def go(*arguments: str, steps: Steps = STEPS) -> int:
    return run.main([*SEARCH, *arguments], steps)


def problems(*arguments: str) -> list[str]:
    with pytest.raises(RequestError) as caught:
        go(*arguments)
    return [str(problem) for problem in caught.value.problems]


def front(folder: str) -> list[dict[str, str]]:
    with open(Path(folder) / "pareto.csv") as file:
        return list(csv.DictReader(file))


def rows(folder: str) -> Any:
    return store.read(Path(folder)).sort("point_id", "launch").drop(*schema.COSTS)


def test_a_search_ends_with_its_front(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert go(*SPACE, *GOALS, "hydra.sweeper.n_trials=30", "output=found") == 1  # 16 ways don't divide every size: those rows are errors
    frame = store.read(place / "found")
    assert len(frame) == 60
    assert frame["overrides"].n_unique() == 30
    best = front("found")
    assert {row["max:l2.size"] for row in best} == {"72.0"}
    assert [float(row["geomean:time (ns)"]) for row in best] == pytest.approx([(200.0 * 600.0) ** 0.5] * len(best))
    assert {row["overrides"].partition(", wave")[0] for row in best} == {"l2.ways=2, l2.size=72"}
    assert sorted(path.name for path in (place / "found").glob("*") if path.suffix != ".parquet") == [
        "pareto.csv",
        "pareto.png",
        "study.log",
    ]
    printed = capsys.readouterr().out
    assert "Designs that none beats in geomean:time, max:l2.size" in printed
    assert "no solution" in printed
    assert printed.splitlines()[-1] == "the front is found/pareto.csv, and pareto.png beside it"


def test_a_file_is_a_file(place: Path) -> None:
    assert go("l2.ways=1,2,4", "hydra.sweeper.n_trials=2", "output=rows.parquet") == 0
    assert len(store.read(place / "rows.parquet")) == 4
    assert sorted(path.name for path in place.iterdir()) == ["conf", "experiments", "kernels", "rows.parquet"]


def test_every_design_runs_what_belongs_to_the_run(place: Path, launches: Callable[[dict[str, dict[str, object]]], None]) -> None:
    (place / "more").mkdir()
    (place / "more" / "launches.json").write_text('{"big": {"threads": 1000}}')
    goals = "hydra.sweeper.objectives=[time:kernels,time:more,time]"
    assert go("suite.path=kernels,more", "seed=0,1", "l2.ways=1,2,4", goals, "hydra.sweeper.n_trials=2", "output=two") == 0
    assert len(store.read(place / "two")) == 2 * 2 * 3
    first = front("two")[0]
    ways = float(first["overrides"].removeprefix("l2.ways="))
    assert float(first["geomean:time:more (ns)"]) == pytest.approx(1000 * ways)
    assert float(first["geomean:time (ns)"]) == pytest.approx(ways * (100 * 300 * 1000) ** (1 / 3))


def test_workers_make_no_difference(place: Path) -> None:
    asked = (*SPACE, *GOALS, "hydra.sweeper.n_trials=14")
    go(*asked, "output=one")
    go(*asked, "output=two", "workers=2")
    assert rows("one").equals(rows("two"))
    assert front("one") == front("two")
    assert (place / "one/pareto.csv").read_bytes() == (place / "two/pareto.csv").read_bytes()


def kills(device: Any, launch: Any, options: Any) -> dict[str, Any]:
    """Simulates, and ends the whole run at the 13th launch."""
    from cli_fakes import simulate

    with open("calls", "a") as file:
        file.write(".")
    if os.environ.get("KILLED_AT") == str(os.path.getsize("calls")):
        os.killpg(0, signal.SIGKILL)
    return simulate(device, launch, options)


KILLED = """
from pathlib import Path
from archex.base import folders
from archex.cli import run
from cli_fakes import STEPS
import attrs, sys

if __name__ == "__main__":
    folders.conf, folders.experiments = lambda: Path("conf").resolve(), lambda: Path("experiments").resolve()
    sys.exit(run.main(sys.argv[1:], attrs.evolve(STEPS, simulate="test_search:kills")))
"""


def test_a_killed_search_goes_on_where_it_was(place: Path) -> None:
    (place / "go.py").write_text(KILLED)
    asked = [sys.executable, "go.py", *SEARCH, *SPACE, *GOALS, "hydra.sweeper.n_trials=14"]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}

    def carry_out(output: str, killed_at: str) -> int:
        (place / "calls").write_text("")
        known = environment | {"KILLED_AT": killed_at}
        done = subprocess.run([*asked, f"output={output}"], env=known, capture_output=True, text=True, start_new_session=True, timeout=120)
        assert done.returncode in (0, 1, -signal.SIGKILL), done.stderr
        return done.returncode

    whole = carry_out("whole", "")
    calls = (place / "calls").stat().st_size
    assert carry_out("halves", "13") == -signal.SIGKILL
    assert not (place / "halves/pareto.csv").exists()
    assert carry_out("halves", "") == whole
    assert (place / "calls").stat().st_size <= calls - 11  # what was finished is not simulated again
    assert rows("halves").equals(rows("whole"))
    assert front("halves") == front("whole")


def test_a_longer_search_begins_as_a_shorter_one(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    go(*SPACE, *GOALS, "hydra.sweeper.n_trials=10", "output=found")
    capsys.readouterr()
    go(*SPACE, *GOALS, "hydra.sweeper.n_trials=20", "output=found")
    assert capsys.readouterr().err.startswith("20 rows are there already")
    go(*SPACE, *GOALS, "hydra.sweeper.n_trials=20", "output=whole")
    assert rows("found").equals(rows("whole"))


def test_designs_that_cannot_be_built_before_any_that_can(place: Path) -> None:
    """The first round fails whole: its rows come with those of the first design that can be built."""
    space = ("l2.ways=16,1", "l2.size=range(17,33,1)", "hydra.sweeper.sampler=grid", "hydra.sweeper.batch=4", "hydra.sweeper.n_trials=20")
    assert go(*space, "output=found") == 1
    frame = store.read(place / "found")
    assert frame["status"].value_counts().sort("status").rows() == [("error", 30), ("ok", 10)]
    assert {row["overrides"].partition(",")[0] for row in front("found")} == {"l2.ways=1"} or front("found")[0][
        "overrides"
    ] == "l2.ways=16, l2.size=32"


def test_ten_things_wrong_are_said_at_once(place: Path) -> None:
    said = problems(
        "l2.ways=interval(4,1)",
        "l2.size=range(16,80,8)",
        "repeat=interval(1,2)",
        "wave_scheduler=oldest",
        "hydra.sweeper.objectives=[tiem,'time',limiter]",
        "hydra.sweeper.constraints=['l2.size','time <= 5B']",
        "hydra.sweeper.n_trials=0",
        "hydra.sweeper.batch=many",
        "hydra.sweeper.sampler=best",
        "hydra.sweeper.storage=missing/study.db",
        "hydra.sweeper.trials=3",
        "output=found",
    )
    path = "hydra.sweeper"
    wrong = (
        "l2.ways: interval(4,1) is empty",
        "repeat: interval(1,2) is an interval; every design runs all values of it",
        "wave_scheduler: oldest is not a known choice",
        f"{path}.objectives[0]: tiem is not a known column; did you mean time?",
        f"{path}.objectives[2]: limiter holds text, not numbers",
        f"{path}.constraints[0]: l2.size must be QUANTITY <= NUMBER",
        f"{path}.constraints[1]: 5B is not comparable: time is in ns",
        f"{path}.n_trials: 0 must be at least 1",
        f"{path}.batch: many must be a number",
        f"{path}.sampler: best is not a known choice",
        f"{path}.storage: missing/study.db cannot be written: missing is not a folder",
        f"{path}.trials: is not a known key; did you mean n_trials?",
    )
    assert [start for start in wrong if not any(line.startswith(start) for line in said)] == []
    assert sorted(path.name for path in place.iterdir()) == ["conf", "experiments", "kernels"]


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("l2.ways=2",), "hydra/sweeper: archex_optuna has nothing to choose: give a key of the device several values"),
        (("l2.ways=interval(1,4)",), "l2.ways: 2.851 must be a whole number"),
        (("l2.ways=1,2", "hydra.sweeper.objectives=[time:gemm]"), "hydra.sweeper.objectives[0]: gemm fits no suite and no launch"),
        (("l2.ways=1,2", "hydra.sweeper.objectives=[design:l2.sise]"), "hydra.sweeper.objectives[0]: l2.sise has no number"),
        (("l2.ways=1,2", "hydra.sweeper.constraints=['l2.size <= 3MHz']"), "hydra.sweeper.constraints[0]: l2.size <= 3MHz compares"),
        (("l2.ways=1,2", "hydra.sweeper.seed=-1"), "hydra.sweeper.seed: -1 must be at least 0"),
        (("l2.ways=1,2", "part=1/2"), "part: 1/2 is for sweeps over all combinations"),
        (("l2.ways=5,7",), "l2.ways: 5 must divide 64"),
        (
            ("l2.ways=int(interval(1,4))", "hydra.sweeper.sampler=grid", "clock=interval(1GHz,2GHz)"),
            "clock: tag(GHz,interval(1,2)) has no end",
        ),
    ],
)
def test_what_cannot_be_searched(place: Path, arguments: tuple[str, ...], why: str) -> None:
    assert any(line.startswith(why) for line in problems(*arguments, "output=found"))
    assert not (place / "found").exists()


def test_intervals_are_for_searches(place: Path) -> None:
    with pytest.raises(RequestError, match="is an interval; a sweep needs a list of values"):
        run.main(["-m", "suite.path=kernels", "l2.ways=int(interval(1,4))"], STEPS)


def test_ranges_with_units_in_a_plain_sweep(place: Path) -> None:
    with pytest.raises(RequestError) as caught:  # this device wants plain numbers: what it is given is what is meant
        run.main(["-m", "suite.path=kernels", "l2.size=range(1MiB,3MiB,1MiB)"], STEPS)
    assert [str(problem) for problem in caught.value.problems] == [f"l2.size: {n}MiB must be a whole number" for n in (1, 2)]


PRESET = """# @package _global_
question: how few ways are enough?
hydra:
  sweeper:
    params:
      hydra/sweeper: archex_optuna
      hydra.sweeper.objectives: [time, "max:design:l2.size"]
      hydra.sweeper.constraints: "['l2.ways >= 2', 'l2.size <= 40']"
      hydra.sweeper.n_trials: 6
      l2.ways: 1,2,4
      l2.size: range(8,64,8)
"""


def test_a_preset_searches(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "experiments/seek.yaml").write_text(PRESET)
    told = ["-m", "experiments=seek", "suite.path=kernels", "workers=1"]
    assert run.main([*told, "hydra.sweeper.n_trials=21", "output=found"], STEPS) == 0  # the command line beats it
    assert {row["overrides"] for row in front("found")} == {"l2.ways=2, l2.size=40"}
    assert "asked: how few ways are enough?" in capsys.readouterr().out


@pytest.mark.slow
def test_a_real_device(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A larger cache and fewer compute units, on the smallest device there is."""
    monkeypatch.chdir(tmp_path)
    space = ["compute_unit.count=range(1,5)", "l2.size=range(16KiB,80KiB,16KiB)"]
    told = [
        "hydra.sweeper.objectives=[time,design:compute_unit.count,dram_read_bytes]",
        "hydra.sweeper.n_trials=6",
        "hydra.sweeper.batch=3",
    ]
    asked = ["-m", "hydra/sweeper=archex_optuna", "device=tiny", "suite=smoke", "suite.only=copy", "output=found"]
    assert run.main([*asked, *space, *told]) == 0
    assert store.read(Path("found"))["status"].to_list() == ["ok"] * 6
    counts = [float(row["compute_unit.count"]) for row in front("found")]
    times = [float(row["geomean:time (ns)"]) for row in front("found")]
    assert times == sorted(times)
    assert counts[0] == max(counts)


def test_optuna_is_an_extra(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("archex.sweeps.search.build.find_spec", lambda name: None)
    assert problems("l2.ways=1,2") == ["hydra/sweeper: archex_optuna needs Optuna: pip install 'archex-sim[optuna]'"]


def test_a_value_given_twice_is_one(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert go("l2.ways=1,2,1", "output=found") == 0
    assert "the space has 2 designs, and all were tried" in capsys.readouterr().out


def test_nothing_of_it_is_imported_before_it_is_used() -> None:
    code = (
        "import sys, archex.cli.run, hydra_plugins.archex_optuna_sweeper; print({'optuna', 'matplotlib', 'sqlalchemy'} & set(sys.modules))"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.strip() == "set()"
