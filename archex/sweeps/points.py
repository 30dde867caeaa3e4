"""What a sweep is made of: assignments, points, designs. No Hydra here: these values cross to other processes.

Out: `Assignment` (a key and a value), `Point` (one combination of them, not yet composed), `Design` (a point composed and described, or the
problems that kept it from being one).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from archex.base.errors import Problem
from archex.sweeps.settings import KEYS, Settings


@attrs.frozen
class Assignment:
    """One value for one key: `text` as Hydra would be given it, `shown` without Hydra's quotes."""

    key: str  # without +, ~ and package
    text: str
    value: Any  # of a deletion: what must stand there (None: anything)
    deletes: bool = False

    @property
    def shown(self) -> str:
        """As a person writes it."""
        if self.deletes:
            return self.text
        return f"{self.key}={show_value(self.value)}"


def show_value(value: Any) -> str:
    """A value of the grammar as text: strings bare, null and booleans as YAML writes them."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return "[" + ",".join(show_value(item) for item in value) + "]"
    if isinstance(value, dict):
        return "{" + ",".join(f"{key}:{show_value(item)}" for key, item in value.items()) + "}"
    return str(value)


@attrs.frozen
class Point:
    """One combination of assignments. index: its place in the sweep (in a search, the trial's number)."""

    index: int
    assignments: tuple[Assignment, ...]


@attrs.frozen
class Design:
    """One point of a sweep: a device as described, or the problems that kept it from being one.

    base, values: what a worker makes its config of (the key of a composed config on the shelf; what is set on it, by dotted key).
    """

    index: int
    assignments: tuple[Assignment, ...]
    device: str  # the choice of the group
    config: Mapping[str, Any]  # the device's own; shared with other designs, never changed
    settings: Settings
    base: str = ""
    values: tuple[tuple[str, Any], ...] = ()
    fingerprint: str | None = None  # None with problems
    spec: Any = None
    problems: tuple[Problem, ...] = ()

    @property
    def overrides(self) -> str:
        """What the command line set on the device, as text."""
        return ", ".join(a.shown for a in self.assignments if a.key != "device" and a.key.split(".")[0] not in KEYS and not is_hydra(a.key))


def is_hydra(key: str) -> bool:
    """Whether a key is one of Hydra's own: `hydra.launcher.workers`, `hydra/sweeper`."""
    return key.startswith(("hydra.", "hydra/"))


def is_field(key: str) -> bool:
    """Whether a key is a field of the launcher or the sweeper, which `backends` checks."""
    return key.startswith(("hydra.launcher.", "hydra.sweeper."))
