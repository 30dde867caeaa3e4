"""The memory path's rows: the vector cache, further levels, memory, translation of addresses.

In: a `DeviceSpec`, the compute units' clock. Out: the rows of `engine.tables`. Latencies and costs of a part with its own clock, or
given in nanoseconds, become cycles of the compute units here and nowhere else.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from archex.assembly.routes import Routes
from archex.base.units import Rate
from archex.describe import DeviceSpec
from archex.describe.fit import instances
from archex.engine import tables as t

_WRITE = {"write_through": t.WRITE_THROUGH, "write_back": t.WRITE_BACK, "write_through_allocate": t.WRITE_THROUGH_ALLOCATE}


def sets(spec: Any, size: int) -> int:
    """Sets of one slice of a cache of `size` bytes: equally many in each, rounded down."""
    return max(1, int(size // spec.line // spec.ways // spec.slices))


def level_rows(spec: DeviceSpec, clock: float, ways: Routes | None = None) -> np.ndarray:
    """One row a level, the vector cache first. `ways`: to the level that the fabric serves, where it has links."""
    path = spec.memory_path[:-1]
    rows = np.zeros((len(path), t.LEVEL_COLUMNS), dtype=np.float64)
    for row, name in zip(rows, path, strict=True):
        cache = spec[name]
        own = getattr(cache, "clock", None)
        row[t.LEVEL_INSTANCES] = instances(spec, name)
        row[t.LEVEL_SLICES] = cache.slices
        row[t.LEVEL_SETS] = sets(cache, cache.size)
        row[t.LEVEL_WAYS] = cache.ways
        row[t.LEVEL_LINE] = cache.line
        row[t.LEVEL_SECTOR] = cache.sector
        row[t.LEVEL_LATENCY] = cache.latency.cycles(clock, own)
        row[t.LEVEL_WRITE] = _WRITE[cache.write]
        row[t.LEVEL_PENDING] = cache.pending
        row[t.LEVEL_FETCH_SECTORS] = cache.fetch_sectors
        if name == "vector_cache":
            _vector_cache(row, cache)
        else:
            _shared_cache(row, cache, clock, own)
        if name == spec["fabric"].serves:
            _fabric(row, spec["fabric"], clock)
            if ways is not None:
                _links(row, ways)
    return rows


def _vector_cache(row: np.ndarray, cache: Any) -> None:
    row[t.LEVEL_PARTITIONS] = 1
    row[t.LEVEL_LINES_PER_CYCLE] = cache.lines_per_cycle
    row[t.LEVEL_BANKS] = cache.banks
    row[t.LEVEL_BANK_BYTES] = cache.bank_width
    row[t.LEVEL_TAG_EXTRA] = cache.tag_extra
    row[t.LEVEL_DATA_EXTRA] = cache.data_extra
    row[t.LEVEL_STORE_LINE_CYCLES] = cache.store_line
    row[t.LEVEL_ATOMIC_PASS], row[t.LEVEL_ATOMIC_RETURN] = cache.atomic_pass, cache.atomic_return
    row[t.LEVEL_RETURN_BYTES] = cache.return_width
    row[t.LEVEL_FILL_SECTOR] = cache.fill_sector
    row[t.LEVEL_HIT_UPDATE] = cache.store_updates
    row[t.LEVEL_PRIVATE_BACK] = cache.private_write == "write_back"


def _shared_cache(row: np.ndarray, cache: Any, clock: float, own: float | None) -> None:
    scale = clock / own if own else 1.0
    row[t.LEVEL_READ_LEAST] = cache.read_least * scale
    row[t.LEVEL_READ_SECTOR] = cache.read_sector * scale
    row[t.LEVEL_WRITE_BASE] = cache.write_base * scale
    row[t.LEVEL_WRITE_SECTOR] = cache.write_sector * scale
    row[t.LEVEL_FILL_SECTOR] = cache.fill_sector * scale
    row[t.LEVEL_ATOMIC_LEAST] = cache.atomic_least * scale
    row[t.LEVEL_ATOMIC_SECTOR] = cache.atomic_sector * scale
    row[t.LEVEL_ATOMIC_COMPARE] = cache.atomic_compare * scale
    row[t.LEVEL_ATOMIC_RESULT] = cache.atomic_result
    row[t.LEVEL_ATOMIC_SAME] = cache.atomic_same * scale
    row[t.LEVEL_ATOMIC_FLOAT] = cache.atomic_same_float * scale
    row[t.LEVEL_PARTITIONS] = cache.partitions
    row[t.LEVEL_FAR_EXTRA] = cache.far_extra.cycles(clock, own)
    row[t.LEVEL_COPY_NEAR] = cache.copy_near
    row[t.LEVEL_SPREAD] = cache.spread.cycles(clock, own)
    row[t.LEVEL_PORT_READ] = _rate(cache.port_read, clock, own)
    row[t.LEVEL_PORT_WRITE] = _rate(cache.port_write, clock, own)
    row[t.LEVEL_PORT_SHARED] = cache.port_shared
    row[t.LEVEL_HASHED] = cache.slice_hash
    row[[t.LEVEL_RUN, t.LEVEL_TURN, t.LEVEL_APART]] = cache.slice_run, cache.partition_turn, cache.runs_apart
    row[t.LEVEL_HIT_UPDATE] = 1


def _fabric(row: np.ndarray, fabric: Any, clock: float) -> None:
    for column, rate in (
        (t.LEVEL_PORT_READ, fabric.port_read),
        (t.LEVEL_PORT_WRITE, fabric.port_write),
        (t.LEVEL_GROUP_READ, fabric.group_read),
        (t.LEVEL_GROUP_MERGED, fabric.group_merged),
        (t.LEVEL_GROUP_WRITE, fabric.group_write),
        (t.LEVEL_TOTAL_READ, fabric.total_read),
        (t.LEVEL_TOTAL_WRITE, fabric.total_write),
    ):
        row[column] = _rate(rate, clock, None)
    row[t.LEVEL_PORT_WRITE_LINE] = fabric.port_write_line
    row[t.LEVEL_PENDING_WRITES] = fabric.pending_writes
    row[t.LEVEL_PARTIAL] = fabric.partial_sector
    row[t.LEVEL_MERGED_WITHIN] = fabric.merged_within
    row[t.LEVEL_MERGED_MOST] = fabric.merged_most


def _links(row: np.ndarray, ways: Routes) -> None:
    row[t.LEVEL_ROUTED] = 1
    for columns, rate in (
        ((t.LEVEL_GROUP_READ, t.LEVEL_GROUP_WRITE), ways.group_rate),
        ((t.LEVEL_TOTAL_READ, t.LEVEL_TOTAL_WRITE), ways.total_rate),
    ):
        for column in columns:
            row[column] = min((found for found in (row[column], rate) if found > 0), default=0.0)


def _rate(rate: Rate | None, clock: float, own: float | None) -> float:
    return rate.bytes_per_cycle(clock, own) if rate is not None else 0.0


def memory_vector(spec: DeviceSpec, clock: float) -> np.ndarray:
    """The device's memory."""
    memory = spec["memory"]
    row = np.zeros(t.DRAM_COLUMNS, dtype=np.float64)
    row[t.DRAM_CHANNELS] = memory.channels
    row[t.DRAM_BYTES] = memory.bandwidth * memory.efficiency / clock
    row[t.DRAM_ACCESS] = memory.access
    row[t.DRAM_LATENCY] = memory.latency.cycles(clock)
    row[t.DRAM_ACTIVATES] = memory.activates / clock
    row[t.DRAM_ROW] = memory.row
    row[t.DRAM_TURNAROUND] = memory.turnaround.cycles(clock)
    row[t.DRAM_WRITE_BATCH] = memory.write_batch
    row[t.DRAM_CHUNK] = memory.chunk
    row[t.DRAM_BANKS] = memory.banks
    row[t.DRAM_REFRESH_INTERVAL] = memory.refresh_interval.cycles(clock)
    row[t.DRAM_REFRESH] = memory.refresh.cycles(clock)
    return row


def translation_vector(spec: DeviceSpec, clock: float) -> np.ndarray:
    """Translation of addresses; nothing where the device has none."""
    row = np.zeros(t.TRANSLATION_COLUMNS, dtype=np.float64)
    translation = spec.get("address_translation")
    if translation is not None:
        row[t.TRANSLATION_ENTRIES] = translation.entries
        row[t.TRANSLATION_PAGE] = translation.page
        row[t.TRANSLATION_MISS] = translation.miss.cycles(clock)
        row[t.TRANSLATION_INTERVAL] = translation.interval.cycles(clock)
        row[t.TRANSLATION_EARLY] = translation.before == "second_level"
        row[t.TRANSLATION_WAYS] = translation.ways
    return row
