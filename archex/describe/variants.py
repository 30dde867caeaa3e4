"""Alternative programs for the same work: which of them a device can hold, and which is the best.

In: a described device, a launch with `variants`, a function that runs one program. Out: the columns of the fastest, with its name.
A launch's variants are all its programs: what stands in the launch itself only saves repeating it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import attrs

from archex.base.errors import UnsupportedError
from archex.describe.device import DeviceSpec
from archex.describe.occupancy import local_most
from archex.parts.async_copy_unit import abilities
from archex.suite.launch import Launch, Variant

#: Ends the name of an element type whose products are of stored halves (two of four).
SPARSE = "_sparse"
Run = Callable[[Launch], dict[str, Any]]


def missing(device: DeviceSpec, requires: Mapping[str, Any]) -> list[str]:
    """What the device lacks of what a variant requires, each with the number or the choices that the device has."""
    found = []
    have = matrix_elements(device)
    lacking = [name for name in _listed(requires.get("matrix", ())) if name not in have]
    if lacking:
        takes = f"the matrix unit takes {', '.join(sorted(have))}" if have else "the device has no matrix unit"
        found.append(f"matrix products of {', '.join(lacking)} ({takes})")
    bytes_wanted, most = requires.get("local_memory", 0), local_most(device["compute_unit"], device["local_memory"])
    if bytes_wanted > most:
        found.append(f"{bytes_wanted} B of local memory (a workgroup can have {most} B)")
    width = device["compute_unit"].wave_width
    if requires.get("wave", width) != width:
        found.append(f"waves of {requires['wave']} lanes (the device's have {width})")
    copies = abilities(device.get("async_copy_unit"))
    for name in _listed(requires.get("async_copy", ())):
        if name not in copies:
            does = f"the device does {', '.join(sorted(copies))}" if copies else "the device does none"
            found.append(f"asynchronous copies of the kind {name} ({does})")
    return found


def matrix_elements(device: DeviceSpec) -> frozenset[str]:
    """Types of elements that the device's matrix unit multiplies, those of sparse shapes as `f16_sparse`."""
    unit = device.get("matrix_unit")
    shapes = unit.shapes.values() if unit else ()
    return frozenset(f"{name}{SPARSE if shape.sparse else ''}" for shape in shapes for name in shape.elements.split())


def best(device: DeviceSpec, launch: Launch, run: Run) -> dict[str, Any]:
    """Run every variant that fits and return the columns of the fastest; of a sequence, each step's fastest, then the whole.

    Raises UnsupportedError where none fits. A program without variants is run as it is.
    """
    if launch.variants:
        return _fastest(device, launch, run)[1]
    steps = [(step, _fastest(device, step, run)[0]) if step.variants else (step, None) for step in launch.sequence]
    names = [variant.name for _, variant in steps if variant]
    if not names:
        return run(launch)
    chosen = attrs.evolve(launch, sequence=tuple(variant.launch if variant else step for step, variant in steps))
    return run(chosen) | {"variant": "+".join(names)}


def fastest(device: DeviceSpec, launch: Launch, run: Run) -> Launch:
    """The program that `best` reports, of a launch with variants; any other launch is its own."""
    return _fastest(device, launch, run)[0].launch if launch.variants else launch


def _fastest(device: DeviceSpec, launch: Launch, run: Run) -> tuple[Variant, dict[str, Any]]:
    """The variant that takes the fewest cycles (the first of equals), and its columns."""
    found: list[tuple[Variant, dict[str, Any]]] = []
    reasons = []
    for variant in launch.variants:
        lacking = missing(device, variant.requires)
        if not lacking:
            try:
                found.append((variant, best(device, variant.launch, run) | {"variant": variant.name}))
            except UnsupportedError as error:
                reasons.append(f"{variant.name}: {error.reason}")
        else:
            reasons.append(f"{variant.name} needs {' and '.join(lacking)}")
    if not found:
        raise UnsupportedError("no variant fits: " + "; ".join(reasons))
    return min(found, key=lambda pair: pair[1]["cycles"])


def _listed(given: Any) -> tuple[str, ...]:
    """Names given as a list or as one."""
    return (given,) if isinstance(given, str) else tuple(given)
