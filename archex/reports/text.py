"""Numbers and tables as a person reads them.

In: values of rows, problems. Out: short texts, and consoles that never cut a line where nobody looks at a terminal.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import IO, Any

from rich import box
from rich.console import Console
from rich.table import Table

WIDE = 10_000
NOTHING = "-"


def console(stream: IO[str] | None = None) -> Console:
    """A console on `stream` (standard output): the terminal's width, or as wide as the content when it is a file or a pipe."""
    target = stream or sys.stdout
    terminal = target.isatty()
    return Console(file=target, width=None if terminal else WIDE, highlight=False, soft_wrap=not terminal, emoji=False, markup=False)


def table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> Table:
    """A plain table; the first `left` columns and every column named with a trailing `<` are left-aligned, the others right."""
    found = Table(title=title or None, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for index, name in enumerate(columns):
        aligned = index < left or name.endswith("<")
        found.add_column(name.removesuffix("<"), justify="left" if aligned else "right", overflow="fold", no_wrap=not aligned)
    for row in rows:
        found.add_row(*row)
    return found


def count(value: float | None) -> str:
    """A count: 12,345 or 1.23 M from ten million on."""
    if value is None:
        return NOTHING
    for factor, name in ((1e12, "T"), (1e9, "G"), (1e6, "M")):
        if abs(value) >= max(factor, 1e7):
            return f"{value / factor:,.4g} {name}"
    return f"{value:,.0f}"


def time(nanoseconds: float | None) -> str:
    """A time in the unit that leaves one to three digits before the point."""
    if nanoseconds is None:
        return NOTHING
    for factor, name in ((1e9, "s"), (1e6, "ms"), (1e3, "us")):
        if abs(nanoseconds) >= factor:
            return f"{nanoseconds / factor:.4g} {name}"
    return f"{nanoseconds:.4g} ns"


def percent(value: float | None, digits: int = 0) -> str:
    """A percentage that is already in percent."""
    return NOTHING if value is None else f"{value:.{digits}f} %"


def ratio(value: float | None) -> str:
    """A speed-up: 1.25x."""
    return NOTHING if value is None else f"{value:.3g}x" if value < 9.995 else f"{value:,.1f}x"


def signed(value: float | None, digits: int = 1) -> str:
    """A change in percent, with its sign."""
    return NOTHING if value is None else f"{value:+.{digits}f} %"


def limiter_name(value: Any) -> str:
    """A limiter: a resource, or what waves wait for, without saying `stall` each time."""
    return name(None if value is None else str(value).removeprefix("stall_"))


def name(value: Any) -> str:
    """A name, with blanks for underscores; a dash where there is none."""
    return NOTHING if value is None else str(value).replace("_", " ")
