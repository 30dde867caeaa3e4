"""Rows sorted into designs and launches.

In: frames of rows, one a run. Out: a `Grid`: every design's time at every launch as arrays (thousands of designs are compared by arrays),
and the whole row where one is asked for. Of a launch's variants a design is compared by its fastest; of rows that were run again the last
one counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

from archex.base.errors import ABSENT, Problem, RequestError, closest
from archex.records.schema import STATUSES
from archex.reports.designs import Design, Key, designs, tight

if TYPE_CHECKING:
    import polars

Row = dict[str, Any]
Floats = NDArray[np.float64]
#: A design that has no row of a launch.
NO_ROW = -1
#: Choices that an error lists.
_LISTED = 10
_PREFIX = 6


@attrs.frozen(eq=False)
class Grid:
    """`time_ns`, `error_bound` and `status` (an index into STATUSES, or NO_ROW) are designs x launches; a time is nan unless ok.

    `at` says which row of `frame` is whose.
    """

    designs: list[Design]
    launches: list[str]
    time_ns: Floats
    error_bound: Floats
    status: NDArray[np.int8]
    at: NDArray[np.int64]
    frame: polars.DataFrame

    def row(self, design: int, launch: int) -> Row | None:
        """A whole row."""
        place = int(self.at[design, launch])
        return None if place < 0 else self.frame.row(place, named=True)

    def said(self, design: int, launch: int) -> str:
        """The status of a row, in a word."""
        code = int(self.status[design, launch])
        return "absent" if code == NO_ROW else STATUSES[code] if code else "no time"


def grid(runs: Sequence[tuple[str, polars.DataFrame]], by_run: bool = False) -> Grid:
    """Every design of every (name, frame), designs and launches in the order of the rows.

    `by_run` takes each run for one design, and a launch on each of its designs for a launch of its own: what is the same in two runs meets.
    """
    import polars as pl

    whose = ["_run", "device", "overrides"]
    frame = pl.concat([rows.with_columns(pl.lit(number).alias("_run")) for number, (_, rows) in enumerate(runs)])
    frame = frame.with_columns(pl.col("device", "overrides").fill_null("")).with_row_index("_order")
    frame = _as_one(frame) if by_run else frame
    frame = frame.unique([*whose, "launch", "variant"], keep="last")
    frame = frame.sort((pl.col("status") == "ok").not_(), "time_ns", "_order", nulls_last=True).unique([*whose, "launch"], keep="first")
    frame = frame.sort("_order")
    designed = frame.unique(whose, keep="first", maintain_order=True).select(*whose, pl.col("device_fingerprint").fill_null(""))
    launches = frame["launch"].unique(maintain_order=True).to_list()
    places = designed.with_row_index("_design").drop("device_fingerprint")
    known = frame.join(places, on=whose, how="left", maintain_order="left").select("_design", "launch", "time_ns", "error_bound", "status")
    number = {launch: place for place, launch in enumerate(launches)}
    row = known["_design"].to_numpy().astype(np.int64)
    column = np.array([number[launch] for launch in known["launch"]], dtype=np.int64)
    shape = (designed.height, len(launches))
    time, bound = np.full(shape, np.nan), np.zeros(shape)
    status, at = np.full(shape, NO_ROW, dtype=np.int8), np.full(shape, -1, dtype=np.int64)
    code = {status: place for place, status in enumerate(STATUSES)}
    codes = np.array([code.get(status, NO_ROW) for status in known["status"]], dtype=np.int8)
    times = known["time_ns"].fill_null(float("nan")).to_numpy()
    time[row, column] = np.where((codes == 0) & (times > 0) & np.isfinite(times), times, np.nan)
    bound[row, column] = np.nan_to_num(known["error_bound"].fill_null(0.0).to_numpy())
    status[row, column], at[row, column] = codes, np.arange(len(row))
    keys = [Key(*values) for values in designed.iter_rows()]
    return Grid(designs(keys, [name for name, _ in runs]), launches, time, bound, status, at, frame.drop("_order", "_run"))


def several(rows: polars.DataFrame) -> bool:
    """Whether a run has more than one design."""
    return rows.select("device", "overrides").fill_null("").n_unique() > 1


def _as_one(frame: polars.DataFrame) -> polars.DataFrame:
    """The designs go into the launches' names."""
    import polars as pl

    whose = ["device", "overrides"]
    known = frame.select(whose).unique(maintain_order=True)
    named = designs([Key(0, *values) for values in known.iter_rows()], [""])
    frame = frame.join(known.with_columns(pl.Series("_label", [design.label for design in named])), on=whose, maintain_order="left")
    launch = pl.col("launch") + " on " + pl.col("_label")
    return frame.with_columns(launch, *(pl.lit("").alias(name) for name in (*whose, "device_fingerprint"))).drop("_label")


def pick(grid: Grid, wanted: str | None) -> int:
    """The baseline: the design that `baseline=` names, without it the first one that has a time. RequestError where none would do."""
    timed = ~np.isnan(grid.time_ns)
    if not timed.any():
        raise RequestError([Problem("RUN", ABSENT, "no launch of any design is ok; there is no time to compare")])
    place = _named(grid.designs, wanted) if wanted is not None else int(timed.any(axis=1).argmax())
    others = np.delete(timed, place, axis=0)
    if not timed[place].any():
        raise RequestError([Problem("baseline", grid.designs[place].label, "has no launch that is ok; choose another")])
    if not (others & timed[place]).any():
        raise RequestError([Problem("baseline", grid.designs[place].label, "has no launch in common with another design")])
    return place


def _named(found: Sequence[Design], wanted: str) -> int:
    """By its label, a device, overrides (one or several), a fingerprint or its beginning."""
    name = tight(wanted)
    for matching in (
        [place for place, design in enumerate(found) if tight(design.label) == name],
        [place for place, design in enumerate(found) if name in design.names],
        [place for place, design in enumerate(found) if _has_all(design, wanted)],
        [place for place, design in enumerate(found) if len(name) >= _PREFIX and any(n.startswith(name) for n in design.names)],
    ):
        if len(matching) == 1:
            return matching[0]
        if matching:
            labels = _some([found[place].label for place in matching])
            raise RequestError([Problem("baseline", wanted, f"names {len(matching)} designs; say which", labels)])
    labels = [design.label for design in found]
    raise RequestError([Problem("baseline", wanted, "names no design of these runs", _some(labels), closest(wanted, labels))])


def _has_all(design: Design, wanted: str) -> bool:
    """Whether each of several names, with blanks or commas between them, is one of the design's."""
    names = wanted.replace(",", " ").split()
    return bool(names) and all(name in design.names for name in names)


def _some(labels: list[str]) -> list[str]:
    return labels if len(labels) <= _LISTED else [*labels[:_LISTED], f"and {len(labels) - _LISTED} more"]
