"""`archex plugins`: what is installed, whether it keeps its contract, a package to start from; wrong requests by their whole message."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from archex import hookimpl
from archex.cli import plugins
from archex.cli.main import main
from archex.parts.kinds import KINDS
from archex.parts.replacement import Replacement
from archex.parts.wave_scheduler import WaveScheduler
from archex.registry import Registry, load
from archex.testing.keeping import kept

NAMED = "must be a lower-case name: letters, digits and _, such as my_scheduler"
CHOICES = ", ".join(sorted(KINDS))


class Stubborn(Replacement):
    """Drops the first line every time."""

    name = "stubborn"

    @staticmethod
    def pick_victim(view: Any, state: Any, params: Any) -> int:
        return 0


class Mute(WaveScheduler):
    """Has no policy."""

    name = "mute"


def use(monkeypatch: pytest.MonkeyPatch, *parts: type) -> None:
    """Let a package `mine` hand over these parts."""
    module = ModuleType("mine")
    module.archex_parts = hookimpl(lambda: list(parts))  # type: ignore[attr-defined]
    monkeypatch.setattr(plugins, "load", lambda: load({"mine": module}))


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder to work in."""
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    for name in [name for name in sys.modules if name.partition(".")[0].startswith("mine_")]:
        del sys.modules[name]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], ["plugins: needs an action (choices: list, check, new)"]),
        (["chek", "mine"], ["plugins: chek is not a known action; did you mean check? (choices: check, list, new)"]),
        (["list", "all"], ["plugins.list: all is more than it takes: nothing"]),
        (["check"], ["plugins.check: must be one name: a package, or a part as KIND.NAME"]),
        (["check", "a", "b"], ["plugins.check: a b must be one name: a package, or a part as KIND.NAME"]),
        (["check", "replacement.lruu"], ["plugins.check: replacement.lruu is not an installed package or a part KIND.NAME; "
                                         "did you mean replacement.lru? (choices: archex-sim)"]),
        (["new"], ["plugins.new: must be one name, of the package and its part", f"plugins.new.kind: is missing: --kind KIND (choices: "
                   f"{', '.join(KINDS)})"]),
        (["new", "mine_one", "mine_two", "--kind", "simd"],
         ["plugins.new: mine_one mine_two must be one name, of the package and its part"]),
        (["new", "Mine-One", "--kind=cash"], [f"plugins.new: Mine-One {NAMED}",
                                              f"plugins.new.kind: cash is not a known kind; did you mean cache? (choices: {CHOICES})"]),
        (["new", "../mine", "--kind", "simd"], [f"plugins.new: ../mine {NAMED}"]),
        (["new", "class", "--kind", "simd"], ["plugins.new: class is a word of Python"]),
        (["new", "json", "--kind", "simd"], ["plugins.new: json is the name of an installed module"]),
        (["new", "there", "--kind", "simd"], ["plugins.new: there is there already; nothing is overwritten"]),
        (["new", "oldest_first", "--kind", "wave_scheduler"], ["plugins.new: oldest_first is a wave scheduler of archex-sim already"]),
        (["new", "mine_one", "--knd", "simd"],
         ["plugins.new: --knd is not a known option; did you mean --kind? (choices: --kind)",
          "plugins.new: mine_one simd must be one name, of the package and its part",
          f"plugins.new.kind: is missing: --kind KIND (choices: {', '.join(KINDS)})"]),
        (["new", "mine_one", "--kind"], [f"plugins.new.kind: is missing: --kind KIND (choices: {', '.join(KINDS)})"]),
    ],
)  # fmt: skip
def test_wrong_requests(empty: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], said: list[str]) -> None:
    (empty / "there").mkdir()
    assert main(["plugins", *arguments]) == 2
    assert capsys.readouterr().err.splitlines() == [f"archex: {line}" for line in said]
    assert [path.name for path in empty.iterdir()] == ["there"], "a refused request writes nothing"


def test_a_folder_that_cannot_be_written(empty: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(plugins.shutil, "move", full)  # type: ignore[attr-defined]
    assert main(["plugins", "new", "mine_one", "--kind", "simd"]) == 2
    assert capsys.readouterr().err == "archex: plugins.new: mine_one can't be written: No space left on device\n"
    assert list(empty.iterdir()) == []


def test_a_part_that_keeps_its_contract(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plugins", "check", "replacement.fifo"]) == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    assert shown.out.splitlines()[-1] == "1 of 1 part keeps its contract"
    assert ["replacement.fifo", "15", "-"] in [line.split() for line in shown.out.splitlines()]


def test_a_broken_law_is_named(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, Stubborn)
    assert main(["plugins", "check", "mine"]) == 1
    shown = capsys.readouterr()
    assert shown.err == (
        "archex: replacement.stubborn: breaks the law 'a line that nobody uses goes in time': ways {1} keep their lines for ever\n"
    )
    assert shown.out.splitlines()[-1] == "0 of 1 part keeps its contract"


def test_what_cannot_be_registered_is_said_as_at_start(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, Mute)
    assert main(["plugins", "check", "mine"]) == 1
    assert capsys.readouterr().err == (
        "archex: wave_scheduler.mute.pick_wave: is missing (package mine): "
        "expected pick_wave(view, state, params) -> a slot whose ready bit is set, or -1\n"
    )
    assert main(["plugins", "check", "another"]) == 2, "somebody else's mistake"


def made(empty: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> Registry:
    """What is installed, and a new package of a kind."""
    name = f"mine_{kind}"
    assert main(["plugins", "new", name, "--kind", kind]) == 0
    monkeypatch.syspath_prepend(str(empty / name))
    importlib.invalidate_caches()
    return load({name: importlib.import_module(name)})


@pytest.mark.parametrize("kind", ["wave_scheduler", "bank_conflict", *(pytest.param(kind, marks=pytest.mark.slow) for kind in KINDS)])
def test_a_new_package_keeps_its_contract_at_once(empty: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    registry = made(empty, kind, monkeypatch)
    found = registry.parts[kind, f"mine_{kind}"]
    result = kept(registry, found)
    assert result.broken == ()
    assert result.laws > 8


def test_a_number_without_a_source_is_named(empty: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    registry = made(empty, "wave_scheduler", monkeypatch)
    file = empty / "mine_wave_scheduler/mine_wave_scheduler/conf/wave_scheduler/mine_wave_scheduler.yaml"
    file.write_text(file.read_text().partition("sources:")[0])
    assert kept(registry, registry.parts["wave_scheduler", "mine_wave_scheduler"]).broken == (
        "wave_scheduler.mine_wave_scheduler: breaks the law 'every number has a source': wave_scheduler.burst (mine_wave_scheduler.yaml)",
    )


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["placement", "memory"])
def test_its_own_tests_pass(empty: Path, kind: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    made(empty, kind, monkeypatch)
    shown = capsys.readouterr().out.splitlines()
    assert shown[-1] == f"next: pip install -e ./mine_{kind} && archex plugins check mine_{kind}"
    assert all((empty / path).is_file() for path in shown[:-1])
    done = subprocess.run([sys.executable, "-m", "pytest", "-q"], cwd=empty / f"mine_{kind}", capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
