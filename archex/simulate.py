"""The whole path of a launch on a device, on one page. Read this first.

In: an assembled `Device`, a `Launch`, `Options`. Out: the columns of a row (`records.schema`) that a simulation knows.

    program   = PTX -> inner form -> cleaned -> unrolled by the device's rule   (programs, lowering)
    machine   = machine code of the device                                      (lowering)
    held      = workgroups a compute unit holds                                 (describe)
    source    = block executions and addresses of each wave, on demand          (programs)
    work, plan= how much there is to do, how much of it to simulate             (sampling)
    engine    = time passes                                                     (engine, driver)
    outcome   = the planned part run, the rest extrapolated                     (extrapolate)
    columns   = cycles and counters of the whole launch                         (records)
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from archex import sampling
from archex.assembly import Device
from archex.base.errors import UnsupportedError
from archex.base.names import file_hash
from archex.base.once import Once
from archex.base.options import Options
from archex.describe import Occupancy
from archex.describe.clusters import Placing, placing
from archex.describe.occupancy import occupancy, registers_that_fit
from archex.describe.variants import best
from archex.driver import Driver
from archex.engine.run import Engine
from archex.engine.tables import Geometry, ProgramTables
from archex.exact import completed
from archex.extrapolate import advance, flows_through, last_generation, leave
from archex.lowering import WaveProgram, lower, unroll
from archex.lowering.kept import kept, key_of
from archex.programs.arguments import check_extents, cluster_of, cluster_order
from archex.programs.buffers import peers_of
from archex.programs.build import load_function
from archex.programs.ir import Function
from archex.programs.recording.kept import LaunchTraces, content_of
from archex.programs.trace import Traces
from archex.records.outcome import Outcome, columns
from archex.suite.launch import MOST_REGISTERS, Launch


def simulate(device: Device, launch: Launch, options: Options) -> dict[str, Any]:
    """Run a launch, or the best of its variants, and return its columns.

    Raises UnsupportedError (the device cannot hold or run it), ProgramError (program, launch or memory is wrong).
    """
    return best(device.spec, launch, lambda program: back_to_back(device, program, options))


def back_to_back(device: Device, launch: Launch, options: Options) -> dict[str, Any]:
    """The columns of one program, or of a sequence of them one after another.

    Where it is run again, a first turn is run as well, for what it leaves in caches: lines that are found again, and dirty ones that must
    leave. All later turns are like the second.
    """
    again = launch.caches == "warm" or options.repeat > 1
    caches = None
    for _ in range(2 if again else 1):
        outcomes: list[Outcome] = []
        for step in launch.steps:
            caches, outcome = run(device, step, options, caches, again)
            outcomes.append(outcome)
        if all(flows_through(device, outcome) for outcome in outcomes):
            break  # as if nothing had run before
    return columns(device, outcomes, launch.flops, options.repeat)


def run(device: Device, launch: Launch, options: Options, caches: Any = None, again: bool = False) -> tuple[Any, Outcome]:
    """One launch: (the caches it leaves, its outcome). `again`: its program has run just before."""
    began = time.perf_counter()
    program, machine = prepare(device, launch)
    device = device.at_matrix_clock() if machine.uses_matrix else device
    held, placed = hold(device, launch, program, machine)
    order, size = placed.order, placed.size
    contexts = placed.slots * held.waves_per_workgroup
    traces = LaunchTraces(program, launch, device.wave_width, options.seed, _trace_key(device, launch, options))
    source = traces.source(contexts)
    compiled = time.perf_counter()

    sizes = machine.block_work  # of clusters: work is counted, and sampled, by whole ones

    def executed(some: np.ndarray) -> np.ndarray:
        blocks = source.count(order[some].ravel())[0].reshape(len(some), size, -1).sum(1)
        return np.hstack([blocks @ sizes, blocks])

    work = sampling.count(executed, len(order))
    counted = time.perf_counter()
    plan = sampling.plan(work, placed.resident, options.sampling == "off")
    if plan.kind == "whole":
        source = traces.whole(source, contexts)
    outcome = Outcome(launch, machine, held, plan, work, placed.resident, device.clock_hz, assumed=tuple(source.assumed))
    engine = assembled(device, machine, launch, held, len(plan.order) * size, source, caches, size)
    outcome.links_rate = engine.links_rate()
    if again:
        engine.keep_code()
    driver = Driver(engine, source, order[plan.order].ravel(), launch.ptx.name)
    tail = sampling.left_over(work, placed.resident, plan)
    advance(driver, plan, work, outcome, device, tail)

    def alone() -> Engine:
        few = traces.source(size * held.waves_per_workgroup)
        one = assembled(device, machine, launch, held, size, few, None, size)
        Driver(one, few, order[plan.order[len(plan.order) // 2]].ravel(), launch.ptx.name).run()
        return one

    outcome.counters = completed(outcome, device, program, engine, alone)
    if tail:
        source = traces.source(tail * size * held.waves_per_workgroup)
        late = assembled(device, machine, launch, held, tail * size, source, engine.memory, size)
        last = Driver(late, source, order[plan.order[-tail:]].ravel(), launch.ptx.name)
        outcome.cycles += last_generation(last, tail * work.mean, tail / placed.resident * driver.instructions, device)
        outcome.simulated += last.instructions
    if plan.kind != "whole":
        leave(engine, device, outcome)
    outcome.compile_seconds = compiled - began
    outcome.trace_seconds = driver.trace_seconds + counted - compiled
    outcome.simulate_seconds = time.perf_counter() - counted - driver.trace_seconds
    return engine.memory, outcome


def prepare(device: Device, launch: Launch) -> tuple[Function, WaveProgram]:
    """A program as the device's instruction set shapes it, which is what is executed, and its machine code under the launch's budget."""
    able, operations, program = device.abilities, device.instruction_set, _program(device, launch)
    function = kept("program", program, lambda: unroll(load_function(launch.ptx, launch.entry), operations, able))
    most = device.spec["register_file"].most
    room = registers_that_fit(device.spec, launch.block[0] * launch.block[1] * launch.block[2])
    budget = launch.registers(device.spec.slots["instruction_set"].name, min(function.max_registers or MOST_REGISTERS, most, room))
    if budget > most:
        raise UnsupportedError(f"{budget} registers a thread: the device has {most}")
    if launch.register_counts and not isinstance(launch.register_counts, Mapping):
        # A plain number is of the assembler that the program was written for.
        budget = min(int(budget * device.instruction_set.budget_share), most)
    timing = _timing.of(device, lambda: key_of("timing", (device.timings,)))
    kept_as = None if program is None or timing is None else (*program, timing, budget)
    machine = kept("machine", kept_as, lambda: lower(function, operations, device.timings, budget, able))
    return function, machine


#: Hashes of what of a device decides how programs are shaped, and how they are scheduled; of what a launch hands to its program.
_shape: Once[str | None] = Once()
_timing: Once[str | None] = Once()
_content: Once[str] = Once()


def _program(device: Device, launch: Launch) -> tuple[str, ...] | None:
    """All that the program as it is executed depends on; None where that has no hash."""
    shape = _shape.of(device, lambda: key_of("shape", (device.instruction_set, device.abilities)))
    return None if shape is None else (str(launch.ptx), file_hash(launch.ptx), launch.entry, shape)


def _trace_key(device: Device, launch: Launch, options: Options) -> str | None:
    """What the launch's trace is kept under, where traces are kept: nothing of the device's timing is part of it."""
    program = _program(device, launch)
    if not options.keep_traces or program is None:
        return None
    return key_of("trace", (*program, _content.of(launch, lambda: content_of(launch)), device.wave_width, options.seed))


def hold(device: Device, launch: Launch, program: Function, machine: WaveProgram) -> tuple[Occupancy, Placing]:
    """How many workgroups a compute unit holds, and in which order and how many at a time the launch's start."""
    check_extents(program, launch)
    threads = launch.block[0] * launch.block[1] * launch.block[2]
    accumulators = launch.accumulators(device.spec.slots["instruction_set"].name)
    local_bytes = program.local_bytes + launch.dynamic_local_bytes
    held = occupancy(device.spec, threads, machine.registers_per_thread, local_bytes, accumulators)
    cluster = cluster_of(program, launch)
    order = cluster_order(launch.grid, cluster).reshape(-1, math.prod(cluster))
    return held, placing(device.spec, device.tables.unit_group, held.workgroups, order)


def assembled(
    device: Device, machine: WaveProgram, launch: Launch, held: Occupancy, workgroups: int, source: Traces, caches: Any,
    cluster: int = 1, log: int = 0,
) -> Engine:  # fmt: skip
    """The engine for a launch; `log`: room for so many instructions of a wave that is followed."""
    threads = launch.block[0] * launch.block[1] * launch.block[2]
    tables = ProgramTables(
        machine.code, machine.block_start, machine.block_records, machine.tokens, machine.code_bytes, machine.private_bytes
    )
    geometry = Geometry(workgroups, held.waves_per_workgroup, held.workgroups, threads, cluster)
    there = device.tables_for(held, launch.devices, peers_of(launch.buffers))
    return Engine(there, device.policies, tables, geometry, source, caches, log)
