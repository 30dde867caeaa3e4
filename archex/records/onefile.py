"""A run's rows as one file, put in place at the end.

In: (seq, row) as they are finished. Out: one Parquet file in the order of seq. Until then rows are held as frames of a thousand, a tenth of
what dicts would take.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from archex.records import store

if TYPE_CHECKING:
    import polars


class OneFile:
    """The writer of one file: nothing is written before `close`."""

    def __init__(self, path: Path, about: dict[str, str]) -> None:
        self.path, self._about = path, about
        self.notes: list[str] = []
        self._fresh: list[tuple[int, dict[str, Any]]] = []
        self._frames: list[polars.DataFrame] = []

    def put(self, rows: Sequence[tuple[int, dict[str, Any]]]) -> None:
        """Hold rows."""
        self._fresh += rows
        if len(self._fresh) >= store.SHARD_ROWS:
            self._pack()

    def close(self) -> None:
        """Write them."""
        import polars

        self._pack()
        store.write_file(polars.concat(self._frames).sort("_seq").drop("_seq"), self.path, self._about)

    def leave(self) -> None:
        """Nothing was written, nothing stays."""

    def _pack(self) -> None:
        import polars

        found = store.frame([row for _, row in self._fresh])
        self._frames.append(found.with_columns(polars.Series("_seq", [seq for seq, _ in self._fresh], polars.Int64)))
        self._fresh = []
