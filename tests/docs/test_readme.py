"""The README's first screen: its commands exist, and its table is what the main job prints."""

from __future__ import annotations

import re

import pytest
from pages import ROOT
from refresh import printed, shown


def numbers(table: str) -> dict[str, float]:
    """launch -> cycles."""
    found = re.findall(r"^ (\w+) +([\d,]+) ", table, re.MULTILINE)
    return {name: float(cycles.replace(",", "")) for name, cycles in found}


def test_the_commands_are_targets() -> None:
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    commands = set(re.findall(r"^make (\w+)$", (ROOT / "README.md").read_text(), re.MULTILINE))
    assert {"run", "test"} <= commands <= targets
    assert "make test" in (ROOT / ".ci/run").read_text()


@pytest.mark.slow
def test_the_table_is_real() -> None:
    now, then = numbers(printed()), numbers(shown())
    assert len(now) == 8
    assert set(now) == set(then)
    assert then == pytest.approx(now, rel=0.02), "the model has moved: `make readme` puts the new output in"
