"""Rows on disk: one Parquet file, or a folder of them that can be resumed.

In: rows (`schema.row`). Out: files that are there whole or not at all (temporary name, then `os.replace`), and frames read back in the
order the rows were written. A file that does not read is named.
"""

from __future__ import annotations

import io
import time
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from archex.base.errors import ABSENT, Problem, RequestError
from archex.records import schema
from archex.records.files import replace

if TYPE_CHECKING:
    import polars

SHARD_ROWS = 1000


def write_file(rows: Sequence[dict[str, Any]], path: Path, provenance: dict[str, str] | None = None) -> None:
    """All rows as one file; OutputError leaves neither it nor a temporary one behind (an older file stays as it was)."""
    import polars

    frame = polars.DataFrame(list(rows), schema=schema.polars_schema())
    content = io.BytesIO()  # in memory first: polars' own words for a full disk name neither the disk nor the file
    frame.write_parquet(content, metadata=dict(provenance or {}))
    replace(path, content.getbuffer())


class Dataset:
    """A folder of shards with one writer. Rows come in any order and stand in that of their index.

    A shard is written when it is full, and meanwhile every `patience` seconds under the same name, so that a killed run loses little.
    """

    def __init__(self, folder: Path, provenance: dict[str, str] | None = None, patience: float = 30.0) -> None:
        self.folder = folder
        self._provenance = provenance
        self._patience = patience
        self._first = len(shards(folder)) if folder.is_dir() else 0
        self._rows: dict[int, dict[int, dict[str, Any]]] = {}  # shard -> index -> row
        self._names: dict[int, str] = {}
        self._changed: set[int] = set()
        self._written = time.monotonic()

    def put(self, index: int, row: dict[str, Any]) -> None:
        """Take a row."""
        shard = index // SHARD_ROWS
        self._rows.setdefault(shard, {})[index] = row
        self._changed.add(shard)
        if len(self._rows[shard]) == SHARD_ROWS:
            self._write(shard)
            del self._rows[shard]
        elif time.monotonic() - self._written > self._patience:
            self.flush()

    def flush(self) -> None:
        """Write what has come since the last time."""
        for shard in sorted(self._changed):
            self._write(shard)
        self._written = time.monotonic()

    def _write(self, shard: int) -> None:
        name = self._names.setdefault(shard, f"part-{self._first + shard:05d}-{uuid.uuid4().hex}.parquet")
        rows = self._rows[shard]
        write_file([rows[index] for index in sorted(rows)], self.folder / name, self._provenance)
        self._changed.discard(shard)


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
