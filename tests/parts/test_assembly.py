"""Finished numbers: clocks, topology, levels, pipes, policies."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from archex.assembly import assemble
from archex.assembly.policies import compiled
from archex.assembly.topology import topology
from archex.base.errors import RequestError
from archex.describe import describe, occupancy
from archex.engine import tables as t
from archex.parts.machine_operations import MACHINE_OPERATIONS
from archex.parts.wave_scheduler import WaveScheduler
from archex.registry import load
from archex.testing.devices import compose, described


def test_a_core_clock_sweep_leaves_nanoseconds_where_they_are() -> None:
    slow, fast = (assemble(described("h200", {"clock": clock})).tables for clock in ("1 GHz", "2 GHz"))
    assert fast.dram[t.DRAM_LATENCY] == 2 * slow.dram[t.DRAM_LATENCY]
    assert fast.dram[t.DRAM_BYTES] == slow.dram[t.DRAM_BYTES] / 2
    assert fast.levels[1, t.LEVEL_LATENCY] == 2 * slow.levels[1, t.LEVEL_LATENCY]
    assert fast.levels[1, t.LEVEL_READ_SECTOR] == pytest.approx(2 * slow.levels[1, t.LEVEL_READ_SECTOR]), "the L2 has its own clock"
    assert fast.levels[1, t.LEVEL_TOTAL_READ] == slow.levels[1, t.LEVEL_TOTAL_READ] / 2
    assert fast.levels[1, t.LEVEL_PORT_READ] == slow.levels[1, t.LEVEL_PORT_READ], "the port follows the compute units' clock"
    assert fast.levels[0, t.LEVEL_LATENCY] == slow.levels[0, t.LEVEL_LATENCY]


def test_measured_numbers_arrive_as_measured() -> None:
    """In cycles of 1.98 GHz, as the microbenchmarks print them."""
    tables = assemble(described("h200")).tables
    assert tables.levels[1, t.LEVEL_LATENCY] == pytest.approx(280, abs=0.5)
    assert tables.levels[1, t.LEVEL_FAR_EXTRA] == pytest.approx(177, abs=0.5)
    assert tables.levels[1, t.LEVEL_READ_LEAST] == pytest.approx(1.16, abs=0.01)  # a cycle of the slices' own clock
    assert tables.levels[1, t.LEVEL_GROUP_READ] == pytest.approx(640, abs=1)
    assert tables.levels[1, t.LEVEL_ATOMIC_FLOAT] == pytest.approx(3.48, abs=0.01)
    # A chase of new lines sees half of them far away, and a bank that refreshes as often as it does.
    far, refresh = tables.levels[1, t.LEVEL_FAR_EXTRA] / 2, tables.dram[t.DRAM_REFRESH] ** 2 / 2 / tables.dram[t.DRAM_REFRESH_INTERVAL]
    assert tables.dram[t.DRAM_LATENCY] + far + refresh == pytest.approx(664.5, abs=4.5)
    assert tables.dram[t.DRAM_BYTES] == pytest.approx(2326, abs=3)
    assert tables.dram[t.DRAM_ACTIVATES] == pytest.approx(19.7, abs=0.01)


def test_a_cache_level_is_added_by_config_alone() -> None:
    level = {"name": "set_associative", "size": "8 KiB", "line": 128, "sector": 32, "ways": 4, "shared_by": "compute_unit", "latency": 40,
             "write": "write_through", "replacement": "lru", "index": "modulo", "port_read": "64 B/cycle"}  # fmt: skip
    spec = described("tiny", {"l1_5": level, "memory_path": ["vector_cache", "l1_5", "l2", "memory"]})
    tables = assemble(spec).tables
    assert tables.levels.shape[0] == 3
    assert tables.levels[:, t.LEVEL_SETS].tolist() == [8, 16, 32]
    assert tables.levels[:, t.LEVEL_PORT_READ].tolist() == [0, 64, 64]
    assert tables.level_instance.tolist() == [[0, 1], [0, 1], [0, 0]]


def test_groups_are_as_even_as_they_can_be() -> None:
    place = topology(described("h200"))
    assert np.bincount(place.group).tolist() == [16] * 6 + [18] * 2
    assert np.bincount(place.partition(described("h200"))).tolist() == [66, 66]
    assert (np.diff(place.order) == 1).all(), "one die is filled in order"


def test_dies_are_filled_in_turn() -> None:
    place = topology(described("mi300a"))
    assert place.die[place.order[:7]].tolist() == [0, 1, 2, 3, 4, 5, 0]
    assert sorted(place.order.tolist()) == list(range(228))
    assert np.bincount(place.instance("die")).tolist() == [38] * 6


@pytest.mark.parametrize(("count", "cluster", "groups"), [(1, 1, 1), (7, 2, 3), (132, 2, 8), (144, 2, 9), (5, 4, 2)])
def test_every_unit_has_a_place(count: int, cluster: int, groups: int) -> None:
    values = {"compute_unit.count": count, "compute_unit.cluster": cluster, "compute_unit.groups": groups}
    place = topology(described("tiny", values))
    assert len(place.group) == count
    sizes = np.bincount(place.group, minlength=groups)
    assert sizes.min() >= 1
    assert sorted(place.order.tolist()) == list(range(count))


@pytest.mark.parametrize("device", ["h200", "mi300a", "tiny"])
def test_every_operation_of_the_instruction_set_has_a_timing(device: str) -> None:
    found = assemble(described(device))
    named = set(re.findall(r"\w+", " ".join(found.instruction_set.expansions.values())))
    assert {name for name in MACHINE_OPERATIONS if name in named and name != "matrix"} <= set(found.timings)
    for name, timing in found.timings.items():
        assert 0 <= timing.pipe < len(found.pipes), name
        assert -1 <= timing.alternative < len(found.pipes), name
    assert found.tables.pipes.shape == (len(found.pipes), t.PIPE_COLUMNS)


def test_a_launch_leaves_the_vector_cache_what_local_memory_does_not_take() -> None:
    device = assemble(described("h200"))
    plain = device.tables_for(occupancy(device.spec, 256, 32, 0))
    crowded = device.tables_for(occupancy(device.spec, 256, 32, 100 * 1024))
    assert plain.levels[0, t.LEVEL_SETS] == 240 * 1024 // 128 // 16, "248 KiB less the 8 that its workgroups reserve"
    assert crowded.levels[0, t.LEVEL_SETS] == 20 * 1024 // 128 // 16
    assert device.tables.levels[0, t.LEVEL_SETS] == 248 * 1024 // 128 // 16, "the device itself is not changed"


def test_feedback_is_asked_for_only_where_wanted() -> None:
    policies = compiled(described("tiny", {"l2.replacement": "pseudo_lru"}))
    assert policies.wave_feedback == 0
    assert policies.victim_feedback == (0, 3)
    assert policies.victim_state == (0, 64 * 1024 // 128 // 8)
    assert policies.coalesce_standard


def test_a_policy_that_does_not_compile_is_named() -> None:
    class Poet(WaveScheduler):
        """Answers in words."""

        name = "poet"

        @staticmethod
        def pick_wave(view: Any, state: Any, params: Any) -> Any:
            return "the next one"

    from types import ModuleType

    from archex import hookimpl
    from archex.base.jit import COMPILED

    module = ModuleType("mine")
    module.archex_parts = hookimpl(lambda: [Poet])  # type: ignore[attr-defined]
    config = compose("tiny") | {"wave_scheduler": {"name": "poet"}}
    spec = describe(config, load({"mine": module}))
    if COMPILED:
        with pytest.raises(RequestError, match=r"^wave_scheduler\.poet\.pick_wave: does not compile: .*it must return a slot"):
            assemble(spec)
