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

import time
from collections.abc import Mapping
from typing import Any

from archex import sampling
from archex.assembly import Device
from archex.base.errors import UnsupportedError
from archex.base.options import Options
from archex.describe import Occupancy
from archex.describe.occupancy import occupancy, registers_that_fit
from archex.driver import Driver
from archex.engine.run import Engine
from archex.engine.tables import Geometry, ProgramTables
from archex.lowering import WaveProgram, lower, unroll
from archex.lowering.kept import kept
from archex.programs.build import load_function
from archex.programs.ir import Function
from archex.programs.trace import TraceSource
from archex.records.outcome import Outcome, columns
from archex.suite.launch import MOST_REGISTERS, Launch

#: Workgroups traced ahead of their dispatch, beside those resident.
AHEAD = 256


def simulate(device: Device, launch: Launch, options: Options) -> dict[str, Any]:
    """Run a launch, or a sequence of them back to back, and return its columns.

    Raises UnsupportedError (the device cannot hold or run it), ProgramError (program, launch or memory is wrong).
    """
    outcomes: list[Outcome] = []
    caches = None
    for step in launch.steps:
        again = launch.caches == "warm" or options.repeat > 1
        # What the run before leaves in caches matters where its buffers fit; far beyond that nothing is left but full caches.
        if again and _reach(step) <= 2 * max(capacity for capacity, _ in _levels(device)):
            caches, _ = run(device, step, options, caches)
        caches, outcome = run(device, step, options, caches, again)
        outcomes.append(outcome)
    return columns(device, outcomes, launch.flops, options.repeat)


def run(device: Device, launch: Launch, options: Options, caches: Any = None, again: bool = False) -> tuple[Any, Outcome]:
    """One launch: (the caches it leaves, its outcome). `again`: its program has run just before."""
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
    engine = assembled(device, machine, launch, held, len(plan.order), source, caches)
    if again:
        engine.keep_code()
    driver = Driver(engine, source, plan.order, launch.ptx.name)
    tail = sampling.left_over(work, resident, plan)
    _advance(driver, plan, work, outcome, device, tail)
    if tail:
        source = TraceSource(program, launch, device.wave_width, tail * held.waves_per_workgroup, seed=options.seed)
        last = Driver(assembled(device, machine, launch, held, tail, source, engine.memory), source, plan.order[-tail:], launch.ptx.name)
        outcome.cycles += _last_generation(last, tail * work.mean, device)
        outcome.simulated += last.instructions
    if plan.kind != "whole":
        _leave(engine, device, outcome)
    outcome.compile_seconds = compiled - began
    outcome.trace_seconds = driver.trace_seconds + counted - compiled
    outcome.simulate_seconds = time.perf_counter() - counted - driver.trace_seconds
    return engine.memory, outcome


def prepare(device: Device, launch: Launch) -> tuple[Function, WaveProgram]:
    """A program as the device's instruction set shapes it, which is what is executed, and its machine code under the launch's budget."""
    program = (str(launch.ptx), launch.ptx.read_bytes() if launch.ptx.is_file() else b"", launch.entry, device.instruction_set)
    function = kept("program", program, lambda: unroll(load_function(launch.ptx, launch.entry), device.instruction_set))
    most = device.spec["register_file"].most
    room = registers_that_fit(device.spec, launch.block[0] * launch.block[1] * launch.block[2])
    budget = launch.registers(device.spec.slots["instruction_set"].name, min(function.max_registers or MOST_REGISTERS, most, room))
    if budget > most:
        raise UnsupportedError(f"{budget} registers a thread: the device has {most}")
    if launch.register_counts and not isinstance(launch.register_counts, Mapping):
        # A plain number is of the assembler that the program was written for.
        budget = min(int(budget * device.instruction_set.budget_share), most)
    machine = kept("machine", (program, device.timings, budget), lambda: lower(function, device.instruction_set, device.timings, budget))
    return function, machine


def assembled(
    device: Device, machine: WaveProgram, launch: Launch, held: Occupancy, workgroups: int, source: TraceSource, caches: Any, log: int = 0
) -> Engine:
    """The engine for a launch; `log`: room for so many instructions of a wave that is followed."""
    threads = launch.block[0] * launch.block[1] * launch.block[2]
    tables = ProgramTables(
        machine.code, machine.block_start, machine.block_records, machine.tokens, machine.code_bytes, machine.private_bytes
    )
    geometry = Geometry(workgroups, held.waves_per_workgroup, held.workgroups, threads)
    return Engine(device.tables_for(held), device.policies, tables, geometry, source, caches, log)


def _last_generation(driver: Driver, instructions: float, device: Device) -> float:
    """Cycles that the workgroups left over take by themselves, behind those before them."""
    from archex.engine import tables as t

    ended = driver.run(instructions, sampling.LEAST)
    cycles = driver.engine.cycles() - float(device.tables.device[[t.LAUNCH_CYCLES, t.DRAIN_CYCLES]].sum())
    if ended:
        return cycles
    done = driver.instructions
    return cycles + max(instructions - done, 0.0) / sampling.steady(driver.samples, sampling.LATER * done, done).rate


def _advance(driver: Driver, plan: sampling.Plan, work: sampling.Work, outcome: Outcome, device: Device, tail: int) -> None:
    """Run what the plan says and give the rest its time, but for the `tail` last workgroups."""
    engine = driver.engine
    expected = work.mean * len(plan.order)
    generation = outcome.resident * work.mean
    first = plan.skipped_after * work.mean
    begin = max(sampling.CALM * generation, (1.0 - sampling.LATER) * first)  # of the steady stretch
    settled = plan.kind == "whole"

    def settle() -> None:
        # A long launch runs most of its life with full caches, dirty in the share of its stores.
        nonlocal settled
        counters = engine.counters()
        done = counters["wave_instructions"]
        if not settled and done >= min(sampling.SETTLED * expected, 1.8 * generation):
            settled = True
            before = sampling.nearest(driver.samples, done - min(0.7 * done, generation))
            _fill(engine, device, before, counters, work, outcome.launch, begin)

    ended = driver.run(expected, plan.stop, settle)
    done = driver.instructions
    if ended and plan.kind == "whole":
        outcome.finish(engine.cycles(), engine.counters(), done, done, 0.0)
        return
    if plan.kind == "cut":
        stretch = sampling.steady(driver.samples, begin, first - 0.2 * generation, generation)
    else:
        stretch = sampling.steady(driver.samples, sampling.LATER * done, done)
    rest = max(work.total - done, 0.0)
    counters = {name: value + added for (name, value), added in zip(engine.counters().items(), stretch.counted(rest).values(), strict=True)}
    more = max(rest - tail * work.mean, 0.0) / stretch.rate
    if plan.kind == "window" and outcome.resident == work.workgroups:
        # All run at once: the launch ends with the compute unit that has most of them.
        more = sampling.last_end(stretch, engine.issued(), engine.started() * work.mean)
    cycles = engine.cycles() + more
    outcome.finish(cycles, counters, done, done + rest, stretch.doubt * more / cycles)


def _fill(
    engine: Engine, device: Device, before: sampling.Sample, counters: dict[str, int], work: sampling.Work, launch: Launch, begin: float
) -> None:
    """Fill the cache levels that the launch overflows, as dirty as the last generation's traffic: over one, loads and stores balance.

    A level that the run fills by itself before `begin` wave-instructions is left alone.
    """
    grown = {name: value - before.counters[name] for name, value in counters.items()}
    written, missed = grown["l2_write_sectors"], grown["l2_lookups"] - grown["l2_hits"]
    moved = (written + missed) * work.total / max(grown["wave_instructions"], 1)
    for level, (capacity, sector) in enumerate(_levels(device), start=1):
        if moved * sector * min(begin / work.total, 1.0) < capacity < moved * sector and (level == 1 or _reach(launch) > capacity):
            engine.fill(level, 1.0, written / max(written + missed, 1))


def _leave(engine: Engine, device: Device, outcome: Outcome) -> None:
    """Caches after a sampled launch: one whose buffers are larger than a level has left nothing there that it would find again."""
    counters = engine.counters()
    written, missed = counters["l2_write_sectors"], counters["l2_lookups"] - counters["l2_hits"]
    for level, (capacity, _) in enumerate(_levels(device), start=1):
        if _reach(outcome.launch) > capacity:
            engine.displace(level, written / max(written + missed, 1))


def _reach(launch: Launch) -> int:
    """Bytes of a launch's buffers."""
    return sum(buffer.size for buffer in launch.buffers)


def _levels(device: Device) -> list[tuple[float, int]]:
    """(bytes of all instances, bytes a sector) of the cache levels below the vector cache."""
    from archex.engine import tables as t

    rows = device.tables.levels[1:]
    size = rows[:, t.LEVEL_INSTANCES] * rows[:, t.LEVEL_SLICES] * rows[:, t.LEVEL_SETS] * rows[:, t.LEVEL_WAYS] * rows[:, t.LEVEL_LINE]
    return list(zip(size.tolist(), rows[:, t.LEVEL_SECTOR].astype(int).tolist(), strict=True))
