"""Rows of several runs as one dataset: of several machines, say, each having run a part of a sweep.

In: runs (folders or files), in order, and an output that isn't there yet: a name ending in `.parquet`, or a folder. Out: the output, whole
or not at all, and what was not simple. A point that several runs have is there once: a result beats a failure, else the later run's stays.
"""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Sequence
from pathlib import Path

import attrs

from archex.records import store
from archex.records.compact import write_shards
from archex.records.contents import contents
from archex.records.files import OutputError
from archex.records.order import in_order, no_loss, one, some
from archex.records.twice import Conflict, twice


@attrs.frozen
class Merged:
    """rows: of each run, and of all. conflicts: two runs' results of one point. torn: files left out, and why."""

    each: tuple[int, ...]
    rows: int
    conflicts: tuple[Conflict, ...]
    torn: tuple[str, ...]
    versions: int


def merge(runs: Sequence[Path], output: Path) -> Merged:
    """Write `output`. OutputError if that fails; sources stay as they are."""
    import polars

    read = [contents(run) for run in runs]
    no_loss([content for run in read for content in run])
    some(runs, [content for run in read for content in run])
    whole = [[content for content in run if not content.torn] for run in read]
    latest = [store.latest(polars.concat([content.rows for content in run])) if run else store.frame([]) for run in whole]
    conflicts = twice(polars.concat(latest)).conflicts
    portions = in_order([content for run in whole for content in run])
    if output.suffix == ".parquet":
        everything = one(portions)
        store.write_file(everything.rows, output, everything.provenance)
    else:
        half = output.with_name(f".{output.name}.{uuid.uuid4().hex[:8]}.tmp")
        try:
            write_shards(half, portions)
            os.rename(half, output)  # a folder that has come to be there meanwhile is refused, unless it is empty
        except OSError as error:
            raise OutputError.of(output, error) from None
        finally:
            shutil.rmtree(half, ignore_errors=True)
    torn = tuple(f"{content.path} is torn: {content.torn}" for run in read for content in run if content.torn)
    rows = sum(portion.rows.height for portion in portions)
    return Merged(tuple(found.height for found in latest), rows, conflicts, torn, len(portions))
