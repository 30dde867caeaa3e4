"""What a launch's error points at, in a phrase.

In: a row and what was measured of its launch. Out: `blame`, such as "vector cache hits 69 %, measured 89 %; waits for memory: 12.1
waves, measured 8.0". It is one rule for all launches:

1. Every counter that differs by more than is close gets an estimate of what the difference does to the time, in percent: work counts in
   full; traffic by the share of its channel that is busy; misses by the share of the waiting that is for memory; passes of local
   memory by the share that waits for it; fewer resident waves by the share that waits for memory, the other way round; cycles of a busy
   matrix unit as they are. The largest one that has the error's sign and is at least a third of it is named: what is wrong before time
   passes.
2. Waves that wait, times instructions, are wave-cycles by reason. The reason whose wave-cycles differ most in the error's direction is
   named, unless it is under a tenth of the error: where the time differs.
3. Neither: the difference is at the launch's beginning and end, where no wave issues.
"""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from archex.reports.reference import COUNTERS, Measured, Reference
from archex.reports.text import count, limiter_name
from archex.reports.validate.counters import CLOSE, difference, pair
from archex.reports.validate.errors import Error, Row
from archex.reports.validate.explained import measured_waits

#: The part of an error that a cause must come to, and a wait.
_CAUSE, _WAIT = 1 / 3, 1 / 10
#: A difference in misses counts as twice as many at most: none measured would make any infinite.
_MOST = 100.0
#: Reason -> how it is said.
PHRASES = {
    "stall_memory": "waits for memory",
    "stall_local_memory": "waits for local memory",
    "stall_dependency": "waits for results",
    "stall_execution_unit": "waits for a busy unit",
    "stall_memory_queue": "waits for room in the memory pipe",
    "stall_barrier": "waits at barriers",
    "stall_fetch": "waits for code",
    "stall_dispatch": "waits for register ports",
    "stall_drain": "waits for stores at the end",
    "stall_fence": "waits at fences",
    "stall_matrix": "waits for matrix products",
}
_HITS = {"vector_cache_hit_pct": "vector cache hits", "l2_hit_pct": "L2 hits"}
#: What is work: column -> (what it is, counter whose share of the time it counts by).
_WORK = {"wave_instructions": "wave instructions", "matrix_instructions": "matrix instructions"}


@attrs.frozen
class Evidence:
    """A difference: `effect` on the time in percent of the measured, and how to say it."""

    effect: float
    phrase: str


def blame(row: Row, measured: Measured, reference: Reference) -> str:
    """The phrase."""
    if reference.timed:
        return f"only times were measured; the model is limited by {limiter_name(row['limiter'])}"
    target = reference.target(measured)
    error = Error(row["launch"], measured.family, target, reference.modelled(measured, row["cycles"], row["time_ns"])).signed
    causes = [found for found in _causes(row, measured, reference, target) if found.effect * error > 0]
    waits = [found for found in _waiting(row, measured, reference) if found.effect * error > 0]
    named = [_largest(causes, _CAUSE * abs(error)), _largest(waits, _WAIT * abs(error))]
    return "; ".join(found.phrase for found in named if found) or "neither counters nor waits: the launch's beginning and end"


def _largest(found: list[Evidence], least: float) -> Evidence | None:
    best = max(found, key=lambda one: abs(one.effect), default=None)
    return best if best and abs(best.effect) >= least else None


def _causes(row: Row, measured: Measured, reference: Reference, target: float) -> Iterator[Evidence]:
    """Differences of counters that come before time."""
    share = _shares(measured, reference)

    def both(column: str) -> tuple[float, float] | None:
        """The counter where it differs by more than is close."""
        found = pair(row, measured, reference, column)
        how = COUNTERS[column][1]
        return found if found and difference(*found, how) > CLOSE[how] else None

    for column, what in _WORK.items():
        if found := both(column):
            weight = measured.values.get("tensor_active_pct", 100.0) / 100 if column == "matrix_instructions" else 1.0
            yield Evidence(weight * _relative(*found), f"{what} {count(found[0])}, measured {count(found[1])}")
    read, written = (pair(row, measured, reference, f"dram_{way}_bytes") or (0.0, 0.0) for way in ("read", "write"))
    new, old = read[0] + written[0], read[1] + written[1]
    if old and abs(_relative(new, old)) > CLOSE["relative"]:
        busy = max(measured.values.get("dram_busy_pct", 0.0), row["bandwidth_pct"] or 0.0) / 100
        yield Evidence(busy * _relative(new, old), f"{count(new)}B from and to memory, measured {count(old)}B")
    for column, what in _HITS.items():
        if (found := both(column)) and found[1] <= 100:  # above: the hardware counts hits of writes too
            effect = share["memory"] * min(_relative(100 - found[0], 100 - found[1]), _MOST)
            yield Evidence(effect, f"{what} {found[0]:.0f} %, measured {found[1]:.0f} %")
    if found := both("local_memory_wavefronts"):
        effect = share["local_memory"] * _relative(*found)
        yield Evidence(effect, f"passes of local memory {count(found[0])}, measured {count(found[1])}")
    if found := both("occupancy_pct"):
        yield Evidence(-share["memory"] * _relative(*found), f"occupancy {found[0]:.0f} %, measured {found[1]:.0f} %")
    if (found := pair(row, measured, reference, "matrix_active_pct")) and row["matrix_instructions"]:
        cycles = found[0] * row["cycles"] / 100, found[1] * target / 100
        if abs(_relative(*cycles)) > CLOSE["relative"]:
            effect = 100 * (cycles[0] - cycles[1]) / target
            yield Evidence(effect, f"matrix unit busy {count(cycles[0])} cycles, measured {count(cycles[1])}")


def _waiting(row: Row, measured: Measured, reference: Reference) -> Iterator[Evidence]:
    """Differences of wave-cycles by reason, in percent of all that were measured."""
    waits = measured_waits(measured, reference)
    instructions = reference.counter(measured, "wave_instructions")
    if not waits or not instructions or not row["wave_instructions"]:
        return
    whole = instructions * (1 + sum(waits.values()) + (reference.counter(measured, "stall_not_selected") or 0.0))
    for column, old in waits.items():
        new = row[column] or 0.0
        effect = 100 * (new * row["wave_instructions"] - old * instructions) / whole
        yield Evidence(effect, f"{PHRASES[column]}: {new:.3g} waves, measured {old:.3g}")


def _shares(measured: Measured, reference: Reference) -> dict[str, float]:
    """Of the waiting, what is for memory and what for local memory; a full memory pipe counts as both."""
    waits = measured_waits(measured, reference)
    whole = sum(waits.values()) or 1.0
    queue = waits.get("stall_memory_queue", 0.0)
    return {name: (waits.get(f"stall_{name}", 0.0) + queue) / whole for name in ("memory", "local_memory")}


def _relative(new: float, old: float) -> float:
    """In percent."""
    return 100 * (new - old) / old if old else _MOST if new else 0.0
