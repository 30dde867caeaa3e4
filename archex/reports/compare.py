"""Designs against a baseline: who wins, by how much, and what moved.

In: designs (`reports.designs`) and which is the baseline. Out: tables. Times are compared, not cycles, as clocks differ. A stall
column times the wave-instructions is the wave-time spent in that state; a change of it is given in percent of the baseline's whole
wave-time, so that the reasons of a launch add up to the change of its wave-time.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log
from typing import Any

from rich.table import Table

from archex.base.errors import Problem, RequestError, closest
from archex.records.schema import STALLS
from archex.reports.designs import Design
from archex.reports.text import NOTHING, name, ratio, signed, table, time

Row = dict[str, Any]
#: Columns of traffic and what a relative change of them is called.
TRAFFIC = {
    "wave_instructions": "instructions",
    "l2_read_sectors": "L2 reads",
    "l2_write_sectors": "L2 writes",
    "dram_read_bytes": "DRAM reads",
    "dram_write_bytes": "DRAM writes",
    "local_memory_wavefronts": "local-memory passes",
    "private_load_requests": "private loads",
}
#: Columns in percent, compared by difference.
SHARES = {
    "vector_cache_hit_pct": "vector-cache hits",
    "l2_hit_pct": "L2 hits",
    "memory_side_cache_hit_pct": "memory-side hits",
    "occupancy_pct": "occupancy",
}
NOTABLE_SHARE = 2.0
NOTABLE_TRAFFIC = 5.0


def pick_baseline(designs: Sequence[Design], wanted: str | None) -> Design:
    """The design that `baseline=` names (a device, a label, overrides, a fingerprint or its beginning); the first without it."""
    if wanted is None:
        return designs[0]
    found = [d for d in designs if wanted in d.names]
    if not found and len(wanted) >= 6:
        found = [d for d in designs if any(name.startswith(wanted) for name in d.names)]
    if not found:
        labels = [design.label for design in designs]
        raise RequestError([Problem("baseline", wanted, "names no design of these runs", labels, closest(wanted, labels))])
    return found[0]


def shared(design: Design, baseline: Design) -> list[tuple[Row, Row]]:
    """(row of the baseline, row of the design) of each launch that is ok on both."""
    pairs = [(row, design.rows.get(launch)) for launch, row in baseline.rows.items()]
    return [(old, new) for old, new in pairs if new is not None and _timed(old) and _timed(new)]


def _timed(row: Row) -> bool:
    return row["status"] == "ok" and bool(row["time_ns"])


def speed_up(old: Row, new: Row) -> float:
    """How many times faster `new` is."""
    return float(old["time_ns"] / new["time_ns"])


def geometric_mean(values: Sequence[float]) -> float | None:
    """None for no values."""
    return exp(sum(map(log, values)) / len(values)) if values else None


def standings(designs: Sequence[Design], baseline: Design) -> Table:
    """One line a design: geometric mean of its speed-ups, how often it wins, its best and worst launch."""
    lines = []
    for design in designs:
        pairs = shared(design, baseline)
        ranked = sorted((speed_up(old, new), new["launch"]) for old, new in pairs)
        faster = sum(value > 1.01 for value, _ in ranked)
        slower = sum(value < 0.99 for value, _ in ranked)
        ends = [f"{ratio(value)} {launch}" for value, launch in (ranked[-1], ranked[0])] if ranked else [NOTHING, NOTHING]
        if design is baseline:
            lines.append([f"{design.label} (baseline)", "1x", NOTHING, NOTHING, NOTHING, NOTHING, str(len(pairs))])
            continue
        mean = geometric_mean([value for value, _ in ranked])
        lines.append([design.label, ratio(mean), str(faster), str(slower), *ends, str(len(pairs))])
    columns = ["design", "speed-up", "faster", "slower", "best<", "worst<", "launches"]
    return table("Speed-up over the baseline (geometric mean; faster and slower beyond 1 %)", columns, lines)


def per_launch(designs: Sequence[Design], baseline: Design) -> Table:
    """One line a launch: the baseline's time, and each other design's time and speed-up."""
    others = [design for design in designs if design is not baseline]
    lines = []
    for launch, old in baseline.rows.items():
        cells = [time(old["time_ns"]) if _timed(old) else old["status"]]
        for design in others:
            new = design.rows.get(launch)
            if new is None or not _timed(new):
                cells.append(NOTHING if new is None else new["status"])
            else:
                cells.append(f"{time(new['time_ns'])}  {ratio(speed_up(old, new)) if _timed(old) else NOTHING}")
        lines.append([launch, *cells])
    return table("Time by launch", ["launch", baseline.label, *(design.label for design in others)], lines)


def what_moved(design: Design, baseline: Design, most: int = 12) -> Table | None:
    """The launches whose time changed most, and which stalls and traffic changed with it; None if none changed."""
    pairs = sorted(shared(design, baseline), key=lambda pair: -abs(log(speed_up(*pair))))
    lines = []
    for old, new in pairs[:most]:
        value = speed_up(old, new)
        if abs(value - 1) < 0.01:
            continue
        limiter = name(old["limiter"])
        if new["limiter"] != old["limiter"]:
            limiter += f" -> {name(new['limiter'])}"
        moved = [", ".join(stalls_moved(old, new)) or NOTHING, ", ".join(traffic_moved(old, new)) or NOTHING]
        lines.append([old["launch"], ratio(value), limiter, *moved])
    if not lines:
        return None
    columns = ["launch", "speed-up", "limiter<", "wave-time, in % of the baseline's<", "traffic<"]
    return table(f"What moved: {design.label} against {baseline.label}", columns, lines)


def wave_times(row: Row) -> dict[str, float]:
    """Wave-time by state, in waves times issues; `issue` is the instructions themselves."""
    issued = row["wave_instructions"] or 0.0
    found = {column.removeprefix("stall_"): (row[column] or 0.0) * issued for column in STALLS}
    return found | {"issue": issued}


def stalls_moved(old: Row, new: Row, most: int = 3) -> list[str]:
    """The states whose wave-time changed most, as `memory -12.3 %`."""
    before, after = wave_times(old), wave_times(new)
    whole = sum(before.values())
    if not whole:
        return []
    changes = {state: 100 * (after[state] - before[state]) / whole for state in before}
    ranked = sorted(changes, key=lambda state: -abs(changes[state]))
    return [f"{name(state)} {signed(changes[state])}" for state in ranked[:most] if abs(changes[state]) >= NOTABLE_SHARE]


def traffic_moved(old: Row, new: Row, most: int = 4) -> list[str]:
    """The counters that changed most, as `DRAM reads +12 %` or `L2 hits 40 -> 62 %`."""
    found: list[tuple[float, str]] = []
    for column, what in TRAFFIC.items():
        if old[column] is None or new[column] is None or old[column] == new[column]:
            continue
        if not old[column]:
            found.append((float("inf"), f"{what} from none"))
            continue
        change = 100 * (new[column] / old[column] - 1)
        if abs(change) >= NOTABLE_TRAFFIC:
            found.append((abs(change), f"{what} {signed(change, 0)}"))
    for column, what in SHARES.items():
        if old[column] is not None and new[column] is not None and abs(new[column] - old[column]) >= NOTABLE_SHARE:
            found.append((abs(new[column] - old[column]), f"{what} {old[column]:.0f} -> {new[column]:.0f} %"))
    return [text for _, text in sorted(found, key=lambda item: -item[0])[:most]]
