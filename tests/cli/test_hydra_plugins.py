"""Launcher and sweeper as Hydra's plugins: their choices, their fields, and that a run goes through them."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import attrs
import pytest
from archex.base.errors import RequestError
from archex.cli import run
from archex.records import store
from archex.sweeps import backends
from archex.sweeps.launchers.local import Local
from archex.sweeps.sweepers import Sweeper
from archex.sweeps.sweepers.grid import Grid
from cli_fakes import STEPS
from hydra.core.config_store import ConfigStore
from hydra.core.plugins import Plugins


def go(*arguments: str) -> int:
    return run.main(["suite.path=kernels", "suite.only=gather", "workers=1", *arguments], STEPS)


def problems(*arguments: str) -> list[str]:
    with pytest.raises(RequestError) as caught:
        go(*arguments)
    return [str(problem) for problem in caught.value.problems]


WRONG = [
    (("hydra/launcher=basic",), ["hydra/launcher: basic is not a known choice (choices: archex"]),
    (("hydra/launcher=archx",), ["hydra/launcher: archx is not a known choice; did you mean archex? (choices: archex"]),
    (("-m", "hydra/sweeper=basic"), ["hydra/sweeper: basic is not a known choice (choices: archex"]),
    (("hydra/launcher=null",), ["hydra/launcher: null is required (choices: archex"]),
    (("hydra/launcher=[archex]",), ["hydra/launcher: ['archex'] is not a known choice; did you mean archex?"]),
    (("hydra.launcher=archex",), ["hydra.launcher: archex is chosen by hydra/launcher=NAME (choices: archex"]),
    (("hydra.launcher.workers=0",), ["hydra.launcher.workers: 0 must be at least 1"]),
    (("hydra.launcher.workers=two",), ["hydra.launcher.workers: two must be a number in count, such as 4"]),
    (("hydra.launcher.workers=1.5",), ["hydra.launcher.workers: 1.5 must be a whole number, such as 4"]),
    (("hydra.launcher.workers.most=1",), ["hydra.launcher.workers.most: is not a known key"]),
    (("hydra.launcher.wokers=1",), ["hydra.launcher.wokers: is not a known key; did you mean workers?"]),
    (("+hydra.launcher.n_jobs=4",), ["hydra.launcher.n_jobs: is not a known key"]),
    (("hydra.launcher._target_=os.system",), ["hydra.launcher._target_: is not a known key"]),
    (("-m", "hydra.sweeper.max_batch_size=2"), ["hydra.sweeper.max_batch_size: is not a known key"]),
    (("-m", "hydra/launcher=archex,basic"), ["hydra/launcher: archex,basic can't be swept: a run has one"]),
    (("hydra.launcher.workers=0", "l2.ways=x", "hydra/sweeper=b"), ["hydra.launcher.workers: 0", "hydra/sweeper: b", "l2.ways: x must be"]),
]


@pytest.mark.parametrize(("arguments", "said"), WRONG, ids=lambda value: value[-1] if isinstance(value, tuple) else "")
def test_what_can_be_wrong(place: Path, arguments: tuple[str, ...], said: list[str]) -> None:
    found = problems(*arguments)
    assert len(found) == len(said)
    for text, start in zip(found, said, strict=True):
        assert text.startswith(start)
    assert sorted(path.name for path in place.iterdir()) == ["conf", "experiments", "kernels"]


@attrs.frozen
class Fields:
    lot: int | None = backends.number("count", "points of a round", low=1, default=1)


class OwnSweeper(backends.SweeperPlugin):
    """Points in lots, backwards; remembers what it was told."""

    Fields = Fields
    told: list[tuple[str, int]] = []

    def make(self, axes: Sequence[Any], settings: Any) -> Any:
        grid, lot, told = Grid(axes), self.fields.lot, self.told

        class Backwards(Sweeper):
            name, total = "own", None

            def rounds(self) -> Iterator[Any]:
                places = list(reversed(range(grid.total)))
                for first in range(0, len(places), lot):
                    told.append(("round", first))
                    yield map(grid.at, places[first : first + lot])

            def tell(self, design: Any, rows: Sequence[Any]) -> None:
                told.append((design.overrides, len(rows)))

        if any(axis.key == "seed" for axis in axes):
            raise RequestError([backends.Problem("seed", 1, "can't be searched over")])
        return Backwards()


class OwnLauncher(backends.LauncherPlugin):
    """Another name for the local one."""

    made: list[Any] = []

    def make(self, settings: Any) -> Any:
        self.made.append(settings)
        return Local(1)


@pytest.fixture
def own() -> Iterator[None]:
    """Two plugins of another package, as Hydra would find them."""
    sys.modules["hydra_plugins.own"] = module = ModuleType("hydra_plugins.own")
    for group, plugin in (("sweeper", OwnSweeper), ("launcher", OwnLauncher)):
        plugin.__module__ = "hydra_plugins.own"
        setattr(module, plugin.__name__, plugin)
        Plugins.instance().register(plugin)
        backends.offer(f"hydra/{group}", "own", plugin)
    OwnSweeper.told.clear()
    yield
    del sys.modules["hydra_plugins.own"]
    for group in ("sweeper", "launcher"):
        del ConfigStore.instance().repo["hydra"][group]["own.yaml"]


def test_another_package_brings_its_own(own: None, place: Path) -> None:
    assert go("-m", "hydra/sweeper=own", "hydra/launcher=own", "hydra.sweeper.lot=2", "l2.ways=1,2,4", "output=rows.parquet") == 0
    assert OwnSweeper.told == [
        ("round", 0), ("l2.ways=4", 1), ("l2.ways=2", 1), ("round", 2), ("l2.ways=1", 1),
    ]  # fmt: skip
    assert len(OwnLauncher.made) == 1
    assert store.read(place / "rows.parquet")["cycles"].to_list() == [1200.0, 600.0, 300.0]
    assert sorted(path.name for path in place.iterdir()) == ["conf", "experiments", "kernels", "rows.parquet"]


def test_its_fields_and_axes_are_checked_with_all_else(own: None, place: Path) -> None:
    assert problems("-m", "hydra/sweeper=own", "hydra.sweeper.lot=0", "l2.ways=x") == [
        "hydra.sweeper.lot: 0 must be at least 1",
        "l2.ways: x must be a whole number",
    ]
    assert problems("-m", "hydra/sweeper=own", "seed=1,2", "l2.ways=x") == [
        "l2.ways: x must be a whole number",
        "seed: 1 can't be searched over",
    ]


def test_a_preset_may_say_how(own: None, place: Path) -> None:
    (place / "experiments/alone.yaml").write_text("# @package _global_\nhydra: {launcher: {workers: 1}}\n")
    assert go("experiments=alone", "output=rows.parquet") == 0
    (place / "experiments/wrong.yaml").write_text("# @package _global_\nhydra: {launcher: {wokers: 1, workers: 0}}\n")
    assert problems("experiments=wrong") == [
        "hydra.launcher.wokers: is not a known key; did you mean workers? (choices: workers)",
        "hydra.launcher.workers: 0 must be at least 1",
    ]


def test_the_launcher_says_how_many_workers(place: Path) -> None:
    plugin = backends.offered("hydra/launcher")["archex"]
    for given, workers in ((3, 3), (None, 2)):
        made = plugin(workers=given)
        made.setup(hydra_context=None, task_function=None, config=None)  # type: ignore[arg-type]
        assert made.make(attrs.evolve(_settings(), workers=2)).workers == workers  # type: ignore[arg-type]


def _settings() -> Any:
    from archex.sweeps.designer import NO_SETTINGS

    return NO_SETTINGS


def test_fields_are_documented() -> None:
    assert ("archex", "workers", "processes; null: the root key workers, or one a core") in backends.documented("hydra/launcher")


def test_the_config_shows_them(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert go("--cfg", "hydra", "--package", "hydra.launcher") == 0
    assert "ArchexLauncher\nworkers: null" in capsys.readouterr().out
    assert go("--help") == 0
    assert "    hydra.launcher.workers (archex): processes; null: " in capsys.readouterr().out
