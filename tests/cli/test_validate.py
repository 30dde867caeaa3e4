"""`archex validate`: errors against measurements made by hand, of both kinds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from archex.base.errors import RequestError
from archex.cli import validate
from archex.records import schema, store
from archex.reports import reference
from archex.reports.text import console
from archex.reports.validate import by_counter, by_family, compare, spearman
from cli_fakes import STEPS

MEASURED = {"copy[n=1]": 110, "copy[n=2]": 200, "copy[n=3]": 330, "copy[n=4]": 500, "gather": 1000, "spill": 50}


def a_reference(folder: Path, header: str, lines: list[str]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    ids = [line.partition(",")[0].strip('"') for line in lines]
    (folder / "launches.json").write_text(json.dumps({name: {"threads": 100 * (i + 1)} for i, name in enumerate(ids)}))
    (folder / "kernels.csv").write_text("\n".join([header, *lines]) + "\n")
    return folder


@pytest.fixture
def cycles(tmp_path: Path) -> Path:
    lines = [f"{name},{name.partition('[')[0]},{value},100,0,{int(name == 'spill')}" for name, value in MEASURED.items()]
    return a_reference(tmp_path / "silicon", "id,family,cycles,warp_instructions,shared_wavefronts,noisy", lines)


def a_row(launch: str, cycles: float, **values: Any) -> dict[str, Any]:
    known = {"launch": launch, "device": "h200", "status": "ok", "cycles": cycles, "time_ns": cycles}
    return schema.row(known | values)


ROWS = [
    a_row("copy[n=1]", 121, wave_instructions=100, local_memory_wavefronts=7),
    a_row("copy[n=2]", 200, wave_instructions=120),
    a_row("copy[n=3]", 297, wave_instructions=100),
    a_row("copy[n=4]", 500),
    a_row("gather", 3000),
    a_row("spill", 1),
    a_row("new", 1),
]


def text(table: Any, capsys: pytest.CaptureFixture[str]) -> list[str]:
    console().print(table)
    return [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]


def test_errors_and_what_is_left_out(cycles: Path) -> None:
    found = compare(ROWS, reference.read(cycles))
    assert [round(error.signed, 3) for error in found.errors] == [10.0, 0.0, -10.0, 0.0, 200.0]
    assert (found.left_out, found.beyond_factor_two, round(found.mape, 3), found.quantile(0.5)) == (
        {"noisy": 1, "not measured": 1},
        1,
        44.0,
        10,
    )
    assert found.rank_correlation == pytest.approx(1.0)


def test_small_families_share_a_line(cycles: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = text(by_family(compare(ROWS, reference.read(cycles))), capsys)
    assert "copy 4 5.0 % 5.0 % 10.0 % +0.0 %" in lines
    assert "(families of under four) 1 200.0 % 200.0 % 200.0 % +200.0 %" in lines


def test_counters(cycles: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = by_counter(ROWS, reference.read(cycles))
    lines = text(table, capsys)
    assert "wave_instructions 3 0 % 16 % 67 %" in lines
    assert not any(line.startswith("local_memory") for line in lines)  # none of these kernels uses it


def test_times_by_events_count_the_launch(tmp_path: Path) -> None:
    folder = a_reference(tmp_path / "timed", "id,kernel,launches,min_us", ["relu,relu,1,10.0", "sum,sum,2,20.0"])
    rows = [a_row("relu", 5600), a_row("sum", 15_200)]
    found = compare(rows, reference.read(folder))
    assert [error.modelled for error in found.errors] == [10.0, 24.0]
    assert [round(error.size, 6) for error in found.errors] == [0.0, 20.0]


def test_rank_correlation() -> None:
    assert spearman([1, 2, 3, 4], [10, 20, 30, 25]) == pytest.approx(0.8)
    assert spearman([1, 1, 2], [5, 5, 9]) == pytest.approx(1.0)
    assert spearman([1, 2], [1, 2]) is None
    assert spearman([1, 1, 1], [1, 2, 3]) is None


def test_the_command_runs_the_reference(place: Path, cycles: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["device=h200", f"reference={cycles}", "l2.ways=1", "workers=1", "output=rows.parquet"]
    assert validate.main(arguments, STEPS) == 0
    printed = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert "copy[n=3] 330 300 -9.1 % neither counters nor waits: the launch's beginning and end" in printed
    assert "launches compared 5" in printed
    rows = [f"reference={cycles}", "rows=rows.parquet", "device=h200"]
    assert validate.main([*rows, "bound=50"]) == 0
    assert validate.main([*rows, "bound=5%"]) == 1
    assert capsys.readouterr().out.splitlines()[-1] == "mean error 17.6 % is above the bound of 5 %"


def test_requests_that_are_wrong(place: Path, cycles: Path, tmp_path: Path) -> None:
    store.write_file([a_row("other", 1)], tmp_path / "other.parquet")
    said = []
    for arguments in (
        [],
        ["device=h200", "reference=nowhere"],
        ["device=h200", f"reference={cycles}", "bound=x"],
        ["device=h200", f"reference={cycles}", "suite.path=kernels"],
        [f"reference={cycles}", "rows=other.parquet"],
        ["device=unknown"],
    ):
        with pytest.raises(RequestError) as caught:
            validate.main(arguments, STEPS)
        said.append(str(caught.value))
    assert said[:1] == ["device: is needed: archex validate device=h200"]
    assert said[1].startswith("reference: nowhere is no reference: launches.json does not read (")
    assert said[2:5] == [
        "bound: x must be a percentage, such as 12",
        "suite.path: kernels can't be chosen: validate runs the reference's launches",
        f"rows: hold nothing to compare with {cycles} (1 not measured)",
    ]
    assert said[5].startswith("reference: is needed: there is no measurement of unknown here; give reference=DIR (choices: ")


def test_every_reference_column_is_a_column() -> None:
    assert set(reference.COUNTERS) <= set(schema.BY_NAME)


def test_repeated_launches_are_held_against_warm_times(place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = a_reference(tmp_path / "warm", "id,cycles,warm_us,shared_wavefronts", ["a,9,30.0,0", "b,9,10.0,0", "c,9,,0"])
    store.write_file([a_row("a", 33_000), a_row("b", 1), a_row("c", 1)], tmp_path / "warm.parquet")
    assert validate.main([f"reference={folder}", f"rows={tmp_path / 'warm.parquet'}", "repeat=3"]) == 0
    printed = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert {"Error of warm time", "launches compared 1", "under 20 us 1", "not measured 1", "a 30 33 +10.0 %"} <= set(printed)
    assert not any("counter" in line for line in printed)
