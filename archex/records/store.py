"""Rows on disk: one Parquet file, or a folder of them that can be resumed.

In: rows (`schema.row`). Out: files that are there whole or not at all (temporary name, then `os.replace`), and frames read back in the
order the rows were written. A file that does not read is named.
"""

from __future__ import annotations

import io
import os
import uuid
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from archex.base.errors import ABSENT, Problem, RequestError
from archex.records import schema

if TYPE_CHECKING:
    import polars

SHARD_ROWS = 1000


class OutputError(Exception):
    """Rows could not be written (a full or read-only disk): one line, ready to print."""


def write_file(rows: Sequence[dict[str, Any]], path: Path, provenance: dict[str, str] | None = None) -> None:
    """All rows as one file; OutputError leaves neither it nor a temporary one behind (an older file stays as it was)."""
    import polars

    frame = polars.DataFrame(list(rows), schema=schema.polars_schema())
    content = io.BytesIO()  # in memory first: polars' own words for a full disk name neither the disk nor the file
    frame.write_parquet(content, metadata=dict(provenance or {}))
    replace(path, content.getbuffer())


def replace(path: Path, content: bytes | memoryview) -> None:
    """Put `content` at `path`, whole or not at all."""
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(temporary, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {error.strerror or str(error).splitlines()[0]}") from None
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


class Dataset:
    """A folder of shards with one writer; rows wait in memory until a shard is full or `flush` is called."""

    def __init__(self, folder: Path, provenance: dict[str, str] | None = None) -> None:
        self.folder = folder
        self._provenance = provenance
        self._waiting: list[dict[str, Any]] = []
        self._shards = len(shards(folder)) if folder.is_dir() else 0

    def append(self, rows: Sequence[dict[str, Any]]) -> None:
        """Take rows; write the shards that are full."""
        self._waiting += rows
        while len(self._waiting) >= SHARD_ROWS:
            self._write(self._waiting[:SHARD_ROWS])
            self._waiting = self._waiting[SHARD_ROWS:]

    def flush(self) -> None:
        """Write what waits."""
        if self._waiting:
            self._write(self._waiting)
            self._waiting = []

    def _write(self, rows: list[dict[str, Any]]) -> None:
        write_file(rows, self.folder / f"part-{self._shards:05d}-{uuid.uuid4().hex}.parquet", self._provenance)
        self._shards += 1


def shards(folder: Path) -> list[Path]:
    """A dataset's files, in the order they were written."""
    return sorted(folder.glob("*.parquet"))


def read(path: Path) -> polars.DataFrame:
    """A file or a dataset as one frame with every column of the schema. RequestError names each file that does not read."""
    import polars

    if not path.exists():
        raise RequestError([Problem(str(path), ABSENT, "does not exist; expected a Parquet file or the folder of a run")])
    files = shards(path) if path.is_dir() else [path]
    if not files:
        raise RequestError([Problem(str(path), ABSENT, "holds no rows (no *.parquet file)")])
    frames, problems = [], []
    for file in files:
        try:
            frames.append(_conform(polars.read_parquet(file)))
        except (polars.exceptions.PolarsError, OSError, ValueError) as error:
            problems.append(Problem(str(file), ABSENT, f"is torn or no Parquet file of rows: {str(error).splitlines()[0]}"))
    if problems:
        raise RequestError(problems)
    return polars.concat(frames)


def _conform(frame: polars.DataFrame) -> polars.DataFrame:
    """An older file's rows in today's columns: new ones null, unknown ones dropped. ValueError if it holds no rows of ours."""
    import polars

    missing = [name for name in ("launch", "device", "status") if name not in frame.columns]
    if missing:
        raise ValueError(f"it lacks the columns {', '.join(missing)}")
    columns = [
        (polars.col(name) if name in frame.columns else polars.lit(None)).cast(type_).alias(name)
        for name, type_ in schema.polars_schema().items()
    ]
    return frame.select(columns)


def check_writable(path: Path) -> Problem | None:
    """Whether a file at `path` (or in it, for a folder) could be written; leaves nothing behind."""
    is_file = path.suffix == ".parquet"
    if is_file and path.is_dir():
        return Problem("output", str(path), "is a folder; a name that ends in .parquet is one file")
    if not is_file and path.exists() and not path.is_dir():
        return Problem("output", str(path), "is a file; expected a folder, or a name that ends in .parquet")
    nearest = path.parent if is_file else path
    while not nearest.exists():
        nearest = nearest.parent
    if not nearest.is_dir():
        return Problem("output", str(path), f"cannot be written: {nearest} is no folder")
    probe = nearest / f".archex-{uuid.uuid4().hex[:8]}.tmp"
    try:
        probe.touch()
        probe.unlink()
    except OSError as error:
        return Problem("output", str(path), f"cannot be written: {nearest}: {error.strerror}")
    return None
