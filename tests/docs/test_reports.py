"""Every preset that asks has its answer, with the commands that made it."""

from __future__ import annotations

import layers
import pytest

from reports import ANSWER, REPORTS, TABLES, asking, commands


@pytest.mark.parametrize("name", asking())
def test_a_preset_that_asks_is_answered(name: str) -> None:
    preset = asking()[name]
    page = (REPORTS / f"{name}.md").read_text()
    said, _, tables = page.partition(TABLES)
    assert f"**Question.** {preset['question']}" in said
    assert "**Answer.** " in said
    assert ANSWER not in said
    assert all(command in said for command in commands(name))
    assert tables.startswith("# Designs against ")


def test_no_report_is_left_of_a_preset_that_is_gone() -> None:
    assert {path.stem for path in REPORTS.glob("*.md")} == {*asking(), layers.PAGE.stem}


def test_the_layer_is_answered() -> None:
    said, _, tables = layers.PAGE.read_text().partition(layers.TABLES)
    assert "**Question.** " in said
    assert "**Answer.** " in said
    assert layers.COMMAND in said
    for mode in layers.MODES:
        assert f"## {mode.capitalize()}: microseconds a layer" in tables
    for device in layers.DEVICES:
        assert tables.count(f"| `{device}` |") == len(layers.MODES) * len(layers.RANKS)
    assert all(way in tables for way in layers.WAYS)
