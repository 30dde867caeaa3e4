"""Findings as tables of text, the same for every rendering.

In: findings. Out: `Section`s: a title, columns (a trailing `<` aligns one left), rows, a note.
"""

from __future__ import annotations

import attrs

from archex.reports.compare import explained
from archex.reports.compare.findings import Findings
from archex.reports.compare.names import bound, listed, mark, short_names
from archex.reports.compare.sensitivity import ALL, Sensitivity
from archex.reports.compare.standings import MARGIN, Standing
from archex.reports.text import NOTHING, ratio, time

#: Designs in one table of times, lines of a table of flips.
_SIDE_BY_SIDE = 5
_FLIPS = 12


@attrs.frozen
class Section:
    """A table; without columns only its note."""

    title: str
    columns: list[str] = attrs.field(factory=list)
    rows: list[list[str]] = attrs.field(factory=list)
    note: str = ""


def sections(found: Findings) -> list[Section]:
    """All of them, in the order they are read."""
    names = short_names(found)
    everything = [_standings(found, names), _missing(found), *_sensitivities(found), *_times(found, names)]
    everything += [_factors(found, names), *_changes(found), _flips(found, names), _winners(found)]
    return [section for section in everything if section is not None]


def _standings(found: Findings, names: dict[int, str]) -> Section:
    by_design = {standing.design: standing for standing in found.standings}
    unsure = any(s.mean is not None and not s.mean.exact for s in by_design.values()) or any(s.within_error for s in by_design.values())
    rows: list[list[str]] = []
    hidden = len(found.standings) - len(found.shown)
    width = 7 + 2 * unsure
    order = [standing.design for standing in found.standings]
    for place, design in enumerate(found.shown):
        if place and (skipped := order.index(design) - order.index(found.shown[place - 1]) - 1):
            rows.append([f"... {skipped:,} more", *[""] * (width - 1)])
        rows.append(_standing(found, by_design[design], names[design], unsure))
    columns = ["design", "speed-up", *(["at least .. at most"] if unsure else []), "faster", "slower"]
    columns += [*(["within error"] if unsure else []), "best<", "worst<", "launches"]
    fewer = sum(0 < s.launches < by_design[found.baseline].launches for s in by_design.values())
    notes = [f"{hidden:,} of {len(order):,} designs {'is' if hidden == 1 else 'are'} not listed; top=N lists more."] if hidden else []
    notes += [f"{fewer:,} {'design has' if fewer == 1 else 'designs have'} fewer launches in common with the baseline."] if fewer else []
    if unsure:
        notes.append("A difference that the rows' error bounds could make up counts as neither faster nor slower: within error.")
    title = f"Speed-up over {found.label(found.baseline)} (geometric mean; faster and slower beyond {MARGIN:.0%})"
    return Section(title, columns, rows, " ".join(notes))


def _standing(found: Findings, standing: Standing, name: str, unsure: bool) -> list[str]:
    label = found.label(standing.design)
    label = label if name == label else f"{name}  {label}"
    blank = [NOTHING] * (4 + 2 * unsure)
    if standing.design == found.baseline:
        return [f"{label} (baseline)", "1x", *blank, str(standing.launches)]
    if standing.mean is None:
        return [label, NOTHING, *blank, "0"]
    ends = [f"{ratio(end[1])} {found.grid.launches[end[0]]}" if end else NOTHING for end in (standing.best, standing.worst)]
    cells = [f"{ratio(standing.mean.value)}{mark(standing.mean)}", *([bound(standing.mean)] if unsure else [])]
    cells += [str(standing.faster), str(standing.slower), *([str(standing.within_error)] if unsure else [])]
    return [label, *cells, *ends, str(standing.launches)]


def _missing(found: Findings) -> Section | None:
    rows = [
        [found.grid.launches[m.launch], m.status, f"{len(m.designs):,}", listed([found.label(design) for design in m.designs])]
        for m in found.missing
    ]
    return Section("Launches that some designs have no time of", ["launch", "status<", "designs", "which<"], rows) if rows else None


def _sensitivities(found: Findings) -> list[Section]:
    return [_sensitivity(one) for one in found.sensitivities]


def _sensitivity(one: Sensitivity) -> Section:
    single = len(one.columns) == 1
    most = max((value for row in one.speed_ups for value in row if value), default=1.0)
    columns = ["speed-up" if single and one.columns[0] == ALL else column for column in one.columns]
    rows = []
    for value, cells in zip(one.rows, one.speed_ups, strict=True):
        bar = ["█" * round(24 * cells[0] / most)] if single and cells[0] else [""] * single
        rows.append([value.text, *map(ratio, cells), *bar])
    title = f"Speed-up over {one.parameter}" + (f" (down) and {one.beside} (across)" if one.beside else "")
    return Section(title, [one.parameter, *columns, *(["<"] if single else [])], rows)


def _times(found: Findings, names: dict[int, str]) -> list[Section]:
    """A line a launch: the baseline's time, each explained design's time and speed-up; a table for every few designs."""
    designs = [one.design for one in found.explained]
    groups = [designs[first : first + _SIDE_BY_SIDE] for first in range(0, len(designs), _SIDE_BY_SIDE)]
    grid, baseline = found.grid, found.baseline
    result = []
    for group in groups:
        rows = []
        for launch, name in enumerate(grid.launches):
            best = explained.unbeaten(grid, [baseline, *designs], launch)
            old = grid.time_ns[baseline, launch]
            cells = [f"{time(old)}{_star(baseline, best)}" if old == old else grid.said(baseline, launch)]
            for design in group:
                new, over = grid.time_ns[design, launch], found.speed_ups.at(design, launch)
                value = NOTHING if over is None else f"{ratio(over.value)}{mark(over)}"
                cells.append(f"{time(new)}  {value}{_star(design, best)}" if new == new else grid.said(design, launch))
            rows.append([name, *cells])
        columns = ["launch", f"{names[baseline]} (baseline)", *(names[design] for design in group)]
        result.append(Section("Time by launch (* no other of these is faster; ~ within error)", columns, rows))
    return result


def _star(design: int, best: set[int]) -> str:
    return " *" if design in best else "  "


def _factors(found: Findings, names: dict[int, str]) -> Section | None:
    rows = explained.factor_rows(found)
    if not rows:
        return None
    columns = ["mechanism", *(names[one.design] for one in found.explained)]
    return Section("What explains the mean: speed-up by mechanism; a column's product is its mean", columns, rows)


def _changes(found: Findings) -> list[Section]:
    sections = []
    for one in found.explained:
        if rows := explained.change_rows(found, one):
            columns = ["launch", "speed-up", "time", "made up of<", "limiter<", "traffic<"]
            title = f"What moved: {found.label(one.design)} against {found.label(found.baseline)}"
            sections.append(Section(title, columns, rows))
    return sections


def _flips(found: Findings, names: dict[int, str]) -> Section | None:
    rows = [
        [found.grid.launches[f.launch], names[f.second], ratio(f.here.value), names[f.first], ratio(f.overall.value)]
        for f in found.flips[:_FLIPS]
    ]
    more = len(found.flips) - len(rows)
    note = f"{more:,} more are not listed." if more else ""
    columns = ["launch", "faster here<", "by", "faster overall<", "by "]
    return Section("Launches that flip the order", columns, rows, note) if rows else None


def _winners(found: Findings) -> Section | None:
    overall = found.label(found.standings[0].design)
    rows = [[found.grid.launches[w.launch], found.label(w.design), ratio(w.lead.value)] for w in found.winners[:_FLIPS]]
    more = len(found.winners) - len(rows)
    columns = ["launch", "fastest<", "ahead by"]
    note = f"{more:,} more are not listed." if more else ""
    return Section(f"Launches that {overall}, the fastest overall, does not win", columns, rows, note) if rows else None
