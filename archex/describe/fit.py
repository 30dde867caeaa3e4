"""Rules between parts: do the slots of a device fit together?

In: a device whose slots are each right in themselves, the names of slots that weren't. Out: problems; a rule that needs a broken or
missing slot is left out, so that one mistake isn't reported twice.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import pairwise
from typing import Any, Protocol

from archex.base.errors import ABSENT, Problem, unknown
from archex.describe.device import DeviceSpec
from archex.parts.compute_unit import ComputeUnitSpec
from archex.parts.machine_operations import MACHINE_OPERATIONS
from archex.parts.matrix_unit import OPERATION
from archex.parts.timing import OperationSpec

#: Slots whose parts execute operations on pipes; their pipes share one name space.
UNITS = ("simd", "special_function_unit", "scalar_unit", "matrix_unit")


class Units(Protocol):
    """Where the units of a device are looked up: a `DeviceSpec`, or a map of their Specs."""

    def get(self, slot: str, /) -> Any:
        """The Spec of a slot, or None."""


def fit(device: DeviceSpec, broken: Collection[str]) -> list[Problem]:
    """Everything that doesn't fit together."""
    whole = [slot for slot in device.slots if slot not in broken]
    found = list(_path(device, whole)) if "memory_path" not in broken else []
    if {"compute_unit"} <= set(whole):
        found += _grouping(device)
    if {"local_memory", "vector_cache"} <= set(whole):
        found += _local(device)
    if {"compute_unit", "simd"} <= set(whole):
        found += _lanes(device)
    if {"compute_unit", "register_file"} <= set(whole):
        found += _registers(device)
    if not set(UNITS) & set(broken):
        found += _operations(device)
    return found


def _path(device: DeviceSpec, whole: Collection[str]) -> Iterator[Problem]:
    path, shown = device.memory_path, ", ".join(device.memory_path)
    if path and path[-1] != "memory":
        yield Problem("memory_path", shown, "must end with memory")
    if path and path[0] != "vector_cache":
        yield Problem("memory_path", shown, "must begin with vector_cache")
    if len(set(path)) < len(path):
        yield Problem("memory_path", shown, "must name each level once")
    levels = [name for name in path[:-1] if name in whole] if "compute_unit" in whole else []
    for name in set(device.slots) - set(path):
        if device.slots[name].part.kind == "cache":
            yield Problem(f"{name}", ABSENT, "is a cache that memory_path doesn't name", path)
    fabric = device.get("fabric")
    if "fabric" in whole and fabric.serves not in path[1:-1]:
        yield unknown("fabric.serves", fabric.serves, path[1:-1], "level of memory_path below the vector cache")
    for above, below in pairwise(levels):
        if instances(device, above) < instances(device, below):
            rule = f"must be shared by at least as many compute units as {above} ({device[above].shared_by})"
            yield Problem(f"{below}.shared_by", device[below].shared_by, rule)
        if device[below].line < device[above].line:
            yield Problem(f"{below}.line", device[below].line, f"must be at least {above}.line ({device[above].line} B)")


def _grouping(device: DeviceSpec) -> Iterator[Problem]:
    unit = device["compute_unit"]
    clusters = _clusters(unit)
    if unit.groups > clusters:
        yield Problem("compute_unit.groups", unit.groups, f"must be at most the clusters ({clusters})")


def _clusters(unit: ComputeUnitSpec) -> int:
    """Clusters of compute units; none spans two dies."""
    return unit.dies * -(-(unit.count // unit.dies) // unit.cluster)


def _local(device: DeviceSpec) -> Iterator[Problem]:
    local, cache = device["local_memory"], device["vector_cache"]
    if local.shared_by == "compute_unit":
        return
    if local.port != "own":
        yield Problem("local_memory.port", local.port, f"must be own where local_memory.shared_by is {local.shared_by}", ("own",))
    if local.carve_outs and cache.shared_by != local.shared_by:
        rule = f"must be that of local_memory ({local.shared_by}): they are parts of one array (local_memory.carve_outs)"
        yield Problem("vector_cache.shared_by", cache.shared_by, rule)


def _lanes(device: DeviceSpec) -> Iterator[Problem]:
    lanes, width = device["simd"].lanes, device["compute_unit"].wave_width
    if width % lanes:
        yield Problem("simd.lanes", lanes, f"must divide compute_unit.wave_width ({width})")


def _registers(device: DeviceSpec) -> Iterator[Problem]:
    size, unit = device["register_file"].size, device["compute_unit"]
    step = unit.schedulers * unit.wave_width * 4
    if size % step:
        yield Problem("register_file.size", size, f"must be a multiple of one register of a wave on each scheduler ({step} B)")


def _operations(device: DeviceSpec) -> Iterator[Problem]:
    pipes: dict[str, str] = {}
    for slot in UNITS:
        for name in device[slot].pipes if device.get(slot) else ():
            if name in pipes:
                yield Problem(f"{slot}.pipes.{name}", ABSENT, f"is the name of a pipe of {pipes[name]}, too")
            pipes[name] = slot
    seen: dict[str, str] = {}
    for path, name, timing in operations(device):
        if name not in MACHINE_OPERATIONS and not name.startswith(OPERATION):
            yield unknown(path, ABSENT, MACHINE_OPERATIONS, "machine operation")._replace(choices=())
        if name in seen:
            yield Problem(path, ABSENT, f"is carried out by {seen[name]}, too")
        seen[name] = path
        for field in ("pipe", "alternative"):
            if getattr(timing, field) is not None and getattr(timing, field) not in pipes:
                yield unknown(f"{path}.{field}", getattr(timing, field), pipes, "pipe")


def operations(device: Units) -> Iterator[tuple[str, str, OperationSpec]]:
    """(path, machine operation, timing) of everything the units of a device carry out."""
    for slot in UNITS:
        unit = device.get(slot)
        if slot == "matrix_unit" and unit is not None:
            pipe = next(iter(unit.pipes))
            for name, shape in unit.shapes.items():
                yield f"{slot}.shapes.{name}", OPERATION + name, OperationSpec(pipe, max(shape.interval, shape.least), shape.latency)
        elif unit is not None:
            for name, timing in unit.operations.items():
                yield f"{slot}.operations.{name}", name, timing


def instances(device: DeviceSpec, slot: str) -> int:
    """How many of a slot's part the device has."""
    unit = device["compute_unit"]
    if slot in ("compute_unit", "memory", "fabric", "dispatcher", "instruction_set", "address_translation"):
        return 1
    shared: Any = getattr(device[slot], "shared_by", "compute_unit")
    counts = {"compute_unit": unit.count, "cluster": _clusters(unit), "group": unit.groups, "die": unit.dies, "device": 1}
    return int(counts[shared])
