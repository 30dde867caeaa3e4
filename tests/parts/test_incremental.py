"""A device described after others is the device described alone, whatever was kept of the others; so is an assembled one."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np
import pytest
from archex.assembly import Device, assemble
from archex.base.errors import RequestError
from archex.describe import DeviceSpec, describe
from archex.sweeps.values import apply
from archex.testing.devices import choices, compose, installed
from hypothesis import given, settings
from hypothesis import strategies as st

DEVICES = ("tiny", "h200", "mi300x")
#: path -> values, right ones and wrong ones, by themselves and beside others.
VALUES: dict[str, list[Any]] = {
    "l2.ways": [16, 8, 7, "many", True, 16.0, None],
    "l2.size": ["32 MiB", 33554432, "64 Mib", "1 MiB"],
    "l2.replacement": ["lru", "pseudo_lru", {"name": "lru"}, "lruu", {"name": "lru", "depth": 1}],
    "l2.copy_near": [True, 1, "yes"],
    "l2.wais": [3],
    "memory.bandwidth": ["3.35 TB/s", 32],
    "memory.sources": [{}, {"access": {"status": "guess", "from": "x"}}],
    "clock": ["2 GHz", "2000 MHz", 2],
    "compute_unit.count": [8, 0, 12],
    "compute_unit.groups": [1, 64],
    "wave_scheduler.name": ["two_level", "oldest_first", "x"],
    "simd.lanes": [16, 32, 5],
    "fabric.serves": ["l2", "l3"],
    "memory_path": [["vector_cache", "l2", "memory"], ["vector_cache", "memory"], "l2"],
    "cost": [{}, {"name": "big"}],
    "device.name": ["mine", ""],
}
overrides = st.lists(
    st.sampled_from(sorted(VALUES)).flatmap(lambda path: st.tuples(st.just(path), st.sampled_from(VALUES[path]))), max_size=3
)


def outcome(device: str, values: list[tuple[str, Any]], fresh: bool) -> Any:
    """What `describe` makes of a device; with nothing kept, if it is to be fresh."""
    registry = attrs.evolve(installed()) if fresh else installed()
    try:
        spec = describe(apply(BASES[device], values), registry, overridden=[path for path, _ in values], choices=choices(device))
    except RequestError as error:
        return error.problems
    return spec, spec.fingerprint, {name: slot.provenance for name, slot in spec.slots.items()}


BASES = {device: compose(device) for device in DEVICES}


@given(st.sampled_from(DEVICES), overrides)
@settings(max_examples=60, deadline=None)
def test_what_is_kept_changes_nothing(device: str, values: list[tuple[str, Any]]) -> None:
    assert repr(outcome(device, values, fresh=False)) == repr(outcome(device, values, fresh=True))


@given(st.lists(st.tuples(st.sampled_from(DEVICES), overrides), min_size=2, max_size=3))
@settings(max_examples=10, deadline=None)
def test_an_assembled_device_is_the_same_after_others(points: list[tuple[str, list[tuple[str, Any]]]]) -> None:
    found = [outcome(device, values, fresh=False) for device, values in points]
    specs = [spec[0] for spec in found if isinstance(spec, tuple)]
    for kept, alone in zip([assembled(spec) for spec in specs], [assembled(strangers(spec)) for spec in specs], strict=True):
        assert kept == alone


def strangers(spec: DeviceSpec) -> DeviceSpec:
    """The same device of objects that nothing was made of yet."""
    slots = {name: attrs.evolve(slot, spec=attrs.evolve(slot.spec)) for name, slot in spec.slots.items()}
    return attrs.evolve(spec, slots=slots)


def assembled(spec: DeviceSpec) -> str:
    """All numbers of a device."""
    device: Device = assemble(spec)
    with np.printoptions(threshold=100_000):
        return repr([device.tables, device.timings, device.pipes, [x for x in device.policies if not callable(x)][:4]])


def test_a_config_changed_in_place_is_another() -> None:
    config = compose("tiny")
    first = describe(config, installed())
    assert describe(config, installed()).slots["l2"] is first.slots["l2"]
    assert describe(config, installed()).slots["l2"] is first.slots["l2"]
    config["l2"]["ways"] *= 2
    assert describe(config, installed())["l2"].ways == 2 * first["l2"].ways
    config["l2"]["ways"] = "many"
    with pytest.raises(RequestError, match=r"l2\.ways: many must be"):
        describe(config, installed())


def test_one_value_is_one_slot() -> None:
    """Of a device with another value only that slot is made anew."""
    for _ in range(3):
        before = describe(BASES["h200"], installed())
    after = describe(apply(BASES["h200"], [("l2.latency", "123 ns")]), installed())
    assert [name for name in before.slots if after.slots[name] is not before.slots[name]] == ["l2"]
