"""Rows made by hand, and grids of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars
from archex.records import schema, store
from archex.reports.compare.grid import Grid, grid

Row = dict[str, Any]


def a_row(device: str, launch: str, time: float, overrides: str = "", **values: Any) -> Row:
    """An ok row of 100 wave-instructions at 1 GHz, with the counters that explain its time unless told otherwise."""
    known = {"device": device, "launch": launch, "time_ns": time, "overrides": overrides, "status": "ok", "wave_instructions": 100.0}
    known |= {"cycles": time, "clock_hz": 1e9, "launch_drain_cycles": 0.0, "lane_instructions": 3200.0, "error_bound": 0.0}
    return schema.row(known | {"device_fingerprint": f"f-{device}-{overrides}", "limiter": "stall_memory"} | values)


def failed(device: str, launch: str, overrides: str = "", status: str = "error") -> Row:
    return schema.row({"device": device, "launch": launch, "overrides": overrides, "status": status})


def frame(rows: Sequence[Row]) -> polars.DataFrame:
    return polars.DataFrame(list(rows), schema=schema.polars_schema())


def a_grid(*rows: Row) -> Grid:
    return grid([("run", frame(rows))])


def swept(times: dict[str, Sequence[float | None]], bounds: dict[str, float] | None = None) -> Grid:
    """Design -> times of the launches a, b, c ...; None is a launch with an error."""
    rows = []
    for overrides, known in times.items():
        for letter, time in zip("abcdefgh", known, strict=False):
            bound = (bounds or {}).get(overrides, 0.0)
            row = failed("d", letter, overrides) if time is None else a_row("d", letter, time, overrides, error_bound=bound)
            rows.append(row)
    return a_grid(*rows)


def write(path: Path, *rows: Row) -> str:
    store.write_file(rows, path)
    return str(path)
