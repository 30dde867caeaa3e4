"""The way to a device against what was measured of it: calls, graphs, copies, kernels side by side (`h200/host.csv`)."""

from __future__ import annotations

from statistics import mean

import pytest
from archex.base import folders
from host_rows import Row, modelled, rows
from machines import ran

ROWS = tuple(rows(folders.reference() / "h200/host.csv"))
#: Rows of what happens once, before any work: measured with more noise, and held to less.
ONCE = ("graph_capture", "graph_instantiate", "ptx_jit")


def error(row: Row) -> float:
    """Of the model, in percent."""
    return 100 * (modelled(row, ran) / row.us - 1)


def test_all_rows_are_there() -> None:
    assert len(ROWS) == 135


def test_calls_graphs_and_copies_are_close_on_average() -> None:
    errors = {(row.name, *row.given.values()): error(row) for row in ROWS if not row.name.startswith(ONCE)}
    assert mean(map(abs, errors.values())) <= 6
    far = {row for row, e in errors.items() if abs(e) > 32}
    assert far == {("d2d_event", "65536")}, "of which a second card shows nothing (h200_host)"


def test_what_happens_once_is_near() -> None:
    errors = [abs(error(row)) for row in ROWS if row.name.startswith(ONCE)]
    assert mean(errors) <= 12


@pytest.mark.parametrize("name", sorted({row.name for row in ROWS}))
def test_each_kind_of_row_is_within_the_bound(name: str) -> None:
    assert mean(abs(error(row)) for row in ROWS if row.name == name) <= (30 if name.startswith(ONCE) else 15)
