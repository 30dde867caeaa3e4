"""A run that stops between two turns: what its waves have waited for by then is counted, as much as they have lived."""

from __future__ import annotations

import numpy as np
import pytest
from archex.base import layout as lay
from archex.engine import tables as tab
from archex.engine.run import Engine
from archex.engine.state import NOW, W_BORN, W_GROUP, W_PREVIOUS
from tests.engine.synthetic import ALU, SPECIAL, Rings, Wave, affine, device, drive, op, policies, program

EXIT = [op(lay.EXIT, pipe=-1)]
BODIES = {
    "a chain": [op(dst=0, src=(0,))] * 40,
    "one pipe": [op(pipe=SPECIAL, interval=8, dst=k % 8) for k in range(40)],
    "a barrier": [op(pipe=ALU, dst=0), op(lay.BARRIER, pipe=-1)] * 20,
    "loads": [row for k in range(20) for row in (op(lay.LOAD, pipe=-1, dst=0, record=k), op(dst=1, src=(0,)))],
}


@pytest.mark.parametrize("stop", [1, 7, 50, 111, 300])
@pytest.mark.parametrize("body", BODIES)
def test_stalls_and_issues_add_up_at_any_moment(body: str, stop: int) -> None:
    def make(workgroup: int, wave: int) -> Wave:
        records = [affine(1 << 30)] * 20 if body == "loads" else []
        return [(0, 32), (1, 32)], records, []

    tables, code = device(units=2, schedulers=2), program(BODIES[body], EXIT)
    rings = Rings(make, 4, 12, 32, 64)
    rings.records_of = code.block_records
    engine = Engine(tables, policies(tables), code, tab.Geometry(6, 4, 2, 128), rings)
    assert drive(engine, rings, 6, stop) == tab.WINDOW
    counters = engine.counters()
    now, waves = int(engine.state.scalars[NOW]), engine.state.waves
    alive = (waves[:, W_GROUP] >= 0) & (waves[:, W_PREVIOUS] < now)
    lived = counters["resident_wave_cycles"] + int(np.maximum(now - waves[alive, W_BORN], 0).sum())
    assert sum(value for name, value in counters.items() if name.startswith("stall_")) == lived
    assert counters["unit_active_cycles"] <= 2 * now
    assert counters["scheduler_active_cycles"] <= 4 * now
