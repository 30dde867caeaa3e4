"""How many workgroups of a launch one compute unit holds, and what limits them.

In: the Specs that hold the limits, what the kernel asks for. Out: an `Occupancy`, or `UnsupportedError` naming the limit with its number.
The rule: waves are given to schedulers in turn, so registers count by scheduler in whole waves; local memory, of which units that share it
have equal parts, counts in granules plus what the device reserves for each workgroup; workgroups of several waves need a barrier each.
"""

from __future__ import annotations

import attrs

from archex.base.errors import UnsupportedError
from archex.describe.device import DeviceSpec
from archex.parts.compute_unit import ComputeUnitSpec
from archex.parts.local_memory import LocalMemorySpec
from archex.parts.register_file import RegisterFileSpec

LIMITS = ("waves", "registers", "local_memory", "workgroups")
_REGISTER_BYTES = 4


@attrs.frozen
class Occupancy:
    """Residence on one compute unit. `limits`: workgroups that each limit would allow; `limiters`: those that are the least."""

    workgroups: int
    waves: int
    waves_per_workgroup: int
    registers: int
    local_bytes: int
    limits: dict[str, int]
    limiters: tuple[str, ...]

    def limiter(self, grid: int, units: int) -> str:
        """What keeps residence down in a launch of `grid` workgroups on `units` compute units (a column of results)."""
        return "grid" if grid < self.workgroups * units else self.limiters[0]


def occupancy(device: DeviceSpec, threads: int, registers: int, local_bytes: int, accumulators: int = 0) -> Occupancy:
    """Residence of workgroups of `threads` threads with `registers` (and accumulators) a thread and `local_bytes` on a device."""
    return residence(device["compute_unit"], device["register_file"], device["local_memory"], threads, registers, local_bytes, accumulators)


def registers_that_fit(device: DeviceSpec, threads: int) -> int:
    """The most registers a thread may have for a workgroup of `threads` to fit on a compute unit."""
    unit, file = device["compute_unit"], device["register_file"]
    waves = max(-(-threads // unit.wave_width), 1)
    each = file.size // unit.schedulers // -(-waves // unit.schedulers) // (unit.wave_width * _REGISTER_BYTES)
    return int(each // file.granule * file.granule)


def residence(
    unit: ComputeUnitSpec, file: RegisterFileSpec, local: LocalMemorySpec, threads: int, registers: int, local_bytes: int, accumulators: int
) -> Occupancy:
    """The rule itself, for any three Specs."""
    if threads > unit.workgroup_threads:
        raise UnsupportedError(f"a workgroup of {threads} threads: the device's largest has {unit.workgroup_threads}")
    if local_bytes > local_most(unit, local):
        raise UnsupportedError(f"{local_bytes} B of local memory: a workgroup can have {local_most(unit, local)} B")
    given = _registers(file, registers, accumulators)
    split = _up(accumulators, file.granule) if file.accumulators == "split" else 0
    if given > _up(file.most, file.granule):
        raise UnsupportedError(f"{given} registers a thread: the device has {file.most}")
    limits, allocated = workgroup_limits(unit, file, local, threads, given, local_bytes, split)
    least = min(limits.values())
    if least == 0:
        name = next(name for name in LIMITS if limits[name] == 0)
        needs = {"registers": f"{given} registers a thread", "waves": "its waves", "local_memory": f"{allocated} B of local memory"}
        raise UnsupportedError(f"a workgroup of {threads} threads doesn't fit on a compute unit: {needs.get(name, name)}")
    waves = -(-threads // unit.wave_width)
    limiters = tuple(name for name in LIMITS if limits[name] == least)
    return Occupancy(least, least * waves, waves, given, allocated, limits, limiters)


def workgroup_limits(
    unit: ComputeUnitSpec, file: RegisterFileSpec, local: LocalMemorySpec, threads: int, registers: int, local_bytes: int, split: int = 0
) -> tuple[dict[str, int], int]:
    """(workgroups that each limit allows, local memory given to each); `split`: registers a thread in the accumulators' own file."""
    waves = -(-threads // unit.wave_width)
    lane_bytes = unit.wave_width * _REGISTER_BYTES
    by_registers = unit.schedulers * (file.size // unit.schedulers // (max(registers, 1) * lane_bytes))
    if split:
        by_registers = min(by_registers, unit.schedulers * (file.accumulator_size // unit.schedulers // (split * lane_bytes)))
    allocated = _up(local_bytes + local.reserved, local.granule)
    barriers = unit.multi_wave_workgroups if waves > 1 and unit.multi_wave_workgroups is not None else unit.workgroups
    limits = {
        "waves": unit.waves // waves,
        "registers": by_registers // waves,
        "local_memory": local.size // local_sharers(unit, local) // allocated if allocated else unit.workgroups,
        "workgroups": min(unit.workgroups, barriers),
    }
    return limits, allocated


def _registers(file: RegisterFileSpec, registers: int, accumulators: int) -> int:
    """Registers given to a thread in the common file; accumulators there lie behind the others, from a multiple of their offset."""
    if accumulators and file.accumulators == "none":
        raise UnsupportedError(f"{accumulators} accumulator registers: the device has none")
    behind = accumulators if file.accumulators == "unified" else 0
    total = _up(registers, file.accumulator_offset) + behind if behind else registers
    return _up(total, file.granule)


def local_sharers(unit: ComputeUnitSpec, local: LocalMemorySpec) -> int:
    """Compute units that have one local memory."""
    return unit.cluster if local.shared_by == "cluster" else 1


def local_most(unit: ComputeUnitSpec, local: LocalMemorySpec) -> int:
    """The most local memory that one workgroup can have."""
    return max(min(local.workgroup_most, local.size // local_sharers(unit, local) - local.reserved), 0)


def _up(value: int, step: int) -> int:
    return -(-value // step) * step


def vector_cache_bytes(device: DeviceSpec, held: Occupancy) -> int:
    """What is left of a shared array for the vector cache while these workgroups are resident: the smallest carve-out that holds them."""
    local, cache = device["local_memory"], device["vector_cache"]
    if not local.carve_outs:
        return int(cache.size)
    needed = held.local_bytes * held.workgroups * local_sharers(device["compute_unit"], local)
    carved = min((size for size in local.carve_outs if size >= needed), default=max(local.carve_outs))
    return int(min(cache.size, local.array - carved))
