"""Caches of the memory path below the vector cache: L2, memory-side, and any level a config adds."""

from __future__ import annotations

import attrs

from archex.base.units import Duration, Rate
from archex.parts.compute_unit import shared_by
from archex.parts.part import Counter, Part, choice, flag, number, policy


@attrs.frozen(kw_only=True)
class CacheSpec:
    """Geometry, policies, latency and service costs of one instance. Costs are in the cache's own cycles where it has a clock."""

    size: int = number("B", "capacity of one instance", low=1024)
    line: int = number("B", "bytes of a line", low=16, high=4096)
    sector: int = number("B", "bytes of a sector, the unit of a fill; the line where not sectored", low=16, high=4096)
    ways: int = number("count", "lines of a set", low=1, high=1024)
    slices: int = number("count", "slices an instance, each with its own sets and service", low=1, default=1)
    shared_by: str = shared_by("compute units that share one instance", default="device")
    clock: float | None = number("Hz", "the cache's own clock; none: the compute units'", low=1e6, high=1e11, default=None)
    latency: Duration = number("duration", "load to use of a hit, from issue, with nothing else going on")
    pending: int = number("count", "misses (lines) an instance can have outstanding; 0: no limit", default=0)
    write: str = choice("what a store does", ("write_back", "write_through", "write_through_allocate"))
    fetch_sectors: int = number("count", "sectors at least fetched from below on a miss, aligned", low=1, default=1)
    read_least: float = number("cycles", "a slice is held by a read of a line at least so long", default=0)
    read_sector: float = number("cycles", "... and so long for each sector, if that is more", default=0)
    write_base: float = number("cycles", "a slice is held by a write of a line so long", default=0)
    write_sector: float = number("cycles", "... plus so long for each sector", default=0)
    fill_sector: float = number("cycles", "a slice is held so long by each sector that arrives from below", default=0)
    atomic_least: float = number("cycles", "a slice is held by an atomic on a line at least so long", default=0)
    atomic_sector: float = number("cycles", "... so long for each pass over all of a sector", default=0)
    atomic_compare: float = number("cycles", "... by a pass of a compare-and-swap, with its two operands", default=0)
    atomic_same: float = number(
        "cycles", "... by a pass over some of a sector's words; lanes that repeat an address take one each", default=0
    )
    atomic_same_float: float = number("cycles", "... by a pass in floating point over the sector that the atomic before was on", default=0)
    atomic_result: float = number("ratio", "the result of an atomic goes up like so many sectors that are read", default=1)
    partitions: int = number("count", "partitions of an instance; each line has its home in one", low=1, high=16, default=1)
    far_extra: Duration = number("duration", "latency added when only the far partition has the line", default=Duration(0, "cycles"))
    spread: Duration = number(
        "duration", "slices lie nearer and farther: the latency is up to so much shorter or longer", default=Duration(0, "cycles")
    )
    copy_near: bool = flag("a far line that is read is copied into the near partition", default=False)
    port_read: Rate | None = number("rate", "data to one cache (or compute unit) above; none: no limit", default=None)
    port_write: Rate | None = number("rate", "data from one cache (or compute unit) above; none: no limit", default=None)
    port_shared: bool = flag("reads and writes share the rate `port_read` of that port", default=False)
    replacement: object = policy("replacement", "decides which line of a set goes")
    index: object = policy("set_index", "decides in which set a line lies")
    slice_run: int = number("B", "bytes in a row that lie in the same slice of each partition; 0: a line", default=0)
    partition_turn: int = number("B", "bytes of such a run until it is the next partition's turn; 0: a line", default=0)
    runs_apart: int = number("count", "so many such runs in a row lie in slices of their own", low=1, default=1)
    slice_hash: bool = flag("slices are chosen by a hash of the line's address, not by its low bits", default=True)


class Cache(Part):
    """Sets of lines in slices; requests to one slice are served one after the other."""

    kind = "cache"
    Spec = CacheSpec
    counters = (
        Counter("l2_lookups", "sectors", "sectors looked up at the second level", "l2_hit_pct"),
        Counter("l2_hits", "sectors", "sectors found at the second level", "l2_hit_pct"),
        Counter("l2_read_sectors", "sectors", "sectors read at the second level", "l2_read_sectors"),
        Counter("l2_write_sectors", "sectors", "sectors written at the second level", "l2_write_sectors"),
        Counter("memory_side_cache_lookups", "sectors", "sectors looked up at the third level", "memory_side_cache_hit_pct"),
        Counter("memory_side_cache_hits", "sectors", "sectors found at the third level", "memory_side_cache_hit_pct"),
    )

    @classmethod
    def check(cls, spec: CacheSpec) -> list[tuple[str, object, str]]:
        return check_geometry(spec) + (
            [("slices", spec.slices, f"must be a multiple of the partitions ({spec.partitions})")] if spec.slices % spec.partitions else []
        )


def check_geometry(spec: CacheSpec) -> list[tuple[str, object, str]]:
    """Lines hold whole sectors, a cache whole lines and sets. Any count of sets will do; slices have equally many, rounded down."""
    found: list[tuple[str, object, str]] = []
    if spec.line % spec.sector:
        found.append(("sector", spec.sector, f"must divide the line ({spec.line} B)"))
    if spec.line // spec.sector > 32:
        found.append(("sector", spec.sector, f"must be at least a 32nd of the line ({spec.line} B)"))
    lines = spec.size // spec.line
    if spec.size % spec.line:
        found.append(("size", spec.size, f"must be a multiple of the line ({spec.line} B)"))
    elif lines % spec.ways:
        found.append(("ways", spec.ways, f"must divide {lines} lines"))
    elif lines // spec.ways < spec.slices:
        found.append(("slices", spec.slices, f"must be at most the sets ({lines // spec.ways})"))
    return found
