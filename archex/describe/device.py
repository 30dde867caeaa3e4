"""What a described device is: frozen values, nothing unchecked, with the provenance of each number and a fingerprint of its content."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import attrs

from archex.base.names import content_hash
from archex.parts.kinds import AROUND
from archex.parts.part import Part

STATUSES = ("published", "measured", "calibrated", "assumed")


@attrs.frozen
class Provenance:
    """Where a number is from: its status and a sentence. A value given on the command line has the status `override`."""

    status: str
    origin: str


@attrs.frozen
class SlotSpec:
    """A filled slot: which part, with which numbers, and where the numbers are from (by dotted path below the slot).

    policies: the hash of the source of each policy that the part names, by field.
    """

    name: str
    part: type[Part]
    spec: Any
    package: str = ""
    source_hash: str = ""
    provenance: Mapping[str, Provenance] = attrs.field(factory=dict, eq=False)
    policies: Mapping[str, str] = attrs.field(factory=dict)

    @cached_property
    def fingerprint(self) -> str:
        """Hash of content: the numbers, the names and sources of the part and its policies."""
        return content_hash([self.part.kind, self.part.name, self.spec, self.source_hash, dict(self.policies)])


@attrs.frozen
class DeviceSpec:
    """A device, checked. `device[slot]` is the Spec of a slot's part; `memory_path` names the levels from the lanes outwards."""

    name: str
    vocabulary: str
    slots: Mapping[str, SlotSpec]
    memory_path: tuple[str, ...]

    def __getitem__(self, slot: str) -> Any:
        return self.slots[slot].spec

    def get(self, slot: str) -> Any:
        """The Spec of a slot, or None where the device has no such part."""
        found = self.slots.get(slot)
        return found.spec if found else None

    @property
    def clock_hz(self) -> float:
        """Clock of the compute units."""
        return float(self["compute_unit"].clock)

    @cached_property
    def fingerprint(self) -> str:
        """Hash of content: the slots' own, the path's order. Not of spelling, nor of the device's name."""
        return content_hash([{name: slot.fingerprint for name, slot in self.slots.items()}, list(self.memory_path)])

    @cached_property
    def kernel_fingerprint(self) -> str:
        """The same of what a kernel's own result depends on: without the parts around the device."""
        return content_hash([{name: slot.fingerprint for name, slot in self.slots.items() if name not in AROUND}, list(self.memory_path)])
