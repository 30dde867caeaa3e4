"""`archex trace`: one wave as text and as a file for a viewer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from archex.base.errors import RequestError
from archex.cli import trace
from archex.records.events import WaveEvent
from archex.reports.timeline import as_perfetto
from cli_fakes import STEPS


def test_a_wave(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert trace.main(["copy[n=1]", "wave=0", "device=h200", "suite.path=kernels"], STEPS) == 0
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert "10 9 for fetch load_global 300 32 4" in lines
    assert "fetch 9 82 %" in lines
    assert lines[-1] == "2 instructions; copy_n=1_-wave0.json opens in ui.perfetto.dev"
    events = json.loads((place / "copy_n=1_-wave0.json").read_text())["traceEvents"]
    assert {"ph": "X", "pid": 1, "tid": 1, "name": "fetch", "ts": 1, "dur": 9, "args": {"for": "load_global"}} in events


def test_another_file_beside_the_page_is_no_hindrance(place: Path) -> None:
    (place / "page.parquet").write_text("a user's own")
    assert trace.main(["copy[n=1]", "wave=0", "device=h200", "suite.path=kernels", "output=page.json"], STEPS) == 0


def test_what_overlaps_stands_on_tracks_of_its_own() -> None:
    events = [WaveEvent(i, i, i + 10, f"load{i}") for i in range(3)] + [WaveEvent(12, 12, 20, "later")]
    found = json.loads(as_perfetto(events, "a wave"))["traceEvents"]
    assert {slice["name"]: slice["tid"] for slice in found if slice["ph"] == "X" and slice["dur"] > 1} == {
        "load0": 3,
        "load1": 4,
        "load2": 5,
        "later": 3,
    }


def test_requests_that_are_wrong(place: Path) -> None:
    said = []
    for arguments in (["wave=one"], ["copy", "suite.path=kernels"], ["gather", "suite.path=kernels", "l2.ways=x"]):
        with pytest.raises(RequestError) as caught:
            trace.main(arguments, STEPS)
        said.append([str(problem) for problem in caught.value.problems])
    assert said == [
        [
            "LAUNCH: must be one id of a launch: archex trace copy wave=0 device=h200",
            "wave: one must be a whole number, the first wave is 0",
        ],
        ["suite.only: copy matches no launch (choices: copy[n=1], gather)"],
        ["l2.ways: x must be a whole number"],
    ]
    assert not list(place.glob("*.json"))
