"""What a compute unit is made of and how the device's compute units are grouped. Composition only: no policy."""

from __future__ import annotations

import attrs

from archex.parts.part import Part, choice, number


@attrs.frozen(kw_only=True)
class ComputeUnitSpec:
    """Counts, limits of residence, issue rates, synchronisation costs."""

    clock: float = number("Hz", "clock of the compute units; the cycles of results are its cycles", low=1e6, high=1e11)
    count: int = number("count", "compute units of the device", low=1, high=65536)
    cluster: int = number("count", "compute units that sit together and share caches marked so", low=1, default=1)
    groups: int = number("count", "groups among which clusters are divided as evenly as they can be", low=1, default=1)
    dies: int = number("count", "compute dies; groups never span two", low=1, default=1)
    wave_width: int = number("count", "lanes of a wave: 32 or 64", low=32, high=64)
    schedulers: int = number("count", "wave schedulers of a compute unit, each with a SIMD", low=1, high=16)
    waves: int = number("count", "waves resident on a compute unit", low=1, high=256)
    workgroups: int = number("count", "workgroups resident on a compute unit", low=1, high=256)
    multi_wave_workgroups: int | None = number("count", "of these, workgroups of more than one wave (barriers)", low=1, default=None)
    workgroup_threads: int = number("count", "threads of the largest workgroup", low=1, high=65536)
    issue_period: int = number("cycles", "a scheduler looks for work every so many cycles", low=1, high=64, default=1)
    issue_width: int = number("count", "instructions it starts then, each of another wave and on another pipe", low=1, high=16, default=1)
    barrier_base: float = number("cycles", "a barrier lets waves go so many cycles after the last arrival")
    barrier_wave: float = number("cycles", "and so many more for each wave of the workgroup")
    fence_workgroup: float = number("cycles", "a fence within the workgroup, nothing outstanding")
    fence_device: float = number("cycles", "a fence across the device, nothing outstanding")
    memory_queue: int = number("count", "memory instructions a scheduler may have waiting for a port", low=1)
    matrix_clock: float | None = number(
        "Hz", "clock while a program with matrix products runs, where it is another", low=1e6, high=1e11, default=None
    )
    cluster_workgroups: int = number(
        "count", "workgroups that may start together on one group of compute units and reach each other's local memory", low=1, default=1
    )
    cluster_barrier: float = number("cycles", "a barrier of such a cluster lets waves go so many cycles after the last arrival", default=0)
    cluster_barrier_wave: float = number("cycles", "and so many more for each wave of a workgroup", default=0)
    remote_latency: float = number("cycles", "from one compute unit of a cluster to another's local memory, one way", default=0)
    remote_bytes: float = number("B/cycle", "bytes of bulk copies there that a compute unit moves a cycle; 0: as its port", default=0)
    remote_line: float = number("cycles", "of the way there, for each line of 128 bytes that a wave's access touches", default=0)
    remote_sector: float = number("cycles", "... and for each 32 bytes of it", default=0)
    remote_atomic: float = number("cycles", "of the way there, for each 32 bytes that a wave's atomics touch", default=0)


class ComputeUnit(Part):
    """Schedulers, their SIMDs and a memory pipe, replicated over the device."""

    kind = "compute_unit"
    Spec = ComputeUnitSpec

    @classmethod
    def check(cls, spec: ComputeUnitSpec) -> list[tuple[str, object, str]]:
        found: list[tuple[str, object, str]] = []
        if spec.wave_width not in (32, 64):
            found.append(("wave_width", spec.wave_width, "must be 32 or 64"))
        if spec.waves % spec.schedulers:
            found.append(("waves", spec.waves, f"must be a multiple of compute_unit.schedulers ({spec.schedulers})"))
        if spec.waves // spec.schedulers > 64:
            found.append(("waves", spec.waves, f"must be at most 64 a scheduler ({64 * spec.schedulers})"))
        if spec.count % spec.dies:
            found.append(("count", spec.count, f"must be a multiple of compute_unit.dies ({spec.dies})"))
        if spec.groups % spec.dies:
            found.append(("groups", spec.groups, f"must be a multiple of compute_unit.dies ({spec.dies})"))
        return found


#: How far something is shared; each includes the one before it.
SHARED_BY = ("compute_unit", "cluster", "group", "die", "device")


def shared_by(meaning: str, *, default: str, most: str = "device") -> str:
    """A field that says how many compute units have one of something."""
    field: str = choice(meaning, SHARED_BY[: SHARED_BY.index(most) + 1], default=default)
    return field
