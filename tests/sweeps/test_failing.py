"""What fails in a sweep is a row with its reason, and nothing else: workers that die or hang, memory, designs that cannot be built."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import psutil
import pytest
from archex.base.errors import RequestError
from archex.cli import run
from archex.records import store
from runs import finish, rows, some, start, wait_for
from sweep_fakes import STEPS

Launches = Callable[[dict[str, dict[str, object]]], None]


def go(*overrides: str) -> int:
    return run.main(["-m", "suite.path=kernels", "workers=2", "output=rows", *overrides], STEPS)


def statuses() -> dict[tuple[str, str], tuple[str, str | None]]:
    return {(row["launch"], row["overrides"]): (row["status"], row["error"]) for row in store.read(Path("rows")).to_dicts()}


def test_workers_that_are_killed_cost_a_second_try(launches: Launches) -> None:
    launches({f"nap{i}": {"threads": i + 1, "does": "naps 0.05"} for i in range(4)})
    process = start("l2.ways=1,2,4,8,16,32", "output=rows")
    for deaths in range(3):
        wait_for(partial(some, Path("rows"), least=6 * deaths + 1), process)  # by then what was lost before is there
        workers = [child for child in psutil.Process(process.pid).children(recursive=True) if child.ppid() != process.pid]
        workers[0].kill()
    code, out, _ = finish(process)
    assert (code, out.splitlines()[-1]) == (0, "24 rows: 24 ok, in rows")


@pytest.mark.parametrize("designs", ["l2.ways=1,2,4", "l2.ways=1,2,4,8,16 l2.size=64,128,192,256"])
def test_a_poisonous_row_is_killed_after_two_tries_and_the_rest_completes(launches: Launches, designs: str) -> None:
    """In jobs of one row, and in jobs of a design."""
    launches(
        {"a": {"threads": 1}, "p": {"threads": 1, "does": "poison 2"}, "o": {"threads": 1, "does": "dies_once once"}, "z": {"threads": 1}}
    )
    assert go(*designs.split()) == 1
    for (launch, overrides), found in statuses().items():
        killed = launch == "p" and "ways=2" in overrides
        assert found == (("killed", "its process was ended by SIGKILL (out of memory?), twice") if killed else ("ok", None))
    assert Path("once").exists()


def test_a_row_that_takes_too_long(launches: Launches) -> None:
    launches({"a": {"threads": 1}, "l": {"threads": 1, "does": "late 2"}, "z": {"threads": 1}})
    began = time.monotonic()
    assert go("l2.ways=1,2,4", "timeout=1") == 1
    assert time.monotonic() - began < 20
    found = statuses()
    assert found.pop(("l", "l2.ways=2")) == ("killed", "took longer than 1 s, twice")
    assert set(found.values()) == {("ok", None)}
    assert len(found) == 8


def test_a_row_that_takes_too_much_memory(launches: Launches) -> None:
    launches({"a": {"threads": 1}, "h": {"threads": 1, "does": f"hungry {3 << 30}"}, "s": {"threads": 1, "does": f"hungry {64 << 20}"}})
    assert go("l2.ways=1", "worker_memory=2GiB") == 1
    assert {launch: found for (launch, _), found in statuses().items()} == {
        "a": ("ok", None),
        "h": ("killed", "out of memory"),
        "s": ("ok", None),
    }


def test_failed_rows_run_again_when_asked(launches: Launches, capsys: pytest.CaptureFixture[str]) -> None:
    launches({"a": {"threads": 1}, "p": {"threads": 1, "does": "poison 2"}})
    assert go("l2.ways=1,2") == 1
    assert go("l2.ways=1,2") == 1
    assert "4 of 4 rows are there already" in capsys.readouterr().err
    assert go("l2.ways=1,2", "retry=failed") == 1
    assert "3 of 4 rows are there already" in capsys.readouterr().err
    assert len(store.read(Path("rows"))) == 4


def test_a_thousand_designs_of_which_two_hundred_cannot_be_built(launches: Launches, capsys: pytest.CaptureFixture[str]) -> None:
    launches({"a": {"threads": 3}})
    sizes = [8 * k for k in range(1, 151)] + [4 + 8 * k for k in range(1, 51)] + [1 + 2 * k for k in range(1, 51)]
    bad = sorted((size, ways) for size in sizes for ways in (1, 2, 4, 8) if size % ways)
    assert len(bad) == 200
    assert go(f"l2.size={','.join(map(str, sizes))}", "l2.ways=1,2,4,8") == 1
    found = store.read(Path("rows"))
    assert len(found) == 1000
    failed = found.filter(found["status"] == "error")
    said = sorted((int(row["overrides"].split(",")[0].removeprefix("l2.size=")), row["error"]) for row in failed.to_dicts())
    assert said == [(size, f"l2.ways: {ways} must divide {size}") for size, ways in bad]
    good = found.filter(found["status"] == "ok")
    assert good.height == 800
    assert (good["cycles"] == 3 * good["overrides"].str.extract(r"ways=(\d+)").cast(int)).all()
    printed = capsys.readouterr().out.splitlines()
    assert printed[-1] == "1,000 rows: 800 ok, 200 error, in rows"
    assert any(line.startswith("200 rows error, such as a on h200 l2.size=") for line in printed)
    before = rows(Path("rows"))
    assert go(f"l2.size={','.join(map(str, sizes))}", "l2.ways=1,2,4,8") == 1
    assert rows(Path("rows")).equals(before)


def test_nothing_is_written_where_no_design_can_be_built(place: Path) -> None:
    with pytest.raises(RequestError) as caught:
        go("l2.ways=5,7", "device=h200,tiny")
    assert len(caught.value.problems) == 4
    assert not (place / "rows").exists()


@pytest.mark.parametrize(
    ("override", "said"),
    [
        ("timeout=0", "timeout: 0 must be a time above 0, such as 90 s or 5 min"),
        ("timeout=-3", "timeout: -3 must be a time above 0, such as 90 s or 5 min"),
        ("timeout=soon", "timeout: soon must be a time above 0, such as 90 s or 5 min"),
        ("timeout=true", "timeout: True must be a time above 0, such as 90 s or 5 min"),
        ("timeout=5 parsecs", "timeout: 5 parsecs must be a time above 0, such as 90 s or 5 min"),
        ("timeout=[1]", "timeout: [1] must be a time above 0, such as 90 s or 5 min"),
        ("timeout=inf", "timeout: inf must be a time above 0, such as 90 s or 5 min"),
        ("worker_memory=1", "worker_memory: 1 must be at least 1 GiB: a worker needs that for itself"),
        ("worker_memory=much", "worker_memory: much must be a number in B, such as 64 MiB"),
        ("worker_memory=1.5", "worker_memory: 1.5 must be a whole number of bytes, such as 64 MiB"),
        ("timeout=1,2", "timeout: 1,2 can't be swept: a run has one"),
    ],
)  # fmt: skip
def test_limits_that_are_wrong(place: Path, override: str, said: str) -> None:
    with pytest.raises(RequestError) as caught:
        go(override)
    assert str(caught.value) == said
    assert not (place / "rows").exists()


@pytest.mark.parametrize(("written", "seconds"), [("90", 90), ("90 s", 90), ("5 min", 300), ("1.5h", 5400), ("250ms", 0.25), ("1e2", 100)])
def test_times_as_people_write_them(written: str, seconds: float) -> None:
    from archex.sweeps.settings import split

    settings, _, problems = split({"suite": {"name": "s"}, "sampling": "auto", "repeat": 1, "seed": 0, "timeout": written})
    assert problems == []
    assert settings is not None
    assert settings.timeout == seconds
