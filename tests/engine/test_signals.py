"""Barriers in local memory and bulk copies: phases end at the last arrival or byte, and bytes are conserved."""

from __future__ import annotations

import pytest
from archex.base import layout as lay
from archex.engine import tables as tab
from archex.engine.run import Engine
from tests.engine.synthetic import BULK_RECORD, Rings, Wave, box, device, drive, op, policies, program, signal, signals, simulate

EXIT = op(lay.EXIT, pipe=-1, kind_class="branch")
BARRIER = op(lay.BARRIER, pipe=-1, kind_class="barrier", bytes_of=0)
WORK = [op(dst=0, src=(0,))] * 50
BULK = {"aside_bulk_interval": 56, "aside_bulk_extra": 70, "aside_bulk_rate": 110}
FAR = 1 << 30


def one(kind: int, record: int, flags: int = 0) -> list[int]:
    return op(kind, -1, latency=2, record=record, flags=flags, kind_class="barrier")


SET, ARRIVE, WAIT, COPY = (one(k, 0) for k in (lay.SIGNAL_SET, lay.SIGNAL_ARRIVE, lay.SIGNAL_WAIT, lay.BULK_COPY))


def loaded(bytes_of: int, rows: int = 0, **changes: float) -> Engine:
    """One wave sets a barrier up, announces bytes, copies and waits."""
    code = program([one(lay.SIGNAL_SET, 0), one(lay.SIGNAL_ARRIVE, 1), one(lay.BULK_COPY, 2), one(lay.SIGNAL_WAIT, 3)], [EXIT])
    total = bytes_of * max(rows, 1)
    records = [signal(64, 1), signal(64, 1, total), BULK_RECORD, signal(64, 1)]
    made: Wave = ([(0, 32), (1, 32)], records, [box(FAR, bytes_of, barrier=64, rows=rows)])
    return simulate(device(**(BULK | changes)), code, lambda workgroup, wave: made)


@pytest.mark.parametrize("bytes_of", [128, 4096, 65536])
def test_a_bulk_copy_arrives_after_its_latency_and_at_its_rate(bytes_of: int) -> None:
    engine = loaded(bytes_of)
    assert engine.last_end() == pytest.approx(500 + 70 + (bytes_of - 128) / 110 + 6, abs=12)
    counters = engine.counters()
    assert counters["dram_read_bytes"] == bytes_of
    assert counters["l2_read_sectors"] == bytes_of // 32
    assert counters["global_load_requests"] == 0
    assert counters["stall_memory"] > 500


def test_a_box_is_copied_row_by_row() -> None:
    assert loaded(64, rows=32).counters()["dram_read_bytes"] == 2048
    assert loaded(64, rows=32).counters()["l2_read_sectors"] == 64


@pytest.mark.parametrize("late", ["bytes", "arrival"])
def test_a_phase_ends_at_the_last_arrival_or_byte(late: str) -> None:
    slow = [op(dst=0, src=(0,))] * (10 if late == "bytes" else 400)
    first = [one(lay.SIGNAL_SET, 0), BARRIER, one(lay.SIGNAL_ARRIVE, 1), one(lay.BULK_COPY, 2), one(lay.SIGNAL_WAIT, 3)]
    other = [BARRIER, *slow, ARRIVE]

    def make(workgroup: int, wave: int) -> Wave:
        if wave == 0:
            return [(0, 32), (2, 32)], [signal(8, 2), signal(8, 1, 1024), BULK_RECORD, signal(8, 1)], [box(FAR, 1024, barrier=8)]
        return [(1, 32), (2, 32)], [signal(8, 1)], []

    engine = simulate(device(**BULK), program(first, other, [EXIT]), make, waves=2)
    expected = 500 + 70 + 1024 / 110 + 25 if late == "bytes" else 1600 + 25
    assert engine.last_end() == pytest.approx(expected, abs=15)


def test_a_phase_needs_all_its_arrivals() -> None:
    """Waves that work for different times meet at the slowest, phase after phase."""
    phases = 5

    def make(workgroup: int, wave: int) -> Wave:
        blocks = [(0 if wave == 0 else 4, 32)]
        records = [signal(0, 4)] if wave == 0 else []
        for k in range(phases):
            blocks += [(1, 32)] * (1 + (wave + k) % 4) + [(2, 32)]
            records += [signal(0, 1), signal(0, k + 1)]
        return [*blocks, (3, 32)], records, []

    meet = [one(lay.SIGNAL_ARRIVE, 0), one(lay.SIGNAL_WAIT, 1)]
    engine = simulate(device(schedulers=4), program([SET, BARRIER], WORK, meet, [EXIT], [BARRIER]), make, waves=4)
    assert engine.last_end() == pytest.approx(phases * 4 * 200 + 30, rel=0.03)
    assert engine.counters()["stall_barrier"] > phases * 200


def test_an_arrival_after_copies_waits_for_them() -> None:
    copy = op(lay.ASYNC_COPY, 2, 1, 0, record=1, bytes_of=4, kind_class="async_copy")
    body = [SET, copy, one(lay.SIGNAL_ARRIVE, 3, lay.AFTER_COPIES), one(lay.SIGNAL_WAIT, 4)]
    records = [signal(0, 1), (lay.AFFINE, FAR, 4, 1), (lay.AFFINE, 0, 4, 1), signal(0, 1), signal(0, 1)]
    engine = simulate(device(), program(body, [EXIT]), lambda workgroup, wave: ([(0, 32), (1, 32)], records, []))
    assert engine.last_end() == pytest.approx(500, abs=10)


def test_a_producer_and_a_consumer_take_turns() -> None:
    """With as many stages as the latency needs, the producer's rate is that of the copies; with one it waits for each."""
    rounds, bytes_of = 24, 4096
    times = {}
    for stages in (1, 2, 12):
        setup = [one(lay.SIGNAL_SET, k) for k in range(2 * stages)] + [BARRIER]
        produce = [one(lay.SIGNAL_WAIT, 0), one(lay.SIGNAL_ARRIVE, 1), one(lay.BULK_COPY, 2)]
        consume = [one(lay.SIGNAL_WAIT, 0), op(dst=0, src=(0,)), one(lay.SIGNAL_ARRIVE, 1)]

        def make(workgroup: int, wave: int, stages: int = stages) -> Wave:
            full, empty = [8 * k for k in range(stages)], [512 + 8 * k for k in range(stages)]
            records, pool = ([signal(a, 1) for a in full + empty], []) if wave == 0 else ([], [])
            for k in range(rounds):
                stage, turn = k % stages, k // stages
                if wave == 0:
                    records += [signal(empty[stage], turn), signal(full[stage], 1, bytes_of), BULK_RECORD]
                    pool.append(box(FAR + bytes_of * k, bytes_of, barrier=full[stage]))
                else:
                    records += [signal(full[stage], turn + 1), signal(empty[stage], 1)]
            return [(0 if wave == 0 else 4, 32), *[(1 if wave == 0 else 2, 32)] * rounds, (3, 32)], records, pool

        engine = simulate(device(**BULK), program(setup, produce, consume, [EXIT], [BARRIER]), make, waves=2)
        assert engine.counters()["dram_read_bytes"] == rounds * bytes_of
        times[stages] = engine.last_end() / rounds
    assert times[1] == pytest.approx(500 + 70 + bytes_of / 110, rel=0.05)
    assert times[2] == pytest.approx(times[1] / 2, rel=0.1)
    assert times[12] == pytest.approx((56 * rounds + 500 + 70 + bytes_of / 110) / rounds, rel=0.05)


def test_bulk_stores_write_what_they_say() -> None:
    commit = op(lay.GROUP_COMMIT, -1, latency=0, offset=lay.GROUP_BULK, kind_class="other")
    ends = {}
    for flags in (0, lay.READ_ONLY):
        wait = op(lay.GROUP_WAIT, -1, latency=0, offset=lay.GROUP_BULK, bytes_of=0, flags=flags, kind_class="other")
        made: Wave = ([(0, 32), (1, 32)], [BULK_RECORD], [box(FAR, 8192, barrier=-1, way=lay.BULK_OUT)])
        engine = simulate(device(**BULK), program([COPY, commit, wait], [EXIT]), lambda workgroup, wave, m=made: m)
        assert engine.counters()["l2_write_sectors"] == 8192 // 32
        ends[flags] = engine.counters()["resident_wave_cycles"]
    assert ends[0] > 8192 / 32  # the port's 32 bytes a cycle
    assert ends[lay.READ_ONLY] < ends[0]


def test_a_signal_that_never_comes_is_stuck() -> None:
    tables = device()
    code = program([SET], [WAIT], [EXIT])
    rings = Rings(lambda workgroup, wave: ([(0, 32), (1, 32), (2, 32)], [signal(0, 1), signal(0, 1)], []), 1, 2)
    rings.records_of = code.block_records
    engine = Engine(tables, policies(tables), code, tab.Geometry(1, 1, 1, 32), rings)
    assert drive(engine, rings, 1) == tab.STUCK


def test_lanes_may_name_barriers_of_their_own() -> None:
    """Four lanes set up and arrive at four barriers; waits for each of them pass, and the trace's rows are given back."""
    rounds, named = 40, [8 * lane if lane < 4 else -1 for lane in range(32)]
    code = program([one(lay.SIGNAL_SET, 0)], [one(lay.SIGNAL_ARRIVE, 0), *(one(lay.SIGNAL_WAIT, 1 + k) for k in range(4))], [EXIT])

    def make(workgroup: int, wave: int) -> Wave:
        records = [signals(3)]
        for k in range(rounds):
            records += [signals(3), *(signal(8 * lane, k + 1) for lane in range(4))]
        return [(0, 32), *[(1, 32)] * rounds, (2, 32)], records, [list(named) for _ in range(rounds + 1)]

    assert simulate(device(), code, make).last_end() > 0


@pytest.mark.parametrize("beside", [0, 1])
def test_arrivals_after_copies_may_come_beside_those_of_the_phase(beside: int) -> None:
    """The phase has one arrival: the copies' own, or another one while the copies' arrivals add up to nothing."""
    first = [one(lay.SIGNAL_SET, 0), one(lay.SIGNAL_ARRIVE, 1, lay.AFTER_COPIES)]
    rest = [one(lay.SIGNAL_ARRIVE, 2)] if beside else []
    code = program([*first, *rest, one(lay.SIGNAL_WAIT, 2 + beside)], [EXIT])
    records = [signal(0, 1), signal(0, 1, beside), *[signal(0, 1)] * beside, signal(0, 1)]
    assert simulate(device(), code, lambda workgroup, wave: ([(0, 32), (1, 32)], records, [])).last_end() > 0
