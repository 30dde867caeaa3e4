"""Issue on `h200` as its microbenchmarks have it: waves served alike, code that runs again, constants in halves."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from archex.base.options import Options
from archex.tracing import trace
from tests.laws.launches import device, launch, run

#: Code that is there at once.
FETCH = {f"instruction_cache__{name}": 0 for name in ("near", "middle", "far", "jump", "cold")}
PRODUCT = "mad.lo.s32 %r20, %r20, %r3, %r2;\n"
LOOP = "mov.u32 %r21, 0;\nL:\n{body}add.s32 %r21, %r21, 1;\nsetp.lt.s32 %p0, %r21, %r0;\n@%p0 bra L;\n"


def chain(steps: int) -> str:
    return "ld.global.u32 %r3, [%d1];\nmov.u32 %r20, %r2;\n" + PRODUCT * steps + "cvt.rn.f32.u32 %f0, %r20;\n"


@pytest.mark.parametrize("waves", [2, 3, 5])
def test_waves_that_share_a_pipe_end_together(tmp_path: Path, waves: int) -> None:
    """Chained products of latency 4 on a pipe that takes one in 2 cycles: W waves need 2 W cycles a step, all at a time."""
    few, many = (run(device("h200", **FETCH), launch(tmp_path, chain(steps), waves * 128))["cycles"] for steps in (100, 300))
    assert (many - few) / 200 == pytest.approx(2 * waves, rel=0.02)


@pytest.mark.parametrize("waves", [7, 8])
def test_schedulers_have_a_shared_pipe_in_turn(tmp_path: Path, waves: int) -> None:
    """Chained shuffles take 25 cycles, their pipe one a cycle of all four schedulers: 4 W waves need 4 W cycles a step, none ends alone."""
    step = "shfl.sync.bfly.b32 %r20, %r20, 1, 31, -1;\n"
    begin, end = "mov.u32 %r20, %r2;\n", "cvt.rn.f32.u32 %f0, %r20;\n"
    few, many = (run(device("h200", **FETCH), launch(tmp_path, begin + step * steps + end, waves * 128))["cycles"] for steps in (100, 400))
    assert (many - few) / 300 == pytest.approx(4 * waves, rel=0.02)


def again(folder: Path, body: int, rounds: tuple[int, int] = (10, 50)) -> float:
    """Cycles a trip of a loop of `body` multiply-adds takes in one wave, beyond one each."""
    steps = "".join(f"fma.rn.f32 %f{10 + k % 4}, %f{10 + k % 4}, %f1, %f2;\n" for k in range(body))
    start = "ld.global.f32 %f1, [%d1];\nld.global.f32 %f2, [%d1+4];\n" + "".join(f"mov.f32 %f{k}, %f1;\n" for k in range(10, 14))
    end = "".join(f"add.f32 %f0, %f1, %f{k};\nmov.f32 %f1, %f0;\n" for k in range(10, 14))
    text = start + LOOP.format(body=steps) + end
    few, many = (run(device("h200"), launch(folder, text, n=trips))["cycles"] for trips in rounds)
    return (many - few) / (rounds[1] - rounds[0]) - body


def test_a_loop_pays_for_a_jump_where_its_code_does_not_fit_beside_the_scheduler(tmp_path: Path) -> None:
    """Measured: 355 instructions run again for nothing, from 387 on it costs 10 cycles, however many there are."""
    short, fits, beyond, long = (again(tmp_path, body) for body in (64, 350, 420, 1000))
    assert short == pytest.approx(12.7, abs=1)
    assert fits == pytest.approx(short, abs=2)
    assert beyond - fits == pytest.approx(10, abs=3)
    assert long == pytest.approx(beyond, abs=10)


@pytest.mark.parametrize(("body", "beyond"), [(4096, (1.1, 1.5)), (10240, (4.5, 5.0))])
def test_long_code_takes_what_was_measured(tmp_path: Path, body: int, beyond: tuple[float, float]) -> None:
    """Measured: 64 KiB of multiply-adds take 2.24 to 2.44 cycles each, 160 KiB to 2 MiB 5.6 (one unit) to 5.9 (all)."""
    assert beyond[0] <= again(tmp_path, body, (2, 4)) / body <= beyond[1]


def test_halves_of_a_wide_constant_do_not_wait_for_each_other(tmp_path: Path) -> None:
    """Two constants of a double-precision multiply-add: one pair of moves each, one pair on the scalar unit, one cycle or two apart."""
    body = "cvt.rn.f64.u32 %g0, %r2;\nfma.rn.f64 %g0, %g0, 0d3FF199999999999A, 0d3FB999999999999A;\ncvt.rn.f32.f64 %f0, %g0;\n"
    events = trace(device("h200", **FETCH), launch(tmp_path, body), Options(sampling="off"), 0)
    first = next(at for at, event in enumerate(events) if event.operation == "fma_f64")
    scalar = [event for event in events[:first] if event.operation == "uniform_move"]
    assert len(scalar) == 2
    assert sum(event.operation == "move" for event in events[:first]) == 2
    assert all(after.issue - before.issue <= 2 for before, after in pairwise(scalar))


def steps(on: Any, folder: Path, step: str, threads: int) -> float:
    """Cycles a step of twelve chains takes on each scheduler; each chain has a, b of its own, all share A, B."""
    chains = range(20, 32)
    loads = [(kind, letter, k + 20 * part) for k in chains for kind, letter in (("f32", "f"), ("u32", "r")) for part in range(3)]
    start = "ld.global.f32 %f1, [%d1];\nld.global.f32 %f2, [%d1+4];\n"
    start += "".join(f"ld.global.{kind} %{letter}{number}, [%d1+{8 + 4 * at}];\n" for at, (kind, letter, number) in enumerate(loads))
    end = "mov.f32 %f0, %f1;\nmov.u32 %r90, 0;\n" + "".join(f"add.f32 %f0, %f0, %f{k};\nxor.b32 %r90, %r90, %r{k};\n" for k in chains)
    end += "cvt.rn.f32.u32 %f3, %r90;\nadd.f32 %f0, %f0, %f3;\n"
    body = "".join(step.format(x=k, a=k + 20, b=k + 40) for k in chains)
    few, many = (run(on, launch(folder, start + body * rounds + end, threads))["cycles"] for rounds in (8, 24))
    return (many - few) / 16 / 12 / (threads // 128)


READS = {
    "fma.rn.f32 %f{x}, %f{x}, %f1, %f2;\n": 1.0,  # what the one before left
    "add.rn.f32 %f{x}, %f{x}, %f{a};\n": 1.0,
    "fma.rn.f32 %f{x}, %f{x}, %f{a}, %f{b};\n": 1.5,
    "mad.lo.s32 %r{x}, %r{x}, %r{a}, %r{b};\n": 2.0,  # its pipe
    "fma.rn.f32 %f{x}, %f{x}, %f{a}, %f{b};\nshf.l.wrap.b32 %r{x}, %r{x}, %r{a}, %r{b};\n": 3.0,
}


@pytest.mark.parametrize("step", READS)
@pytest.mark.parametrize("waves", [2, 3])
def test_a_scheduler_reads_two_registers_a_cycle(tmp_path: Path, step: str, waves: int) -> None:
    assert steps(device("h200", **FETCH), tmp_path, step, waves * 128) == pytest.approx(READS[step], rel=0.06)


def test_without_a_window_registers_are_read_as_wanted(tmp_path: Path) -> None:
    step = "fma.rn.f32 %f{x}, %f{x}, %f{a}, %f{b};\n"
    assert steps(device("h200", register_file__read_window=0, **FETCH), tmp_path, step, 256) == pytest.approx(1.0, rel=0.03)
