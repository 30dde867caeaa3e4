"""Designs against a baseline: who wins, by how much, and what moved.

In: designs (`reports.designs`) and which is the baseline. Out: tables. Times are compared, not cycles, as clocks differ. A stall
column times the wave-instructions is the wave-time spent in that state; a change of it is given in percent of the baseline's whole
wave-time, so that the reasons of a launch add up to the change of its wave-time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp, log
from typing import Any

from rich.table import Table

from archex.base.errors import Problem, RequestError, closest
from archex.records.schema import STALLS
from archex.reports.designs import Design
from archex.reports.text import NOTHING, limiter_name, name, ratio, signed, table, time

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
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#: Designs in one table of times.
_SIDE_BY_SIDE = 5
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


def short_names(designs: Sequence[Design], room: int = 80) -> dict[str, str]:
    """label -> what heads its column: the label where all of them fit side by side, else a letter that `standings` explains."""
    labels = [design.label for design in designs]
    if sum(map(len, labels)) <= room or len(labels) > len(_LETTERS):
        return {label: label for label in labels}
    return dict(zip(labels, _LETTERS, strict=False))


def standings(designs: Sequence[Design], baseline: Design) -> Table:
    """One line a design: geometric mean of its speed-ups, how often it wins, its best and worst launch."""
    names = short_names(designs)
    lettered = any(label != name for label, name in names.items())
    lines = []
    for design in designs:
        pairs = shared(design, baseline)
        ranked = sorted((speed_up(old, new), new["launch"]) for old, new in pairs)
        faster = sum(value > 1.01 for value, _ in ranked)
        slower = sum(value < 0.99 for value, _ in ranked)
        ends = [f"{ratio(value)} {launch}" for value, launch in (ranked[-1], ranked[0])] if ranked else [NOTHING, NOTHING]
        label = f"{names[design.label]}  {design.label}" if lettered else design.label
        if design is baseline:
            lines.append([f"{label} (baseline)", "1x", NOTHING, NOTHING, NOTHING, NOTHING, str(len(pairs))])
            continue
        mean = geometric_mean([value for value, _ in ranked])
        lines.append([label, ratio(mean), str(faster), str(slower), *ends, str(len(pairs))])
    columns = ["design", "speed-up", "faster", "slower", "best<", "worst<", "launches"]
    return table("Speed-up over the baseline (geometric mean; faster and slower beyond 1 %)", columns, lines)


def per_launch(designs: Sequence[Design], baseline: Design) -> list[Table]:
    """One line a launch: the baseline's time, each other design's time and speed-up, `*` at the fastest; a table for every few designs."""
    names = short_names(designs)
    others = [design for design in designs if design is not baseline]
    return [_times(others[first : first + _SIDE_BY_SIDE], baseline, names, designs) for first in range(0, len(others), _SIDE_BY_SIDE)]


def _times(others: Sequence[Design], baseline: Design, names: Mapping[str, str], designs: Sequence[Design]) -> Table:
    lines = []
    for launch, old in baseline.rows.items():
        best = fastest(launch, designs)
        cells = [time(old["time_ns"]) + _star(baseline, best) if _timed(old) else old["status"]]
        for design in others:
            new = design.rows.get(launch)
            if new is None or not _timed(new):
                cells.append(NOTHING if new is None else new["status"])
            else:
                cells.append(f"{time(new['time_ns'])}  {ratio(speed_up(old, new)) if _timed(old) else NOTHING}{_star(design, best)}")
        lines.append([launch, *cells])
    columns = ["launch", names[baseline.label], *(names[design.label] for design in others)]
    return table("Time by launch (* the fastest, by more than 1 %)", columns, lines)


def fastest(launch: str, designs: Sequence[Design]) -> Design | None:
    """The design that is faster at this launch than every other by more than 1 %."""
    times = sorted((row["time_ns"], place) for place, d in enumerate(designs) if (row := d.rows.get(launch)) is not None and _timed(row))
    if len(times) < 2 or times[1][0] <= 1.01 * times[0][0]:
        return None
    return designs[times[0][1]]


def _star(design: Design, best: Design | None) -> str:
    return " *" if design is best else "  "


def what_moved(design: Design, baseline: Design, most: int = 12) -> Table | None:
    """The launches whose time changed most, and which stalls and traffic changed with it; None if none changed."""
    pairs = sorted(shared(design, baseline), key=lambda pair: -abs(log(speed_up(*pair))))
    lines = []
    for old, new in pairs[:most]:
        value = speed_up(old, new)
        if abs(value - 1) < 0.01:
            continue
        moved = [", ".join(stalls_moved(old, new)) or NOTHING, ", ".join(traffic_moved(old, new)) or NOTHING]
        limiter = limiter_name(old["limiter"])
        if new["limiter"] != old["limiter"]:
            limiter += f" -> {limiter_name(new['limiter'])}"
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


def traffic_moved(old: Row, new: Row, most: int = 3) -> list[str]:
    """The counters that changed most, as `DRAM reads +12 %` or `L2 hits 40 -> 62 %`."""
    found: list[tuple[float, str]] = []
    for column, what in TRAFFIC.items():
        if column.endswith("_sectors") and old["device"] != new["device"]:  # a sector is not the same size everywhere
            continue
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
