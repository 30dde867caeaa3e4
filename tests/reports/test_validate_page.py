"""The HTML page of `archex validate`, opened and clicked through in a real browser without a window."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from archex.cli import validate
from archex.records import schema, store

HEADER = "id,family,cycles,warp_instructions,stall_long_scoreboard,stall_wait,l1_hit_pct,noisy,shared_wavefronts"
EVIL = "</script><script>document.title='owned'</script><img src=x onerror=alert(1)>{{data}}"
#: id -> measured cycles, family, modelled cycles.
LAUNCHES = {
    "copy 1": (1_000, "copy", 1_100),
    "copy 2": (20_000, "copy", 20_000),
    "copy 3": (300_000, "copy", 270_000),
    "copy 10": (4_000_000, "copy", 4_000_000),
    EVIL: (5_000, "evil", 9_000),
}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("silicon")
    (folder / "launches.json").write_text(json.dumps({name: {} for name in LAUNCHES}))
    lines = [f'"{name}",{family},{cycles},100,4,1,80,0,0' for name, (cycles, family, _) in LAUNCHES.items()]
    (folder / "k.csv").write_text("\n".join([HEADER, *lines]) + "\n")
    rows = [
        {"launch": name, "device": "d", "status": "ok", "cycles": modelled, "time_ns": modelled, "wave_instructions": 100}
        | {"stall_memory": 4 * modelled / cycles, "stall_dependency": 1, "vector_cache_hit_pct": 60 if family == "evil" else 80}
        for name, (cycles, family, modelled) in LAUNCHES.items()
    ]
    store.write_file([schema.row(row) for row in rows], folder / "rows.parquet")
    (folder / "mine.yaml").write_text(f"{folder.name}: {{mape: 5, worst: 90, warm_mape: 8, p90: 14}}")
    return folder


@pytest.fixture
def page(opened: Any, files: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[Any]:
    given = [f"reference={files}", f"rows={files / 'rows.parquet'}", f"bounds={files / 'mine.yaml'}", f"html={files / 'found.html'}"]
    assert validate.main(given) == 1
    capsys.readouterr()
    with opened(files / "found.html") as page:
        yield page


def cells(page: Any, table: str, part: str = "tbody") -> list[list[str]]:
    script = "rows => rows.map(row => [...row.cells].map(cell => cell.innerText.trim()))"
    found: list[list[str]] = page.locator(f"#{table} {part} tr").evaluate_all(script)
    return found


def test_it_asks_for_no_network(page: Any, files: Path) -> None:
    text = (files / "found.html").read_text()
    assert "default-src 'none'" in text
    assert set(re.findall(r"""https?://[^\s"'<]+""", text)) == {"http://www.w3.org/2000/svg"}, "a name, never fetched"
    assert page.title().startswith("The model against ")
    assert page.locator("img").count() == 0, "names stay text"


def test_what_is_over_all_and_its_bounds(page: Any) -> None:
    assert ["mean error (MAPE)", "20.0 %"] in cells(page, "overview")
    assert ["largest stall explained, of 5", "100.0 %"] in cells(page, "overview")
    found = cells(page, "bounds")
    assert found[0] == ["mean error", "5 %", "20 %", "passed"]
    assert ["largest error", "90 %", "80 %", "kept"] in found
    assert ["mean error of warm times", "8 %", "-", ""] in found
    assert page.locator("#band").inner_text() == "14 %"


def test_a_point_a_launch(page: Any) -> None:
    points = page.locator("#scatter circle")
    assert points.count() == len(LAUNCHES)
    titles = page.locator("#scatter circle title").all_text_contents()
    assert "copy 3: measured 300,000, model 270,000, -10.0 %" in titles
    x, y = ([float(point.get_attribute(name)) for point in points.all()] for name in ("cx", "cy"))
    assert x[:4] == sorted(x[:4])
    assert y[:4] == sorted(y[:4], reverse=True)
    assert x[1] - 58 == pytest.approx(516 - y[1], abs=0.01), "an exact launch lies on the line"
    points.nth(2).hover()
    assert page.locator("#hovered").inner_text() == titles[2]
    points.nth(2).click()
    assert page.locator("#opened").inner_text() == "copy 3: 300,000 measured, 270,000 modelled, -10.0 %"


def test_launches_sort_and_filter(page: Any) -> None:
    assert cells(page, "launches")[0][0] == EVIL
    assert cells(page, "launches")[0][4:] == ["+80.0 %", "vector cache hits 60 %, measured 80 %; waits for memory: 7.2 waves, measured 4"]
    heading = page.locator("#launches th", has_text="launch")
    heading.click()
    assert [row[0] for row in cells(page, "launches") if row[1] == "copy"] == ["copy 1", "copy 2", "copy 3", "copy 10"], (
        "numbers as numbers"
    )
    assert page.locator("#launches th", has_text="launch").get_attribute("aria-sort") == "ascending"
    page.locator("#filter").fill("copy >5")
    assert {row[0] for row in cells(page, "launches")} == {"copy 1", "copy 3"}
    assert page.locator("#scatter circle.faint").count() == 3
    assert page.locator("#shown").inner_text() == "2 of 5 are shown."


def test_a_launch_opens_its_counters(page: Any) -> None:
    page.locator("#launches tbody tr", has_text="evil").first.press("Enter")
    assert page.locator("#scatter circle.chosen").count() == 1
    assert ["vector_cache_hit_pct (%)", "60", "80", "20 points"] in cells(page, "counted")
    assert "far" in page.locator("#counted tbody tr", has_text="vector_cache").locator("td").last.get_attribute("class")
    assert ["wave_instructions (instructions)", "100", "100", "0 %"] in cells(page, "counted")


def test_a_family_shows_its_launches_alone(page: Any) -> None:
    assert [row[:3] for row in cells(page, "families")] == [["(families of under four)", "1", "80.0 %"], ["copy", "4", "5.0 %"]]
    page.locator("#families tbody tr", has_text="copy").click()
    assert len(cells(page, "launches")) == 4
    assert page.locator("#families tbody tr.chosen").inner_text().startswith("copy")
    page.locator("#families tbody tr", has_text="copy").click()
    assert len(cells(page, "launches")) == 5


def test_counters_over_all(page: Any) -> None:
    assert ["vector_cache_hit_pct", "5", "0", "12", "points", "80 %"] in cells(page, "counters")
    page.locator("#counters th", has_text="counter").click()
    names = [row[0] for row in cells(page, "counters")]
    assert names == sorted(names)


def test_dark_and_light(page: Any) -> None:
    papers = []
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        papers.append(page.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert papers[0] != papers[1]
