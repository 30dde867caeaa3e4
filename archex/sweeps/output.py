"""Where a run's rows go, and what is there from earlier ones.

In: the path asked for. Out: rows kept by the one writer of a folder or of a file; of a folder that exists, the rows that need not run
again. A new folder is made when the first row is kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from archex.records import schema, store
from archex.records.dataset import Dataset
from archex.records.onefile import OneFile

#: What listeners are told of a row from an earlier run; a search is told everything.
_TOLD = ("launch", "variant", "device", "overrides", "status", "error", "cycles", "time_ns")


def key(row: Mapping[str, Any]) -> int:
    """What a row is known by, as a number: its point and launch (one program may have several ids in a folder)."""
    return hash((row["point_id"], row["launch"]))


class Output:
    """The writer, opened when it is needed. `whole`: earlier rows are wanted with all their columns."""

    def __init__(self, path: Path, about: dict[str, str], retry: str, whole: bool) -> None:
        self.path, self._about = path, about
        self.is_file = path.suffix == ".parquet"
        self._writer: Dataset | OneFile | None = None
        self._expected: int | None = None
        self._earlier: dict[int, int] = {}
        self._frame: Any = None
        if not self.is_file and path.is_dir():
            self.open()
            self._look(retry, whole)

    @property
    def notes(self) -> list[str]:
        """What was put in order."""
        return self._writer.notes if self._writer else []

    def _look(self, retry: str, whole: bool) -> None:
        if not store.shards(self.path):
            return
        found = store.read(self.path)
        if retry == "failed":
            found = found.filter(found["status"].is_in(store.GOOD))
        points, launches = found["point_id"], found["launch"]
        self._earlier = {hash(pair): at for at, pair in enumerate(zip(points, launches, strict=True))}
        self._frame = found if whole else found.select(_TOLD)

    def __len__(self) -> int:
        return len(self._earlier)

    def has(self, row_key: int) -> bool:
        """Whether an earlier run left this row."""
        return row_key in self._earlier

    def earlier(self, row_key: int) -> dict[str, Any] | None:
        """The row of an earlier run."""
        at = self._earlier.get(row_key)
        return None if at is None else schema.row(self._frame.row(at, named=True))

    def open(self) -> None:
        """Be the writer."""
        if self._writer is None:
            self._writer = OneFile(self.path, self._about) if self.is_file else Dataset(self.path, self._about)
            self.expect(self._expected)

    def expect(self, rows: int | None) -> None:
        """How many rows there will be, if anybody knows: told to those who look on."""
        self._expected = rows
        if rows is not None and isinstance(self._writer, Dataset):
            self._writer.expect(rows)

    def put(self, rows: Sequence[tuple[int, dict[str, Any]]]) -> None:
        """Keep rows that came together."""
        self.open()
        assert self._writer is not None
        self._writer.put(rows)

    def close(self) -> None:
        """Everything is there."""
        if self._writer:
            self._writer.close()

    def leave(self) -> None:
        """Let others write; rows stay where they are."""
        if self._writer:
            self._writer.leave()
