"""A sweep seen from its folder alone: from another terminal, or another machine that sees the folder.

In: the folder of a run, running or finished. Out: a live block on a terminal, else a line every few seconds with news, until its writer is
gone. Nothing is written; what was read once isn't read again.
"""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from pathlib import Path

from rich.console import Console
from rich.live import Live

from archex.records import lock, words
from archex.records.reasons import FAILED
from archex.records.tail import Failure, Row, Tail
from archex.reports.standing import Best, Standing, said, times_of
from archex.reports.text import console

_SECONDS = 1.0
#: Looks between lines where there is no terminal.
_PATIENCE = 5


class Watched:
    """What the folder says of the sweep."""

    def __init__(self, folder: Path) -> None:
        self.standing = Standing()
        self._folder = folder
        self._tail = Tail(folder)
        self._began = False
        self._times: dict[tuple[str, str, str], dict[str, float | None]] = {}  # suite, device, overrides -> launch -> time
        self._launches: dict[str, set[str]] = defaultdict(set)
        self._complete: set[tuple[str, str, str]] = set()

    def look(self) -> list[Row]:
        """Take what is new."""
        news = self._tail.news()
        known = sum(map(len, self._launches.values()))
        touched = dict.fromkeys(self._take(row, before) for row, before in news)
        if sum(map(len, self._launches.values())) > known:  # what looked complete may not be
            self._complete, self.standing.best, self.standing.designs_done = set(), Best(), 0
            touched = dict.fromkeys(self._times)
        for design in touched:
            self._rank(design)
        if not self._began:
            self._began = True
            self.standing.start(lock.expected(self._folder), None, self.standing.done, 0)
        return [row for row, _ in news]

    def _take(self, row: Row, before: Failure | None) -> tuple[str, str, str]:
        if before is not None:
            self.standing.again(*before)
        self.standing.row(row)
        self.standing.newest.append(said(row))
        design = row["suite"] or "", row["device"] or "", row["overrides"] or ""
        times = self._times.setdefault(design, {})
        took = times_of([row]).get(row["launch"])
        known = times.get(row["launch"])
        times[row["launch"]] = took if known is None or (took is not None and took < known) else known
        self._launches[design[0]].add(row["launch"])
        return design

    def _rank(self, design: tuple[str, str, str]) -> None:
        suite, device, overrides = design
        times = self._times[design]
        if len(times) < len(self._launches[suite]):
            return
        if design not in self._complete:
            self._complete.add(design)
            self.standing.designs_done += 1
        self.standing.best.add(words.design(device, overrides), {launch: took for launch, took in times.items() if took is not None})

    @property
    def torn(self) -> dict[Path, str]:
        """Files that don't read."""
        return self._tail.torn


def watch(folder: Path, once: bool, out: Console | None = None, seconds: float = _SECONDS) -> int:
    """Until the writer is gone, or one look; 1 if rows have failed."""
    watched, out = Watched(folder), out or console(sys.stdout)
    live = Live(get_renderable=watched.standing.block, console=out, auto_refresh=False) if _moves(out) and not once else None
    told, looks = "", 0
    try:
        while True:
            writer = lock.holder(folder)  # asked before reading: what it wrote until its end is read
            watched.look()
            if once or writer is None:
                break
            if live is not None:
                live.start()
                live.refresh()
            elif looks % _PATIENCE == 0 and watched.standing.counted() != told:
                told = watched.standing.counted()
                out.print(watched.standing.line())
            looks += 1
            time.sleep(seconds)
    except KeyboardInterrupt:
        out.print("left; whoever runs it goes on")
        return 0
    finally:
        if live is not None:
            live.stop()
    if live is None:
        out.print(watched.standing.block())
    for path, why in watched.torn.items():
        out.print(f"{path} is torn: {why}")
    out.print(f"{folder}: is being written by {writer}" if writer else f"{folder}: nobody writes here")
    return int(any(watched.standing.statuses[status] for status in FAILED))


def _moves(out: Console) -> bool:
    return out.is_terminal and not out.is_dumb_terminal
