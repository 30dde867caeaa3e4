"""What moved beside the time: bytes, sectors, hit rates, occupancy, the limiter.

In: two rows of a launch. Out: `Moved` values, those that changed most first.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

Row = Mapping[str, Any]
#: Columns that are counts, and what they are called.
COUNTS = {
    "wave_instructions": "instructions",
    "dram_read_bytes": "DRAM reads",
    "dram_write_bytes": "DRAM writes",
    "l2_read_sectors": "L2 reads",
    "l2_write_sectors": "L2 writes",
    "local_memory_wavefronts": "local-memory passes",
    "private_load_requests": "private loads",
    "private_store_requests": "private stores",
}
#: Columns in percent, compared by difference.
SHARES = {
    "vector_cache_hit_pct": "vector-cache hits",
    "l2_hit_pct": "L2 hits",
    "memory_side_cache_hit_pct": "memory-side hits",
    "occupancy_pct": "occupancy",
}
#: Percent; changes below are not worth a word.
NOTABLE_COUNT, NOTABLE_SHARE = 5.0, 2.0


@attrs.frozen
class Moved:
    """A column that changed; `share` columns are in percent and compared by difference."""

    column: str
    what: str
    old: float
    new: float
    share: bool

    @property
    def change(self) -> float:
        """In percent of the old count (infinite from nothing), or in points of a share."""
        if self.share:
            return self.new - self.old
        return 100 * (self.new / self.old - 1) if self.old else float("inf")


def moved(old: Row, new: Row) -> list[Moved]:
    """The notable changes, the largest first."""
    found = []
    for names, is_share in ((COUNTS, False), (SHARES, True)):
        for column, what in names.items():
            if column.endswith("_sectors") and old["device"] != new["device"]:  # a sector is not the same size everywhere
                continue
            before, after = old[column], new[column]
            if before is None or after is None or before == after:
                continue
            change = Moved(column, what, before, after, is_share)
            if abs(change.change) >= (NOTABLE_SHARE if is_share else NOTABLE_COUNT):
                found.append(change)
    return sorted(found, key=lambda m: -abs(m.change))
