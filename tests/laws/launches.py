"""Small launches for laws, run whole on a shipped device with overrides."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import Any

from archex.assembly import Device, assemble
from archex.base.options import Options
from archex.simulate import prepare, simulate
from archex.suite.bodies import launch
from archex.suite.launch import Launch
from archex.testing.devices import described

__all__ = ["device", "launch", "machine_operations", "run"]


@cache
def device(name: str, **changes: Any) -> Device:
    """A shipped device; `l2__latency="60 ns"` overrides `l2.latency`."""
    return assemble(described(name, {key.replace("__", "."): value for key, value in changes.items()}))


def run(on: Device, work: Launch) -> dict[str, Any]:
    """The columns of a launch that is simulated whole."""
    return simulate(on, work, Options(sampling="off"))


def machine_operations(on: Device, work: Launch) -> Counter[str]:
    """How often each machine operation is in the code of a launch (of straight-line code: is issued by a wave)."""
    return Counter(name for block in prepare(on, work)[1].operations for name in block)
