"""One wave of a launch, followed through the engine.

In: an assembled `Device`, a `Launch` (of variants the best is followed), `Options`, the wave's number. Out: a `WaveEvent` an instruction.
The whole device runs beside it, cold or warm as the launch says; the run ends when the wave's workgroup has.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from archex.assembly import Device
from archex.base import layout
from archex.base.errors import Problem, RequestError
from archex.base.options import Options
from archex.describe.occupancy import occupancy
from archex.describe.variants import fastest
from archex.driver import Driver
from archex.engine import state, tables
from archex.lowering import WaveProgram
from archex.programs.trace import TraceSource
from archex.records.events import WaveEvent
from archex.simulate import AHEAD, assembled, back_to_back, prepare, run
from archex.suite.launch import Launch

#: Instructions of one wave that are kept.
MOST = 1 << 20
#: Wave-instructions of the device between two looks at the wave.
STEP = 50_000


def trace(device: Device, launch: Launch, options: Options, wave: int) -> list[WaveEvent]:
    """The events of wave number `wave`, counted over the launch's workgroups in their order and, in a sequence, over its steps.

    Raises what `simulate` raises, and RequestError if there is no such wave.
    """
    launch = fastest(device.spec, launch, lambda program: back_to_back(device, program, options))
    caches, left = None, wave
    for step in launch.steps:
        waves = -(-int(np.prod(step.block)) // device.wave_width)
        total = waves * int(np.prod(step.grid))
        if left < total or not total:  # an empty grid is for the source of traces to name
            if launch.caches == "warm":
                caches, _ = run(device, step, options, caches)
            return _follow(device, step, options, caches, divmod(left, waves))
        caches, _ = run(device, step, options, caches)
        left -= total
    raise RequestError([Problem("wave", wave, f"must be below {wave - left}, the number of waves of this launch on this device")])


def _follow(device: Device, launch: Launch, options: Options, caches: Any, place: tuple[int, int]) -> list[WaveEvent]:
    """Run the launch until this wave of this workgroup is over."""
    workgroup, wave = place
    program, machine = prepare(device, launch)
    threads = int(np.prod(launch.block))
    accumulators = launch.accumulators(device.spec.slots["instruction_set"].name)
    local_bytes = program.local_bytes + launch.dynamic_local_bytes
    held = occupancy(device.spec, threads, machine.registers_per_thread, local_bytes, accumulators)
    order = np.arange(int(np.prod(launch.grid)), dtype=np.int64)
    slots = min(held.workgroups * device.spec["compute_unit"].count + AHEAD, len(order))
    source = TraceSource(program, launch, device.wave_width, slots * held.waves_per_workgroup, seed=options.seed)
    room = int(source.count(order[workgroup : workgroup + 1])[0][0] @ machine.block_instructions)
    engine = assembled(device, machine, launch, held, len(order), source, caches, log=min(room, MOST))
    engine.follow(workgroup, wave)
    driver = Driver(engine, source, order, launch.ptx.name)
    while not driver.run(STEP, driver.instructions + STEP):
        if len(engine.log) and not engine.runs(workgroup):
            break
    return [_event(row, machine) for row in engine.log]


def _event(row: np.ndarray, machine: WaveProgram) -> WaveEvent:
    block, pc = int(row[state.LOG_BLOCK]), int(row[state.LOG_PC])
    names = tables.REASON_NAMES[: tables.SELECTED]
    waits = {name: float(spent) for name, spent in zip(names, row[state.LOG_STALLS :], strict=False) if spent}
    return WaveEvent(
        since=float(row[state.LOG_SINCE]),
        issue=float(row[state.LOG_ISSUE]),
        done=float(row[state.LOG_DONE]),
        operation=machine.operations[block][pc - int(machine.block_start[block])],
        reason=max(waits, key=lambda name: waits[name], default=""),
        line=int(machine.code[pc, layout.LINE]),
        block=block,
        lanes=int(row[state.LOG_LANES]),
        waits=waits,
    )
