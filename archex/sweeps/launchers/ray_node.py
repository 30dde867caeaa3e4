"""A worker of Ray's: a process of its own does the jobs, so that one that dies or runs too long is told from a node that is lost.

In: `Sent`, a job and where what it needs is to be had. Out: `Answer`. The process is the local launcher's, with its limits and its words.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import cache
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import attrs

from archex.base.names import content_hash, source_hash
from archex.records import provenance
from archex.sweeps import shelf, work
from archex.sweeps.jobs import Job, Steps
from archex.sweeps.launchers import Limits, parcels
from archex.sweeps.launchers.local import Local

_PLUGINS = "archex.plugins"


@attrs.frozen
class Sent:
    """A job on its way. contents: name (a key of the shelf, a file) -> reference."""

    job: Job
    contents: Mapping[str, Any]
    limits: Limits


@attrs.frozen
class Answer:
    """What became of it, as `Done` says it."""

    rows: list[tuple[int, dict[str, Any]]] | None = None
    failed: str | None = None


@attrs.frozen
class Carried:
    """A job as the worker's own process gets it: first without contents, which it mostly has of earlier jobs."""

    job: Job
    names: tuple[str, ...]
    contents: Mapping[str, bytes] = attrs.field(factory=dict)

    @property
    def rows(self) -> tuple[Any, ...]:
        return self.job.rows

    @property
    def steps(self) -> Steps:
        return self.job.steps


@attrs.frozen
class Lacking:
    """Contents that are wanted before the job is done."""

    names: tuple[str, ...]


@cache
def sources() -> str:
    """Hash of everything installed that decides a row: archex and its plugins."""
    packages = {}
    for entry in entry_points(group=_PLUGINS):
        found = find_spec(entry.module.partition(".")[0])
        files = [file for place in (found.submodule_search_locations or ()) for file in Path(place).rglob("*.py")] if found else []
        packages[entry.name] = source_hash(sorted(files) or ([found.origin] if found and found.origin else []))
    return content_hash([provenance.sources(), packages])


def do(sent: Sent) -> Answer:
    """A job done, in a worker of Ray's."""
    names = tuple(sent.contents)
    done = _process().one(Carried(sent.job, names), sent.limits)
    if isinstance(done.rows, Lacking):
        import ray

        contents = dict(zip(done.rows.names, ray.get([sent.contents[name] for name in done.rows.names]), strict=True))
        done = _process().one(Carried(sent.job, names, contents), sent.limits)
    return Answer(rows=done.rows, failed=done.failed)


@cache
def _process() -> Local:
    # Ray's own start file is nothing to run again in each process that is started from here.
    sys.modules["__main__"].__dict__.pop("__file__", None)
    return Local(1, do=do_here)


def do_here(carried: Carried) -> list[tuple[int, dict[str, Any]]] | Lacking:
    """The rows of a job, in the worker's own process."""
    parcels.take(carried.contents)
    if lacking := parcels.missing(carried.names):
        return Lacking(lacking)
    shelf.use(parcels.pickled)
    rows = work.do(carried.job)
    for _, row in rows:
        if row["error"]:
            row["error"] = parcels.as_sent(row["error"])
    return rows
