"""`archex compare`: what it prints and writes, and how it refuses."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from archex.base.errors import RequestError
from archex.cli import compare, main
from archex.records import store
from archex.reports.designs import Key, designs, labels
from by_hand import a_row, failed, write

SWEPT = "l2.size=64 MiB, "


@pytest.fixture
def sweep(tmp_path: Path) -> str:
    old, new = f"l2.ways=4, {SWEPT[:-2]}", f"l2.ways=8, {SWEPT[:-2]}"
    return write(
        tmp_path / "sweep.parquet",
        a_row("h200", "copy", 100, old, stall_memory=4.0, dram_read_bytes=1000, l2_hit_pct=40),
        a_row("h200", "gather", 400, old),
        a_row("h200", "scan", 50, old),
        a_row("h200", "copy", 50, new, stall_memory=1.5, dram_read_bytes=500, l2_hit_pct=70, limiter="issue"),
        a_row("h200", "gather", 600, new),
        failed("h200", "scan", new),
    )


def lines(text: str) -> list[str]:
    """Lines without the blanks between columns."""
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]


def test_one_run_compares_its_designs(sweep: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert compare.main([sweep]) == 0
    printed = lines(capsys.readouterr().out)
    assert "l2.ways=8 1.15x 1 1 2x copy 0.667x gather 2" in printed
    assert "l2.ways=4 (baseline) 1x - - - - 3" in printed
    assert "scan error 1 l2.ways=8" in printed
    assert "copy 100 ns 50 ns 2x *" in printed
    assert "scan 50 ns error" in printed
    assert "copy 2x -50 ns memory -50 ns memory -> issue DRAM reads -50 %, L2 hits 40 -> 70 %" in printed
    assert "gather 0.667x +200 ns lanes at work +200 ns memory -" in printed
    assert "gather l2.ways=4 1.5x l2.ways=8 1.15x" in printed, "a flip"
    assert "4 1x █████████████████████" in printed


def test_a_baseline_by_name(sweep: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert compare.main([sweep, "baseline=l2.ways=8"]) == 0
    assert "l2.ways=4 0.866x 1 1 1.5x gather 0.5x copy 2" in lines(capsys.readouterr().out)


def test_error_bounds_are_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [a_row("h200", "copy", 100, "k=1", error_bound=0.02), a_row("h200", "copy", 98, "k=2", error_bound=0.02)]
    assert compare.main([write(tmp_path / "a.parquet", *rows)]) == 0
    printed = lines(capsys.readouterr().out)
    assert "k=2 1.02x ~ 0.98x .. 1.06x 0 0 1 1.02x copy 1.02x copy 1" in printed
    assert "copy 100 ns 98 ns 1.02x ~" in printed


def test_several_runs_are_told_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = [write(tmp_path / f"{name}.parquet", a_row("h200", "copy", time)) for name, time in (("before", 100), ("after", 80))]
    assert compare.main(names) == 0
    assert "after 1.25x 1 0 1.25x copy 1.25x copy 1" in lines(capsys.readouterr().out)
    alike = [write(tmp_path / folder / "run.parquet", a_row("h200", "copy", time)) for folder, time in (("a", 100), ("b", 50))]
    assert compare.main([*alike, "baseline=b/run"]) == 0
    assert "a/run 0.5x 0 1 0.5x copy 0.5x copy 1" in lines(capsys.readouterr().out)


def test_a_run_of_several_designs_is_a_baseline(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def rows(times: dict[str, float]) -> list[dict[str, Any]]:
        return [a_row("h200", "copy", time, f"l2.ways={ways}") for ways, time in times.items()]

    before = write(tmp_path / "before.parquet", *rows({"4": 100, "8": 100}))
    after = write(tmp_path / "after.parquet", *rows({"8": 50, "4": 125, "16": 1}))
    assert compare.main([before, after, "baseline=before"]) == 0
    printed = lines(capsys.readouterr().out)
    assert "after 1.26x 1 1 2x copy on l2.ways=8 0.8x copy on l2.ways=4 2" in printed
    assert "copy on l2.ways=16 absent 1 before" in printed
    assert "copy on l2.ways=4 before 1.25x after 1.26x" in printed, "a flip"
    assert compare.main([before, after, "baseline=before l2.ways=8"]) == 0
    assert "after l2.ways=4 0.8x 0 1 0.8x copy 0.8x copy 1" in lines(capsys.readouterr().out)


def test_thousands_are_listed_by_their_ends(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path / "many.parquet", *(a_row("d", "a", 1000 / k, f"k={k}") for k in range(1, 41)))
    assert compare.main([path, "top=2"]) == 0
    printed = lines(capsys.readouterr().out)
    start = next(place for place, line in enumerate(printed) if line.startswith("k=40"))
    listed = [line.split()[:3] for line in printed[start : start + 6]]
    assert [line[0] for line in listed] == ["k=40", "k=39", "...", "k=3", "k=2", "k=1"]
    assert listed[2] == ["...", "35", "more"]
    assert "35 of 40 designs are not listed; top=N lists more." in printed


def test_markdown_says_the_same(sweep: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "deep/page.md"
    assert compare.main([sweep, "--markdown", str(page)]) == 0
    printed = capsys.readouterr().out
    assert printed.endswith(f"also in {page}\n")
    assert compare.main([sweep, "--markdown=-"]) == 0
    assert capsys.readouterr().out == page.read_text()
    text = page.read_text().replace("\\", "")
    for line in lines(printed)[:-1]:
        for word in re.findall(r"[\w.%+-]{2,}", line):
            assert word in text
    tables = re.findall(r"(?:^\|.*\n)+", page.read_text(), re.MULTILINE)
    assert all(len({len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}) == 1 for table in tables)


def test_labels_say_what_differs() -> None:
    keys = [Key(0, device, f"wave_scheduler={w}, l2.ways=4") for device in ("h200", "mi300a") for w in ("greedy", "loose")]
    assert [design.label for design in designs(keys, ["run"])] == ["h200 greedy", "h200 loose", "mi300a greedy", "mi300a loose"]
    rows: list[dict[str, Any]] = [{"device": "x", "overrides": o} for o in ("path=[a, b], k=1", "path=[a, c], k=1")]
    assert list(labels(rows).values()) == ["path=[a, b]", "path=[a, c]"], "a comma inside brackets"


WRONG = {
    "nothing": ([], "RUN: is missing: give the folder or the Parquet file of a run"),
    "no such run": (["{tmp}/none"], "{tmp}/none: does not exist; expected a Parquet file or the folder of a run"),
    "not rows": (["{tmp}/text.parquet"], "{tmp}/text.parquet: is torn or no file of rows"),
    "one design": (["{tmp}/one.parquet"], "{tmp}/one.parquet: holds one design only (h200); there is nothing to compare"),
    "twice": (["{sweep}", "{sweep}"], "{sweep}: is given twice"),
    "baseline": (
        ["{sweep}", "baseline=l2.ways=9"],
        "baseline: l2.ways=9 names no design of these runs; did you mean l2.ways=8? (choices: l2.ways=4, l2.ways=8)",
    ),
    "baseline of two": (["{sweep}", "baseline=h200"], "baseline: h200 names 2 designs; say which (choices: l2.ways=4, l2.ways=8)"),
    "no baseline": (["{sweep}", "baseline="], "baseline: '' needs the name of a design"),
    "key": (["{sweep}", "basline=h200"], "basline: is not a key of compare; did you mean baseline? (choices: baseline, top)"),
    "top": (["{sweep}", "top=none"], "top: none expected a whole number from 1: designs to list of each end"),
    "top of none": (["{sweep}", "top=0"], "top: 0 expected a whole number from 1: designs to list of each end"),
    "flag": (["{sweep}", "--htm"], "--htm: is not a flag of compare; did you mean --html? (choices: --html FILE, --markdown FILE)"),
    "no file": (["{sweep}", "--html"], "--html: needs a file name"),
    "no file, but a flag": (["{sweep}", "--html", "--markdown", "-"], "--html: needs a file name"),
    "a folder": (["{sweep}", "--html", "{tmp}"], "--html: {tmp} is a folder; expected the name of a file"),
    "in no folder": (["{sweep}", "--html", "{sweep}/a.html"], "--html: "),
    "the run itself": (["{sweep}", "--markdown", "{sweep}"], "--markdown: "),
    "page on standard output": (["{sweep}", "--html", "-"], "--html: - needs a file name; only --markdown may go to standard output"),
    "one file for both": (["{sweep}", "--html=a", "--markdown=a"], "--markdown: a is the file of another flag too"),
    "all at once": (["{sweep}", "top=x", "--htlm", "k=1"], "\n"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_compared(name: str, sweep: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path / "one.parquet", a_row("h200", "copy", 1))
    (tmp_path / "text.parquet").write_text("no rows")
    before = sorted(tmp_path.rglob("*"))
    arguments, expected = WRONG[name]
    filled = [argument.format(tmp=tmp_path, sweep=sweep) for argument in arguments]
    with pytest.raises(RequestError) as caught:
        compare.main(filled)
    said = str(caught.value)
    assert said.count("\n") == 2 if name == "all at once" else said.startswith(expected.format(tmp=tmp_path, sweep=sweep)), said
    ends = {"in no folder": f"cannot be written: {sweep} is no folder", "the run itself": " is one of the runs; it would be overwritten"}
    assert said.endswith(ends.get(name, ""))  # a long value is cut short in the middle of the message
    assert main.main(["compare", *filled]) == 2
    assert capsys.readouterr().out == ""
    assert sorted(tmp_path.rglob("*")) == before, "nothing is written"


def test_rows_of_an_older_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file that knows no counters: times are compared, and the page says that nothing explains them."""
    frame = store.read(Path(write(tmp_path / "new.parquet", a_row("a", "x", 200), a_row("b", "x", 100))))
    frame.select("launch", "device", "status", "time_ns").write_parquet(tmp_path / "old.parquet")
    assert compare.main([str(tmp_path / "old.parquet")]) == 0
    assert "x 2x -100 ns not explained -100 ns - -" in lines(capsys.readouterr().out)
