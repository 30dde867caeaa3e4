"""The workgroup's on-chip memory: size, banks, latencies, atomics, and how it shares its array with the vector cache."""

from __future__ import annotations

import attrs

from archex.parts.compute_unit import shared_by
from archex.parts.part import Counter, Part, choice, flag, number, policy


@attrs.frozen(kw_only=True)
class LocalMemorySpec:
    """Capacity, allocation and access."""

    size: int = number("B", "local memory of a compute unit, or of those that share one")
    workgroup_most: int = number("B", "the most that one workgroup can have, within its compute unit's part")
    granule: int = number("B", "given to a workgroup in multiples of this", low=1)
    reserved: int = number("B", "taken by the device for each workgroup", default=0)
    carve_outs: list[int] = number(
        "B", "sizes to which the array can be split; empty: apart from the vector cache", each="list", default=[]
    )
    array: int | None = number("B", "the array shared with the vector cache, where there is a carve-out", default=None)
    banks: int = number("count", "banks, each with one access a cycle", low=1, high=256)
    bank_width: int = number("B", "width of a bank", low=1, high=64)
    latency: float = number("cycles", "conflict-free load of up to 4 bytes a lane, from issue to use")
    latency_8: float = number("cycles", "... of 8 bytes a lane")
    latency_16: float = number("cycles", "... of 16 bytes a lane")
    conflict_extra: float = number("cycles", "latency of each pass after the first", default=1)
    atomic_latency: float = number("cycles", "conflict-free atomic, from issue to use")
    atomic_lane: float = number("cycles", "the port is held so long for each further lane on the same bank")
    atomic_extra: float = number("cycles", "latency of each further lane on the same bank")
    float_atomic: float = number("ratio", "a floating-point atomic (a compare-and-swap loop) costs so many times more", low=1, default=1)
    counts_lanes: bool = flag("lanes that add one to the same address, without a result, are counted and added at once", default=False)
    port: str = choice("accesses pass the vector cache's port, or a port of their own", ("own", "vector_cache"), default="own")
    shared_by: str = shared_by(
        "compute units that share one: its port and, in equal parts, its bytes", default="compute_unit", most="cluster"
    )
    access: object = policy("bank_conflict", "counts the passes that an access needs")


class LocalMemory(Part):
    """A banked array beside the lanes; compute units that share one take turns at its port and have equal parts of its bytes."""

    kind = "local_memory"
    Spec = LocalMemorySpec
    counters = (
        Counter("local_memory_wavefronts", "cycles", "passes through the banks", "local_memory_wavefronts"),
        Counter("local_memory_conflicts", "cycles", "passes beyond those of a conflict-free access", "local_memory_conflicts"),
    )

    @classmethod
    def check(cls, spec: LocalMemorySpec) -> list[tuple[str, object, str]]:
        found: list[tuple[str, object, str]] = []
        if spec.workgroup_most + spec.reserved > spec.size:
            found.append(("workgroup_most", spec.workgroup_most, f"with what is reserved must fit in local_memory.size ({spec.size} B)"))
        if spec.carve_outs and (spec.array is None or max(spec.carve_outs) > spec.array):
            found.append(("array", spec.array, "must hold the largest of local_memory.carve_outs"))
        if spec.carve_outs and max(spec.carve_outs) < spec.size:
            found.append(("size", spec.size, f"must be at most the largest of local_memory.carve_outs ({max(spec.carve_outs)} B)"))
        return found
