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
from archex.describe.variants import fastest
from archex.driver import Driver
from archex.engine import state, tables
from archex.lowering import WaveProgram
from archex.programs.trace import TraceSource
from archex.records.events import WaveEvent
from archex.simulate import assembled, back_to_back, hold, prepare, run
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
    for step in launch.steps if launch.caches == "warm" else ():
        caches, _ = run(device, step, options, caches)
    for step in launch.steps:
        waves = -(-int(np.prod(step.block)) // device.wave_width)
        total = waves * int(np.prod(step.grid))
        if left < total or not total:  # an empty grid is for the source of traces to name
            return _follow(device, step, options, caches, divmod(left, waves))
        caches, _ = run(device, step, options, caches)
        left -= total
    raise RequestError([Problem("wave", wave, f"must be below {wave - left}, the number of waves of this launch on this device")])


def _follow(device: Device, launch: Launch, options: Options, caches: Any, place: tuple[int, int]) -> list[WaveEvent]:
    """Run the launch until this wave of this workgroup is over."""
    workgroup, wave = place
    program, machine = prepare(device, launch)
    device = device.at_matrix_clock() if machine.uses_matrix else device
    held, placed = hold(device, launch, program, machine)
    order = placed.order
    source = TraceSource(program, launch, device.wave_width, placed.slots * held.waves_per_workgroup, seed=options.seed)
    cluster, rank = (int(place[0]) for place in np.nonzero(order == workgroup))
    room = int(source.count(order[cluster])[0][rank] @ machine.block_instructions)
    engine = assembled(device, machine, launch, held, order.size, source, caches, placed.size, log=min(room, MOST))
    engine.follow(workgroup, wave)
    driver = Driver(engine, source, order.ravel(), launch.ptx.name)
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
