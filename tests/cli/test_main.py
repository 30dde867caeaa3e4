"""The command itself: verbs, help, exit codes, interrupts. Some of it in processes of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from archex.cli import run
from archex.cli.main import VERBS, main
from archex.records import store
from cli_fakes import STEPS

HERE = Path(__file__).parent


def test_help_and_unknown_verbs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    printed = capsys.readouterr().out
    assert all(f"archex {verb} " in printed for verb in VERBS)
    assert main([]) == 2
    capsys.readouterr()
    assert main(["comapre"]) == 2
    assert capsys.readouterr().err == (
        "archex: comapre is not a verb; did you mean compare? (verbs: run, compare, results, validate, show, trace, timeline, plugins)\n"
    )
    for verb in VERBS:
        if verb != "run":
            assert main([verb, "--help"]) == 0
            assert capsys.readouterr().out.startswith(f"archex {verb} ")


def test_problems_are_lines_and_the_code_is_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "nowhere"]) == 2
    assert capsys.readouterr().err == "archex: nowhere: does not exist; expected a Parquet file or the folder of a run\n"


def test_help_imports_nothing_heavy() -> None:
    heavy = {"numba", "numpy", "polars", "hydra", "rich"}
    code = f"import sys; from archex.cli.main import main; main(['--help']); print(sorted({heavy} & set(sys.modules)))"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.splitlines()[-1] == "[]"


def test_a_reader_that_leaves(place: Path) -> None:
    command = f"{sys.executable} -m archex.cli.main plugins list | head -1"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, cwd=HERE.parents[1])
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(("output", "kept"), [("rows.parquet", []), ("rows", ["gather"])])
def test_an_interrupt_is_one_line_and_no_torn_file(place: Path, output: str, kept: list[str]) -> None:
    (place / "kernels" / "launches.json").write_text('{"gather": {"threads": 9}, "slow": {"threads": 5, "does": "slow"}}')
    code = f"""
import sys; sys.path.insert(0, {str(HERE)!r})
import cli_fakes
from pathlib import Path
from archex.base import folders
folders.conf = lambda: Path({str(place / "conf")!r})
folders.experiments = lambda: Path({str(place / "experiments")!r})
from archex.cli import main, run
run.Steps = lambda: cli_fakes.STEPS
sys.exit(main.main(["run", "suite.path=kernels", "output={output}", "workers=1"]))
"""
    process = subprocess.Popen([sys.executable, "-c", code], cwd=place, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stderr is not None
    assert process.stderr.readline() == "[1/2] gather on h200: 36 cycles\n"
    time.sleep(0.1)
    os.kill(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=10)
    left = "1 of 2 rows kept in rows" if kept else "nothing written"
    assert (process.returncode, said) == (130, f"archex: interrupted: {left}\n")
    assert (store.read(place / output)["launch"].to_list() if (place / output).exists() else []) == kept
    assert not list(place.rglob("*.tmp"))


def test_leaving_the_debugger_ends_the_run(
    place: Path,
    launches: Callable[[dict[str, dict[str, object]]], None],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    launches({"gather": {"threads": 9}, "stopped": {"threads": 5, "does": "debugged"}, "small": {"threads": 1}})
    monkeypatch.setattr(run, "Steps", lambda: STEPS)
    assert main(["run", "suite.path=kernels", "output=rows", "workers=1"]) == 130
    assert capsys.readouterr().err.splitlines() == ["[1/3] gather on h200: 36 cycles", "archex: left from the debugger"]
    assert store.read(place / "rows")["launch"].to_list() == ["gather"]
