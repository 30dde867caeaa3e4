"""The compute unit's vectors: issue, pipes, local memory, constants, instruction fetch, and the device's own.

In: a `DeviceSpec`, the compute units' clock. Out: the vectors of `engine.tables`, one function each.
"""

from __future__ import annotations

import numpy as np

from archex.describe import DeviceSpec
from archex.describe.fit import UNITS
from archex.engine import tables as t

_GLOBAL_PORT, _LOCAL_PORT = 0, 1
_REASONS = {
    "dependency": t.STALL_DEPENDENCY,
    "memory": t.STALL_MEMORY,
    "local_memory": t.STALL_LOCAL_MEMORY,
    "matrix": t.STALL_MATRIX,
    "execution_unit": t.STALL_EXECUTION_UNIT,
    "memory_queue": t.STALL_MEMORY_QUEUE,
}


def _vector(columns: int, values: dict[int, float]) -> np.ndarray:
    filled = np.zeros(columns, dtype=np.float64)
    for column, value in values.items():
        filled[column] = value
    return filled


def device_vector(spec: DeviceSpec, clock: float) -> np.ndarray:
    """Launch, drain and the device-wide rate of starts."""
    dispatcher = spec["dispatcher"]
    return _vector(
        t.DEVICE_COLUMNS,
        {
            t.UNITS: spec["compute_unit"].count,
            t.WAVE_WIDTH: spec["compute_unit"].wave_width,
            t.LAUNCH_CYCLES: dispatcher.launch.cycles(clock),
            t.DRAIN_CYCLES: dispatcher.drain.cycles(clock),
            t.START_INTERVAL: dispatcher.start_interval.cycles(clock),
            t.END_INTERVAL: dispatcher.end_interval.cycles(clock),
            t.RELAUNCH_CYCLES: dispatcher.relaunch.cycles(clock),
        },
    )


def unit_vector(spec: DeviceSpec, clock: float) -> np.ndarray:
    """Issue, branches, barriers, ports."""
    unit, simd, local = spec["compute_unit"], spec["simd"], spec["local_memory"]
    local_port = _GLOBAL_PORT if local.port == "vector_cache" else _LOCAL_PORT
    return _vector(
        t.UNIT_COLUMNS,
        {
            t.SCHEDULERS: unit.schedulers,
            t.SLOTS: unit.waves // unit.schedulers,
            t.ISSUE_PERIOD: unit.issue_period,
            t.ISSUE_WIDTH: unit.issue_width,
            t.GUARD_EXTRA: simd.guard_extra,
            t.QUEUED_EXTRA: simd.queued_extra,
            t.BRANCH_TAKEN: simd.branch_taken,
            t.BRANCH_NOT_TAKEN: simd.branch_not_taken,
            t.DIVERGENCE_CYCLES: simd.divergence,
            t.BARRIER_BASE: unit.barrier_base,
            t.BARRIER_WAVE: unit.barrier_wave,
            t.FENCE_UNIT: unit.fence_workgroup,
            t.FENCE_DEVICE: unit.fence_device,
            t.QUEUE_ENTRIES: unit.memory_queue,
            t.GLOBAL_PORT: _GLOBAL_PORT,
            t.LOCAL_PORT: local_port,
            t.CROSS_LANE_PORT: {"none": -1, "vector_cache": _GLOBAL_PORT, "local_memory": local_port}[simd.cross_lane_port],
            t.WAVE_START: spec["dispatcher"].wave_start.cycles(clock),
            t.WAVE_INTERVAL: simd.wave_interval,
            t.BRANCH_INTERVAL: simd.branch_interval,
            t.READ_WINDOW: spec["register_file"].read_window,
        },
    )


def pipe_rows(spec: DeviceSpec) -> np.ndarray:
    """One row a pipe, in the order of the pipe numbers."""
    rows = []
    for slot in UNITS:
        for pipe in spec[slot].pipes.values() if spec.get(slot) is not None else ():
            values = {
                t.PIPE_SCOPE: pipe.shared_by == "compute_unit",
                t.PIPE_REASON: _REASONS[pipe.reason],
                t.PIPE_QUEUE: pipe.queue,
                t.PIPE_QUEUED: pipe.variable,
                t.PIPE_FULL: _REASONS[pipe.full],
            }
            rows.append(_vector(t.PIPE_COLUMNS, values))
    return np.array(rows)


def local_vector(spec: DeviceSpec) -> np.ndarray:
    """Local memory's latencies and atomics."""
    local = spec["local_memory"]
    return _vector(
        t.LOCAL_COLUMNS,
        {
            t.LOCAL_LATENCY_4: local.latency,
            t.LOCAL_LATENCY_8: local.latency_8,
            t.LOCAL_LATENCY_16: local.latency_16,
            t.LOCAL_BANKS: local.banks,
            t.LOCAL_BANK_BYTES: local.bank_width,
            t.LOCAL_ATOMIC_LATENCY: local.atomic_latency,
            t.LOCAL_ATOMIC_LANE: local.atomic_lane,
            t.LOCAL_ATOMIC_EXTRA: local.atomic_extra,
            t.LOCAL_FLOAT_ATOMIC: local.float_atomic,
            t.LOCAL_COUNTING: local.counts_lanes,
            t.LOCAL_CONFLICT_EXTRA: local.conflict_extra,
        },
    )


def aside_vector(spec: DeviceSpec, clock: float) -> np.ndarray:
    """Copies that run beside the waves (none without the unit), and what clusters of workgroups cost."""
    unit, copies = spec["compute_unit"], spec.get("async_copy_unit")
    values = {
        t.ASIDE_REMOTE_LATENCY: unit.remote_latency,
        t.ASIDE_REMOTE_BYTES: unit.remote_bytes,
        t.ASIDE_REMOTE_LINE: unit.remote_line,
        t.ASIDE_REMOTE_SECTOR: unit.remote_sector,
        t.ASIDE_REMOTE_ATOMIC: unit.remote_atomic,
        t.ASIDE_CLUSTER_BARRIER: unit.cluster_barrier,
        t.ASIDE_CLUSTER_WAVE: unit.cluster_barrier_wave,
        t.ASIDE_CLUSTER_END: spec["dispatcher"].cluster_interval.cycles(clock),
    }
    if copies is not None:
        values |= {
            t.ASIDE_SMALL_INTERVAL: copies.small_interval,
            t.ASIDE_SMALL_EXTRA: copies.small_extra,
            t.ASIDE_PAST_INTERVAL: copies.past_interval,
            t.ASIDE_WRITE_BYTES: copies.write_rate,
            t.ASIDE_PIECE: copies.piece,
            t.ASIDE_COPIES: copies.waiting,
            t.ASIDE_RELEASE: copies.release,
            t.ASIDE_BULK_INTERVAL: copies.bulk_interval,
            t.ASIDE_BULK_EXTRA: copies.bulk_extra,
            t.ASIDE_BULK_RATE: copies.bulk_rate,
        }
    return _vector(t.ASIDE_COLUMNS, values)


def constant_vector(spec: DeviceSpec) -> np.ndarray:
    """The cache of uniform constants."""
    cache = spec["scalar_cache"]
    return _vector(
        t.CONSTANT_COLUMNS,
        {
            t.CONSTANT_NEAR_BYTES: cache.size,
            t.CONSTANT_MIDDLE_BYTES: cache.next_size,
            t.CONSTANT_MIDDLE_EXTRA: cache.next_extra,
            t.CONSTANT_COLD_EXTRA: cache.cold_extra,
            t.CONSTANT_LINE: cache.line,
            t.CONSTANT_WORD_INTERVAL: cache.word_interval,
            t.CONSTANT_WORD_EXTRA: cache.word_extra,
        },
    )


def fetch_vector(spec: DeviceSpec) -> np.ndarray:
    """Instruction fetch."""
    cache = spec["instruction_cache"]
    return _vector(
        t.FETCH_COLUMNS,
        {
            t.FETCH_BUFFER: cache.buffer,
            t.FETCH_NEAR_BYTES: cache.size,
            t.FETCH_MIDDLE_BYTES: cache.next_size,
            t.FETCH_LINE: cache.line,
            t.FETCH_NEAR_CYCLES: cache.near,
            t.FETCH_MIDDLE_CYCLES: cache.middle,
            t.FETCH_FAR_CYCLES: cache.far,
            t.FETCH_JUMP_CYCLES: cache.jump,
            t.FETCH_COLD_CYCLES: cache.cold,
            t.FETCH_COLD_NEXT: cache.cold_next,
            t.FETCH_KEPT_BYTES: cache.kept,
        },
    )
