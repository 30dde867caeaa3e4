"""Does the model wait for what silicon waits for?

In: rows and a `Reference` with stalls. Out: `Explained`: of how many launches the largest measured stall is among the model's two largest.
An issued instruction and a ready wave that wasn't picked are no waiting; they are left out of both.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from archex.reports.reference import COUNTERS, Measured, Reference
from archex.reports.validate.errors import Row

#: The reasons that are compared.
WAITS = tuple(column for column in COUNTERS if column.startswith("stall_") and column != "stall_not_selected")


@attrs.frozen
class Explained:
    """Launches that are explained, of how many; and the same of those that wait for something else than memory."""

    found: int
    launches: int
    found_not_memory: int
    launches_not_memory: int

    @property
    def share(self) -> float | None:
        """In percent."""
        return 100 * self.found / self.launches if self.launches else None

    @property
    def share_not_memory(self) -> float | None:
        """In percent."""
        return 100 * self.found_not_memory / self.launches_not_memory if self.launches_not_memory else None


def explained(rows: Sequence[Row], reference: Reference) -> Explained:
    """Over all launches whose stalls were measured."""
    counts = [0, 0, 0, 0]
    for row in rows:
        measured = reference.launches.get(row["launch"])
        if measured is None or measured.noisy or row["status"] != "ok":
            continue
        waits = measured_waits(measured, reference)
        if not waits:
            continue
        top = max(waits, key=lambda column: waits[column])
        right = top in sorted(WAITS, key=lambda column: -(row[column] or 0.0))[:2]
        counts[0] += right
        counts[1] += 1
        if top != "stall_memory":
            counts[2] += right
            counts[3] += 1
    return Explained(*counts)


def measured_waits(measured: Measured, reference: Reference) -> dict[str, float]:
    """Waves an issued instruction by reason, as measured."""
    return {column: value for column in WAITS if (value := reference.counter(measured, column)) is not None}
