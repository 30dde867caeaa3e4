"""The comparison as one HTML file that asks for nothing: styles, scripts and numbers are in it.

In: findings and their sections. Out: the text of the page. Its tables are the printed ones; beside them stand the numbers of every row,
from which the page compares anew when another baseline is chosen (assets/model.js does what `standings` and `mechanisms` do; a test holds
the two together). Numbers travel as 32-bit floats, column by column, deflated.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from archex.records.schema import BY_NAME, STALLS
from archex.reports.compare.findings import Findings, ends
from archex.reports.compare.grid import Grid
from archex.reports.compare.mechanisms import MECHANISMS, STATES
from archex.reports.compare.names import mechanism
from archex.reports.compare.sections import Section
from archex.reports.compare.standings import LARGEST_BOUND, MARGIN
from archex.reports.compare.traffic import COUNTS, SHARES
from archex.reports.page import page
from archex.reports.text import limiter_name

#: Rows whose numbers are in the page (some 60 bytes each); of more designs those of both ends are.
MOST_ROWS = 200_000
_ASSETS = Path(__file__).with_name("assets")
_TIMES = ("time_ns", "error_bound", "cycles", "launch_drain_cycles", "clock_hz", "wave_instructions", "lane_instructions")
#: What the page knows of a row, in the order it travels.
NUMBERS = tuple(dict.fromkeys((*_TIMES, *STALLS, *COUNTS, *SHARES)))


def html(found: Findings, sections: Sequence[Section], title: str) -> str:
    """The page."""
    kept = _kept(found)
    data = _data(found, kept)
    texts = {"printed": "\n".join(_printed(section) for section in sections)}
    return page(_ASSETS, "compare", title, _facts(found, kept, len(data["numbers"])), data, texts, ("model.js", "draw.js", "page.js"))


def _kept(found: Findings) -> list[int]:
    """The designs in the page, in their order."""
    order = [standing.design for standing in found.standings]
    some = ends(order, max(MOST_ROWS // max(len(found.grid.launches), 1) // 2, 1))
    return sorted({*some, found.baseline, *found.shown})


def _facts(found: Findings, kept: Sequence[int], size: int) -> str:
    designs, launches = len(found.grid.designs), len(found.grid.launches)
    whole = f"{designs:,} designs, {launches:,} {'launch' if launches == 1 else 'launches'}"
    part = "" if len(kept) == designs else f"; the numbers of {len(kept):,} designs are in this page, the fastest and the slowest"
    return f"{whole}{part}; {size_text(size)} of numbers"


def size_text(size: int) -> str:
    """Bytes of a file."""
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{size / 1e3:.0f} kB"


def _data(found: Findings, kept: Sequence[int]) -> dict[str, Any]:
    grid = found.grid
    limiters = sorted({name for name in grid.frame["limiter"].to_list() if name})
    place = {design: number for number, design in enumerate(kept)}
    return {
        "launches": grid.launches,
        "designs": [grid.designs[design].label for design in kept],
        "devices": [grid.designs[design].device for design in kept],
        "baseline": place[found.baseline],
        "margin": MARGIN,
        "largestBound": LARGEST_BOUND,
        "states": STATES,
        "mechanisms": {name: mechanism(name) for name in MECHANISMS},
        "columns": [*NUMBERS, "limiter"],
        "counts": {name: [what, BY_NAME[name].unit] for name, what in COUNTS.items()},
        "shares": SHARES,
        "limiters": [limiter_name(name) for name in limiters],
        "statuses": [[grid.said(design, launch) for launch in range(len(grid.launches))] for design in kept if _fails(grid, design)],
        "failing": [place[design] for design in kept if _fails(grid, design)],
        "swept": [
            {
                "parameter": one.parameter,
                "beside": one.beside,
                "rows": [value.text for value in one.rows],
                "columns": one.columns,
                "cells": [one.cells[design] for design in kept],
            }
            for one in found.sensitivities
        ],
        "numbers": _packed(grid, kept, limiters),
    }


def _fails(grid: Grid, design: int) -> bool:
    return bool(np.isnan(grid.time_ns[design]).any())


def _packed(grid: Grid, kept: Sequence[int], limiters: Sequence[str]) -> str:
    """NUMBERS and the limiter of each design and launch; nan where there is none, or where the row is not ok."""
    import polars as pl

    at = grid.at[list(kept)]
    known = ~np.isnan(grid.time_ns[list(kept)])
    code = pl.col("limiter").replace_strict(
        {name: float(place) for place, name in enumerate(limiters)}, default=None, return_dtype=pl.Float64
    )
    frame = grid.frame.select(*NUMBERS, code)
    arrays = []
    for name in frame.columns:
        column = frame[name].cast(pl.Float64).fill_null(float("nan")).to_numpy()
        arrays.append(np.where(known, column[at], np.nan).astype("<f4"))
    return base64.b64encode(zlib.compress(np.stack(arrays).tobytes(), 6)).decode()


def _printed(section: Section) -> str:
    """A section as the terminal has it."""
    left = [not place or column.endswith("<") for place, column in enumerate(section.columns)]
    cells = [[escape(cell.strip()) for cell in row] for row in [[c.removesuffix("<") for c in section.columns], *section.rows]]
    lines = ["".join(f"<{tag}{'' if side else ' class=n'}>{cell}</{tag}>" for cell, side in zip(row, left, strict=True)) for tag, row in
             (("th" if not number else "td", row) for number, row in enumerate(cells))]  # fmt: skip
    table = f"<table><thead><tr>{lines[0]}</tr></thead><tbody>{''.join(f'<tr>{line}</tr>' for line in lines[1:])}</tbody></table>"
    note = f"<p class=note>{escape(section.note)}</p>" if section.note else ""
    return f"<h3>{escape(section.title)}</h3><div class=wide>{table}</div>{note}"
