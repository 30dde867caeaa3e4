"""A run's folder while it is written: every row is on disk when it is finished, and ends in a shard of a thousand.

In: (seq, row) as they are finished; seq counts the rows of this run. Out: `part-NNNNN-<uuid>.parquet`, each the rows of a thousand seqs in
their order; until a shard is whole its rows are in a journal of its own, which goes when the shard is in place. What a killed run left is
put in order at the start: journals become a shard, torn files go to `torn/`, and both are noted.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from archex.base.errors import Problem, RequestError
from archex.records import journal, store
from archex.records.files import OutputError
from archex.records.journal import Journal
from archex.records.lock import Lock

TORN = "torn"
#: Names of a run's own files; no other file of a folder is ever touched.
_OURS = re.compile(r"part-\d{5,}-[0-9a-f]{32}\.parquet$|journal-[0-9a-f]{32}\.jsonl$")


class Dataset:
    """The one writer of a folder, which is made if it isn't there. RequestError if it has another writer; OutputError if a write fails."""

    def __init__(self, folder: Path, about: dict[str, str]) -> None:
        self.folder, self._about = folder, about
        self.notes: list[str] = []
        self._rows: dict[int, dict[int, dict[str, Any]]] = {}  # shard -> seq -> row
        self._journals: dict[int, Journal] = {}
        self._made = not folder.is_dir()
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputError.of(folder, error) from None
        try:
            self._lock = Lock(folder)
        except OutputError:
            self._unmake()
            raise
        try:
            self._tidy()
            self._first = 1 + max((number(path) for path in store.shards(folder)), default=-1)
            self._fold()
        except BaseException:
            self._lock.release()
            raise

    def put(self, rows: Sequence[tuple[int, dict[str, Any]]]) -> None:
        """Keep rows that came together."""
        by_shard: dict[int, list[tuple[int, dict[str, Any]]]] = {}
        for seq, row in rows:
            by_shard.setdefault(seq // store.SHARD_ROWS, []).append((seq, row))
        for shard, found in by_shard.items():
            if shard not in self._journals:
                self._journals[shard] = Journal(self.folder, self._about)
            self._journals[shard].append([row for _, row in found])
            held = self._rows.setdefault(shard, {})
            held.update(found)
            if len(held) == store.SHARD_ROWS:
                self._finish(shard)

    def expect(self, rows: int) -> None:
        """So many rows there will be, for those who look on."""
        self._lock.expect(rows)

    def close(self) -> None:
        """Put what is there into shards, full or not, and let others write. Where that fails the rows stay in their journals."""
        try:
            for shard in sorted(self._rows):
                self._finish(shard)
        finally:
            self.leave()

    def leave(self) -> None:
        """Let others write; what is in journals stays there. A folder made for nothing goes again."""
        for left in self._journals.values():
            left.close()
        self._lock.release()
        self._unmake()

    def _unmake(self) -> None:
        if self._made:
            with suppress(OSError):
                self.folder.rmdir()

    def _finish(self, shard: int) -> None:
        rows = self._rows[shard]
        self._write([rows[seq] for seq in sorted(rows)], self._first + shard)
        self._journals.pop(shard).remove()
        del self._rows[shard]

    def _write(self, rows: Sequence[dict[str, Any]], shard: int) -> None:
        if not self.folder.is_dir():
            raise OutputError(f"{self.folder}: was deleted while it was being written")
        store.write_file(rows, self.folder / f"part-{shard:05d}-{uuid.uuid4().hex}.parquet", self._about)

    def _tidy(self) -> None:
        """Torn files out of the way, half-written ones gone."""
        for path in self.folder.glob(".part-*.tmp"):
            path.unlink(missing_ok=True)
        torn = [(path, wrong) for path in (*store.shards(self.folder), *journal.journals(self.folder)) if (wrong := store.torn(path))]
        if foreign := [(path, wrong) for path, wrong in torn if not _OURS.match(path.name)]:
            said = [Problem("output", str(self.folder), f"holds {path.name}, which is no file of a run: it {why}") for path, why in foreign]
            raise RequestError(said)
        for path, wrong in torn:
            self.notes.append(f"{path} {wrong}: moved to {set_aside(path)}, its rows run again")

    def _fold(self) -> None:
        """The rows of left journals as a shard."""
        left = journal.journals(self.folder)
        rows = [row for path in left for row in journal.read(path)]
        if rows:
            self._write(rows, self._first)
            self._first += 1
        for path in left:
            path.unlink(missing_ok=True)


def set_aside(path: Path) -> Path:
    """Move a torn file to where it isn't read."""
    aside = path.parent / TORN / path.name
    if aside.exists():  # only names that aren't ours come twice
        aside = aside.with_name(f"{aside.name}.{uuid.uuid4().hex[:8]}")
    try:
        aside.parent.mkdir(exist_ok=True)
        path.rename(aside)
    except OSError as error:
        raise OutputError.of(aside, error) from None
    return aside


def number(path: Path) -> int:
    """A shard's place among the others; -1 for a name that isn't ours."""
    found = re.match(r"part-(\d+)", path.name)
    return int(found[1]) if found else -1
