"""The shipped suite is what its config says: eight launches that read, parse and name their own memory, small and yet enough to see."""

from __future__ import annotations

import pytest
from archex.assembly import assemble
from archex.programs.build import load_function
from archex.programs.trace import TraceSource
from archex.simulate import hold, prepare
from archex.suite.launch import Launch, read_folder
from archex.sweeps.settings import KERNELS
from archex.testing.devices import described

DEVICES = ("h200", "h100_sxm", "a100", "mi210", "mi300a", "mi300x")
#: Wave-instructions that the suite has at least, and about as many on the device that has the fewest: a sweep pays for each of them.
LEAST = 1_000_000


@pytest.fixture(scope="module")
def launches() -> dict[str, Launch]:
    return read_folder(KERNELS / "smoke")


def test_eight_launches_that_parse(launches: dict[str, Launch]) -> None:
    assert list(launches) == ["copy", "reduce", "transpose", "softmax", "sgemm", "gather", "stencil", "histogram"]
    for launch in launches.values():
        assert load_function(launch.ptx, launch.entry).blocks


def counted(device: str, launches: dict[str, Launch]) -> dict[str, float]:
    """Wave-instructions of each launch."""
    assembled, found = assemble(described(device)), {}
    for name, launch in launches.items():
        program, machine = prepare(assembled, launch)
        held, placed = hold(assembled, launch, program, machine)
        source = TraceSource(program, launch, assembled.wave_width, held.waves_per_workgroup)
        found[name] = float((source.count(placed.order.ravel())[0] @ machine.block_instructions).sum())
    return found


@pytest.mark.parametrize("device", DEVICES)
def test_enough_of_each_and_no_more_than_it_takes(device: str, launches: dict[str, Launch]) -> None:
    work = counted(device, launches)
    total = sum(work.values())
    assert total >= LEAST, work
    assert total < 1.05 * LEAST or device != "mi300x", work
    assert min(work.values()) > 0.03 * total, work
