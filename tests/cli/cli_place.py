"""A config folder of a few lines, a folder of launches, and an empty place to run in."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from archex.base import folders

CONFIG = """
defaults:
  - wave_scheduler: null
  - l2: null
  - memory_side_cache: null
  - device: h200
  - suite: smoke
  - _self_
  - experiments: null
  - override hydra/launcher: archex
  - override hydra/sweeper: archex
sampling: auto
repeat: 1
seed: 0
output: null
retry: none
workers: null
timeout: null
worker_memory: null
part: null
hydra: {run: {dir: .}, output_subdir: null}
"""
SUITE = "{name: smoke, folder: smoke, path: null, only: '*', variants: best}"
DEVICE = """# @package _global_
defaults: [{override /l2: sliced}, {override /wave_scheduler: greedy_then_oldest}]
device: {name: %s}
"""
FILES = {
    "conf/config.yaml": CONFIG,
    "conf/suite/smoke.yaml": SUITE,
    "conf/l2/sliced.yaml": "{size: 64, ways: 4}",
    "conf/memory_side_cache/victim.yaml": "{size: 256}",
    "conf/wave_scheduler/greedy_then_oldest.yaml": "{name: greedy_then_oldest}",
    "conf/wave_scheduler/loose_round_robin.yaml": "{name: loose_round_robin}",
    "conf/device/h200.yaml": DEVICE % "h200",
    "conf/device/tiny.yaml": DEVICE % "tiny" + "l2: {size: 12}\n",
    "experiments/narrow.yaml": "# @package _global_\nl2: {ways: 2}\n",
    "experiments/whole.yaml": "# @package _global_\nsampling: 'off'\n",
}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with `conf/`, `experiments/` and the launches of `kernels/`."""
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(folders, "conf", lambda: tmp_path / "conf")
    monkeypatch.setattr(folders, "experiments", lambda: tmp_path / "experiments")
    monkeypatch.chdir(tmp_path)
    write_launches(tmp_path / "kernels", {"copy[n=1]": {"threads": 100}, "gather": {"threads": 300}})
    return tmp_path


def write_launches(folder: Path, launches: dict[str, dict[str, object]]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "launches.json").write_text(json.dumps(launches))


@pytest.fixture
def launches(place: Path) -> Callable[[dict[str, dict[str, object]]], None]:
    """Replaces the launches of `kernels/`."""
    return lambda found: write_launches(place / "kernels", found)
