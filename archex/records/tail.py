"""The rows that come into a run's folder, as they come, whoever writes it and wherever.

In: a folder. Out: at each call the rows that are new since the last: what was appended to journals, and shards not seen before. A row that
moves from a journal to a shard, or stands twice for another reason, is new once; one that failed and has a result now is new again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from archex.records import journal, store

#: What somebody who watches wants to know of a row; a shard's other columns aren't read.
COLUMNS = ("point_id", "launch", "suite", "variant", "device", "overrides", "status", "error", "cycles", "time_ns")
Row = dict[str, Any]
#: A failed row's status and error.
Failure = tuple[str, str | None]


class Tail:
    """Remembers what it has given. `torn`: files that don't read, with the reason."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._offsets: dict[Path, int] = {}
        self._shards: set[Path] = set()
        self._known: dict[int, Failure | None] = {}  # hash of a row's key -> how it failed; None has a result
        self.torn: dict[Path, str] = {}

    def news(self) -> list[tuple[Row, Failure | None]]:
        """(row, the failure that it takes the place of), journals after shards."""
        appended = [row for path in journal.journals(self._folder) for row in self._appended(path)]  # read first: see `store.read`
        fresh = [path for path in store.shards(self._folder) if path not in self._shards]
        rows = [row for path in fresh for row in self._shard(path)] + appended
        return [(row, before) for row in rows for before in self._news_of(row)]

    def _news_of(self, row: Row) -> tuple[()] | tuple[Failure | None]:
        """Nothing if the row is not new, else what was there before."""
        if row["point_id"] is None:  # an older file's
            return (None,)
        key = hash((row["point_id"], row["launch"]))
        good = row["status"] in store.GOOD
        if key not in self._known:
            self._known[key] = None if good else (row["status"], row["error"])
            return (None,)
        before = self._known[key]
        if before is None or not good:
            return ()
        self._known[key] = None
        return (before,)

    def _shard(self, path: Path) -> Iterator[Row]:
        import polars

        try:
            content = path.read_bytes()
        except FileNotFoundError:  # compacted just now
            return
        self._shards.add(path)
        try:
            there = polars.read_parquet_schema(content)
            found = polars.read_parquet(content, columns=[name for name in COLUMNS if name in there])
        except (polars.exceptions.PolarsError, OSError) as error:
            self.torn[path] = str(error).splitlines()[0]
            return
        for row in found.iter_rows(named=True):
            yield {name: row.get(name) for name in COLUMNS}

    def _appended(self, path: Path) -> Iterator[Row]:
        """The whole lines since last time."""
        offset = self._offsets.get(path, 0)
        try:
            with path.open("rb") as file:
                file.seek(offset)
                content = file.read()
        except FileNotFoundError:
            return
        end = content.rfind(b"\n") + 1
        self._offsets[path] = offset + end
        for line in content[:end].splitlines()[0 if offset else 1 :]:  # the first says what the file is
            try:
                row = json.loads(line)
                yield {name: row.get(name) for name in COLUMNS}
            except (ValueError, AttributeError) as error:
                self.torn[path] = str(error)
