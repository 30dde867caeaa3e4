"""Machines and workloads that tests of timelines share: shipped devices, kernels with given times."""

from __future__ import annotations

from functools import cache
from typing import Any

import attrs
from archex.testing.devices import described
from archex.timeline import Builder, Machine, Timeline, Workload, run
from archex.workloads import machine

ALONE = Builder().work("1 us").done()


@cache
def shipped(device: str) -> Machine:
    return machine(described(device), ALONE)


def changed(device: str, part: str, **numbers: Any) -> Machine:
    """A shipped device with other numbers in one part, in nanoseconds and bytes a nanosecond."""
    whole = shipped(device)
    return attrs.evolve(whole, **{part: type(getattr(whole, part))(**{**vars(getattr(whole, part)), **numbers})})


def ran(work: Builder | Workload, device: str | Machine = "h200") -> Timeline:
    workload = work.done() if isinstance(work, Builder) else work
    found = shipped(device) if isinstance(device, str) else device
    kernels = {
        name: attrs.evolve(kernel, work_ns=kernel.cycles / found.clock_hz * 1e9 if kernel.cycles is not None else kernel.work_ns)
        for name, kernel in workload.kernels.items()
    }
    return run(attrs.evolve(workload, kernels=kernels), found)
