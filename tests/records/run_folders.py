"""Folders of runs as their writers leave them, with a few rows whose numbers anyone can see through."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import polars
from archex.records import schema, store
from archex.records.journal import Journal

ABOUT = {"archex": "1.0", "archex_sources": "aaaa", "python": "3.11.9", "command": "archex run -m"}
Row = dict[str, Any]


def a_row(design: int, launch: str, **values: Any) -> Row:
    """A design's launch; its time is the design's number."""
    known = {"launch": launch, "suite": "s", "device": "tiny", "overrides": f"l2.ways={design}", "point_id": f"{design}-{launch}"}
    return schema.row(known | {"status": "ok", "cycles": design, "time_ns": 100.0 + design, "simulate_seconds": 1.0} | values)


def rows_of(designs: Iterable[int], launches: Sequence[str] = ("copy", "gather"), **values: Any) -> list[Row]:
    return [a_row(design, launch, **values) for design in designs for launch in launches]


def failed(design: int, launch: str, error: str = "l2.ways: 5 must divide 64", **values: Any) -> Row:
    return a_row(design, launch, status="error", error=error, cycles=None, time_ns=None, **values)


def shard(folder: Path, number: int, rows: Sequence[Row], about: dict[str, str] = ABOUT, name: str = "x") -> Path:
    path = folder / f"part-{number:05d}-{name}.parquet"
    store.write_file(rows, path, about)
    return path


def journal_of(folder: Path, rows: Sequence[Row], about: dict[str, str] = ABOUT) -> Path:
    journal = Journal(folder, about)
    if rows:
        journal.append(rows)
    journal.close()
    return journal.path


def tear(path: Path) -> Path:
    path.write_bytes(path.read_bytes()[:-20])
    return path


def plain(frame: polars.DataFrame) -> polars.DataFrame:
    """The rows in an order that doesn't tell how they came to be, without what the run cost."""
    return frame.drop(schema.COSTS).sort("point_id", "launch")


def names(folder: Path) -> list[str]:
    """What lies in a folder, without what is random in names."""
    return sorted(path.name.partition("-")[0] + path.suffix if path.is_file() else path.name for path in folder.iterdir())
