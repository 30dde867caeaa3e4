"""Rows on disk: whole or not at all, in order, readable by later schemas, torn files named."""

from __future__ import annotations

import resource
from pathlib import Path
from typing import Any

import polars
import pytest
from archex.base.errors import RequestError
from archex.records import files, schema, store


def a_row(**values: Any) -> dict[str, Any]:
    return schema.row({"launch": "copy", "device": "tiny", "status": "ok"} | values)


def said(path: Path) -> list[str]:
    with pytest.raises(RequestError) as caught:
        store.read(path)
    return [str(problem) for problem in caught.value.problems]


def test_a_file_comes_back_with_the_schema(tmp_path: Path) -> None:
    store.write_file([a_row(cycles=3), a_row(cycles=None, error="x")], tmp_path / "deep" / "rows.parquet", {"archex": "1"})
    frame = store.read(tmp_path / "deep" / "rows.parquet")
    assert dict(frame.schema) == schema.polars_schema()
    assert frame["cycles"].to_list() == [3.0, None]
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["rows.parquet"]


def test_no_rows_are_rows_too(tmp_path: Path) -> None:
    store.write_file([], tmp_path / "rows.parquet")
    assert store.read(tmp_path / "rows.parquet").shape == (0, len(schema.COLUMNS))


def test_a_full_disk_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    store.write_file([a_row(cycles=1)], path)
    before = path.read_bytes()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) // 2, hard))
    try:
        with pytest.raises(files.OutputError) as caught:
            store.write_file([a_row(cycles=2)], path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert str(caught.value) == f"{path}: cannot be written: File too large"
    assert path.read_bytes() == before
    assert [found.name for found in tmp_path.iterdir()] == ["rows.parquet"]


def test_torn_and_foreign_files_are_named_and_the_rest_is_read(tmp_path: Path) -> None:
    store.write_file([a_row()], tmp_path / "part-0.parquet")
    whole = (tmp_path / "part-0.parquet").read_bytes()
    (tmp_path / "part-1.parquet").write_bytes(whole[:-20])
    polars.DataFrame({"x": [1]}).write_parquet(tmp_path / "part-2.parquet")
    notes: list[str] = []
    assert store.read(tmp_path, notes.append)["launch"].to_list() == ["copy"]
    torn, foreign = notes
    assert torn.startswith(f"{tmp_path / 'part-1.parquet'}: is torn or no file of rows: ")
    assert foreign == f"{tmp_path / 'part-2.parquet'}: is torn or no file of rows: it lacks the columns launch, device, status; left out"
    (tmp_path / "part-0.parquet").unlink()
    assert len(said(tmp_path)) == 2
    assert said(tmp_path / "part-1.parquet")[0].startswith(f"{tmp_path / 'part-1.parquet'}: is torn or no file of rows: ")


def test_one_row_a_point_and_launch(tmp_path: Path) -> None:
    """A result beats a failure, whichever came later; else the later stays."""
    tries = {"a": ("killed", "ok"), "b": ("ok", "error"), "c": ("error", "killed"), "d": ("ok", "unsupported")}
    for turn in range(2):
        rows = [a_row(point_id=point, status=statuses[turn], cycles=turn) for point, statuses in tries.items()]
        store.write_file([*rows, a_row(cycles=turn)], tmp_path / f"part-{turn}.parquet")
    found = store.read(tmp_path)
    assert found.filter(polars.col("point_id").is_null()).height == 2  # nobody knows what they are rows of: they stay
    found = found.filter(polars.col("point_id").is_not_null()).sort("point_id")
    assert found["status"].to_list() == ["ok", "ok", "killed", "unsupported"]
    assert found["cycles"].to_list() == [1, 0, 1, 1]


def test_missing_and_empty(tmp_path: Path) -> None:
    assert said(tmp_path / "none") == [f"{tmp_path / 'none'}: does not exist; expected a Parquet file or the folder of a run"]
    assert said(tmp_path) == [f"{tmp_path}: holds no rows (no *.parquet file)"]


def test_older_files_grow(tmp_path: Path) -> None:
    old = polars.DataFrame([a_row(cycles=7)], schema=schema.polars_schema()).drop("limiter").with_columns(polars.lit(1).alias("gone"))
    old.write_parquet(tmp_path / "rows.parquet")
    frame = store.read(tmp_path / "rows.parquet")
    assert list(frame.columns) == [column.name for column in schema.COLUMNS]
    assert frame["limiter"].to_list() == [None]


def test_a_row_has_every_column_and_no_other() -> None:
    assert list(a_row()) == [column.name for column in schema.COLUMNS]
    assert (a_row(cycles=3)["cycles"], a_row(registers_per_thread=16.0)["registers_per_thread"]) == (3.0, 16)
    with pytest.raises(KeyError, match="not a column: cyles"):
        schema.row({"cyles": 1})


def test_every_column_says_what_it_is() -> None:
    assert len(schema.BY_NAME) == len(schema.COLUMNS)
    assert [column.name for column in schema.COLUMNS if not column.meaning or (column.type == "float" and not column.unit)] == []
