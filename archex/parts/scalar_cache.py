"""The cache for uniform constants: kernel parameters, constant memory."""

from __future__ import annotations

import attrs

from archex.parts.compute_unit import shared_by
from archex.parts.part import Part, number


@attrs.frozen(kw_only=True)
class ScalarCacheSpec:
    """Two levels; the latency of a hit in the first is the operation's own."""

    size: int = number("B", "first level", low=64)
    next_size: int = number("B", "second level", low=64)
    line: int = number("B", "bytes of a line", low=4, high=4096)
    next_extra: float = number("cycles", "latency added when the first level misses")
    cold_extra: float = number("cycles", "latency added on the first touch of a line on a compute unit")
    word_interval: float = number("cycles", "held so long for each word that the lanes of a load want; uniform loads go past it", default=0)
    word_extra: float = number("cycles", "latency of each further word of a load", default=0)
    shared_by: str = shared_by("compute units that share one: what one read is there for all", default="compute_unit", most="cluster")


class ScalarCache(Part):
    """Broadcasts one word to all lanes of a wave."""

    kind = "scalar_cache"
    Spec = ScalarCacheSpec

    @classmethod
    def check(cls, spec: ScalarCacheSpec) -> list[tuple[str, object, str]]:
        if spec.next_size < spec.size:
            return [("next_size", spec.next_size, f"must be at least scalar_cache.size ({spec.size} B)")]
        return []
