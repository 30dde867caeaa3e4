"""How a run goes, while it goes. On standard error.

In: what a run tells its `Listener`. Out: text for people; nothing depends on it. On a terminal a live block that is gone at the end, above
it what should stay (notes, failures). Elsewhere lines: one a row of a small run, of a large one one every few seconds and each new reason.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any

from rich.console import Console
from rich.live import Live

from archex.reports.standing import Standing, said
from archex.reports.text import console

#: A run of more rows is large: a line a row would be no news.
LARGE = 100
#: Seconds between lines where there is no terminal.
_PATIENCE = 5.0
#: Drawing costs about 2 ms.
_FRAMES_A_SECOND = 2
#: Reasons of failures that are said when they come; all are counted.
_REASONS = 20


class Reporter:
    """Listens to a run (`sweeps.run.Listener`)."""

    def __init__(self, out: Console | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._console = out or console(sys.stderr)
        self._clock = clock
        self._standing = Standing(clock)
        self._live: Live | None = None
        self._drawing = threading.Lock()  # the live display draws from a thread of its own
        self._said_at = float("-inf")
        self._said = ""
        self._large = False

    def start(self, total_rows: int | None, total_designs: int | None, kept: int, workers: int) -> None:
        """Say what an earlier run left; open the display."""
        self._large = total_rows is None or total_rows > LARGE
        self._standing.start(total_rows, total_designs, kept, workers)
        if kept:
            self._console.print(f"{kept:,} {'' if total_rows is None else f'of {total_rows:,} '}rows are there already")
        if self._console.is_terminal and not self._console.is_dumb_terminal:
            self._live = Live(get_renderable=self._drawn, console=self._console, refresh_per_second=_FRAMES_A_SECOND, transient=True)
            self._live.start()

    def row(self, row: Mapping[str, Any]) -> None:
        """One row more."""
        with self._drawing:
            reason = self._standing.row(row)
        if not self._large:
            if self._live is None or row["status"] in ("error", "killed"):
                total = self._standing.total
                self._console.print(f"[{self._standing.done:{len(str(total))}}/{total}] {said(row)}")
            return
        if reason is not None and len(self._standing.reasons) <= _REASONS:
            self._console.print(said(row))
        if self._live is None and self._clock() - self._said_at >= _PATIENCE:
            self._say()

    def design(self, label: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """All rows of a design are there."""
        with self._drawing:
            self._standing.design(label, rows)

    def note(self, text: str) -> None:
        """Something worth a line."""
        self._console.print(text)

    def _say(self) -> None:
        self._said_at = self._clock()
        self._said = self._standing.line()
        self._console.print(self._said)

    def _drawn(self) -> Any:
        with self._drawing:
            return self._standing.block()

    def __enter__(self) -> Reporter:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._live is not None:
            self._live.stop()
        elif self._large and self._standing.counted() not in self._said:  # the last rows came within the patience
            self._say()
