"""Counter by counter: the model's and silicon's.

In: rows and a `Reference`. Out: by counter how far off it is over all launches; a counter counts as close within 10 %, 5 points,
or 1 wave an instruction.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import numpy as np

from archex.reports.reference import COUNTERS, Measured, Reference
from archex.reports.validate.errors import Row

#: How far off is still close, by how a counter is compared.
CLOSE = {"relative": 10.0, "points": 5.0, "waves": 1.0}
UNITS = {"relative": "%", "points": "points", "waves": "waves"}
#: The matrix unit's counter has moves of constants too: without products they keep it busy for less than this.
MOVES_ACTIVE_PCT = 3.0
#: What hardware counts that is not the launch's own (its code, constants, what the profiler left in caches): the most that launches of the
#: H200 reference show that read, or write, nothing themselves.
OWN = {"dram_read_bytes": 9_728.0, "dram_write_bytes": 2_800_000.0, "l2_read_sectors": 3_300.0, "l2_write_sectors": 11_500.0}
#: Share of the passes through local memory that arbitration with other traffic adds: no conflicts of the code's.
ARBITRATION = 0.05


@attrs.frozen
class CounterError:
    """A counter over `launches`: median and 90th percentile of how far off, in `unit`; `close` is a share in percent."""

    column: str
    launches: int
    median: float
    ninth: float
    unit: str
    close: float


def counter_errors(rows: Sequence[Row], reference: Reference) -> list[CounterError]:
    """Error of each counter; nothing where only times were measured."""
    found = []
    for column, (_, how) in COUNTERS.items():
        pairs = _pairs(rows, reference, column)
        if not pairs:
            continue
        differences = [difference(new, old, how) for new, old in pairs]
        finite = [d for d in differences if np.isfinite(d)]
        median, ninth = (float(np.quantile(finite, share)) for share in (0.5, 0.9)) if finite else (float("nan"), float("nan"))
        close = 100 * sum(d <= CLOSE[how] for d in differences) / len(differences)
        found.append(CounterError(column, len(pairs), median, ninth, UNITS[how], close))
    return found


def pair(row: Row, measured: Measured, reference: Reference, column: str) -> tuple[float, float] | None:
    """(model, measured) of a counter of a launch; None where there is nothing to compare."""
    if row[column] is None:
        return None
    if column.startswith("local_memory_") and not measured.uses_local_memory:
        return None
    if column == "matrix_instructions" and not row[column] and measured.values.get("tensor_active_pct", 0.0) < MOVES_ACTIVE_PCT:
        return None
    value = reference.counter(measured, column)
    if value is None or max(value, row[column]) <= OWN.get(column, 0.0):
        return None
    if column == "l2_hit_pct" and 0.1 * _sectors(measured) < OWN["l2_read_sectors"] + OWN["l2_write_sectors"]:
        return None
    near = max(_tolerated(column, measured), OWN.get(column, 0.0))
    return float(row[column]), float(row[column]) if abs(row[column] - value) <= near else value


def difference(model: float, measured: float, how: str) -> float:
    """How far off, in the unit of how it is compared."""
    if how != "relative":
        return abs(model - measured)
    if model == measured:
        return 0.0
    return 100 * abs(model - measured) / measured if measured else float("inf")


def _pairs(rows: Sequence[Row], reference: Reference, column: str) -> list[tuple[float, float]]:
    found = []
    for row in rows:
        measured = reference.launches.get(row["launch"])
        if measured is None or measured.noisy or row["status"] != "ok":
            continue
        if both := pair(row, measured, reference, column):
            found.append(both)
    return found


def _sectors(measured: Measured) -> float:
    return measured.values.get("l2_read_sectors", 0.0) + measured.values.get("l2_write_sectors", 0.0)


def _tolerated(column: str, measured: Measured) -> float:
    """Passes of local memory are compared within one a wave, conflicts also within what arbitration adds: the hardware counts some of its
    own."""
    if not column.startswith("local_memory_"):
        return 0.0
    axes = [measured.values.get(f"{part}_{axis}", 1.0) for part in ("grid", "block") for axis in "xyz"]
    waves = axes[0] * axes[1] * axes[2] * -(-axes[3] * axes[4] * axes[5] // 32)
    return waves if column == "local_memory_wavefronts" else max(waves, ARBITRATION * measured.values.get("shared_wavefronts", 0.0))
