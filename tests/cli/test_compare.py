"""`archex compare`: labels, speed-ups, what moved, from rows made by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from archex.base.errors import RequestError
from archex.cli import compare
from archex.records import schema, store
from archex.reports.compare import stalls_moved, traffic_moved
from archex.reports.designs import designs


def a_row(device: str, launch: str, time: float, overrides: str = "", **values: Any) -> dict[str, Any]:
    known = {"device": device, "launch": launch, "time_ns": time, "overrides": overrides, "status": "ok", "wave_instructions": 100.0}
    return schema.row(known | {"device_fingerprint": f"f-{device}-{overrides}", "limiter": "memory"} | values)


def write(path: Path, *rows: dict[str, Any]) -> str:
    store.write_file(rows, path)
    return str(path)


@pytest.fixture
def sweep(tmp_path: Path) -> str:
    old, new = "l2.ways=4, l2.size=64 MiB", "l2.ways=8, l2.size=64 MiB"
    return write(
        tmp_path / "sweep.parquet",
        a_row("h200", "copy", 100, old, stall_memory=4.0, dram_read_bytes=1000, l2_hit_pct=40),
        a_row("h200", "gather", 400, old),
        a_row("h200", "scan", 50, old),
        a_row("h200", "copy", 50, new, stall_memory=1.5, dram_read_bytes=500, l2_hit_pct=70, limiter="issue"),
        a_row("h200", "gather", 800, new),
        a_row("h200", "scan", 50, new, status="error"),
    )


def lines(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines() if line.strip()]


def test_one_run_compares_its_designs(sweep: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert compare.main([sweep]) == 0
    printed = lines(capsys.readouterr().out)
    assert ["l2.ways=8", "1x", "1", "1", "2x", "copy", "0.5x", "gather", "2"] in printed
    assert ["copy", "100", "ns", "50", "ns", "2x", "*"] in printed
    assert ["scan", "50", "ns", "error"] in printed
    moved = next(line for line in printed if line[:2] == ["copy", "2x"])
    assert " ".join(moved[2:]) == "memory -> issue memory -50.0 % DRAM reads -50 %, L2 hits 40 -> 70 %"


def test_a_baseline_by_name(sweep: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert compare.main([sweep, "baseline=l2.ways=8"]) == 0
    assert ["l2.ways=4", "1x", "1", "1", "2x", "gather", "0.5x", "copy", "2"] in lines(capsys.readouterr().out)


def test_several_runs_are_told_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = [write(tmp_path / f"{name}.parquet", a_row("h200", "copy", time)) for name, time in (("before", 100), ("after", 80))]
    assert compare.main([*names, "--html", str(tmp_path / "page.html")]) == 0
    assert ["after", "1.25x", "1", "0", "1.25x", "copy", "1.25x", "copy", "1"] in lines(capsys.readouterr().out)
    assert "1.25x" in (tmp_path / "page.html").read_text()


def test_labels_say_what_differs(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    write(path, *(a_row(device, "copy", 1, f"wave_scheduler={w}, l2.ways=4") for device in ("h200", "mi300a") for w in ("greedy", "loose")))
    assert [design.label for design in designs([("a", store.read(path))])] == [
        "h200 greedy",
        "h200 loose",
        "mi300a greedy",
        "mi300a loose",
    ]


def test_reasons_add_up_to_the_change(sweep: str) -> None:
    old = a_row("a", "x", 1, stall_memory=3.0, stall_barrier=1.0)
    new = a_row("a", "x", 1, stall_memory=1.0, stall_barrier=1.0, wave_instructions=200.0)
    # 300 + 100 + 100 issues before; 200 + 200 + 200 after
    assert stalls_moved(old, new) == ["memory -20.0 %", "barrier +20.0 %", "issue +20.0 %"]
    assert traffic_moved(old, new) == ["instructions +100 %"]


def test_what_cannot_be_compared(sweep: str, tmp_path: Path) -> None:
    single = write(tmp_path / "one.parquet", a_row("h200", "copy", 1))
    said = {}
    for name, arguments in {"one": [single], "none": [], "base": [sweep, "baseline=l2.ways=9"], "flag": [sweep, "--htm"]}.items():
        with pytest.raises(RequestError) as caught:
            compare.main(arguments)
        said[name] = str(caught.value)
    assert said == {
        "one": f"{single}: holds one design only (h200); there is nothing to compare",
        "none": "RUN: is missing: give the folder or the Parquet file of a run",
        "base": "baseline: l2.ways=9 names no design of these runs; did you mean l2.ways=8? (choices: l2.ways=4, l2.ways=8)",
        "flag": "--htm: is not a flag of compare (flags: --html FILE)",
    }
