"""Wave-instructions a second of the engine alone, on synthetic kernels with ready-made traces.

Run: python benchmarks/engine_speed.py [copy gather arithmetic local]. Each trace is one block a wave, made with numpy, so that
tracing costs next to nothing and is not counted.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from archex.base import layout as lay
from archex.engine import tables as tab
from archex.engine.run import Engine
from tests.engine.synthetic import MEMORY, SPECIAL, device, op, policies, program

EXIT = op(lay.EXIT, pipe=-1, kind_class="branch")


def big_device() -> tab.DeviceTables:
    """132 compute units, 50 MiB second level in two partitions, 192 channels."""
    tables = device(
        132,
        4,
        16,
        unit_queue_entries=8,
        device_start_interval=0.2,
        device_end_interval=1.2,
        device_relaunch_cycles=350,
        device_launch_cycles=2300,
        l0_sets=416,
        l0_ways=4,
        l0_latency=31,
        l1_slices=96,
        l1_sets=266,
        l1_ways=16,
        l1_latency=280,
        l1_partitions=2,
        l1_far_extra=177,
        l1_copy_near=1,
        l1_read_least=1.25,
        l1_read_sector=0.66,
        l1_write_base=1.25,
        l1_write_sector=1.15,
        l1_port_read=122,
        l1_port_write=32,
        l1_group_read=640,
        l1_group_write=446,
        l1_total_read=4700,
        l1_total_write=2700,
        l1_fetch_sectors=2,
        l1_pending_writes=128,
        dram_channels=192,
        dram_bytes=2326,
        dram_access=64,
        dram_latency=665,
        dram_activates=19.7,
        dram_turnaround=10,
        dram_banks=16,
        l0_pending=1024,
    )
    return tables._replace(unit_group=np.arange(132) // 17, unit_partition=(np.arange(132) // 17) % 2)


class Prepared:
    """One block a wave, its records by a function of (workgroups, wave): arrays at once."""

    def __init__(self, records: int, waves: int, slots: int, make: Any, rounds: int = 1) -> None:
        contexts = slots * waves
        self.waves, self.make, self.rounds, self.seconds = waves, make, rounds, 0.0
        self.blocks = np.zeros((contexts, 64, 2), np.int32)
        self.records = np.zeros((contexts, 256, lay.RECORD_COLUMNS), np.int64)
        self.pool = np.zeros((contexts, 64, 32), np.int64)
        self.cursor = np.zeros((contexts, lay.CURSOR_COLUMNS), np.int64)
        self.blocks[:, :, 1] = 32
        self.blocks[:, rounds, 0] = 1
        self.count = records

    def start(self, slots: np.ndarray, workgroups: np.ndarray) -> None:
        begun = time.process_time()
        for wave in range(self.waves):
            contexts = slots * self.waves + wave
            self.cursor[contexts] = 0
            self.cursor[contexts, lay.BLOCK_TAIL] = self.rounds + 1
            self.cursor[contexts, lay.FINISHED] = 1
            self.make(self, contexts, workgroups, wave)
        self.seconds += time.process_time() - begun


def run(name: str, code: tab.ProgramTables, source: Prepared, workgroups: int, per_unit: int) -> None:
    tables = big_device()
    geometry = tab.Geometry(workgroups, source.waves, per_unit, 32 * source.waves)
    engine = Engine(tables, policies(tables), code, geometry, source)
    following = 0
    begun = time.process_time()
    while True:
        result = engine.run()
        if result != tab.NEED_WORKGROUPS:
            break
        slots = engine.free_slots()[: workgroups - following]
        source.start(slots, np.arange(following, following + len(slots)))
        engine.push(slots, range(following, following + len(slots)))
        following += len(slots)
    assert result == tab.DONE, result
    seconds = time.process_time() - begun - source.seconds
    counters = engine.counters()
    number = counters["wave_instructions"]
    dram = (counters["dram_read_bytes"] + counters["dram_write_bytes"]) / engine.cycles()
    rate = f"{number / 1e6:6.2f} M in {seconds:6.2f} s = {number / seconds / 1e6:6.2f} M/s"
    print(f"{name:12s} {rate}; {engine.cycles()} cycles, {dram:.0f} B/cycle")


def copy(n: int = 6000) -> None:
    rows = [op(dst=k, src=(k - 1,) if k else ()) for k in range(8)]
    rows += [op(lay.LOAD, MEMORY, 1, 0, 8, (7,), 0, 4, kind_class="global_load"), op(dst=9), op(dst=10), op(dst=11)]
    rows += [op(lay.STORE, MEMORY, 1, 0, -1, (8,), 1, 4, kind_class="global_store"), op(dst=9)]

    def make(source: Prepared, contexts: np.ndarray, workgroups: np.ndarray, wave: int) -> None:
        source.records[contexts, 0, 0] = source.records[contexts, 1, 0] = lay.AFFINE
        source.records[contexts, 0, 1] = (1 << 30) + (workgroups * 8 + wave) * 128
        source.records[contexts, 1, 1] = (1 << 31) + (workgroups * 8 + wave) * 128
        source.records[contexts, :2, 2] = 4
        source.records[contexts, :2, 3] = (1 << 32) - 1

    run("copy", program(rows, [EXIT]), Prepared(2, 8, 132 * 8 + 512, make), n, 8)


def gather(n: int = 3000) -> None:
    rows = [op(dst=k, src=(k - 1,) if k else ()) for k in range(8)]
    rows += [op(lay.LOAD, MEMORY, 1, 0, 8, (7,), 0, 4, kind_class="global_load"), op(dst=9, src=(8,))]
    rows += [op(lay.LOAD, MEMORY, 1, 0, 10, (9,), 1, 4, kind_class="global_load"), op(dst=11), op(dst=12), op(dst=13)]
    rows += [op(lay.STORE, MEMORY, 1, 0, -1, (10,), 2, 4, kind_class="global_store"), op(dst=9)]
    generator = np.random.default_rng(1)

    def make(source: Prepared, contexts: np.ndarray, workgroups: np.ndarray, wave: int) -> None:
        source.records[contexts, :3, 0] = lay.AFFINE, lay.SCATTERED, lay.AFFINE
        source.records[contexts, 0, 1] = (1 << 30) + (workgroups * 8 + wave) * 128
        source.records[contexts, 1, 1] = 0
        source.records[contexts, 2, 1] = (1 << 31) + (workgroups * 8 + wave) * 128
        source.records[contexts, :3, 2] = 4
        source.records[contexts, :3, 3] = (1 << 32) - 1
        source.pool[contexts, 0] = (1 << 33) + 4 * generator.integers(0, 1 << 26, (len(contexts), 32))

    run("gather", program(rows, [EXIT]), Prepared(3, 8, 132 * 8 + 512, make), n, 8)


def arithmetic(n: int = 2000) -> None:
    rows = [op(dst=k % 4, src=(k % 4,), alternative=1) for k in range(64)]

    def make(source: Prepared, contexts: np.ndarray, workgroups: np.ndarray, wave: int) -> None:
        return

    run("arithmetic", program(rows, [EXIT]), Prepared(0, 8, 132 * 8 + 512, make, rounds=8), n, 8)


def local(n: int = 2000) -> None:
    rows = []
    for _ in range(8):
        rows += [
            op(lay.LOCAL_LOAD, MEMORY, 1, 0, 4, (3,), 0, 4, kind_class="local_load"),
            op(dst=3, src=(4,)),
            op(SPECIAL, 0),
            op(dst=1),
            op(dst=2),
        ]

    def make(source: Prepared, contexts: np.ndarray, workgroups: np.ndarray, wave: int) -> None:
        source.records[contexts, :, 0] = lay.AFFINE
        source.records[contexts, :, 2] = 4
        source.records[contexts, :, 3] = (1 << 32) - 1

    rows = [row if row[0] != SPECIAL else op(dst=0) for row in rows]
    run("local", program(rows, [EXIT]), Prepared(1, 8, 132 * 8 + 512, make, rounds=8), n, 8)


if __name__ == "__main__":
    for chosen in sys.argv[1:] or ["copy", "gather", "arithmetic", "local"]:
        globals()[chosen]()
