"""DeviceSpec -> Device: finished numbers in cycles of the compute units' clock, and compiled policies.

In: a `DeviceSpec`. Out: a `Device`, which the lowering (timings, instruction set) and the engine (tables, policies) read. A sweep over
numbers changes tables only; policies are compiled once a process.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import numpy as np

from archex.assembly import levels, unit
from archex.assembly.peers import peer_tables
from archex.assembly.policies import compiled
from archex.assembly.routes import routes
from archex.assembly.topology import Topology, topology
from archex.base.layout import Timing
from archex.base.memo import by_identity
from archex.base.once import Once
from archex.describe import DeviceSpec, Occupancy
from archex.describe.fit import UNITS, operations
from archex.describe.occupancy import vector_cache_bytes
from archex.engine import tables as t
from archex.engine.policies import Policies
from archex.parts.abilities import Abilities, abilities_of
from archex.parts.instruction_set import InstructionSetSpec

_at_matrix_clock: Once[Device] = Once()


@attrs.frozen(eq=False)
class Device:
    """A device ready to run. `timings`: machine operation -> pipe numbers, interval, latency. `pipes`: name of each pipe number."""

    spec: DeviceSpec
    tables: t.DeviceTables
    policies: Policies
    timings: Mapping[str, Timing]
    pipes: tuple[str, ...]
    instruction_set: InstructionSetSpec
    wave_width: int
    clock_hz: float
    launch_gap_cycles: float

    @property
    def abilities(self) -> Abilities:
        """What the lowering may use beside plain operations."""
        return abilities_of(self.wave_width, self.spec.get("matrix_unit"), self.spec.get("async_copy_unit"))

    def at_matrix_clock(self) -> Device:
        """The device while a program with matrix products runs: by another clock, if it says so."""
        clock = self.spec["compute_unit"].matrix_clock
        return self if clock is None or clock >= self.clock_hz else _at_matrix_clock.of(self, lambda: _assembled(self.spec, clock))

    def tables_for(self, held: Occupancy, devices: int = 1, peers: Sequence[int] = ()) -> t.DeviceTables:
        """The tables of a launch: a vector cache that shares its array with local memory keeps what resident workgroups leave.

        peers: other devices of `devices` whose memory it uses, by how many places further on they are.
        """
        rows = self.tables.levels.copy()
        rows[0, t.LEVEL_SETS] = levels.sets(self.spec["vector_cache"], vector_cache_bytes(self.spec, held))
        ways = peer_tables(self.spec, self.clock_hz, devices, peers) if peers else {}
        return self.tables._replace(levels=rows, **ways)


def assemble(spec: DeviceSpec) -> Device:
    """Assemble a device; RequestError if a policy does not compile."""
    return _assembled(spec, spec.clock_hz)


def _assembled(spec: DeviceSpec, clock: float) -> Device:
    place = topology(spec)
    pipes = tuple(name for slot in UNITS if spec.get(slot) is not None for name in spec[slot].pipes)
    dispatcher, instruction_set = spec["dispatcher"], spec["instruction_set"]
    return Device(
        spec=spec,
        tables=_tables(spec, place, clock),
        policies=compiled(spec),
        timings=_timings(*(spec.get(slot) for slot in UNITS)),
        pipes=pipes,
        instruction_set=instruction_set,
        wave_width=spec["compute_unit"].wave_width,
        clock_hz=clock,
        launch_gap_cycles=dispatcher.gap.cycles(clock),
    )


def _tables(spec: DeviceSpec, place: Topology, clock: float) -> t.DeviceTables:
    ways = routes(spec, place, clock)
    return t.DeviceTables(
        device=unit.device_vector(spec, clock),
        unit=unit.unit_vector(spec, clock),
        pipes=unit.pipe_rows(spec),
        local_memory=unit.local_vector(spec),
        constant=unit.constant_vector(spec),
        fetch=unit.fetch_vector(spec),
        levels=levels.level_rows(spec, clock, ways),
        dram=levels.memory_vector(spec, clock),
        translation=levels.translation_vector(spec, clock),
        start_cost=np.array([[point.waves, point.cycles] for point in spec["dispatcher"].start_cost], dtype=np.float64),
        level_instance=np.array([place.instance(spec[name].shared_by) for name in spec.memory_path[:-1]], dtype=np.int64),
        unit_partition=place.partition(spec),
        unit_group=place.group,
        unit_order=place.order,
        unit_die=place.die,
        routes=ways.latency if ways is not None else np.zeros((1, 1)),
        aside=unit.aside_vector(spec, clock),
        owners=np.array([place.owner(spec[slot].shared_by) for slot in ("instruction_cache", "scalar_cache", "local_memory")]),
    )


@by_identity(64)
def _timings(*units: Any) -> dict[str, Timing]:
    """Of everything that the units (in the order of UNITS, None for none) carry out."""
    number = {name: index for index, name in enumerate(name for unit in units if unit is not None for name in unit.pipes)}
    return {
        name: Timing(number[timing.pipe], number[timing.alternative] if timing.alternative else -1, timing.interval, timing.latency)
        for _, name, timing in operations(dict(zip(UNITS, units, strict=True)))
    }
