"""The whole path of a launch on a device, on one page. Read this first.

In: an assembled `Device`, a `Launch`, `Options`. Out: the columns of a row (`records.schema`) that a simulation knows.

    program   = PTX -> inner form -> cleaned -> unrolled by the device's rule   (programs, lowering)
    machine   = machine code of the device                                      (lowering)
    held      = workgroups a compute unit holds                                 (describe)
    source    = block executions and addresses of each wave, on demand          (programs)
    work, plan= how much there is to do, how much of it to simulate             (sampling)
    engine    = time passes                                                     (engine, driver)
    columns   = cycles and counters of the whole launch                         (records)
"""

from __future__ import annotations

import functools
import time
from typing import Any

from archex import sampling
from archex.assembly import Device
from archex.base.options import Options
from archex.describe import Occupancy
from archex.describe.occupancy import occupancy
from archex.driver import Driver
from archex.engine.run import Engine
from archex.engine.tables import Geometry, ProgramTables
from archex.lowering import WaveProgram, lower, unroll
from archex.programs.build import load_function
from archex.programs.ir import Function
from archex.programs.trace import TraceSource
from archex.records.outcome import Outcome, columns
from archex.suite.launch import Launch

#: Workgroups traced ahead of their dispatch, beside those resident.
AHEAD = 256


def simulate(device: Device, launch: Launch, options: Options) -> dict[str, Any]:
    """Run a launch, or a sequence of them back to back, and return its columns.

    Raises UnsupportedError (the device cannot hold or run it), ProgramError (program, launch or memory is wrong).
    """
    outcomes: list[Outcome] = []
    caches = None
    for step in launch.steps:
        warm = launch.caches == "warm" or options.repeat > 1
        for _ in range(1 if warm else 0):
            caches, _ = run(device, step, options, caches)
        caches, outcome = run(device, step, options, caches)
        outcomes.append(outcome)
    return columns(device, outcomes, launch.flops, options.repeat)


def run(device: Device, launch: Launch, options: Options, caches: Any = None) -> tuple[Any, Outcome]:
    """One launch: (the caches it leaves, its outcome)."""
    began = time.perf_counter()
    program, machine = prepare(device, launch)
    threads = launch.block[0] * launch.block[1] * launch.block[2]
    held = occupancy(device.spec, threads, machine.registers_per_thread, program.local_bytes + launch.dynamic_local_bytes)
    workgroups = launch.grid[0] * launch.grid[1] * launch.grid[2]
    resident = min(held.workgroups * device.spec["compute_unit"].count, workgroups)
    slots = min(resident + AHEAD, workgroups)
    source = TraceSource(program, launch, device.wave_width, slots * held.waves_per_workgroup, seed=options.seed)
    compiled = time.perf_counter()

    sizes = machine.block_instructions
    work = sampling.count(lambda some: source.count(some)[0] @ sizes, workgroups)
    counted = time.perf_counter()
    plan = sampling.plan(work, resident, options.sampling == "off")
    outcome = Outcome(launch, machine, held, plan, work, resident, assumed=tuple(source.assumed))
    engine = _engine(device, machine, launch, held, len(plan.order), source, caches)
    driver = Driver(engine, source, plan.order, launch.ptx.name)
    _advance(driver, plan, work, outcome, device)
    outcome.compile_seconds = compiled - began
    outcome.trace_seconds = driver.trace_seconds + counted - compiled
    outcome.simulate_seconds = time.perf_counter() - counted - driver.trace_seconds
    return engine.memory, outcome


_load = functools.lru_cache(maxsize=64)(load_function)


def prepare(device: Device, launch: Launch) -> tuple[Function, WaveProgram]:
    """A program as the device's instruction set shapes it, which is what is executed, and its machine code under the launch's budget."""
    function = unroll(_load(launch.ptx, launch.entry), device.instruction_set)
    budget = launch.registers(device.spec.slots["instruction_set"].name, function.max_registers)
    return function, lower(function, device.instruction_set, device.timings, budget)


def _engine(
    device: Device, machine: WaveProgram, launch: Launch, held: Occupancy, workgroups: int, source: TraceSource, caches: Any
) -> Engine:
    threads = launch.block[0] * launch.block[1] * launch.block[2]
    tables = ProgramTables(
        machine.code, machine.block_start, machine.block_records, machine.tokens, machine.code_bytes, machine.private_bytes
    )
    geometry = Geometry(workgroups, held.waves_per_workgroup, held.workgroups, threads)
    return Engine(device.tables_for(held), device.policies, tables, geometry, source, caches)


def _advance(driver: Driver, plan: sampling.Plan, work: sampling.Work, outcome: Outcome, device: Device) -> None:
    """Run what the plan says and give the rest its time."""
    engine = driver.engine
    expected = work.mean * len(plan.order)

    settled = plan.kind == "whole"

    def settle() -> None:
        # A long launch runs most of its life with full caches, dirty in the share of its stores. That state is set once a generation has
        # passed: before, loads are ahead of stores and the share is not yet the launch's.
        nonlocal settled
        counters = engine.counters()
        if settled or counters["wave_instructions"] < min(sampling.SETTLED * expected, 1.2 * outcome.resident * work.mean):
            return
        settled = True
        written = counters["l2_write_sectors"]
        missed = counters["l2_lookups"] - counters["l2_hits"]
        moved = (written + missed) * work.total / counters["wave_instructions"]
        for level, (name, capacity, sector) in enumerate(_levels(device), start=1):
            if moved * sector > capacity:
                engine.fill(level, 1.0, written / max(written + missed, 1) if name == "l2" else 0.0)

    ended = driver.run(expected, plan.stop, settle)
    counters = engine.counters()
    done = counters["wave_instructions"]
    outcome.counters = counters
    if ended and plan.kind == "whole":
        outcome.finish(engine.cycles(), done, done, 0.0)
        return
    rate, doubt = sampling.steady(driver.samples, *sampling.STEADY[plan.kind])
    rest = max(work.total - done, 0.0)
    total = done + rest
    outcome.finish(engine.cycles() + rest / rate, done, total, doubt * rest / total)


def _levels(device: Device) -> list[tuple[str, float, int]]:
    """(name, bytes of all instances, bytes a sector) of the cache levels below the vector cache."""
    from archex.engine import tables as t

    rows = device.tables.levels[1:]
    size = rows[:, t.LEVEL_INSTANCES] * rows[:, t.LEVEL_SLICES] * rows[:, t.LEVEL_SETS] * rows[:, t.LEVEL_WAYS] * rows[:, t.LEVEL_LINE]
    return list(zip(device.spec.memory_path[1:-1], size.tolist(), rows[:, t.LEVEL_SECTOR].astype(int).tolist(), strict=True))
