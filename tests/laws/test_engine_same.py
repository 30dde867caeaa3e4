"""One source, three ways: compiled, compiled with checked indices, interpreted. Cycles and every counter agree bit for bit."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from archex.base import layout as lay
from archex.engine import standard
from archex.engine import tables as tab
from tests.engine.synthetic import (
    ALU,
    BULK_RECORD,
    FULL,
    MEMORY,
    NO_RECORD,
    Wave,
    affine,
    box,
    device,
    op,
    policies,
    program,
    signal,
    simulate,
)  # fmt: skip

ROOT = Path(__file__).resolve().parents[2]
EXIT = op(lay.EXIT, pipe=-1, kind_class="branch")
BUFFER = 1 << 30


def everything() -> dict[str, dict[str, int]]:
    """Cycles and counters of a kernel that uses each part of the engine, under two schedulers."""
    body = [
        op(dst=0, src=(0,)),
        op(pipe=ALU, interval=2, dst=1, src=(0,), kind_class="predicate"),
        op(lay.LOAD, MEMORY, 1, 0, 2, (1,), 0, 4, kind_class="global_load"),
        op(lay.LOAD, MEMORY, 1, 0, 3, (1,), 1, 8, kind_class="global_load"),
        op(lay.LOCAL_STORE, MEMORY, 1, 0, -1, (2,), 2, 4, kind_class="local_store"),
        op(lay.BARRIER, -1, bytes_of=0, kind_class="barrier"),
        op(lay.LOCAL_LOAD, MEMORY, 1, 0, 4, (1,), 3, 16, kind_class="local_load"),
        op(dst=5, src=(3, 4), flags=lay.GUARDED),
        op(lay.PRIVATE_STORE, MEMORY, 1, 0, -1, (5,), -1, 4, offset=4, kind_class="private"),
        op(lay.PRIVATE_LOAD, MEMORY, 1, 0, 6, (), -1, 4, offset=4, kind_class="private"),
        op(lay.CROSS_LANE, MEMORY, 1, 24, 7, (6,), kind_class="cross_lane"),
        op(lay.CONSTANT_LOAD, -1, 1, 20, 8, (), offset=128, kind_class="constant"),
        op(lay.CONSTANT_LOAD, -1, 1, 20, 8, (8,), 6, kind_class="constant"),
        op(lay.STORE, MEMORY, 1, 0, -1, (5, 7), 4, 4, kind_class="global_store"),
        op(lay.REDUCE, MEMORY, 1, 0, -1, (5,), 5, 4, flags=lay.FLOAT_ATOMIC, kind_class="atomic"),
        op(lay.FENCE, -1, flags=lay.DEVICE_SCOPE, kind_class="fence"),
        op(lay.BRANCH, -1, src=(1,), kind_class="branch"),
    ]
    code = program(body, [EXIT], private_bytes=16)
    rounds = 6

    def make(workgroup: int, wave: int) -> Wave:
        generator = np.random.default_rng(workgroup * 8 + wave)
        records, pool = [], []
        for k in range(rounds):
            mask = int(generator.integers(1, FULL)) if k % 2 else FULL
            records += [(lay.SCATTERED, 0, 0, mask), affine(BUFFER + 4096 * int(generator.integers(0, 999)), 8), affine(0, 4 * (k + 1))]
            records += [affine(64 * k, 16), affine(2 * BUFFER + 128 * int(generator.integers(0, 999))), affine(3 * BUFFER, 4 * (k % 3))]
            records.append(affine((0x7C << 40) + 96 * k, 4 * (k % 3)))
            pool.append((BUFFER + 4 * generator.integers(0, 1 << 16, 32)).tolist())
        lanes = [(0, 32 if k % 3 else 17) for k in range(rounds)]
        return [*lanes, (1, 32)], records, pool

    tables = device(
        4,
        2,
        8,
        unit_guard_extra=9,
        unit_queued_extra=2,
        unit_branch_taken=7,
        unit_divergence_cycles=5,
        unit_fence_device=200,
        l0_sets=8,
        l0_pending=64,
        l0_private_back=1,
        l0_data_extra=2,
        l0_tag_extra=1,
        l1_sets=8,
        l1_partitions=2,
        l1_copy_near=1,
        l1_far_extra=77,
        l1_read_least=1.25,
        l1_read_sector=0.66,
        l1_write_base=1.25,
        l1_write_sector=1.15,
        l1_group_read=20,
        l1_total_write=30,
        l1_atomic_same=1.45,
        l1_atomic_float=3.48,
        dram_bytes=20,
        dram_activates=0.3,
        dram_turnaround=8,
        translation_entries=16,
        translation_page=4096,
        translation_miss=9,
        constant_line=64,
        constant_near_bytes=2048,
        constant_middle_bytes=65536,
        constant_middle_extra=70,
        constant_cold_extra=200,
        constant_word_interval=1.7,
        constant_word_extra=11,
        fetch_buffer=256,
        fetch_near_bytes=1024,
        fetch_middle_bytes=4096,
        fetch_near_cycles=9,
        fetch_middle_cycles=18,
        fetch_far_cycles=45,
        fetch_cold_cycles=300,
        fetch_cold_next=8,
        device_launch_cycles=100,
        device_drain_cycles=50,
        device_start_interval=0.2,
        device_end_interval=1.2,
        device_relaunch_cycles=70,
    )
    tables = tables._replace(unit_partition=np.array([0, 1, 0, 1]), unit_group=np.array([0, 0, 1, 1]))
    found = {}
    for pick in (standard.pick_oldest, standard.pick_round_robin):
        engine = simulate(tables, code, make, workgroups=24, waves=4, per_unit=2, ring=4, chosen=policies(tables, pick_wave=pick))
        found[pick.__name__] = engine.counters() | {"cycles": engine.cycles()}
    pairs = tables._replace(owners=np.array([[0, 0, 2, 2]] * tab.OWNERS))
    engine = simulate(pairs, code, make, workgroups=24, waves=4, per_unit=2, ring=4)
    found["pairs"] = engine.counters() | {"cycles": engine.cycles()}
    found["beside"] = beside(tables)
    found["peers"] = peers(tables, code, make)
    return found


def peers(tables: tab.DeviceTables, code: tab.ProgramTables, make: Callable[[int, int], Wave]) -> dict[str, int]:
    """The same with some of the memory on another device."""

    def elsewhere(workgroup: int, wave: int) -> Wave:
        blocks, records, pool = make(workgroup, wave)
        moved = [
            (kind, base + (1 << lay.PEER_SHIFT) if kind == lay.AFFINE and base >= BUFFER else base, *rest) for kind, base, *rest in records
        ]
        return blocks, [record if record[1] < 0x7C << 40 else old for record, old in zip(moved, records, strict=True)], pool

    joined = tables._replace(
        link=np.array([128, 16, 16, 36, 3.0]), peer_ways=np.array([[[0, 2], [1, -1]]]), peer_latency=np.array([301.5]),
        peer_links=np.array([7.3, 5.9, 11.0]),
    )  # fmt: skip
    engine = simulate(joined, code, elsewhere, workgroups=24, waves=4, per_unit=2, ring=4)
    assert engine.counters()["peer_read_sectors"] > 0
    return engine.counters() | {"cycles": engine.cycles()}


def beside(tables: tab.DeviceTables) -> dict[str, int]:
    """The same of clusters whose waves copy by lane and in bulk, signal each other and multiply beside themselves."""
    numbers = {
        tab.ASIDE_SMALL_INTERVAL: 4.3, tab.ASIDE_SMALL_EXTRA: 28, tab.ASIDE_BULK_INTERVAL: 56, tab.ASIDE_BULK_EXTRA: 70,
        tab.ASIDE_BULK_RATE: 11, tab.ASIDE_REMOTE_LATENCY: 40, tab.ASIDE_REMOTE_BYTES: 16, tab.ASIDE_CLUSTER_BARRIER: 30,
        tab.ASIDE_CLUSTER_WAVE: 1.5,
    }  # fmt: skip
    vector = np.zeros(tab.ASIDE_COLUMNS)
    vector[list(numbers)] = list(numbers.values())
    tables = tables._replace(aside=vector)
    rounds = 4
    setup = [
        op(lay.SIGNAL_SET, -1, record=0, kind_class="local_store"),
        op(lay.CLUSTER_ARRIVE, -1, kind_class="barrier"),
        op(lay.CLUSTER_WAIT, -1, kind_class="barrier"),
    ]
    body = [
        op(lay.SIGNAL_ARRIVE, -1, record=0, kind_class="local_store"),
        op(lay.BULK_COPY, -1, record=1, kind_class="async_copy"),
        op(lay.ASYNC_COPY, MEMORY, 1, 0, record=2, bytes_of=8, kind_class="async_copy"),
        op(lay.SIGNAL_ARRIVE, -1, record=4, flags=lay.AFTER_COPIES, kind_class="local_store"),
        op(lay.MATRIX, 3, 6, 24, 0, (0,), kind_class="matrix"),
        op(lay.MATRIX, 3, 32, 40, kind_class="matrix", flags=lay.BESIDE, bytes_of=1024),
        op(lay.GROUP_COMMIT, -1, offset=lay.GROUP_MATRIX, kind_class="other"),
        op(lay.GROUP_COMMIT, -1, offset=lay.GROUP_COPIES, kind_class="other"),
        op(lay.GROUP_WAIT, -1, offset=lay.GROUP_COPIES, bytes_of=1, kind_class="other"),
        op(lay.SIGNAL_WAIT, -1, record=5, kind_class="barrier"),
        op(lay.LOCAL_LOAD, MEMORY, 1, 0, 1, (0,), 6, 16, kind_class="local_load"),
        op(lay.BULK_COPY, -1, record=7, kind_class="async_copy"),
        op(lay.GROUP_COMMIT, -1, offset=lay.GROUP_BULK, kind_class="other"),
        op(lay.GROUP_WAIT, -1, offset=lay.GROUP_BULK, bytes_of=0, flags=lay.READ_ONLY, kind_class="other"),
        op(lay.GROUP_WAIT, -1, offset=lay.GROUP_MATRIX, bytes_of=-1, kind_class="other"),
    ]
    end = [op(lay.GROUP_WAIT, -1, offset=lay.GROUP_BULK, bytes_of=0, kind_class="other"), *setup[1:], EXIT]

    def make(workgroup: int, wave: int) -> Wave:
        leads = workgroup % 2 == 0 and wave == 0
        records, pool = [signal(0, 2) if wave == 0 else NO_RECORD], []
        ways = (lay.BULK_OUT, lay.BULK_REDUCE, lay.BULK_OUT, lay.BULK_ACROSS)
        for k in range(rounds):
            records += [signal(0, 1, 1024), BULK_RECORD] if leads else [signal(0, 1, 1024) if wave == 0 else NO_RECORD, NO_RECORD]
            if leads:
                pool.append(box(BUFFER + 8192 * (workgroup + k), 64, barrier=0, targets=3, rows=16))
            if wave == 1 and k % 2:
                records.append((lay.SCATTERED, 0, 0, FULL))
                pool.append([BUFFER + 24 * ((lane * 37 + k) % 512) for lane in range(32)])
            else:
                records.append(affine(BUFFER + 4096 * (workgroup * 2 + wave), 8))
            records += [affine(256, 8), signal(0, 1 if wave == 1 else 0), signal(0, k + 1)]
            records += [affine(((workgroup % 2 + k) % 2 + 1) << lay.CLUSTER_SHIFT, 16), BULK_RECORD]
            pool.append(box(2 * BUFFER + 4096 * wave, 512 + 16 * k, barrier=-1, way=ways[k]))
        return [(0, 32), *[(1, 32)] * rounds, (2, 32)], records, pool

    code = program(setup, body, end)
    engine = simulate(tables, code, make, workgroups=12, waves=2, per_unit=2, ring=8, cluster=2)
    assert engine.counters()["dram_read_bytes"] > 0
    return engine.counters() | {"cycles": engine.cycles()}


def run(**environment: str) -> dict[str, dict[str, int]]:
    """`everything` in a process of its own."""
    command = [sys.executable, "-c", "import json; from tests.laws.test_engine_same import everything; print(json.dumps(everything()))"]
    result = subprocess.run(command, cwd=ROOT, env=os.environ | environment, capture_output=True, text=True, check=True)
    return json.loads(result.stdout.splitlines()[-1])  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def interpreted() -> dict[str, dict[str, int]]:
    return run(ARCHEX_JIT="0")


@pytest.mark.slow
def test_compiled_and_interpreted_agree(interpreted: dict[str, dict[str, int]]) -> None:
    assert interpreted["pick_oldest"] != interpreted["pick_round_robin"]
    assert min(interpreted["pick_oldest"][name] for name in ("far_sectors", "dram_write_bytes", "translation_misses", "fetch_misses")) > 0
    assert run(ARCHEX_JIT="1") == interpreted


@pytest.mark.nightly  # compiled in one piece, which takes a minute; numpy checks the upper ends of indices in the interpreted run too
def test_compiled_with_checked_indices_agrees(interpreted: dict[str, dict[str, int]]) -> None:
    assert run(ARCHEX_JIT="1", NUMBA_BOUNDSCHECK="1") == interpreted
