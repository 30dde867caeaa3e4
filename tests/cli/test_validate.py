"""`archex validate`: errors against measurements made by hand, of both kinds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from archex.base.errors import RequestError
from archex.cli import validate
from archex.cli.main import main
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


WRONG = [
    ([], "device: is needed: archex validate device=h200"),
    (["device=h200", "reference=nowhere"], "reference: nowhere is no reference: launches.json does not read: No such file"),
    (["device=h200", "reference=SILICON", "bound=x"], "bound: x must be a percentage, such as 12"),
    (["device=h200", "reference=SILICON", "bound=-3"], "bound: -3 must be a percentage, such as 12"),
    (["device=h200", "reference=SILICON", "bound=nan"], "bound: nan must be a percentage, such as 12"),
    (["device=h200", "reference=SILICON", "bound="], "bound: needs a value"),
    (["device=h200", "reference=SILICON", "suite.path=x"], "suite.path: x can't be chosen: validate runs the reference's launches"),
    (["-m", "device=h200", "reference=SILICON"], "-m: isn't offered: validate takes one device"),
    (["reference=SILICON", "rows=other.parquet"], "rows: hold nothing to compare with SILICON (1 not measured)"),
    (["reference=SILICON", "rows=other.parquet", "l2.ways=4"], "l2.ways: 4 says how to run, and rows=RUN has been run already"),
    (["reference=SILICON", "rows=nowhere"], "nowhere: "),
    (["device=unknown"], "reference: is needed: there is no measurement of unknown here; give reference=DIR (choices: "),
    (["device=h200", "reference=SILICON", "repeat=3"], "repeat: 3 has nothing to be held against: SILICON holds no warm times"),
    (["device=h200", "reference=SILICON", "bounds=loose"], "bounds: loose is no file (choices: stated, held, FILE)"),
    (["device=h200", "reference=SILICON", "bounds=stated"], "bounds: stated has none for silicon (choices: h200, mi300a)"),
    (["device=h200", "reference=SILICON", "html=here"], "html: here is a folder; expected the name of a file"),
    (
        ["device=h200", "reference=SILICON", "png=other.parquet/a.png"],
        "png: other.parquet/a.png cannot be written: other.parquet is no folder",
    ),
    (["device=h200", "reference=SILICON", "png=a", "html=a"], "html: a is the file of png too"),
]


@pytest.mark.parametrize(("arguments", "said"), WRONG)
def test_requests_that_are_wrong(arguments: list[str], said: str, place: Path, cycles: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store.write_file([a_row("other", 1)], Path("other.parquet"))
    Path("here").mkdir()
    before = sorted(Path().rglob("*"))
    assert main(["validate", *(a.replace("SILICON", str(cycles)) for a in arguments)]) == 2
    out, complaints = capsys.readouterr()
    (line,) = complaints.splitlines()
    assert line.replace(str(cycles), "SILICON").startswith(f"archex: {said}")
    assert (out, sorted(Path().rglob("*"))) == ("", before)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("launches.json", b"[]", "is no reference: launches.json is no map of launches"),
        ("launches.json", b"5", "is no reference: launches.json is no map of launches"),
        ("launches.json", b"{", "is no reference: launches.json does not read: Expecting property name"),
        ("launches.json", b"\xff\xfe", "is no reference: launches.json does not read: it is no text"),
        ("more.csv", b"\xff\xfe", "is no reference: more.csv does not read: it is no text"),
        ("more.csv", b"id,cycles\nrun,0\n", "has no cycles above 0 of run"),
        ("more.csv", b"id,cycles\nrun,-4\n", "has no cycles above 0 of run"),
        ("more.csv", b"id,cycles\nrun,many\n", "has no cycles above 0 of run"),
        ("more.csv", b"id,cycles\nrun,nan\n", "has no cycles above 0 of run"),
        ("more.csv", b"id,cycles,min_us\nrun,,3\n", "has no min_us above 0 of "),
    ],
)
def test_references_that_are_wrong(name: str, content: bytes, said: str, tmp_path: Path) -> None:
    folder = a_reference(tmp_path / "own", "id,cycles", ["run,9", "other,9"])
    (folder / name).write_bytes(content)
    with pytest.raises(RequestError) as caught:
        validate.main(["device=h200", f"reference={folder}"])
    assert str(caught.value).startswith(f"reference: {folder} {said}")


def test_a_picture_without_matplotlib(cycles: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(validate, "find_spec", lambda name: None)
    with pytest.raises(RequestError, match=r"png: a.png needs matplotlib: pip install 'archex-sim\[plots\]'"):
        validate.main(["device=h200", f"reference={cycles}", "png=a.png"], STEPS)


def test_pictures_and_bounds_of_rows(place: Path, cycles: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store.write_file(ROWS, Path("rows.parquet"))
    Path("mine.yaml").write_text("silicon: {mape: 40, median: 12, beyond_factor_two: 0}")
    given = [f"reference={cycles}", "rows=rows.parquet", "bounds=mine.yaml"]
    assert validate.main([*given, "png=deep/found.png", "html=found.html"]) == 1
    printed = capsys.readouterr().out.splitlines()
    assert printed[-3:] == [
        "also in deep/found.png, found.html",
        "mean error 44 % is above 40 % by 4 points",
        "launches beyond a factor of 2 1 is above 0 by 1",
    ]
    assert "mean error 40 % 44 % passed by 4" in [" ".join(line.split()) for line in printed]
    assert Path("deep/found.png").read_bytes().startswith(b"\x89PNG")
    assert "copy[n=3]" in Path("found.html").read_text()
    Path("mine.yaml").write_text("silicon: {mape: 44.1}")
    assert validate.main(given) == 0


def test_every_reference_column_is_a_column() -> None:
    assert set(reference.COUNTERS) <= set(schema.BY_NAME)


def test_repeated_launches_are_held_against_warm_times(place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = a_reference(tmp_path / "warm", "id,cycles,warm_us,shared_wavefronts", ["a,9,30.0,0", "b,9,10.0,0", "c,9,,0"])
    store.write_file([a_row("a", 33_000), a_row("b", 1), a_row("c", 1)], tmp_path / "warm.parquet")
    assert validate.main([f"reference={folder}", f"rows={tmp_path / 'warm.parquet'}", "repeat=3"]) == 0
    printed = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert {"Error of warm time", "launches compared 1", "under 20 us 1", "not measured 1", "a 30 33 +10.0 %"} <= set(printed)
    assert not any("counter" in line for line in printed)
