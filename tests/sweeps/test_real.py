"""The whole path on `tiny`: a sweep whose process and workers are killed has, once resumed, the rows of one that ran undisturbed."""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from pathlib import Path

import psutil
import pytest
from archex.cli.main import main
from archex.records import store
from runs import rows, some, wait_for

SWEEP = [
    "run",
    "-m",
    "device=tiny",
    "suite=smoke",
    "suite.only=[copy,softmax]",
    "memory.bandwidth=20GB/s,40GB/s,80GB/s",
    "worker_memory=1GiB",
]


@pytest.mark.slow
def test_a_killed_sweep_of_the_real_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main([*SWEEP, "workers=1", "output=whole"]) == 0
    command = [sys.executable, "-m", "archex.cli.main", *SWEEP, "workers=2", "output=killed"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for(partial(some, Path("killed")), process)
    workers = [child for child in psutil.Process(process.pid).children(recursive=True) if child.ppid() != process.pid]
    workers[0].kill()
    process.kill()
    process.wait()
    assert 0 < len(store.read(Path("killed"))) < 6
    assert main([*SWEEP, "workers=2", "output=killed"]) == 0
    assert rows(Path("killed")).equals(rows(Path("whole")))
    assert rows(Path("whole"))["cycles"].n_unique() == 6
