"""Parts of a sweep, put together again, are the sweep; and the scripts that do so on a cluster's queue."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import polars
import pytest
from archex.base.errors import RequestError
from archex.records import store
from archex.sweeps.part import Part, parse
from archex.sweeps.plan import plan
from cli_fakes import STEPS

ROOT = Path(__file__).resolve().parents[2]
SLURM = ROOT / "examples" / "slurm"
#: Nine designs, three of which are wrong in combination: all that the second of three parts has.
SWEEP = ("device=h200", "l2.size=64,80,100", "l2.ways=4,3,1", "suite.path=kernels")
COSTS = ("simulate_seconds", "trace_seconds", "compile_seconds", "peak_memory_bytes")
#: The command as it is on a node, on the small steps and configs.
COMMAND = """#!{python}
import sys
from pathlib import Path
from archex.base import folders
folders.conf, folders.experiments = lambda: Path("{place}/conf"), lambda: Path("{place}/experiments")
from archex.cli import main, run
from cli_fakes import STEPS
if __name__ == "__main__":
    sys.exit(run.main(sys.argv[2:], STEPS) if sys.argv[1] == "run" else main.main(sys.argv[1:]))
"""


@pytest.mark.parametrize("total", [1, 2, 9, 10])
@pytest.mark.parametrize("of", [1, 2, 3, 7, 12])
def test_parts_have_each_design_once(total: int, of: int) -> None:
    parts = [Part(number, of) for number in range(1, of + 1)]
    picked = [list(part.pick(range(total))) for part in parts]
    assert sorted(point for points in picked for point in points) == list(range(total))
    assert [part.count(total) for part in parts] == [len(points) for points in picked]
    assert list(Part(3, 16).pick(range(40))) == [2, 18, 34]


@pytest.mark.parametrize("value", ["5/4", "0/3", "3", "3/0", "-1/3", "1/2/3", " 1/3", "a/b", "1.5/3", 3, 0.5, True, [1, 3], {}])
def test_what_is_no_part(value: object) -> None:
    problems: list[object] = []
    assert parse(value, problems) == Part()  # type: ignore[arg-type]
    assert [str(problem) for problem in problems] == [
        f"part: {value.strip() if value == '' else value if isinstance(value, str) else repr(value)} "
        "must be K/N, the K-th of N parts of a sweep, K from 1 to N, such as 3/16"
    ]


def test_a_request_for_no_part_says_so(place: Path) -> None:
    for part, rule in (
        ("5/4", "must be K/N, the K-th of N parts of a sweep, K from 1 to N, such as 3/16"),
        ("10/12", "is empty: the sweep has 9 designs"),
        ("1/3,2/3", "can't be swept: a run has one"),
    ):
        with pytest.raises(RequestError, match=rule):
            plan([*SWEEP, f"part={part}", "output=x"], True, STEPS)
    with pytest.raises(RequestError, match=r"is empty: the sweep has 1 design$"):
        plan(["device=h200", "suite.path=kernels", "part=2/2"], False, STEPS)
    assert not Path("x").exists()


@pytest.mark.parametrize("script", sorted(SLURM.iterdir()), ids=lambda script: script.name)
def test_scripts_parse(script: Path) -> None:
    subprocess.run(["bash", "-n", script], check=True)


@pytest.mark.slow
def test_an_array_of_parts_is_the_whole_sweep(place: Path) -> None:
    command = place / "bin" / "archex"
    command.parent.mkdir()
    command.write_text(COMMAND.format(python=sys.executable, place=place))
    command.chmod(0o755)
    path = os.pathsep.join(str(ROOT / folder) for folder in (".", "plugins", "tests/cli"))
    node = os.environ | {"PATH": f"{command.parent}:{os.environ['PATH']}", "PYTHONPATH": path, "SLURM_CPUS_PER_TASK": "1"}

    def submit(script: str, *arguments: str, task: str = "") -> tuple[int, str]:
        done = subprocess.run(
            ["bash", SLURM / script, *arguments], env=node | {"SLURM_ARRAY_TASK_ID": task}, capture_output=True, text=True, timeout=120
        )
        return done.returncode, done.stdout + done.stderr

    # One of them twice, as after a time limit: it has nothing left to do.
    ended = [submit("array.sbatch", "3", "runs/sweep", *SWEEP, task=task) for task in ("1", "2", "3", "2")]
    assert [code for code, _ in ended] == [0, 1, 0, 1], ended
    assert "6 of 6 rows are there already" in ended[-1][1]
    code, said = submit("merge.sbatch", "runs/sweep")
    assert code == 0, said
    assert subprocess.run([command, "run", "-m", *SWEEP, "output=whole"], env=node, capture_output=True).returncode == 1

    def rows(run: str) -> polars.DataFrame:
        return store.read(Path(run)).drop(COSTS).sort("device", "overrides", "launch")

    assert rows("runs/sweep/whole").equals(rows("whole"))
    assert rows("whole").height == 18
    assert {store.read(Path(f"runs/sweep/part-{number}")).height for number in (1, 2, 3)} == {6}
