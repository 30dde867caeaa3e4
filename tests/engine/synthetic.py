"""Synthetic devices, programs and traces for tests of the engine: nothing here knows a front end.

`device()` is small and plain; `code(...)` makes rows of machine code; `Rings` is a trace source of prepared waves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from archex.base import layout as lay
from archex.engine import standard
from archex.engine import tables as tab
from archex.engine.policies import Policies, compile_policy
from archex.engine.run import Engine

FMA, ALU, MEMORY, SPECIAL = 0, 1, 2, 3  # pipes


def device(units: int = 1, schedulers: int = 1, slots: int = 16, width: int = 32, **changes: Any) -> tab.DeviceTables:
    """A plain device: keys `unit_X`, `l0_X`, `l1_X`, `dram_X`, `fetch_X`, `local_X`, `device_X` change column X of a vector."""
    vectors = {
        "device": np.zeros(tab.DEVICE_COLUMNS),
        "unit": np.zeros(tab.UNIT_COLUMNS),
        "local": np.zeros(tab.LOCAL_COLUMNS),
        "constant": np.zeros(tab.CONSTANT_COLUMNS),
        "fetch": np.zeros(tab.FETCH_COLUMNS),
        "dram": np.zeros(tab.DRAM_COLUMNS),
        "translation": np.zeros(tab.TRANSLATION_COLUMNS),
        "aside": np.zeros(tab.ASIDE_COLUMNS),
        "l0": np.zeros(tab.LEVEL_COLUMNS),
        "l1": np.zeros(tab.LEVEL_COLUMNS),
        "l2": np.zeros(tab.LEVEL_COLUMNS),
    }
    prefixes = {
        "device": "",
        "unit": "",
        "local": "LOCAL_",
        "constant": "CONSTANT_",
        "fetch": "FETCH_",
        "dram": "DRAM_",
        "translation": "TRANSLATION_",
        "aside": "ASIDE_",
        "l0": "LEVEL_",
        "l1": "LEVEL_",
        "l2": "LEVEL_",
    }

    def put(name: str, **values: float) -> None:
        for column, value in values.items():
            vectors[name][getattr(tab, prefixes[name] + column.upper())] = value

    put("device", units=units, wave_width=width)
    put(
        "unit",
        schedulers=schedulers,
        slots=slots,
        issue_period=1,
        issue_width=1,
        queue_entries=8,
        cross_lane_port=-1,
        barrier_base=12.75,
        barrier_wave=2,
    )
    put(
        "local",
        latency_4=23,
        latency_8=26,
        latency_16=32,
        banks=32,
        bank_bytes=4,
        atomic_latency=32,
        atomic_lane=1,
        atomic_extra=2,
        float_atomic=1,
        conflict_extra=1,
    )
    put("fetch", line=128)
    put(
        "l0",
        instances=units,
        slices=1,
        sets=64,
        ways=4,
        line=128,
        sector=32,
        latency=30,
        lines_per_cycle=4,
        banks=32,
        bank_bytes=4,
        store_line_cycles=2,
        hit_update=1,
        fetch_sectors=1,
        partitions=1,
    )
    put(
        "l1",
        instances=1,
        slices=4,
        sets=256,
        ways=8,
        line=128,
        sector=32,
        latency=200,
        write=tab.WRITE_BACK,
        partitions=1,
        hashed=1,
        fetch_sectors=1,
        pending_writes=64,
        port_write=32,
    )
    put("dram", channels=8, access=32, latency=500, row=1024, chunk=512, banks=8, write_batch=8)
    levels = ["l0", "l1"]
    for key, value in changes.items():
        name, _, column = key.partition("_")
        if name == "l2" and "l2" not in levels:
            levels.append("l2")
        put(name, **{column: value})
    pipes = np.zeros((4, tab.PIPE_COLUMNS))
    pipes[:, tab.PIPE_REASON] = tab.STALL_DEPENDENCY
    pipes[:, tab.PIPE_FULL] = tab.STALL_EXECUTION_UNIT
    return tab.DeviceTables(
        device=vectors["device"],
        unit=vectors["unit"],
        pipes=pipes,
        local_memory=vectors["local"],
        constant=vectors["constant"],
        fetch=vectors["fetch"],
        levels=np.stack([vectors[name] for name in levels]),
        dram=vectors["dram"],
        translation=vectors["translation"],
        start_cost=np.zeros((0, 2)),
        level_instance=np.stack([np.arange(units)] + [np.zeros(units, np.int64)] * (len(levels) - 1)),
        unit_partition=np.zeros(units, np.int64),
        unit_group=np.zeros(units, np.int64),
        unit_order=np.arange(units),
        unit_die=np.zeros(units, np.int64),
        aside=vectors["aside"],
    )


def policies(tables: tab.DeviceTables, **changes: Any) -> Policies:
    """The textbook policies; keyword arguments replace fields (plain functions are compiled)."""
    levels = len(tables.levels)
    zero = np.zeros(1)
    chosen: dict[str, Any] = {
        "pick_wave": standard.pick_oldest,
        "note_wave": standard.ignore_wave,
        "coalesce": standard.coalesce_lines,
        "access_cycles": standard.bank_passes,
        "map_address": standard.channel_hash,
        "place_workgroup": standard.place_in_order,
        "read_cycles": standard.read_at_once,
        "set_index": standard.index_modulo,
        "pick_victim": standard.victim_oldest,
        "note_set": standard.ignore_set,
        "wave_params": zero,
        "wave_state": 0,
        "wave_feedback": 0,
        "line_params": zero,
        "local_params": tables.local_memory[[tab.LOCAL_BANKS, tab.LOCAL_BANK_BYTES]],
        "address_params": tables.dram[[tab.DRAM_CHANNELS, tab.DRAM_CHUNK]],
        "place_params": zero,
        "local_period": 0 if "access_cycles" in changes else int(tables.local_memory[[tab.LOCAL_BANKS, tab.LOCAL_BANK_BYTES]].prod()),
        "place_state": 0,
        "index_params": (zero,) * levels,
        "victim_params": (zero,) * levels,
        "victim_state": (0,) * levels,
        "victim_feedback": (0,) * levels,
    } | changes
    for kind in ("pick_wave", "note_wave", "coalesce", "access_cycles", "map_address", "place_workgroup", "read_cycles"):
        chosen[kind] = compile_policy(chosen[kind], kind)
    for kind in ("set_index", "pick_victim", "note_set"):
        chosen[kind] = (compile_policy(chosen[kind], kind),) * levels
    return Policies(**chosen)


def op(
    kind: int = lay.ARITHMETIC,
    pipe: int = FMA,
    interval: int = 1,
    latency: int = 4,
    dst: int = -1,
    src: Sequence[int] = (),
    record: int = -1,
    bytes_of: int = 4,
    flags: int = 0,
    offset: int = 0,
    alternative: int = -1,
    kind_class: str = "float32",
) -> list[int]:
    """One row of machine code (its address is set by `program`)."""
    sources = [*src, *[-1] * (lay.SRC_COUNT - len(src))]
    return [
        kind,
        pipe,
        alternative,
        interval,
        latency,
        dst,
        -1,
        *sources,
        record,
        bytes_of,
        offset,
        flags,
        0,
        lay.CLASSES.index(kind_class),
        0,
        0,
    ]


def program(*blocks: Sequence[list[int]], private_bytes: int = 0) -> tab.ProgramTables:
    """Blocks of rows as a program; tokens and records are counted."""
    rows = [row for block in blocks for row in block]
    code = np.array(rows, np.int32)
    code[:, lay.ADDRESS] = 16 * np.arange(len(code))
    starts = np.cumsum([0] + [len(block) for block in blocks])
    records = [max([row[lay.RECORD] + (row[lay.KIND] == lay.ASYNC_COPY) for row in block] + [-1]) + 1 for block in blocks]
    tokens = int(max(code[:, lay.DST0].max(), code[:, lay.SRC0 : lay.SRC0 + lay.SRC_COUNT].max(), 0)) + 1
    return tab.ProgramTables(code, starts.astype(np.int32), np.array(records, np.int32), tokens, 16 * len(code), private_bytes)


Wave = tuple[list[tuple[int, int]], list[tuple[int, int, int, int]], list[list[int]]]  # blocks, records, pool rows


class Rings:
    """A trace source that makes each wave's whole trace by a function and feeds it in as far as the rings have room."""

    def __init__(self, make: Callable[[int, int], Wave], waves: int, slots: int, width: int = 32, ring: int = 64) -> None:
        contexts = slots * waves
        self.make, self.waves, self.ring = make, waves, ring
        self.blocks = np.zeros((contexts, ring, 2), np.int32)
        self.records = np.zeros((contexts, 4 * ring, lay.RECORD_COLUMNS), np.int64)
        self.pool = np.zeros((contexts, ring, width), np.int64)
        self.cursor = np.zeros((contexts, lay.CURSOR_COLUMNS), np.int64)
        self.rest: dict[int, list[Any]] = {}
        self.records_of: np.ndarray = np.zeros(0, np.int64)

    def start(self, slots: Any, workgroups: Any) -> None:
        for slot, workgroup in zip(slots, workgroups, strict=True):
            for k in range(self.waves):
                context = int(slot) * self.waves + k
                self.cursor[context] = 0
                self.rest[context] = [list(part) for part in self.make(int(workgroup), k)]
        self.refill(slots)

    def refill(self, slots: Any) -> None:
        for slot in slots:
            for context in range(int(slot) * self.waves, (int(slot) + 1) * self.waves):
                self._feed(context)

    def _feed(self, context: int) -> None:
        blocks, records, pool = self.rest[context]
        cursor = self.cursor[context]
        while blocks:
            needed = int(self.records_of[blocks[0][0]])
            scattered = sum(1 for row in records[:needed] if row[0] in (lay.SCATTERED, lay.BULK, lay.SIGNALS))
            if (
                cursor[lay.BLOCK_TAIL] - cursor[lay.BLOCK_HEAD] >= self.ring
                or cursor[lay.RECORD_TAIL] - cursor[lay.RECORD_HEAD] + needed > 4 * self.ring
                or cursor[lay.POOL_TAIL] - cursor[lay.POOL_HEAD] + scattered > self.ring
            ):
                return
            for _ in range(needed):
                kind, base, stride, mask = records.pop(0)
                if kind in (lay.SCATTERED, lay.BULK, lay.SIGNALS):
                    base = int(cursor[lay.POOL_TAIL])
                    self.pool[context, base & (self.ring - 1)] = pool.pop(0)
                    cursor[lay.POOL_TAIL] += 1
                self.records[context, cursor[lay.RECORD_TAIL] & (4 * self.ring - 1)] = (kind, base, stride, mask)
                cursor[lay.RECORD_TAIL] += 1
            self.blocks[context, cursor[lay.BLOCK_TAIL] & (self.ring - 1)] = blocks.pop(0)
            cursor[lay.BLOCK_TAIL] += 1
        cursor[lay.FINISHED] = 1


FULL = (1 << 32) - 1


def box(base: int, bytes_of: int, local: int = 0, barrier: int = 0, targets: int = 0, way: int = lay.BULK_IN, rows: int = 0) -> list[int]:
    """A pool row that describes a bulk copy of `bytes_of` bytes, or of so many rows of them, a page apart."""
    row = [0] * 32
    row[lay.BULK_BASE], row[lay.BULK_BYTES], row[lay.BULK_LOCAL], row[lay.BULK_BARRIER] = base, bytes_of, local, barrier
    row[lay.BULK_COUNT], row[lay.BULK_STRIDE] = rows, 4096
    row[lay.BULK_CREDIT], row[lay.BULK_TARGETS], row[lay.BULK_WAY] = bytes_of * max(rows, 1), targets, way
    return row


def signal(address: int, number: int, expected: int = 0) -> tuple[int, int, int, int]:
    """A record of an operation on a barrier in local memory: arrivals or phases, bytes to expect."""
    return lay.SIGNAL, address, number, expected


def signals(number: int, expected: int = 0) -> tuple[int, int, int, int]:
    """The same where lanes name barriers of their own, in a pool row."""
    return lay.SIGNALS, 0, number, expected


BULK_RECORD = (lay.BULK, 0, 0, 1)
NO_RECORD = (lay.NO_ACCESS, 0, 0, 0)


def affine(base: int, stride: int = 4, mask: int = FULL) -> tuple[int, int, int, int]:
    """A record of an affine access."""
    return lay.AFFINE, base, stride, mask


def drive(engine: Engine, rings: Rings, workgroups: int, stop_instructions: int = 0) -> int:
    """Run to the end (or the window), feeding workgroups and traces as asked; the last code."""
    following = 0
    for _ in range(1_000_000):
        code = engine.run(stop_instructions)
        if code == tab.NEED_WORKGROUPS:
            slots = engine.free_slots()[: workgroups - following]
            numbers = np.arange(following, following + len(slots))
            rings.start(slots, numbers)
            engine.push(slots, numbers)
            following += len(slots)
        elif code == tab.NEED_TRACE:
            rings.refill(engine.requests())
        else:
            return code
    raise AssertionError("the run does not end")


def simulate(
    tables: tab.DeviceTables,
    code: tab.ProgramTables,
    make: Callable[[int, int], Wave],
    workgroups: int = 1,
    waves: int = 1,
    per_unit: int = 1,
    ring: int = 64,
    slots: int = 0,
    chosen: Policies | None = None,
    caches: Any = None,
    threads: int = 0,
    cluster: int = 1,
) -> Engine:
    """Run a launch whole; the engine at its end."""
    units = int(tables.device[tab.UNITS])
    rings = Rings(make, waves, slots or units * per_unit + 2 * cluster, int(tables.device[tab.WAVE_WIDTH]), ring)
    rings.records_of = code.block_records
    geometry = tab.Geometry(workgroups, waves, per_unit, threads or waves * int(tables.device[tab.WAVE_WIDTH]), cluster)
    engine = Engine(tables, chosen or policies(tables), code, geometry, rings, caches)
    assert drive(engine, rings, workgroups) == tab.DONE
    counters = engine.counters()
    charged = sum(value for name, value in counters.items() if name.startswith("stall_"))
    assert charged == counters["resident_wave_cycles"], "stall reasons and issues add up to the waves' residence"
    assert counters["stall_selected"] == counters["wave_instructions"] + counters["repeated_instructions"]
    return engine
