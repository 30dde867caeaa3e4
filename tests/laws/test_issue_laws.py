"""Issue on whole launches: the earliest legal cycle, the exact order, the rate of each class of operations, stalls that add up."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from archex.assembly import Device
from archex.base.options import Options
from archex.engine import tables
from archex.records.events import WaveEvent
from archex.records.schema import STALLS
from archex.tracing import trace
from tests.laws.launches import device, launch, machine_operations, run

#: Code that is there at once: these laws are about what happens behind the fetch.
FETCH = {f"instruction_cache__{name}": 0 for name in ("near", "middle", "far", "jump", "cold")}
VALUES = "cvt.rn.f32.u32 %f4, %r1;\nex2.approx.ftz.f32 %f0, %f4;\nex2.approx.ftz.f32 %f1, %f0;\nex2.approx.ftz.f32 %f2, %f1;\n"
CHAIN = "fma.rn.f32 %f0, %f0, %f1, %f2;\n"
FOUR = (10, 11, 12, 13)
START = VALUES + "".join(f"fma.rn.f32 %f{k}, %f2, %f2, 0f4{k}00000;\n" for k in FOUR)
STEP = "".join(f"fma.rn.f32 %f{k}, %f{k}, %f1, %f2;\n" for k in FOUR)
SUM = "".join(f"add.f32 %f0, %f0, %f{k};\n" for k in FOUR)


def tiny(**changes: Any) -> Device:
    return device("tiny", **FETCH, **changes)


def followed(on: Device, folder: Path, body: str, wave: int = 0, threads: int = 32) -> list[WaveEvent]:
    return trace(on, launch(folder, body, threads), Options(sampling="off"), wave)


def fma_cycles(events: list[WaveEvent]) -> list[int]:
    return [int(event.issue) for event in events if event.operation == "fma_f32"]


def test_a_dependent_operation_issues_at_its_earliest_legal_cycle(tmp_path: Path) -> None:
    events = followed(tiny(), tmp_path, VALUES + CHAIN * 12)
    chain = [event for event in events if event.operation == "fma_f32"]
    assert [after.issue - before.issue for before, after in pairwise(chain)] == [4] * 11
    assert all(event.done == event.issue + 4 for event in chain)
    assert all(event.waits == {"dependency": 3} for event in chain[1:])


def test_no_operation_issues_before_its_operands_or_its_wave(tmp_path: Path) -> None:
    events = followed(tiny(), tmp_path, VALUES + CHAIN * 4)
    for before, after in pairwise(events):
        assert after.issue > before.issue  # one wave, one instruction a cycle, in order
        assert sum(after.waits.values()) == after.issue - before.issue - 1
    chained = [event for event in events if event.operation in ("special", "fma_f32")]
    assert all(after.issue >= before.done for before, after in pairwise(chained))


def test_independent_operations_issue_cycle_by_cycle(tmp_path: Path) -> None:
    cycles = fma_cycles(followed(tiny(), tmp_path, START + STEP * 8 + SUM))[4:36]
    assert [after - before for before, after in pairwise(cycles)] == [1] * 31


#: Wave a's and wave b's multiply-adds, cycle by cycle: b is ready first, each ends with a chain of four.
ORDERS = {
    "greedy_then_oldest": "b" * 17 + "a" * 17 + "b..ab..ab..a",  # stays with a wave that can go on
    "loose_round_robin": "b" * 8 + "ab" * 9 + "aaabaaabaa.b.a...a...a",  # takes them in turn
    "oldest_workgroup": "b" * 17 + "a" * 17 + "b..ab..ab..a",  # both are of one workgroup, and there are only two
    "oldest_first": "b" * 8 + "a" * 17 + "bbbabbbabbba..b...b...b",  # b has what a leaves
}


@pytest.mark.parametrize("scheduler", ORDERS)
def test_the_exact_order_of_two_waves(tmp_path: Path, scheduler: str) -> None:
    """Waves 0 and 2 of a workgroup share the first of two schedulers."""
    body = START + "bar.sync 0;\n" + STEP * 3 + SUM
    found: dict[int, str] = {}
    for name, wave in (("a", 0), ("b", 2)):
        cycles = fma_cycles(followed(tiny(wave_scheduler=scheduler), tmp_path, body, wave, threads=128))
        assert not found.keys() & set(cycles)  # one issue a cycle
        found |= dict.fromkeys(cycles, name)
    order = "".join(found.get(cycle, ".") for cycle in range(min(found), max(found) + 1))
    assert order.endswith(ORDERS[scheduler])


#: An operation of each class that depends on itself, in registers %r, %f by k, %g, %h by j.
OPERATIONS = {
    "fma_f32": "fma.rn.f32 %f{k}, %f{k}, %f1, %f2;\n",
    "fma_f64": "fma.rn.f64 %g{j}, %g{j}, %g4, %g5;\n",
    "fma_f16": "fma.rn.f16x2 %h{j}, %h{j}, %h4, %h5;\n",
    "int_mad": "mad.lo.s32 %r{k}, %r{k}, %r4, %r5;\n",
    "int_minmax": "min.s32 %r{k}, %r{k}, %r4;\n",
    "shift": "shr.u32 %r{k}, %r{k}, %r4;\n",
    "dot4": "dp4a.s32.s32 %r{k}, %r{k}, %r4, %r5;\n",
    "special": "ex2.approx.ftz.f32 %f{k}, %f{k};\n",
    "popcount": "popc.b32 %r{k}, %r{k};\n",
    "shuffle": "shfl.sync.bfly.b32 %r{k}, %r{k}, 1, 31, -1;\n",
}
LOADED = "".join(
    f"ld.global.{kind} {register}, [%d1+{offset}];\n"
    for kind, register, offset in [("u32", "%r4", 0), ("u32", "%r5", 4), ("f32", "%f1", 8), ("f32", "%f2", 12), ("f64", "%g4", 16)]
)
LOADED += "ld.global.f64 %g5, [%d1+24];\nmov.b32 %h4, %r4;\nmov.b32 %h5, %r5;\nmov.f32 %f0, %f1;\n"
LOADED += "".join(
    f"add.s32 %r{k}, %r1, {k};\ncvt.rn.f32.s32 %f{k}, %r{k};\ncvt.rn.f64.s32 %g{k - 10}, %r{k};\nmov.b32 %h{k - 10}, %r{k};\n" for k in FOUR
)
USED = "".join(
    f"mov.b32 %r9, %h{k - 10};\nadd.s32 %r9, %r9, %r{k};\ncvt.rn.f32.s32 %f5, %r9;\nadd.f32 %f5, %f5, %f{k};\n"
    f"cvt.rn.f32.f64 %f6, %g{k - 10};\nadd.f32 %f5, %f5, %f6;\nadd.f32 %f0, %f0, %f5;\n"
    for k in FOUR
)


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize(("name", "threads"), [("tiny", 512), ("h200", 1024), ("mi300a", 1024)])
def test_a_full_compute_unit_runs_each_class_at_the_rate_of_its_pipes(tmp_path: Path, name: str, threads: int, operation: str) -> None:
    # Staying with one wave leaves cycles of a shared pipe idle; leaving it means to read again what it had read.
    on = device(name, wave_scheduler="loose_round_robin", register_file__read_window=0, **FETCH)
    step = "".join(OPERATIONS[operation].format(k=k, j=k - 10) for k in FOUR)
    few, many = (launch(tmp_path, LOADED + step * rounds + USED, threads) for rounds in (32, 64))
    added = machine_operations(on, many) - machine_operations(on, few)
    waves = threads // on.wave_width
    unit = on.spec["compute_unit"]
    busy: dict[tuple[int, ...], float] = {}  # of a group of pipes that share work: cycles for all that was added
    for found, count in added.items():
        timing = on.timings[found]
        pipes = tuple(sorted({timing.pipe, timing.alternative} - {-1}))
        shared = 1 if on.tables.pipes[pipes[0], tables.PIPE_SCOPE] > 0 else unit.schedulers
        busy[pipes] = busy.get(pipes, 0.0) + count * timing.interval * waves / shared / len(pipes)
    issue = added.total() * waves / unit.schedulers * unit.issue_period / unit.issue_width
    expected = max(*busy.values(), issue)
    assert added[operation] == 32 * 4
    assert run(on, many)["cycles"] - run(on, few)["cycles"] == pytest.approx(expected, rel=0.02)


@pytest.mark.parametrize("name", ["tiny", "h200", "mi300a"])
def test_a_resident_wave_is_in_one_state_a_cycle(tmp_path: Path, name: str) -> None:
    """One workgroup whose waves are there from start to end: stalls and issues together are waves times the time they live."""
    on = device(name)
    body = "ld.global.f32 %f1, [%d1];\n" + VALUES + "bar.sync 0;\n" + CHAIN * 40
    work = launch(tmp_path, body, 4 * on.wave_width)
    row = run(on, work)
    resident = row["wave_instructions"] * (1 + sum(row[stall] for stall in STALLS))
    lives = [trace(on, work, Options(sampling="off"), wave) for wave in range(4)]
    active = row["cycles"] - row["launch_drain_cycles"]
    followed_cycles = sum(event.issue - event.since + 1 for events in lives for event in events)
    assert followed_cycles + row["stall_drain"] * row["wave_instructions"] == pytest.approx(resident)
    assert resident <= 4 * active
    unit = on.spec["compute_unit"]
    # Shares are of the time in which a compute unit, or one of its schedulers, has a wave: the rest of the device has none.
    lived = 100 * resident / (row["occupancy_pct"] * unit.waves)
    assert resident / 4 <= lived <= active
    scheduled = 100 * row["wave_instructions"] / row["issue_active_pct"]
    assert lived <= scheduled <= resident * 1.001
