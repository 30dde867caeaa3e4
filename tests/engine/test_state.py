"""Columns of the engine's state: within one table no two have the same number."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from archex.engine import state

TEXT = Path(state.__file__).read_text()
TABLES = dict(re.findall(r"^# --- (.+)\n((?:.*\n)*?)(?=\n# ---|\nclass |\Z)", TEXT, re.M))
COLUMNS = ("waves[w]", "schedulers[g]", "units[u]", "groups[s]", "scalars", "levels_int[level]")


@pytest.mark.parametrize("table", COLUMNS)
def test_columns_are_distinct(table: str) -> None:
    body = next(body for title, body in TABLES.items() if title.startswith(table))
    found = [(int(number), name) for name, number in re.findall(r"^([A-Z_0-9]+) = (\d+)\b(?! <<)", body, re.M)]
    numbers = [number for number, name in found if not name.endswith(("COLUMNS", "BARRIERS")) and name != "SCALARS"]
    assert len(numbers) > 4
    assert len(set(numbers)) == len(numbers), sorted(found)
    assert max(numbers) < max(number for number, name in found if name.endswith("COLUMNS") or name == "SCALARS")


def test_launch_columns_are_distinct() -> None:
    found = [int(number) for number in re.findall(r"^L_[A-Z_]+ = (\d+)", TEXT, re.M)]
    assert len(set(found)) == len(found)
    assert max(found) < state.LAUNCH_COLUMNS
