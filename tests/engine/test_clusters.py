"""Workgroups of a cluster: they start together in one group of compute units, meet, and reach each other's local memory."""

from __future__ import annotations

import numpy as np
import pytest
from archex.base import layout as lay
from archex.engine import tables as tab
from archex.engine.global_memory import LOCAL_WINDOW
from tests.engine.synthetic import BULK_RECORD, FULL, MEMORY, Wave, affine, box, device, op, program, signal, simulate

EXIT = op(lay.EXIT, pipe=-1, kind_class="branch")
MEET = [op(lay.CLUSTER_ARRIVE, -1, latency=2, kind_class="barrier"), op(lay.CLUSTER_WAIT, -1, latency=2, kind_class="barrier")]
WORK = [op(dst=0, src=(0,))] * 50
WAY = {"aside_remote_bytes": 16, "aside_remote_line": 2, "aside_remote_sector": 1.5, "aside_remote_atomic": 4}
CLUSTERS = {"aside_remote_latency": 80, "aside_cluster_barrier": 150} | WAY
FAR = 1 << 30


def grouped(units: int, groups: int, **changes: float) -> tab.DeviceTables:
    tables = device(units, schedulers=4, **(CLUSTERS | changes))
    return tables._replace(unit_group=np.arange(units) * groups // units)


def rank_of(rank: int, offset: int) -> int:
    return ((rank + 1) << lay.CLUSTER_SHIFT) | offset


@pytest.mark.parametrize("size", [2, 4])
def test_workgroups_of_a_cluster_meet(size: int) -> None:
    """The one with most work comes last, and all go on from there: the launch ends with it and the barrier."""

    def make(workgroup: int, wave: int) -> Wave:
        slow = (workgroup // size) % size == workgroup % size
        return [(0, 32)] * (10 if slow else 1) + [(1, 32), (2, 32)], [], []

    engine = simulate(grouped(8, 2), program(WORK, MEET, [EXIT]), make, workgroups=8, waves=2, cluster=size)
    assert engine.last_end() == pytest.approx(10 * 200 + 150, abs=100)
    assert engine.counters()["stall_barrier"] > 8 * 2 * 150


def test_a_cluster_stays_in_one_group() -> None:
    """Three units a group hold one cluster of two at a time: the third unit of each group stays idle."""
    engine = simulate(
        grouped(6, 2), program(WORK, MEET, [EXIT]), lambda g, w: ([(0, 32), (1, 32), (2, 32)], [], []), workgroups=12, cluster=2
    )
    started = engine.started()
    assert started.reshape(2, 3).sum(1).sum() == 12
    assert engine.last_end() == pytest.approx(3 * (200 + 150), rel=0.15)


def test_a_cluster_waits_until_all_of_it_fits() -> None:
    """Units of two rooms: a cluster of four fits only when four rooms of the group are free."""
    tables = grouped(2, 1)
    engine = simulate(tables, program(WORK, [EXIT]), lambda g, w: ([(0, 32), (1, 32)], [], []), workgroups=12, per_unit=2, cluster=4)
    assert engine.last_end() == pytest.approx(3 * 200, rel=0.1)


@pytest.mark.parametrize("size", [2, 8])
def test_many_more_clusters_than_slots(size: int) -> None:
    """Workgroups of a cluster end one by one; slots are used again once all of it is over."""

    def make(workgroup: int, wave: int) -> Wave:
        last = [(0, 32)] * (workgroup % 3)
        return [(0, 32)] * (1 + (workgroup * 7 + wave) % 5) + [(1, 32), *last, (2, 32)], [], []

    tables = grouped(16, 2, device_relaunch_cycles=30, device_launch_cycles=100)
    engine = simulate(tables, program(WORK, MEET, [EXIT]), make, workgroups=128, waves=4, per_unit=3, cluster=size, slots=48)
    assert engine.counters()["workgroups_finished"] == 128
    assert (engine.started() > 0).all()


def test_ended_workgroups_count_as_arrived_at_the_clusters_barrier() -> None:
    def make(workgroup: int, wave: int) -> Wave:
        return ([(1, 32), (2, 32)] if workgroup % 2 else [(2, 32)]), [], []

    assert simulate(grouped(2, 1), program(WORK, MEET, [EXIT]), make, workgroups=2, cluster=2).last_end() < 250


def test_another_workgroups_local_memory_is_further_away() -> None:
    times = {}
    for name, rank in (("own", None), ("mapped", 0), ("other", 1)):
        body = [op(lay.LOCAL_LOAD, MEMORY, 1, 0, 0, (0,), k, 4, kind_class="local_load") for k in range(20)]

        def make(workgroup: int, wave: int, rank: int | None = rank) -> Wave:
            if workgroup == 1:
                return [(1, 32), (2, 32)], [], []
            base = 0 if rank is None else rank_of(rank, 0)
            return [(0, 32), (1, 32), (2, 32)], [affine(base)] * 20, []

        times[name] = simulate(grouped(2, 1), program(body, MEET, [EXIT]), make, workgroups=2, cluster=2).last_end()
    assert times["own"] == times["mapped"]
    assert times["other"] - times["own"] == pytest.approx(19 * 160, rel=0.02)


@pytest.mark.parametrize(
    ("kind", "offsets", "cycles"),
    [
        (lay.LOCAL_LOAD, [lane * 4 for lane in range(32)], 2 + 4 * 1.5),  # a line, four sectors
        (lay.LOCAL_LOAD, [lane * 32 for lane in range(32)], 8 * 2 + 32 * 1.5),  # eight lines, a sector a lane
        (lay.LOCAL_LOAD, [lane * 4 if lane < 16 else -1 for lane in range(32)], 2 + 2 * 1.5),
        (lay.REDUCE, [lane * 4 for lane in range(32)], 4 * 4),
        (lay.REDUCE, [lane * 32 for lane in range(32)], 32 * 4),
    ],
)
@pytest.mark.parametrize("generic", [False, True])
def test_the_way_to_other_workgroups_takes_lines_and_sectors(kind: int, offsets: list[int], cycles: float, generic: bool) -> None:
    """Waves with nothing else to do are as fast as the way: what lanes do at home takes none of it."""
    if kind == lay.REDUCE and not generic:
        kind = lay.LOCAL_ATOMIC
    name = "local_load" if kind == lay.LOCAL_LOAD and not generic else "atomic"
    if kind == lay.LOCAL_LOAD and generic:
        kind = lay.LOAD
    body = [op(kind, MEMORY, 1, 4, -1, (), k, 4, kind_class=name) for k in range(40)]
    window = LOCAL_WINDOW if generic else 0

    def make(workgroup: int, wave: int) -> Wave:
        if workgroup == 1:
            return [(1, 32), (2, 32)], [], []
        pool = [[window + (rank_of(1, offset) if offset >= 0 else 4096 + 4 * lane) for lane, offset in enumerate(offsets)]] * 40
        return [(0, 32), (1, 32), (2, 32)], [(lay.SCATTERED, k, 0, FULL) for k in range(40)], pool

    end = simulate(grouped(2, 1), program(body, MEET, [EXIT]), make, workgroups=2, waves=8, cluster=2).last_end()
    assert end == pytest.approx(8 * 40 * cycles, rel=0.15, abs=400)


def test_one_multicast_is_read_once_and_delivered_to_all() -> None:
    """Each rank's barrier gets all the bytes; the second level gives them once."""
    setup = [op(lay.SIGNAL_SET, -1, record=0, kind_class="barrier"), op(lay.SIGNAL_ARRIVE, -1, record=1, kind_class="barrier"), *MEET]
    copy = [op(lay.BULK_COPY, -1, record=0, kind_class="async_copy")]
    wait = [op(lay.SIGNAL_WAIT, -1, record=0, kind_class="barrier")]
    size, bytes_of = 4, 8192
    read = {}
    for multicast in (False, True):

        def make(workgroup: int, wave: int, multicast: bool = multicast) -> Wave:
            rank = workgroup % size
            records = [signal(0, 1), signal(0, 1, bytes_of)]
            pool = []
            copies = rank == 0 or not multicast
            if copies:
                records.append(BULK_RECORD)
                pool.append(box(FAR, bytes_of, barrier=0, targets=(1 << size) - 1 if multicast else 0))
            return [(0, 32), *([(1, 32)] if copies else []), (2, 32), (3, 32)], [*records, signal(0, 1)], pool

        engine = simulate(grouped(4, 1, aside_bulk_rate=110), program(setup, copy, wait, [EXIT]), make, workgroups=size, cluster=size)
        read[multicast] = engine.counters()["l2_read_sectors"]
        assert engine.counters()["dram_read_bytes"] == bytes_of
    assert read[False] == size * read[True] == size * bytes_of // 32


def test_signals_cross_the_cluster() -> None:
    """Rank 1 arrives at the barrier of rank 0, which waits for it."""
    setup = [op(lay.SIGNAL_SET, -1, record=0, kind_class="barrier"), *MEET]
    arrive = [*WORK, op(lay.SIGNAL_ARRIVE, -1, latency=2, record=0, kind_class="barrier")]
    wait = [op(lay.SIGNAL_WAIT, -1, record=0, kind_class="barrier")]

    def make(workgroup: int, wave: int) -> Wave:
        own = [(2, 32)] if workgroup == 0 else [(1, 32)]
        record = signal(0, 1) if workgroup == 0 else signal(rank_of(0, 0), 1)
        return [(0, 32), *own, (3, 32)], [signal(0, 1), record], []

    engine = simulate(grouped(2, 1), program(setup, arrive, wait, [EXIT]), make, workgroups=2, cluster=2)
    assert engine.last_end() == pytest.approx(150 + 200 + 80, abs=20)
