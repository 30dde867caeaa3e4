"""How a run goes, while it goes: a bar where a terminal is there, one line a row otherwise. On standard error.

In: the rows as they are finished. Out: text for people; nothing depends on it.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from types import TracebackType
from typing import Any

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from archex.reports.text import console, count


class Reporter:
    """Listens to a run (`sweeps.run.Listener`)."""

    def __init__(self) -> None:
        self._console = console(sys.stderr)
        self._bar: Progress | None = None
        self._total = self._done = 0

    def start(self, total: int, kept: int) -> None:
        """Open the bar; say what an earlier run left."""
        self._total, self._done = total, kept
        if kept:
            self._console.print(f"{kept} of {total} rows are there already")
        if self._console.is_terminal:
            columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())
            self._bar = Progress(*columns, console=self._console, transient=True)
            self._bar.add_task("launches", total=total, completed=kept)
            self._bar.start()

    def row(self, row: Mapping[str, Any]) -> None:
        """One row more."""
        self._done += 1
        failed = row["status"] in ("error", "killed")
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], advance=1)
        if self._bar is None or failed:
            said = f"{count(row['cycles'])} cycles" if row["status"] == "ok" else f"{row['status']}: {row['error']}"
            design = f"{row['device']} {row['overrides'] or ''}".strip()
            width = len(str(self._total))
            self._console.print(f"[{self._done:{width}}/{self._total}] {row['launch']} on {design}: {said}")

    def __enter__(self) -> Reporter:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._bar is not None:
            self._bar.stop()
