"""A run's folder put in order: full shards, one row a point and launch, no journals.

In: a folder. Out: the same rows in as few files, or in one Parquet file elsewhere. At every moment each row is in some file that reads: new
shards come first, then the old files go, the oldest first, so that what is left beside the new ones reads to the same rows.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import attrs

from archex.records import store
from archex.records.contents import Content, contents
from archex.records.dataset import set_aside
from archex.records.files import OutputError
from archex.records.lock import Lock
from archex.records.order import Portion, in_order, no_loss, one, some


@attrs.frozen
class Compacted:
    """What was done: rows and files before and after, what to say. `written`: no, if all was in order."""

    rows_before: int
    rows: int
    files_before: int
    files: int
    notes: tuple[str, ...] = ()
    written: bool = True


def compact(folder: Path) -> Compacted:
    """In place. RequestError if somebody is writing there; OutputError if a write fails."""
    lock = Lock(folder)
    try:
        read = contents(folder)
        no_loss(read)
        notes = [f"{content.path} is torn: {content.torn}; moved to {set_aside(content.path)}" for content in read if content.torn]
        whole = [content for content in read if not content.torn]
        for path in folder.glob(".*.tmp"):  # the lock is ours: nobody is writing them any more
            path.unlink(missing_ok=True)
        portions = in_order(whole)
        kept = [content.path for content in whole]
        if unlike := not _is_compact(whole, portions):
            old, kept = kept, write_shards(folder, portions)
            _remove(old, folder)
    finally:
        lock.release()
    return Compacted(_rows(whole), sum(portion.rows.height for portion in portions), len(read), len(kept), tuple(notes), unlike)


def compact_into(folder: Path, output: Path) -> Compacted:
    """As one file; the folder stays as it is."""
    read = contents(folder)
    no_loss(read)
    some([folder], read)
    whole = [content for content in read if not content.torn]
    all_rows = one(in_order(whole))
    store.write_file(all_rows.rows, output, all_rows.provenance)
    notes = tuple(f"{content.path} is torn: {content.torn}; left out" for content in read if content.torn)
    return Compacted(_rows(whole), all_rows.rows.height, len(read), 1, notes)


def write_shards(folder: Path, portions: Sequence[Portion]) -> list[Path]:
    """Shards of a thousand rows, each of one portion, numbered from 0; all of them or none."""
    written: list[Path] = []
    try:
        for portion in portions:
            for first in range(0, portion.rows.height, store.SHARD_ROWS):
                path = folder / f"part-{len(written):05d}-{uuid.uuid4().hex}.parquet"
                store.write_file(portion.rows[first : first + store.SHARD_ROWS], path, portion.provenance)
                written.append(path)
    except BaseException:
        for path in written:
            path.unlink(missing_ok=True)
        raise
    return written


def _is_compact(whole: Sequence[Content], portions: Sequence[Portion]) -> bool:
    """Whether writing would change nothing but names."""
    import polars

    if any(content.path.suffix == ".jsonl" or content.missing for content in whole):
        return False
    heights = [
        min(store.SHARD_ROWS, portion.rows.height - first)
        for portion in portions
        for first in range(0, portion.rows.height, store.SHARD_ROWS)
    ]
    if [content.rows.height for content in whole] != heights:
        return False
    return polars.concat([content.rows for content in whole]).equals(one(portions).rows) if whole else True


def _remove(paths: Sequence[Path], folder: Path) -> None:
    """Oldest first: of two rows of a point the later is read, and it is in the later file."""
    _sync(folder)  # the new names are on disk before the first old one goes
    try:
        for path in paths:
            path.unlink(missing_ok=True)
    except OSError as error:
        raise OutputError.of(folder, error) from None


def _sync(folder: Path) -> None:
    with suppress(OSError):  # not every file system has folders to sync
        opened = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)


def _rows(whole: Sequence[Content]) -> int:
    return sum(content.rows.height for content in whole)
