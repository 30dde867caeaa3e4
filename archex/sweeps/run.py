"""A plan carried out: every launch on every design, on all cores, rows kept as they come.

In: a `Plan` and somebody to tell (`Listener`). Out: a `Result`: where the rows are and how many of each status. A folder given as `output`
is resumed: rows that it holds already are not run again. What ends a run early, whatever it is, costs the rows under way; a file is
written at the end or not at all.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from archex.base.errors import RequestError
from archex.base.names import content_hash
from archex.records import files, provenance, store
from archex.records.files import OutputError
from archex.records.trials import Found
from archex.sweeps.interrupts import Interrupts
from archex.sweeps.jobs import Steps
from archex.sweeps.loop import Loop
from archex.sweeps.output import Output
from archex.sweeps.protocols import Listener, Planned

if TYPE_CHECKING:
    import polars

RUNS = Path("results/runs")


@attrs.frozen
class Result:
    """Where the rows of a run are, and how many of each status."""

    path: Path
    counts: Mapping[str, int]
    notes: tuple[str, ...] = ()
    places: Mapping[int, int] = attrs.field(factory=dict, repr=False)
    found: Found | None = None  # of a search

    @property
    def failed(self) -> bool:
        """Whether a row has no result that should have one."""
        return any(self.counts.get(status) for status in ("error", "killed"))

    def frame(self) -> polars.DataFrame:
        """The rows of this run (a folder may hold others), in the order of designs and launches, read back."""
        import polars

        found = store.read(self.path)
        if self.path.suffix == ".parquet":
            return found
        pairs = zip(found["point_id"], found["launch"], strict=True)
        placed = found.with_columns(polars.Series("_place", [self.places.get(hash(pair)) for pair in pairs], polars.Int64))
        return placed.filter(polars.col("_place").is_not_null()).sort("_place").drop("_place")


def run(plan: Planned, steps: Steps, listener: Listener, command: Sequence[str]) -> Result:
    """Run what isn't there yet, and write it. RequestError before anything is written; OutputError if a write fails."""
    path = plan.settings.output or _new_folder(command)
    if unwritable := files.check_writable(path) or store.foreign(path):
        raise RequestError([unwritable])
    with Interrupts() as interrupts:
        output = Output(path, provenance.of_run(list(command)), plan.settings.retry, whole=plan.total is None)
        loop = Loop(plan, steps, listener, output, interrupts)
        try:
            loop.carry_out()
            with interrupts.held:
                output.close()
        except BaseException as error:
            interrupts.ignore()
            plan.launcher.close(at_once=True)
            _keep(output, loop)
            if isinstance(error, KeyboardInterrupt):
                raise KeyboardInterrupt(_kept(output, loop)) from None
            if isinstance(error, OutputError):
                raise OutputError(f"{error}; {_kept(output, loop)}", kept=_kept_rows(output, loop) > 0) from None
            raise
        finally:
            plan.launcher.close(at_once=False)
            plan.shelf.close()
    return Result(path, dict(loop.counts), loop.notes, loop.places, plan.found)


def _new_folder(command: Sequence[str]) -> Path:
    """A folder named by time and by what is asked for."""
    return RUNS / f"{time.strftime('%Y-%m-%d-%H%M%S')}-{content_hash(list(command))[:8]}"


def _keep(output: Output, loop: Loop) -> None:
    """Put what is finished in order, as far as the disk lets us: rows of a folder are safe in journals anyway."""
    if output.is_file:
        output.leave()
    else:
        with suppress(OutputError):
            output.close()


def _kept_rows(output: Output, loop: Loop) -> int:
    return 0 if output.is_file else sum(loop.counts.values())


def _kept(output: Output, loop: Loop) -> str:
    rows = _kept_rows(output, loop)
    total = "" if loop.total is None else f"of {loop.total:,} "
    return f"{rows:,} {total}rows kept in {output.path}" if rows else "nothing written"
