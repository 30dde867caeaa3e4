"""A wave that is followed: its waits are the stalls of the launch, seen from one wave; following changes nothing."""

from __future__ import annotations

from collections import Counter
from functools import cache
from itertools import pairwise

import attrs
import pytest
from archex.assembly import Device, assemble
from archex.base.errors import RequestError
from archex.base.options import Options
from archex.records.events import WaveEvent
from archex.records.schema import STALLS
from archex.simulate import simulate
from archex.suite.launch import Launch, read_folder
from archex.sweeps.settings import KERNELS
from archex.testing.devices import described
from archex.tracing import trace

WAVES = 16


@cache
def parts() -> tuple[Device, Launch]:
    """Two workgroups of eight waves that load, shuffle, meet at barriers and store."""
    return assemble(described("tiny")), attrs.evolve(read_folder(KERNELS / "smoke", ("softmax",))["softmax"], grid=(2, 1, 1))


@cache
def lives() -> tuple[list[WaveEvent], ...]:
    return tuple(trace(*parts(), Options(), wave) for wave in range(WAVES))


def test_every_cycle_of_a_wave_has_a_reason() -> None:
    for events in lives():
        assert events[-1].operation == "exit"
        for before, after in pairwise(events):
            assert after.since == before.issue + 1
        for event in events:
            assert sum(event.waits.values()) == event.issue - event.since
            assert event.reason in ("", *event.waits)
            assert event.done >= event.issue


def test_the_waits_of_all_waves_are_the_stalls_of_the_launch() -> None:
    row = simulate(*parts(), Options(sampling="off"))
    spent: Counter[str] = Counter()
    for events in lives():
        for event in events:
            spent.update(event.waits)
    issued = sum(map(len, lives()))
    assert issued == row["wave_instructions"]
    columns = {name: row[name] * issued for name in STALLS if name != "stall_drain"}
    assert {f"stall_{name}": cycles for name, cycles in spent.items()} == pytest.approx({n: c for n, c in columns.items() if c}, abs=1e-6)
    assert max(event.issue for events in lives() for event in events) < row["cycles"]


def test_a_wave_that_is_not_there() -> None:
    with pytest.raises(RequestError) as caught:
        trace(*parts(), Options(), WAVES)
    assert str(caught.value) == "wave: 16 must be below 16, the number of waves of this launch on this device"
