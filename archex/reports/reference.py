"""Measurements to hold rows against.

In: a folder with `launches.json` and CSV files of one row a launch (`id`). Out: a `Reference`: by launch the measured values, which kind of
measurement it is, and the family. Hardware counters come as `cycles` and more columns; timings by events as `min_us` and `launches`.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Collection
from pathlib import Path

import attrs

from archex.base.errors import ABSENT, Problem, RequestError

#: What one launch adds to a time measured by events around it, where a reference holds such times (its README says how it was measured).
EVENT_LAUNCH_US = 4.4

#: Column of a row -> (column of the reference, how they are compared). `points` are percentages, compared by difference.
COUNTERS: dict[str, tuple[str, str]] = {
    "wave_instructions": ("warp_instructions", "relative"),
    "lane_instructions": ("thread_instructions", "relative"),
    "matrix_instructions": ("pipe_tensor", "relative"),
    "global_load_requests": ("global_load_requests", "relative"),
    "global_load_sectors": ("global_load_sectors", "relative"),
    "global_store_requests": ("global_store_requests", "relative"),
    "global_store_sectors": ("global_store_sectors", "relative"),
    "private_load_requests": ("local_load_requests", "relative"),
    "private_store_requests": ("local_store_requests", "relative"),
    "local_memory_wavefronts": ("shared_wavefronts", "relative"),
    "local_memory_conflicts": ("shared_bank_conflicts", "relative"),
    "dram_read_bytes": ("dram_read_bytes", "relative"),
    "dram_write_bytes": ("dram_write_bytes", "relative"),
    "vector_cache_hit_pct": ("l1_hit_pct", "points"),
    "l2_hit_pct": ("l2_hit_pct", "points"),
    "l2_read_sectors": ("l2_read_sectors", "relative"),
    "l2_write_sectors": ("l2_write_sectors", "relative"),
    "occupancy_pct": ("occupancy_pct", "points"),
    "issue_active_pct": ("issue_active_pct", "points"),
    "matrix_active_pct": ("tensor_active_pct", "points"),
    "stall_memory": ("stall_long_scoreboard", "waves"),
    "stall_local_memory": ("stall_short_scoreboard", "waves"),
    "stall_dependency": ("stall_wait", "waves"),
    "stall_execution_unit": ("stall_math_pipe_throttle", "waves"),
    "stall_memory_queue": ("stall_lg_throttle+stall_mio_throttle", "waves"),
    "stall_barrier": ("stall_barrier", "waves"),
    "stall_fetch": ("stall_no_instruction", "waves"),
    "stall_dispatch": ("stall_dispatch_stall", "waves"),
    "stall_drain": ("stall_drain", "waves"),
    "stall_fence": ("stall_membar", "waves"),
    "stall_matrix": ("stall_gmma", "waves"),
    "stall_not_selected": ("stall_not_selected", "waves"),
}


@attrs.frozen
class Measured:
    """One launch as measured: `values` by the reference's own column names."""

    launch: str
    family: str
    values: dict[str, float]
    noisy: bool
    uses_local_memory: bool

    @property
    def warm_us(self) -> float | None:
        """Microseconds a launch when it is repeated back to back; None where that wasn't measured."""
        if self.values.get("warm_us"):
            return self.values["warm_us"]
        several = self.values.get("warm_us_all_launches")
        return several / (self.values.get("launches") or 1.0) if several else None


@attrs.frozen
class Reference:
    """A folder of measurements. `timed`: it holds times by events, not cycles."""

    folder: Path
    timed: bool
    launches: dict[str, Measured]

    def target(self, measured: Measured) -> float:
        """What was measured: cycles, or microseconds."""
        return measured.values["min_us" if self.timed else "cycles"]

    def modelled(self, measured: Measured, cycles: float, time_ns: float) -> float:
        """The model's number to hold against it."""
        if not self.timed:
            return cycles
        return time_ns / 1e3 + EVENT_LAUNCH_US * measured.values.get("launches", 1.0)

    def counter(self, measured: Measured, column: str) -> float | None:
        """The measured value of a row's column; None where it wasn't measured."""
        names = COUNTERS[column][0].split("+")
        if any(name not in measured.values for name in names):
            return None
        return sum(measured.values[name] for name in names)


def read(folder: Path) -> Reference:
    """All launches of a folder that were measured. RequestError for a folder that isn't a reference."""
    known = _launches(folder)
    found: dict[str, Measured] = {}
    timed = False
    for file in sorted(folder.glob("*.csv")):
        for line in _lines(folder, file):
            if line.get("id") in known and (line.get("cycles") or line.get("min_us")):
                found[line["id"]] = _measured(line)
                timed = timed or not line.get("cycles")
    if not found:
        rule = "holds no measurement of its launches (CSV files with id and cycles or min_us)"
        raise RequestError([Problem("reference", str(folder), rule)])
    what = "min_us" if timed else "cycles"
    wrong = [name for name, one in found.items() if not 0 < one.values.get(what, 0.0) < float("inf")]
    if wrong:
        raise RequestError([Problem("reference", str(folder), f"has no {what} above 0 of {name}") for name in wrong])
    return Reference(folder, timed, found)


def _launches(folder: Path) -> Collection[str]:
    """The names of a folder's launches."""
    rule = "is no reference: launches.json"
    try:
        known = json.loads((folder / "launches.json").read_text())
    except (OSError, ValueError, RecursionError) as error:
        raise RequestError([Problem("reference", str(folder), f"{rule} does not read: {_why(error)}")]) from None
    if not isinstance(known, dict):
        raise RequestError([Problem("reference", str(folder), f"{rule} is no map of launches")])
    return known


def _lines(folder: Path, file: Path) -> list[dict[str, str]]:
    try:
        with open(file, newline="") as stream:
            return list(csv.DictReader(stream))
    except (OSError, ValueError, csv.Error) as error:
        raise RequestError([Problem("reference", str(folder), f"is no reference: {file.name} does not read: {_why(error)}")]) from None


def _why(error: Exception) -> str:
    if isinstance(error, UnicodeDecodeError):
        return "it is no text"
    return getattr(error, "strerror", None) or str(error)


def _measured(line: dict[str, str]) -> Measured:
    values = {}
    for name, text in line.items():
        try:
            values[name] = float(text)
        except (TypeError, ValueError):
            continue
    family = line.get("family") or line["id"].partition("[")[0]
    local = sum(values.get(name, 0.0) for name in ("static_shared_bytes", "dynamic_shared_bytes", "triton_shared"))
    return Measured(line["id"], family, values, bool(values.get("noisy")), local > 0)


def tracked(device: str, folder: Path) -> Path:
    """The reference that comes with archex for a device; RequestError names those there are."""
    own = folder / device
    if (own / "launches.json").is_file():
        return own
    names = sorted(path.parent.name for path in folder.glob("*/launches.json"))
    raise RequestError([Problem("reference", ABSENT, f"is needed: there is no measurement of {device} here; give reference=DIR", names)])
