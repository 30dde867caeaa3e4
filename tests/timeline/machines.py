"""Machines and workloads that tests of timelines share: shipped devices, kernels with given times."""

from __future__ import annotations

import random
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


def mixed(seed: int, steps: int = 60) -> Builder:
    """Any commands in any order on three streams, that never wait for what doesn't come."""
    dice = random.Random(seed)
    streams = {"a": {}, "b": {"priority": 1}, "c": {}}
    work = Builder(streams=streams)
    for n, units in enumerate((1, 10, 1000)):
        work.kernel(f"k{n}", us=dice.choice((1, 7, 30)), units=units, memory=dice.choice((0, 0.4, 0.9)))
    recorded: list[str] = []
    for n in range(steps):
        stream = dice.choice(tuple(streams))
        what = dice.choice(("launch", "launch", "copy", "record", "wait", "sync", "work"))
        if what == "launch":
            work.launch(f"k{dice.randrange(3)}", stream=stream)
        elif what == "copy":
            way = dice.choice(("h2d", "d2h", "d2d"))
            memory = {} if way == "d2d" else {"memory": dice.choice(("pinned", "pageable"))}
            work.copy(way, bytes=dice.choice((100, 70_000, 3_000_000)), stream=stream, **memory)
        elif what == "record":
            work.record(f"e{n}", stream=stream)
            recorded.append(f"e{n}")
        elif what == "wait" and recorded:
            work.wait(dice.choice(recorded), stream=stream)
        elif what == "sync":
            work.sync(stream)
        else:
            work.work("3 us")
    return work.sync("all")
