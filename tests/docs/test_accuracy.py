"""docs/accuracy.md says what the figures say, and can be made of rows of any form."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from archex.base import folders
from archex.records import schema, store
from archex.reports import reference
from archex.reports.validate.bounds import read

import accuracy


@pytest.fixture(scope="module")
def rows() -> list[dict[str, Any]]:
    """As if the model were a tenth slow everywhere."""
    measured = reference.read(folders.reference() / "h200").launches.values()
    return [
        schema.row({"launch": one.launch, "device": "h200", "status": "ok", "cycles": 1.1 * one.values["cycles"]})
        | {"time_ns": 1100 * (one.warm_us or 1), "wave_instructions": one.values["warp_instructions"]}
        for one in measured
        if "cycles" in one.values
    ]


def test_the_page_says_what_the_figures_say() -> None:
    text = accuracy.PAGE.read_text()
    of_runs = [name for name in accuracy.BLOCKS if name not in accuracy.OF_CONF]
    assert accuracy.page(text, json.loads(accuracy.FOUND.read_text()), of_runs) == text, "out of date: run `make accuracy` with a run"


def test_every_table_has_its_place() -> None:
    text = accuracy.PAGE.read_text()
    for name in accuracy.BLOCKS:
        assert text.count(f"<!-- begin {name} -->\n") == text.count(f"<!-- end {name} -->") == 1


def test_rows_of_any_form(rows: list[dict[str, Any]], tmp_path: Path) -> None:
    store.write_file(rows, tmp_path / "rows.parquet")
    lines = [json.dumps({"launch": row["launch"], "status": "ok", "cycles": row["cycles"], "other": 1}) for row in rows]
    (tmp_path / "rows.jsonl").write_text("\n".join(lines))
    one, other = (accuracy.rows_of(tmp_path / f"rows.{form}", "h200") for form in ("parquet", "jsonl"))
    assert [(row["launch"], row["cycles"]) for row in one] == [(row["launch"], row["cycles"]) for row in other]


def test_what_is_said_of_a_reference(rows: list[dict[str, Any]]) -> None:
    found = {"h200": accuracy.summary("h200", rows), "h200.warm": accuracy.warm_summary("h200", rows)}
    assert found["h200"]["figures"]["mape"] == pytest.approx(10)
    assert found["h200.warm"]["figures"]["warm_mape"] == pytest.approx(10)
    assert len(found["h200"]["worst"]) == 10
    assert "| mean error | 10.0 % | - |\n" in accuracy.measured_block(found)
    assert "| h200 | mean error | 6 % | 10 % | **not met**, by 4 |\n" in accuracy.stated_block(found)
    assert "| h200 | largest error | 40 % | 10 % | met |\n" in accuracy.stated_block(found)
    assert "| mi300a | mean error | 12 % | - | not run |\n" in accuracy.stated_block(found)
    assert accuracy.worst_block(found).count("\n") == 12


def test_held_out_launches_beyond_a_factor_of_two() -> None:
    worst = [["a", 10.0, 30.0, 200.0, "hits"], ["b", 10.0, 19.0, 90.0, "waits"]]
    known = {name: {"launches": 2, "figures": {"mape": 3.25}, "worst": worst} for name in accuracy.HELD_OUT}
    assert "Beyond a factor of 2 are 3:\n\n" in str(accuracy.far_block(known))
    assert "| `a` | +200 % | hits |\n" in str(accuracy.far_block(known))
    assert accuracy.far_block({**known, "h200_suite": {"launches": 1}}) is None
    assert "| 2 | 3.2 % |" in accuracy.held_out_block(known)


def test_bounds_that_could_be_tighter() -> None:
    held = read("held", "h200", folders.reference())
    known = {"h200": {"figures": {"mape": 2.0, "rank": 0.9991, "explained": 50.0, "beyond_factor_two": 0.0}}}
    assert accuracy.tighter(known) == [
        f"h200: mape: 2.2 (held today: {held['mape']:g})",
        f"h200: rank: 0.9986 (held today: {held['rank']:g})",
    ]
    assert accuracy.tighter({"h200_suite": {"figures": {"warm_median": 4.0}}}) == ["h200_suite: warm_median: 4.2 (held today: nothing)"]


def test_where_numbers_are_from() -> None:
    assert "| `l2` |" in accuracy.calibrated_block({})
    assert accuracy.sources_block({}).count("\n") == 2 + len(accuracy.DEVICES)


def test_what_is_not_known_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["accuracy.py", "h2000=x"])
    with pytest.raises(SystemExit, match="h2000 is not known"):
        accuracy.main()
