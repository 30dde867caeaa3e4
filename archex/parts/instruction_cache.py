"""Where instructions come from: a buffer next to the scheduler, the compute unit's cache, a level behind it, memory."""

from __future__ import annotations

import attrs

from archex.parts.compute_unit import shared_by
from archex.parts.part import Counter, Part, number


@attrs.frozen(kw_only=True)
class InstructionCacheSpec:
    """Sizes of the levels and cycles a line from each."""

    buffer: int = number("B", "code held next to a scheduler")
    size: int = number("B", "instruction cache of the compute units that share one", low=256)
    next_size: int = number("B", "the level behind it")
    line: int = number("B", "bytes of a line", low=8, high=4096)
    near: float = number("cycles", "for a line of sequential code that the cache has and the buffer has not")
    middle: float = number("cycles", "... that the next level has")
    far: float = number("cycles", "... from memory, once streaming")
    jump: float = number("cycles", "for a jump outside the buffer that hits the cache")
    cold: float = number("cycles", "for the first line of a kernel on a compute unit")
    cold_next: float = number("cycles", "for each following line while cold")
    kept: int = number("B", "of code larger than `next_size`, its start that is not cold beyond that; 0: `next_size` of it", default=0)
    shared_by: str = shared_by("compute units that share one: what one fetched is there for all", default="compute_unit", most="cluster")


class InstructionCache(Part):
    """Sequential prefetch hides most of it; the first touch and jumps do not hide."""

    kind = "instruction_cache"
    Spec = InstructionCacheSpec
    counters = (Counter("fetch_misses", "lines", "instruction lines that the near cache lacked", "stall_fetch"),)
