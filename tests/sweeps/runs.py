"""Sweeps as processes of their own, and their rows without what they cost."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import polars
from archex.records import journal, schema, store

PATHS = [str(Path(__file__).parents[1] / "cli"), str(Path(__file__).parent)]


def start(*overrides: str, shard_rows: int = 1000, **options: Any) -> subprocess.Popen[str]:
    """`archex run -m` on the fakes, in the current folder."""
    path = os.pathsep.join([*PATHS, os.environ.get("PYTHONPATH", "")])
    environment = os.environ | {"PYTHONPATH": path, "SHARD_ROWS": str(shard_rows)}
    command = [sys.executable, "-m", "sweep_fakes", "-m", "suite.path=kernels", "workers=2", *overrides]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


def finish(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    """(exit code, standard output, standard error)."""
    out, err = process.communicate(timeout=300)
    return process.returncode, out, err


def rows(path: Path) -> polars.DataFrame:
    """A run's rows, sorted, without costs."""
    return store.read(path).sort("point_id", "launch", "variant").drop(schema.COSTS)


def lines(path: Path) -> int:
    return path.read_bytes().count(b"\n") - 1


def finished(folder: Path, before: frozenset[Path] = frozenset()) -> int:
    """Rows that have come since, counted from outside and cheaply: those in journals."""
    with suppress(FileNotFoundError):
        return sum(lines(path) for path in journal.journals(folder) if path not in before)
    return 0


def some(folder: Path, before: frozenset[Path] = frozenset(), least: int = 1) -> bool:
    return finished(folder, before) >= least


def wait_for(true: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    until = time.monotonic() + 300  # a loaded machine takes long, and that is no failure
    while not true() and process.poll() is None:
        assert time.monotonic() < until
        time.sleep(0.01)
