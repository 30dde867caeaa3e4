"""The cache next to the lanes: coalescing, tag and bank rules, stores through to the level below."""

from __future__ import annotations

from typing import ClassVar

import attrs

from archex.base.units import Duration
from archex.parts.cache import check_geometry
from archex.parts.compute_unit import shared_by
from archex.parts.part import Counter, Part, choice, flag, number, policy


@attrs.frozen(kw_only=True)
class VectorCacheSpec:
    """Geometry, rates and policies of the first level of the memory path."""

    slices: ClassVar[int] = 1

    size: int = number("B", "capacity when local memory takes nothing of a shared array", low=1024)
    line: int = number("B", "bytes of a line", low=16, high=4096)
    sector: int = number("B", "bytes of a sector, the unit of a fill; the line where not sectored", low=16, high=4096)
    ways: int = number("count", "lines of a set", low=1, high=1024)
    shared_by: str = shared_by("compute units that share one", default="compute_unit")
    latency: Duration = number("duration", "load to use of a hit, from issue, with nothing else going on")
    pending: int = number("count", "misses (lines) that can be outstanding; 0: no limit", default=0)
    write: str = choice("what a store does", ("write_through", "write_through_allocate"))
    store_updates: bool = flag("a store updates a line held here (else it is dropped)", default=True)
    private_write: str = choice("what a store to private memory does", ("write_back", "write_through"), default="write_through")
    fetch_sectors: int = number("count", "sectors at least fetched from below on a miss, aligned", low=1, default=1)
    lines_per_cycle: float = number("count", "tags looked up a cycle", low=0.01)
    banks: int = number("count", "data banks, each with one access a cycle; 0: no bank rule", default=0)
    bank_width: int = number("B", "width of a data bank", low=1, default=4)
    return_width: float = number("B", "words of all lanes together that enter registers in a cycle; 0: no limit", default=0)
    fill_sector: float = number("cycles", "the banks are held so long by each sector that arrives from below", default=0)
    tag_extra: float = number("cycles", "latency of each tag cycle after the first", default=1)
    data_extra: float = number("cycles", "latency of each data cycle after the first", default=1)
    store_line: float = number("cycles", "port cycles of each distinct line of a divergent store", default=1)
    atomic_pass: float = number(
        "cycles", "port cycles of each lane of an atomic that repeats an address, and of its lines with results", default=0
    )
    atomic_return: float = number("cycles", "port cycles of each lane's result of an atomic", default=0)
    coalescing: object = policy("coalescing", "turns the lanes' addresses into lines and sectors")
    replacement: object = policy("replacement", "decides which line of a set goes")
    index: object = policy("set_index", "decides in which set a line lies")


class VectorCache(Part):
    """Tags and data banks behind the address unit; misses to one line are merged."""

    kind = "vector_cache"
    Spec = VectorCacheSpec
    counters = (
        Counter("vector_cache_lookups", "sectors", "sectors looked up", "vector_cache_hit_pct"),
        Counter("vector_cache_hits", "sectors", "sectors found, or already on their way", "vector_cache_hit_pct"),
        Counter("global_load_requests", "instructions", "global loads with an active lane", "global_load_requests"),
        Counter("global_load_sectors", "sectors", "sectors they touch", "global_load_sectors"),
        Counter("global_store_requests", "instructions", "global stores with an active lane", "global_store_requests"),
        Counter("global_store_sectors", "sectors", "sectors they touch", "global_store_sectors"),
        Counter("private_load_requests", "instructions", "loads of private memory", "private_load_requests"),
        Counter("private_store_requests", "instructions", "stores to private memory", "private_store_requests"),
    )

    @classmethod
    def check(cls, spec: VectorCacheSpec) -> list[tuple[str, object, str]]:
        return check_geometry(spec)  # type: ignore[arg-type]
