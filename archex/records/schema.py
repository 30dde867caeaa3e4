"""The columns of a row: name, type, unit, meaning. The one place that says so.

Out: `COLUMNS`, in the order they are written, and `SCHEMA` for polars. A row stands for one design and one launch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple


class Column(NamedTuple):
    """A column: `type` is `text`, `int` or `float`; `unit` is empty for names."""

    name: str
    type: str
    unit: str
    meaning: str


_IDENTITY = (
    Column("launch", "text", "", "id of the launch in its suite"),
    Column("suite", "text", "", "name of the suite, or of the folder given as suite.path"),
    Column("variant", "text", "", "of the launch's alternative programs, the one that this row ran"),
    Column("device", "text", "", "the device chosen"),
    Column("overrides", "text", "", "what the command line set on it: KEY=VALUE, KEY=VALUE"),
    Column("point_id", "text", "", "hash of the design, the program, how it was run and archex's sources: what a resumed run looks for"),
    Column("device_fingerprint", "text", "", "hash of the described device and of the sources of the parts it uses"),
    Column("program_fingerprint", "text", "", "hash of PTX, geometry, arguments and seed"),
    Column("status", "text", "", "ok, unsupported, error or killed"),
    Column("error", "text", "", "why it isn't ok"),
)
_TIME = (
    Column("cycles", "float", "cycles", "first workgroup's start to last write retired, with the device's launch and drain cost"),
    Column("launch_drain_cycles", "float", "cycles", "that launch and drain cost"),
    Column("time_ns", "float", "ns", "cycles at the compute units' clock, plus the launch gap under repeat"),
    Column("clock_hz", "float", "Hz", "clock of the compute units"),
    Column("sampled_fraction", "float", "1", "share of the wave-instructions simulated in detail; 1 is all"),
    Column("error_bound", "float", "1", "relative error that the extrapolation may have; 0 where nothing was extrapolated"),
    Column("assumptions", "text", "", "what was taken for granted instead of computed, such as a float never equal to a constant"),
)
_WORK = (
    Column("wave_instructions", "float", "instructions", "machine instructions executed by waves"),
    Column("lane_instructions", "float", "instructions", "the same, times the active lanes of each"),
    Column("matrix_instructions", "float", "instructions", "those that went to the matrix unit"),
    Column("issue_active_pct", "float", "%", "share of its cycles in which a wave scheduler issued, of those in which it had a wave"),
    Column(
        "matrix_active_pct",
        "float",
        "%",
        "share of the cycles in which matrix units were busy, of those in which their compute unit had a wave",
    ),
    Column("occupancy_pct", "float", "%", "resident waves over the slots of the compute units that have any, mean over the time"),
    Column("occupancy_limiter", "text", "", "what keeps more waves out: waves, registers, local_memory, workgroups or grid"),
    Column("registers_per_thread", "int", "registers", "32-bit registers a lane"),
    Column("spill_bytes", "int", "bytes", "private memory a lane holds for spilled registers"),
)
_TRAFFIC = (
    Column("dram_read_bytes", "float", "bytes", "read from memory"),
    Column("dram_write_bytes", "float", "bytes", "written to memory"),
    Column("peer_read_sectors", "float", "sectors", "read from other devices' memory"),
    Column("peer_written_sectors", "float", "sectors", "written there, atomics included"),
    Column("link_out_bytes", "float", "bytes", "that the launch sends over the device's links, headers and requests included"),
    Column("link_in_bytes", "float", "bytes", "that come over them for it"),
    Column("vector_cache_hit_pct", "float", "%", "sectors found in the vector cache, of loads and stores"),
    Column("l2_hit_pct", "float", "%", "sectors found in the L2, asked for once in each partition"),
    Column("l2_read_sectors", "float", "sectors", "read from the L2; a far one in both partitions"),
    Column("l2_write_sectors", "float", "sectors", "written to the L2"),
    Column("memory_side_cache_hit_pct", "float", "%", "sectors found in the memory-side cache"),
    Column("global_load_requests", "float", "requests", "load instructions of waves to global memory"),
    Column("global_load_sectors", "float", "sectors", "sectors they touch"),
    Column("global_store_requests", "float", "requests", "store instructions of waves to global memory"),
    Column("global_store_sectors", "float", "sectors", "sectors they touch"),
    Column("private_load_requests", "float", "requests", "load instructions of waves to private memory (spills, private arrays)"),
    Column("private_store_requests", "float", "requests", "store instructions of waves to private memory"),
    Column("local_memory_wavefronts", "float", "passes", "passes through the local memory's banks, cross-lane operations' included"),
    Column("local_memory_conflicts", "float", "passes", "passes beyond the first of each access, for want of banks"),
)
_RATES = (
    Column("flops", "float", "operations", "floating-point operations of the work, as the launch states them"),
    Column("mfu_pct", "float", "%", "flops a second over the device's peak for them"),
    Column("bandwidth_pct", "float", "%", "bytes a second from and to memory over the device's peak"),
    Column("arithmetic_intensity", "float", "operations/byte", "flops over the bytes from and to memory"),
    Column("limiter", "text", "", "what decides the time"),
)
_WAVES = "waves an issued instruction"
_STALLS = tuple(
    Column(f"stall_{reason}", "float", _WAVES, f"waves waiting {meaning}")
    for reason, meaning in (
        ("memory", "for global or private memory"),
        ("local_memory", "for local memory or another unit shared by the compute unit"),
        ("dependency", "for a result of fixed latency"),
        ("execution_unit", "for a busy execution pipe"),
        ("memory_queue", "for room in the memory pipe"),
        ("barrier", "at a barrier"),
        ("fetch", "for instructions"),
        ("dispatch", "for registers' banks or ports"),
        ("drain", "at their end for their stores"),
        ("fence", "at a memory fence"),
        ("matrix", "for the matrix unit's results"),
        ("branch", "for a branch to resolve"),
        ("not_selected", "ready, while another wave was picked"),
    )
)
_COSTS = (
    Column("simulate_seconds", "float", "s", "time for simulating, beside the next two"),
    Column("trace_seconds", "float", "s", "the interpreter's time"),
    Column("compile_seconds", "float", "s", "time for compiling and lowering"),
    Column("peak_memory_bytes", "int", "bytes", "largest memory of the process by the end of this row"),
)

COLUMNS: tuple[Column, ...] = _IDENTITY + _TIME + _WORK + _TRAFFIC + _RATES + _STALLS + _COSTS
BY_NAME: dict[str, Column] = {column.name: column for column in COLUMNS}
STALLS: tuple[str, ...] = tuple(column.name for column in _STALLS)
#: What the run itself cost: the only columns that may differ between identical runs.
COSTS: tuple[str, ...] = tuple(column.name for column in _COSTS)
STATUSES = ("ok", "unsupported", "error", "killed")
_PYTHON = {"text": str, "int": int, "float": float}


def polars_schema(columns: Sequence[Column] = COLUMNS) -> dict[str, Any]:
    """The schema, or that of other columns, as polars wants it."""
    import polars

    types = {"text": polars.String, "int": polars.Int64, "float": polars.Float64}
    return {column.name: types[column.type] for column in columns}


def row(values: dict[str, Any]) -> dict[str, Any]:
    """`values` as a whole row: every column, in order, of its type, null where nothing is known. KeyError on a name that is no column."""
    unknown = [name for name in values if name not in BY_NAME]
    if unknown:
        raise KeyError(f"not a column: {', '.join(sorted(unknown))} (columns: archex/records/schema.py)")
    return {column.name: typed(column, values.get(column.name)) for column in COLUMNS}


def typed(column: Column, value: Any) -> Any:
    """A value of the column's type; None stays None."""
    if value is None:
        return None
    return _PYTHON[column.type](value)
