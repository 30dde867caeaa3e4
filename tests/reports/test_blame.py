"""What an error points at, whether waits are explained, warm times: rows and measurements made by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from archex.records import schema
from archex.reports.reference import COUNTERS, Measured, Reference
from archex.reports.validate import warm
from archex.reports.validate.blame import PHRASES, blame
from archex.reports.validate.explained import WAITS, explained
from archex.reports.validate.tables import overview

#: A launch as measured: 1,000 instructions, mostly waiting for memory.
MEASURED = {
    "cycles": 1000.0,
    "warp_instructions": 1000.0,
    "stall_long_scoreboard": 8.0,
    "stall_wait": 1.0,
    "stall_short_scoreboard": 0.0,
    "stall_not_selected": 0.5,
    "l1_hit_pct": 89.0,
    "l2_hit_pct": 50.0,
    "dram_read_bytes": 1e6,
    "dram_write_bytes": 0.0,
    "dram_busy_pct": 90.0,
    "occupancy_pct": 50.0,
    "tensor_active_pct": 0.0,
    "pipe_tensor": 0.0,
}
#: The same by the model, without a difference.
SAME: dict[str, Any] = {
    "cycles": 1000.0,
    "wave_instructions": 1000.0,
    "stall_memory": 8.0,
    "stall_dependency": 1.0,
    "stall_local_memory": 0.0,
    "stall_not_selected": 0.5,
    "vector_cache_hit_pct": 89.0,
    "l2_hit_pct": 50.0,
    "dram_read_bytes": 1e6,
    "dram_write_bytes": 0.0,
    "occupancy_pct": 50.0,
    "matrix_active_pct": 0.0,
    "matrix_instructions": 0.0,
}


def measured(name: str = "a", noisy: bool = False, **values: float) -> Measured:
    return Measured(name, "family", MEASURED | values, noisy, False)


def reference(*launches: Measured, timed: bool = False) -> Reference:
    return Reference(Path("silicon"), timed, {one.launch: one for one in launches})


def row(name: str = "a", **values: Any) -> dict[str, Any]:
    return schema.row({"launch": name, "device": "d", "status": "ok", "time_ns": 1e3} | SAME | values)


def said(changes: dict[str, Any], **values: float) -> str:
    one = measured(**values)
    return blame(row(**changes), one, reference(one))


@pytest.mark.parametrize(
    ("changes", "phrase"),
    [
        ({"vector_cache_hit_pct": 69.0}, "vector cache hits 69 %, measured 89 %; waits for memory: 12.1 waves, measured 8"),
        ({"dram_read_bytes": 1.5e6}, "1,500,000B from and to memory, measured 1,000,000B; waits for memory: 12.1 waves, measured 8"),
        ({"occupancy_pct": 30.0}, "occupancy 30 %, measured 50 %; waits for memory: 12.1 waves, measured 8"),
        ({}, "waits for memory: 12.1 waves, measured 8"),
        ({"l2_hit_pct": 70.0}, "waits for memory: 12.1 waves, measured 8"),  # more hits do not make it slow
        ({"l2_hit_pct": 52.0}, "waits for memory: 12.1 waves, measured 8"),  # close
    ],
)
def test_a_slow_launch(changes: dict[str, Any], phrase: str) -> None:
    assert said({"cycles": 1400.0, "stall_memory": 12.1} | changes) == phrase


def test_work_counts_in_full() -> None:
    changes = {"cycles": 1300.0, "wave_instructions": 1300.0}
    assert said(changes) == "wave instructions 1,300, measured 1,000; waits for memory: 8 waves, measured 8"


def test_a_fast_launch() -> None:
    assert said({"cycles": 800.0, "stall_dependency": 0.2}, stall_wait=3.0) == "waits for results: 0.2 waves, measured 3"


def test_a_busy_matrix_unit_is_compared_by_cycles() -> None:
    changes = {"cycles": 1400.0, "matrix_active_pct": 50.0, "matrix_instructions": 64.0}
    assert said(changes, tensor_active_pct=50.0, pipe_tensor=64.0) == "matrix unit busy 700 cycles, measured 500"
    same = {"cycles": 2000.0, "matrix_active_pct": 25.0, "matrix_instructions": 64.0, "stall_memory": 16.0}
    assert said(same, tensor_active_pct=50.0, pipe_tensor=64.0) == "waits for memory: 16 waves, measured 8"


def test_where_nothing_differs_it_is_the_ends() -> None:
    assert said({"cycles": 1300.0}) == "neither counters nor waits: the launch's beginning and end"


def test_only_times() -> None:
    one = measured(min_us=9.0)
    assert blame(row(limiter="stall_memory_queue"), one, reference(one, timed=True)) == (
        "only times were measured; the model is limited by memory queue"
    )


def test_every_wait_has_its_words() -> None:
    assert set(PHRASES) == set(WAITS) < set(COUNTERS)


def test_explained_by_one_of_the_two_largest() -> None:
    launches = [measured("first"), measured("second"), measured("third"), measured("other", stall_wait=20.0), measured("noisy", True)]
    rows = [
        row("first"),
        row("second", stall_barrier=90.0),
        row("third", stall_barrier=90.0, stall_dependency=80.0),
        row("other", stall_not_selected=99.0),
        row("noisy"),
        row("unknown"),
    ]
    found = explained(rows, reference(*launches))
    assert (found.found, found.launches, found.found_not_memory, found.launches_not_memory) == (3, 4, 1, 1)
    assert (found.share, found.share_not_memory) == (75, 100)
    assert explained([], reference()).share is None


def test_warm_times_of_launches_that_take_long() -> None:
    several = {"warm_us_all_launches": 90.0, "launches": 3.0}
    launches = [measured("long", warm_us=40.0), measured("short", warm_us=20.0), measured("both", **several), measured("never")]
    found = warm([row(name, time_ns=44e3) for name in ("long", "short", "both", "never")], reference(*launches))
    assert [(error.launch, round(error.signed, 3)) for error in found.errors] == [("long", 10.0), ("both", 46.667)]
    assert found.left_out == {"under 20 us": 1, "not measured": 1}
    assert overview(found).title == "Error of warm time"
