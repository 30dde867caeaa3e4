"""Copies from global into local memory that run beside the waves: by lane, in bulk, boxes of a tensor, to several compute units at once.

A wave waits for them by group or through a barrier in local memory. A device without the unit moves the same bytes through registers.
"""

from __future__ import annotations

import attrs

from archex.parts.part import Part, flag, number

#: What a program may ask of the unit, by name.
ABILITIES = ("small", "bulk", "tensor", "multicast")


@attrs.frozen(kw_only=True)
class AsyncCopyUnitSpec:
    """Which copies there are, and what they cost beside the memory path."""

    small_widths: list[int] = number("B", "bytes a lane that copies addressed by lane can move; empty: there are none", each="list")
    small_interval: float = number("cycles", "cycles a wave's copy through the vector cache holds its port at least", default=0, high=1000)
    past_interval: float = number("cycles", "cycles between two copies by lane of whole lines past the vector cache", default=0, high=1000)
    piece: float = number(
        "cycles", "cycles a copy by lane of parts of lines takes for each part that lies in one line of local memory", default=0, high=1000
    )
    waiting: int = number("count", "copies by lane that can wait beyond the memory queue", default=0, high=32)
    release: float = number(
        "cycles", "cycles from when a copy by lane leaves the memory queue until its address registers may be written", default=0, high=1000
    )
    write_rate: float = number("B/cycle", "bytes a cycle that they write to local memory; 0: as its banks", default=0, high=100000)
    small_extra: float = number("cycles", "latency of such a copy beside that of a load", default=0, high=10000)
    bulk: bool = flag("copies of whole ranges started by one lane", default=False)
    tensor: bool = flag("boxes of tensors of up to five dimensions, by a descriptor", default=False)
    multicast: bool = flag("one copy delivered to several compute units of a cluster", default=False)
    bulk_interval: float = number("cycles", "cycles between two such copies of one compute unit", default=0, high=10000)
    bulk_extra: float = number("cycles", "latency of such a copy beside that of a load", default=0, high=100000)
    bulk_rate: float = number("B/cycle", "bytes of them that a compute unit takes a cycle; 0: as its port", default=0, high=100000)


class AsyncCopyUnit(Part):
    """Moves data without registers."""

    kind = "async_copy_unit"
    Spec = AsyncCopyUnitSpec

    @classmethod
    def check(cls, spec: AsyncCopyUnitSpec) -> list[tuple[str, object, str]]:
        found: list[tuple[str, object, str]] = []
        for width in spec.small_widths:
            if width not in (4, 8, 12, 16):
                found.append(("small_widths", width, "must be 4, 8, 12 or 16 bytes"))
        for ability in ("tensor", "multicast"):
            if getattr(spec, ability) and not spec.bulk:
                found.append((ability, True, "needs bulk copies"))
        return found


def abilities(spec: AsyncCopyUnitSpec | None) -> frozenset[str]:
    """Which of `ABILITIES` a device has; None: it has no such unit."""
    if spec is None:
        return frozenset()
    found = {name for name in ("bulk", "tensor", "multicast") if getattr(spec, name)}
    return frozenset(found | ({"small"} if spec.small_widths else set()))
