"""What a run's files hold, one by one: for those who look after them. Reports read the rows of all together (`store.read`).

In: a folder of a run, or one file. Out: a `Content` a file, in the order in which reading takes them: shards, then journals.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from archex.base.errors import ABSENT, Problem
from archex.records import journal, schema, store

if TYPE_CHECKING:
    import polars

#: The key of a file's metadata under which stand (as JSON) the runs that its rows are of, where they are of several.
RUNS = "runs"
#: What they say about the program that computed the rows.
_VERSION = ("archex", "archex_sources")
Version = tuple[str, ...]


@attrs.frozen(eq=False)
class Content:
    """A file's rows in today's columns; `torn` says why they don't read. missing, unknown: columns of an older or newer archex."""

    path: Path
    frame: polars.DataFrame | None = None
    torn: str = ""
    missing: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    provenance: Mapping[str, str] = attrs.field(factory=dict)

    @property
    def rows(self) -> polars.DataFrame:
        """The rows, where they read."""
        assert self.frame is not None
        return self.frame

    @property
    def versions(self) -> tuple[Version, ...]:
        """Which archex the rows are of: (release, hash of its sources), several where files were put together."""
        return tuple(dict.fromkeys(tuple(run.get(name, "") for name in _VERSION) for run in runs(self.provenance)))


def runs(provenance: Mapping[str, str]) -> list[dict[str, str]]:
    """What a file's metadata say about each run that its rows are of."""
    try:
        return [dict(run) for run in json.loads(provenance[RUNS])]
    except (KeyError, ValueError, TypeError):
        return [dict(provenance)]


def look(path: Path) -> Problem | None:
    """Whether there is a run at `path`."""
    if not path.exists():
        return Problem(str(path), ABSENT, "does not exist; expected a Parquet file or the folder of a run")
    if path.is_dir() and not store.shards(path) and not journal.journals(path):
        return Problem(str(path), ABSENT, "holds no rows (no *.parquet file and no journal)")
    return None


def contents(path: Path) -> list[Content]:
    """Each file's. A writer may be at work: journals are read first, so that rows on their way into a shard are there twice, not never."""
    if not path.is_dir():
        return [_parquet(path)]
    journals = [found for file in journal.journals(path) if (found := _there(_journal, file))]
    return [*(found for file in store.shards(path) if (found := _there(_parquet, file))), *journals]


def _there(read: Callable[[Path], Content], file: Path) -> Content | None:
    try:
        return read(file)
    except FileNotFoundError:
        return None


def _parquet(file: Path) -> Content:
    import polars

    try:
        found = polars.read_parquet(file)
        about = {name: text for name, text in polars.read_parquet_metadata(file).items() if not name.startswith("ARROW:")}
        missing = tuple(name for name in schema.BY_NAME if name not in found.columns)
        unknown = tuple(name for name in found.columns if name not in schema.BY_NAME)
        return Content(file, store.conform(found), "", missing, unknown, about)
    except FileNotFoundError:
        raise
    except (polars.exceptions.PolarsError, OSError, ValueError) as error:
        return Content(file, torn=str(error).splitlines()[0])


def _journal(file: Path) -> Content:
    import polars

    try:
        rows = journal.read(file)
    except FileNotFoundError:
        raise
    except (OSError, ValueError) as error:
        return Content(file, torn=str(error).splitlines()[0])
    return Content(file, polars.DataFrame(rows, schema=schema.polars_schema()), provenance=journal.provenance(file))
