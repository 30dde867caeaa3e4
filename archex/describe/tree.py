"""A device as `archex show` prints it: every number with its unit, meaning and source.

In: a `DeviceSpec`. Out: `Leaf`s in order, by dotted path; instances and totals of what stands several times.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import attrs

from archex.base.names import join
from archex.base.units import show
from archex.describe.device import DeviceSpec, Provenance
from archex.describe.fit import instances
from archex.describe.provenance import covering
from archex.parts.part import Chosen, Meta, meta


@attrs.frozen
class Leaf:
    """One line of the tree. `value` is printable; `unit` is `name` or `flag` where it isn't a number."""

    path: str
    value: str
    unit: str
    status: str
    origin: str
    meaning: str
    total: str = ""


_DEFAULT = Provenance("default", "the part's own default")


def tree(device: DeviceSpec) -> list[Leaf]:
    """Every value of a device."""
    found = [
        Leaf("device.name", device.name, "name", "", "", "the device"),
        Leaf("memory_path", " > ".join(device.memory_path), "name", "", "", "levels from the lanes outwards"),
    ]
    for name, slot in device.slots.items():
        found.append(Leaf(f"{name}.name", slot.part.name, "name", "", f"package {slot.package}", (slot.part.__doc__ or "").split("\n")[0]))
        for path, value, known in _leaves(slot.spec):
            above = covering(path, slot.provenance)
            source = slot.provenance[above] if above else _DEFAULT
            total = _total(device, name, path, value)
            found.append(Leaf(f"{name}.{path}", value, known.unit, source.status, source.origin, known.meaning, total))
    return found


def _total(device: DeviceSpec, slot: str, path: str, value: str) -> str:
    count = instances(device, slot) if path == "size" else 1
    return f"{count} x {value} = {show(count * device[slot].size, 'B')}" if count > 1 else ""


def _leaves(spec: Any, path: str = "") -> Iterator[tuple[str, str, Meta]]:
    """(path, printed value, what is known of it) of everything in a Spec."""
    for field in attrs.fields(type(spec)):
        known, value, here = meta(field), getattr(spec, field.name), join(path, field.name)
        if isinstance(value, Chosen):
            yield here, value.part.name, known
            yield from _leaves(value.spec, here)
        elif known.nested is not None and value is not None:
            if known.each == "map":
                for key, item in value.items():
                    yield from _leaves(item, join(here, key))
            elif known.each == "list":
                for position, item in enumerate(value):
                    yield from _leaves(item, f"{here}[{position}]")
            else:
                yield from _leaves(value, here)
        elif known.each == "list":
            yield here, "[" + ", ".join(show(item, known.unit) for item in value) + "]", known
        elif known.each == "map":
            for key, item in value.items():
                yield join(here, key), show(item, known.unit), known
        else:
            yield here, show(value, known.unit), known


def assumed(device: DeviceSpec) -> int:
    """How many values of a device are assumed."""
    return sum(leaf.status == "assumed" for leaf in tree(device))
