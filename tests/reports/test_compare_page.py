"""The HTML page of `archex compare`, opened and clicked through in a real browser without a window."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from archex.cli import compare
from archex.records import store
from archex.reports.compare.findings import Findings, explain, find
from archex.reports.compare.grid import grid
from archex.reports.compare.names import mechanism, signed_time
from archex.reports.text import ratio, time
from by_hand import a_row, failed, write


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """24 designs and three launches; copy is extrapolated, gather flips the order, scan fails on one."""
    rows = []
    for size in (8, 16, 32, 64):
        for ways in range(2, 8):
            overrides = f"l2.size={size}MiB, l2.ways={ways}"
            known = {"stall_barrier": 0.5, "lane_instructions": 3100.0 + ways, "launch_drain_cycles": 90.0, "l2_hit_pct": 10.0 * ways}
            rows.append(a_row("h200", "copy", 1.0013e5 / size, overrides, stall_memory=100.0 / size, error_bound=0.02, **known))
            rows.append(a_row("h200", "gather", 9e3 + 40.0 * size + ways, overrides, stall_memory=3.0, dram_read_bytes=1e6 * ways, **known))
            if (size, ways) == (64, 7):
                rows.append(failed("h200", "scan", overrides, "unsupported"))
            else:
                rows.append(a_row("h200", "scan", 3e6 / size**0.5, overrides, stall_memory=9.0, stall_fence=1.0 if size > 16 else 0.0))
    return Path(write(tmp_path_factory.mktemp("page") / "sweep.parquet", *rows))


@pytest.fixture
def page(opened: Any, run: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[Any]:
    """The page, open."""
    file = run.with_suffix(".html")
    assert compare.main([str(run), "--html", str(file)]) == 0
    capsys.readouterr()
    with opened(file) as page:
        yield page


def findings(run: Path, baseline: int = 0) -> Findings:
    return find(grid([("sweep", store.read(run))]), baseline, 100)


def rows(page: Any, table: str, part: str = "tbody") -> list[list[str]]:
    script = "rows => rows.map(row => [...row.cells].map(cell => cell.innerText.trim()))"
    found: list[list[str]] = page.locator(f"#{table} {part} tr").evaluate_all(script)
    return found


def column(page: Any, table: str, name: str) -> list[str]:
    (names,) = rows(page, table, "thead")
    return [row[names.index(name)] for row in rows(page, table)]


def test_it_asks_for_no_network(page: Any, run: Path) -> None:
    text = run.with_suffix(".html").read_text()
    assert "default-src 'none'" in text
    assert set(re.findall(r"""https?://[^\s"'<]+""", text)) == {"http://www.w3.org/2000/svg"}, "a name, never fetched"
    assert page.evaluate("performance.getEntriesByType('resource').filter(e => !e.name.startsWith('data:')).length") == 0


def test_standings_are_those_of_the_report(page: Any, run: Path) -> None:
    found = findings(run)
    shown = [(found.label(s.design), "1x" if s.design == 0 else ratio(s.mean.value), s.launches) for s in found.standings if s.mean]
    expected = {(label, mean.removesuffix(" ~"), str(count)) for label, mean, count in shown}
    page.locator("#next").click()
    pages = [rows(page, "designs")]
    page.locator("#previous").click()
    pages.insert(0, rows(page, "designs"))
    assert [len(part) for part in pages] == [20, 4]
    assert {(row[1], row[2].removesuffix(" ~"), row[9]) for part in pages for row in part} == expected
    assert page.locator("#facts").inner_text().startswith("24 designs, 3 launches")


def test_sorting_a_column(page: Any) -> None:
    by_mean = [float(text.rstrip("x ~")) for text in column(page, "designs", "speed-up")]
    assert by_mean == sorted(by_mean, reverse=True)
    heading = page.locator("#designs th", has_text="design")
    heading.click()
    labels = column(page, "designs", "design")
    assert labels[0] == "l2.size=8MiB l2.ways=2"
    assert labels[-1] == "l2.size=64MiB l2.ways=3", "numbers in names sort as numbers"
    assert heading.get_attribute("aria-sort") == "ascending"
    heading.click()
    assert column(page, "designs", "design")[0] == "l2.size=64MiB l2.ways=7"


def test_filtering(page: Any) -> None:
    page.locator("#filter").fill("size=64mib ways=5")
    assert column(page, "designs", "design") == ["l2.size=64MiB l2.ways=5"]
    page.locator("#filter").fill(">1.5 size=32")
    assert len(rows(page, "designs")) == 6
    assert page.locator("#range").inner_text() == "1 to 6 of 6"
    page.locator("#filter").fill("nothing of the kind")
    assert page.locator("#designs tbody tr").count() == 0
    assert page.locator("#range").inner_text() == "no design passes the filter"


def test_another_baseline_compares_anew(page: Any, run: Path) -> None:
    page.locator("#filter").fill("size=64MiB ways=2")
    page.locator("#designs button.set").click()
    page.locator("#filter").fill("size=8MiB ways=2")
    found = findings(run, baseline=18)
    assert page.locator("#baseline").inner_text() == found.label(18) == "l2.size=64MiB l2.ways=2"
    mean = next(s.mean for s in found.standings if s.design == 0)
    assert mean is not None
    row = rows(page, "designs")[0]
    assert row[1:4] == ["l2.size=8MiB l2.ways=2", ratio(mean.value), f"{ratio(mean.low)} .. {ratio(mean.high)}"]
    page.locator("#filter").fill("")
    assert "baseline" in column(page, "designs", "")


@pytest.mark.parametrize("baseline", [0, 18])
def test_a_launch_opens_its_waterfall(page: Any, run: Path, baseline: int) -> None:
    found = findings(run, baseline)
    if baseline:
        page.locator("#filter").fill("size=64MiB ways=2")
        page.locator("#designs button.set").click()
    page.locator("#filter").fill("size=32MiB ways=4")
    page.locator("#designs tbody tr", has_text="l2.ways=4").click()
    design = next(s for s in found.standings if found.label(s.design) == "l2.size=32MiB l2.ways=4")
    assert design.mean is not None
    one = explain(found.grid, baseline, design.design, found.speed_ups, design.mean)
    assert page.locator("#versus").inner_text() == f"{found.label(one.design)} against {found.label(baseline)}"
    texts = page.locator("#factors text").all_text_contents()
    factors = dict(zip(texts[::2], texts[1::2], strict=True))
    assert factors["together"] == ratio(one.mean.value)
    for name, factor in one.factors.items():
        assert factors.get(mechanism(name), "1x") == ratio(factor) or abs(factor - 1) < 0.005
    for change in one.changes:
        launch = found.grid.launches[change.launch]
        page.locator("#launches tbody tr", has_text=launch).click()
        assert page.locator("#opened").inner_text() == f"{launch}: {time(change.old_ns)} → {time(change.new_ns)}"
        names = page.locator("#waterfall text[text-anchor=end]").all_text_contents()
        values = page.locator("#waterfall text.value").all_text_contents()
        shown = dict(zip(names, values, strict=True))
        assert (shown.pop("baseline"), shown.pop("this design")) == (time(change.old_ns), time(change.new_ns))
        shown.pop("others", None)
        notable = {mechanism(k): v for k, v in change.contributions.items() if abs(v) >= 0.003 * max(change.old_ns, change.new_ns)}
        assert set(shown) == set(notable)
        for name, value in notable.items():
            assert near(shown[name], value), f"{launch}, {name}: {shown[name]} is not {signed_time(value)}"


def near(text: str, nanoseconds: float) -> bool:
    """Numbers travel as 32-bit floats: their last digit may differ."""
    number, unit = text.split()
    return float(number) * {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}[unit] == pytest.approx(nanoseconds, rel=2e-3)


def test_what_is_missing_has_its_status(page: Any) -> None:
    page.locator("#filter").fill("size=64MiB ways=7")
    page.locator("#designs tbody tr", has_text="l2.ways=7").click()
    assert ["scan", "unsupported"] in [[row[0], row[2]] for row in rows(page, "launches")]


def test_flips_open_their_launch(page: Any) -> None:
    assert set(column(page, "flipped", "launch")) == {"gather"}
    page.locator("#flipped tbody tr").first.click()
    assert page.locator("#opened").inner_text().startswith("gather: ")
    assert page.locator("#traffic tbody tr", has_text="DRAM reads (bytes)").count() == 1


def test_swept_numbers_are_drawn(page: Any) -> None:
    assert page.locator("#charts svg polyline").count() == 4
    assert page.locator("#charts h3").all_inner_texts() == ["l2.ways"]
    title = page.locator("#charts circle title").first.text_content()
    assert re.fullmatch(r"8MiB: 1x", title)


def test_keys_do_what_the_mouse_does(page: Any) -> None:
    page.locator("#designs tbody tr.open").nth(3).press("Enter")
    label = column(page, "designs", "design")[3]
    assert page.locator("#versus").inner_text().startswith(f"{label} against")


def test_the_printed_report_is_in_it(page: Any, run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    compare.main([str(run)])
    printed = capsys.readouterr().out
    page.locator("#printed summary").click()
    text = page.locator("#printed").inner_text()
    missing = [word for word in set(re.findall(r"[\w.=+-]{3,}", printed)) if word not in text]
    assert missing == []


def test_hostile_names_stay_text(browser: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    evil = "</script><script>document.title='owned'</script><img src=x onerror=alert(1)>{{data}}"
    path = write(tmp_path / "evil.parquet", a_row("a", evil, 10, f"k={evil}"), a_row("a", evil, 5, "k=1"))
    assert compare.main([path, "--html", str(tmp_path / "evil.html")]) == 0
    opened = browser.new_page()
    opened.goto((tmp_path / "evil.html").as_uri())
    opened.wait_for_selector("body[data-ready=yes]")
    assert opened.title().startswith("Designs against k=</script>")
    assert column(opened, "launches", "launch") == [evil]
    assert opened.locator("img").count() == 0
    opened.close()


def test_the_page_reckons_as_the_report_does(browser: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every pair of designs and every launch, rows of all kinds: no stalls, no lanes, no work, a gap, no counters."""
    kinds = [
        {"stall_memory": 3.0, "stall_fence": 0.25},
        {"stall_memory": 1.0, "stall_barrier": 7.0, "launch_drain_cycles": 30.0},
        {"lane_instructions": None, "stall_fetch": 2.0},
        {"launch_drain_cycles": 5000.0, "stall_memory": 1.0},
        {"time_ns": 9000.0, "stall_memory": 2.5, "error_bound": 0.04},
        {"cycles": None},
        {"clock_hz": 1.5e9, "cycles": 4321.0, "wave_instructions": 900.0, "lane_instructions": 20000.0},
    ]
    made = [a_row("d", f"l{k}", 100.0 * (k + 3), f"k={place}") | kind for place, kind in enumerate(kinds) for k in range(2)]
    for row in made[-2:]:
        row["time_ns"] = 1e9 * row["cycles"] / row["clock_hz"]
    path = write(tmp_path / "kinds.parquet", *made)
    assert compare.main([path, "--html", str(tmp_path / "kinds.html")]) == 0
    opened = browser.new_page()
    opened.goto((tmp_path / "kinds.html").as_uri())
    opened.wait_for_selector("body[data-ready=yes]")
    rows_of = grid([("kinds", store.read(Path(path)))])
    pairs = [(old, new) for old in range(len(kinds)) for new in range(len(kinds)) if old != new]
    for old, new in pairs:
        one = find(rows_of, old, 100)
        mean = next(s.mean for s in one.standings if s.design == new)
        assert mean is not None
        told = explain(rows_of, old, new, one.speed_ups, mean)
        assert opened.evaluate("([a, b]) => overSuite(a, b)", [old, new]) == pytest.approx(told.factors, rel=1e-4)
        standing = opened.evaluate("([a, b]) => standing(a, b).mean", [old, new])
        assert [standing[k] for k in ("value", "low", "high")] == pytest.approx([mean.value, mean.low, mean.high], rel=1e-5)
        for change in told.changes:
            reckoned = opened.evaluate("([a, b, l]) => contributions(a, b, l)", [old, new, change.launch])
            assert reckoned == pytest.approx(change.contributions, rel=1e-4, abs=1e-3), (old, new)
    opened.close()
