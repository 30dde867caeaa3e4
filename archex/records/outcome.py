"""What a simulated launch came to, and the columns it gives.

In: cycles and counters of the simulated part, how much the whole is. Out: the columns of a row; counters of a sampled launch are scaled
by the wave-instructions they stand for.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from archex.engine import tables
from archex.parts.matrix_unit import OPERATION

#: Columns that are counters of the engine as they are.
_COUNTED = (
    "wave_instructions", "lane_instructions", "matrix_instructions", "dram_read_bytes", "dram_write_bytes", "peer_read_sectors",
    "peer_written_sectors", "link_out_bytes", "link_in_bytes", "l2_read_sectors",
    "l2_write_sectors", "global_load_requests", "global_load_sectors", "global_store_requests", "global_store_sectors",
    "private_load_requests", "private_store_requests", "local_memory_wavefronts", "local_memory_conflicts",
)  # fmt: skip
_SHARES = (
    ("vector_cache_hit_pct", "vector_cache_found", "vector_cache_asked"),
    ("l2_hit_pct", "l2_found", "l2_asked"),
    ("memory_side_cache_hit_pct", "memory_side_cache_hits", "memory_side_cache_lookups"),
)
_STALL = "stall_"
#: Floating-point operations a lane does in one of these.
_FLOPS = {"fma_f32": 2, "fma_f16": 4, "fma_f64": 2}
#: A resource used more than this is what limits a launch; below it, what its waves wait for most.
_BUSY = 0.6


@attrs.define
class Outcome:
    """One launch. `simulated`, `total`: wave-instructions simulated and in all; `doubt`: relative error the extrapolation may have.

    links_rate: bytes a cycle that links to the devices whose memory it uses could carry each way; 0: it uses no other's.
    """

    launch: Any
    machine: Any
    held: Any
    plan: Any
    work: Any
    resident: int
    clock_hz: float
    assumed: tuple[str, ...] = ()
    links_rate: float = 0.0
    counters: dict[str, float] = attrs.field(factory=dict)
    cycles: float = 0.0
    simulated: float = 0.0
    total: float = 0.0
    doubt: float = 0.0
    compile_seconds: float = 0.0
    trace_seconds: float = 0.0
    simulate_seconds: float = 0.0

    def finish(self, cycles: float, counters: Mapping[str, float], simulated: float, total: float, doubt: float) -> None:
        """Set the result; the counters are the whole launch's."""
        self.cycles, self.counters, self.simulated, self.total, self.doubt = cycles, dict(counters), simulated, total, doubt


def columns(device: Any, outcomes: Sequence[Outcome], flops: float | None, repeat: int) -> dict[str, Any]:
    """The columns of one launch, or of several run back to back (times and counters summed, shares by weight)."""
    first = outcomes[0]
    by_clock: dict[float, float] = {}
    for outcome in outcomes:
        by_clock[outcome.clock_hz] = by_clock.get(outcome.clock_hz, 0.0) + outcome.cycles
    clock_hz = max(by_clock, key=lambda clock: by_clock[clock])  # the one that most cycles are of
    device = device if clock_hz == device.clock_hz else device.at_matrix_clock()
    sums = as_hardware_counts({name: sum(o.counters[name] for o in outcomes) for name in first.counters})
    cycles = sum(o.cycles for o in outcomes)
    issued = max(sums["wave_instructions"], 1)
    fixed = float(device.tables.device[[tables.LAUNCH_CYCLES, tables.DRAIN_CYCLES]].sum())
    unit = device.spec["compute_unit"]
    # Shares are of the time in which a scheduler, or a compute unit, has a wave, as hardware counts them.
    schedulers, units = max(sums["scheduler_active_cycles"], 1.0), max(sums["unit_active_cycles"], 1.0)
    row: dict[str, Any] = {name: sums[name] for name in _COUNTED}
    row |= {name: 100.0 * sums[hits] / sums[lookups] if sums[lookups] else None for name, hits, lookups in _SHARES}
    row |= {name: sums[name] / issued for name in sums if name.startswith(_STALL) and name != "stall_selected"}
    gap = device.launch_gap_cycles if repeat > 1 else 0.0
    row |= {
        "cycles": cycles,
        "launch_drain_cycles": fixed * len(outcomes),
        "time_ns": sum(1e9 * share / clock for clock, share in (by_clock | {clock_hz: by_clock[clock_hz] + gap}).items()),
        "clock_hz": clock_hz,
        "sampled_fraction": sum(o.simulated for o in outcomes) / max(sum(o.total for o in outcomes), 1),
        "error_bound": sum(o.doubt * o.cycles for o in outcomes) / cycles,
        "assumptions": "; ".join(dict.fromkeys(a for o in outcomes for a in o.assumed)) or None,
        "issue_active_pct": 100.0 * issued / schedulers,
        "matrix_active_pct": 100.0 * sums["matrix_cycles"] * unit.count / (units * _matrix_units(device))
        if sums["matrix_cycles"]
        else None,
        "occupancy_pct": 100.0 * sum(value for name, value in sums.items() if name.startswith(_STALL)) / (units * unit.waves),
        "occupancy_limiter": first.held.limiter(math.prod(first.launch.grid), unit.count),
        "registers_per_thread": first.machine.registers_per_thread,
        "spill_bytes": first.machine.spill_bytes,
        "simulate_seconds": sum(o.simulate_seconds for o in outcomes),
        "trace_seconds": sum(o.trace_seconds for o in outcomes),
        "compile_seconds": sum(o.compile_seconds for o in outcomes),
    }
    moved = sums["dram_read_bytes"] + sums["dram_write_bytes"]
    busy = {
        "memory_bandwidth": moved / (cycles * device.tables.dram[tables.DRAM_BYTES]),
        "issue": issued / (max(cycles - fixed * len(outcomes), 1.0) * unit.count * unit.schedulers),
    }
    if sums["link_out_bytes"] or sums["link_in_bytes"]:
        could = sum(o.cycles * o.links_rate for o in outcomes)
        busy["links"] = max(sums["link_out_bytes"], sums["link_in_bytes"]) / could
    row["bandwidth_pct"] = 100.0 * busy["memory_bandwidth"]
    if flops is not None:
        row["flops"] = flops
        if peak := peak_flops(device, first.machine):
            row["mfu_pct"] = 100.0 * flops / (cycles * peak)
        row["arithmetic_intensity"] = flops / moved if moved else None
    row["limiter"] = _limiter(busy, row)
    return row


def as_hardware_counts(sums: dict[str, float]) -> dict[str, float]:
    """The sums, and what hardware counts beside: each partition of the second level that a sector is looked for or written in, stores in
    the vector cache; an atomic is neither a read nor a write."""
    far, far_written = sums["far_sectors"], sums["far_written_sectors"]
    return sums | {
        "wave_instructions": sums["wave_instructions"] + sums["repeated_instructions"],
        "l2_read_sectors": sums["l2_read_sectors"] + far,
        "l2_write_sectors": sums["l2_write_sectors"] + far_written - sums["l2_atomic_sectors"],
        "l2_asked": sums["l2_lookups"] + far + far_written,
        "l2_found": sums["l2_hits"] + far_written,
        "vector_cache_asked": sums["vector_cache_lookups"] + sums["vector_cache_written"],
        "vector_cache_found": sums["vector_cache_hits"] + sums["vector_cache_written_hits"],
    }


def _matrix_units(device: Any) -> int:
    """Matrix units of all compute units: one next to each scheduler, or one for all of them."""
    unit, matrix = device.spec["compute_unit"], device.spec["matrix_unit"]
    shared = next(iter(matrix.pipes.values())).shared_by == "compute_unit"
    return int(unit.count * (1 if shared else unit.schedulers))


def _product_peak(device: Any, used: str) -> float:
    """A multiplication and an addition for each product of the fastest shape of the same elements; those of skipped zeros don't count."""
    shapes = device.spec["matrix_unit"].shapes
    elements, sparse = set(shapes[used].elements.split()), shapes[used].sparse
    alike = [shape for shape in shapes.values() if shape.sparse == sparse and elements & set(shape.elements.split())]
    return float(max(shape.m * shape.n * shape.k / shape.interval for shape in alike) * (1 if sparse else 2) * _matrix_units(device))


def peak_flops(device: Any, machine: Any) -> float | None:
    """Operations a cycle that the device could do: in matrix products of the program's type if it has any, else in the arithmetic it
    has most of; None if it has none."""
    products = Counter(name for block in machine.operations for name in block if name.startswith(OPERATION))
    if products:
        return _product_peak(device, products.most_common(1)[0][0].removeprefix(OPERATION))
    found = Counter(name for block in machine.operations for name in block if name in _FLOPS)
    if not found:
        return None
    name = found.most_common(1)[0][0]
    timing, unit = device.timings[name], device.tables.unit
    pipes = {timing.pipe, timing.alternative} - {-1}
    schedulers = unit[tables.SCHEDULERS]
    rate = sum(1.0 if device.tables.pipes[pipe, tables.PIPE_SCOPE] > 0 else schedulers for pipe in pipes) / max(timing.interval, 1.0)
    rate = min(rate, schedulers * unit[tables.ISSUE_WIDTH] / max(unit[tables.ISSUE_PERIOD], 1.0))
    return float(device.tables.device[tables.UNITS] * rate * device.wave_width * _FLOPS[name])


def _limiter(busy: dict[str, float], row: dict[str, Any]) -> str:
    """The busiest resource if it is busy, else the stall that most waves are in."""
    name = max(busy, key=lambda key: busy[key])
    if busy[name] >= _BUSY:
        return name
    stalls = {key: value for key, value in row.items() if key.startswith(_STALL) and key != "stall_not_selected" and value is not None}
    return max(stalls, key=lambda key: stalls[key])
