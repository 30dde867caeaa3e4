"""How a sweep stands: counts, speed, the best designs so far, why rows failed. Kept up as rows come, cheap enough for millions.

In: rows, and designs all of whose rows are there. Out: numbers, and two ways to say them: one line, or a block for a live display.
"""

from __future__ import annotations

import time
from bisect import insort
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import exp, log
from typing import Any

from rich.console import Group, RenderableType
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from archex.records import words
from archex.records.reasons import FAILED, Reasons
from archex.records.words import counted
from archex.reports.text import count, ratio

#: Seconds that the rate is a mean over.
_WINDOW = 60.0
_BEST = 3
_REASONS = 4


class Best:
    """The fastest designs: geometric mean, over the launches of the first design that has times, of their speed-ups over it."""

    def __init__(self) -> None:
        self.first = ""
        self._times: dict[str, float] = {}
        self._ranked: list[tuple[float, int, str]] = []  # (-speed-up, number, label)
        self._number = 0
        self._common: set[str] | None = None  # words of every label so far

    def add(self, label: str, times: Mapping[str, float]) -> None:
        """A complete design's times by launch, or a known one's again; one that lacks a time that the first has is not ranked."""
        said = set(_words(label))
        self._common = said if self._common is None else self._common & said
        if not self._times:
            self.first, self._times = label, dict(times)
        if not times or not self._times.keys() <= times.keys():
            return
        self._number += 1
        self._ranked = [ranked for ranked in self._ranked if ranked[2] != label]
        mean = exp(sum(log(took / times[launch]) for launch, took in self._times.items()) / len(self._times))
        insort(self._ranked, (-mean, self._number, label))
        del self._ranked[_BEST:]

    @property
    def ranked(self) -> list[tuple[str, float]]:
        """(label, speed-up), the fastest first."""
        return [(label, -negative) for negative, _, label in self._ranked]

    def short(self, label: str) -> str:
        """A label without what all designs have in common: a terminal has no room for every axis of a sweep."""
        return ", ".join(word for word in _words(label) if word not in (self._common or ())) or label


def _words(label: str) -> list[str]:
    """A device and its overrides."""
    device, _, overrides = label.partition(" ")
    return [device, *(overrides.split(", ") if overrides else ())]


def times_of(rows: Iterable[Mapping[str, Any]]) -> dict[str, float]:
    """launch -> time of the rows that have one; of variants of a launch the fastest."""
    times: dict[str, float] = {}
    for row in rows:
        launch, took = row["launch"], row["time_ns"]
        if row["status"] == "ok" and took and took < times.get(launch, float("inf")):
            times[launch] = took
    return times


class Standing:
    """Where a sweep is. `total` and `designs` are None where nobody knows yet; rows `kept` are of an earlier run and cost no time."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.total: int | None = None
        self.designs: int | None = None
        self.kept = self.done = self.designs_done = self.workers = 0
        self.statuses: Counter[str] = Counter()
        self.reasons = Reasons()
        self.best = Best()
        self.newest: deque[str] = deque(maxlen=3)
        self._clock = clock
        self._began = clock()
        self._samples: deque[tuple[float, int]] = deque([(self._began, 0)])

    def start(self, total: int | None, designs: int | None, kept: int, workers: int) -> None:
        """The clock runs from here."""
        self.total, self.designs, self.kept, self.workers = total, designs, kept, workers
        self.done = kept
        self._began = self._clock()
        self._samples = deque([(self._began, kept)])

    def row(self, row: Mapping[str, Any]) -> str | None:
        """A row more; why it failed, if no row failed so before."""
        self.done += 1
        status = row["status"]
        self.statuses[status] += 1
        now = self._clock()
        if now - self._samples[-1][0] >= 1.0:
            self._samples.append((now, self.done))
            while len(self._samples) > 2 and now - self._samples[1][0] >= _WINDOW:
                self._samples.popleft()
        return self.reasons.add(status, row["error"]) if status in FAILED else None

    def again(self, status: str, error: str | None) -> None:
        """A row that failed, and was counted, comes once more."""
        self.done -= 1
        self.statuses[status] -= 1
        self.reasons.add(status, error, -1)

    def design(self, label: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """A design is complete."""
        self.designs_done += 1
        self.best.add(label, times_of(rows))

    @property
    def failed(self) -> int:
        """Rows without a result that should have one."""
        return sum(self.statuses[status] for status in FAILED)

    @property
    def rate(self) -> float | None:
        """Rows a second over the last minute; None before there is anything to divide."""
        since, before = self._samples[0]
        passed = self._clock() - since
        return (self.done - before) / passed if passed > 0 and self.done > before else None

    @property
    def left(self) -> float | None:
        """Seconds until the end at that rate."""
        rate = self.rate
        return None if self.total is None or not rate else max(self.total - self.done, 0) / rate

    def counted(self) -> str:
        """`1,234 of 80,000 rows, 12 error, 3 killed`."""
        parts = [counted(self.done, "row") if self.total is None else f"{self.done:,} of {counted(self.total, 'row')}"]
        parts += [f"{self.statuses[status]:,} {status}" for status in ("unsupported", *FAILED) if self.statuses[status]]
        return ", ".join(parts)

    def speed(self) -> str:
        """`45.2 rows/s, 29 min left, 16 workers`; what isn't known is not said."""
        rate, left = self.rate, self.left
        parts = [_per_second(rate)] if rate else []
        parts += [f"{duration(left)} left"] if left else []
        parts += [counted(self.workers, "worker")] if self.workers else []
        return ", ".join(parts)

    def line(self) -> str:
        """Everything on one line."""
        ranked = self.best.ranked
        best = f"best {ratio(ranked[0][1])} {self.best.short(ranked[0][0])}" if len(ranked) > 1 else ""
        return "; ".join(part for part in (self.counted(), self.speed(), best) if part)

    def block(self) -> RenderableType:
        """A bar and some lines below it, none longer than the terminal is wide."""
        parts: list[RenderableType] = [self._bar()] if self.total else []
        parts += [_short(text) for text in (self.counted() + self._designs(), self._pace()) if text]
        ranked = self.best.ranked
        if len(ranked) > 1:
            parts.append(_short(f"best so far, times faster than {self.best.first}", "bold"))
            parts.append(_lines([(ratio(mean), self.best.short(label)) for label, mean in ranked]))
        if self.reasons:
            parts.append(_short("failed", "bold red"))
            parts.append(_lines([(f"{rows:,}", reason) for reason, rows in self.reasons.most(_REASONS)]))
            if len(self.reasons) > _REASONS:
                parts.append(_short(f"and {counted(len(self.reasons) - _REASONS, 'more reason')}"))
        if self.newest:
            parts.append(_short("newest", "bold"))
            parts += [_short(f"  {text}") for text in self.newest]
        return Group(*parts)

    def _bar(self) -> RenderableType:
        found = Table.grid(padding=(0, 1))
        total = self.total or 1
        found.add_row(ProgressBar(total=total, completed=self.done, width=40), f"{self.done / total:.0%}")
        return found

    def _designs(self) -> str:
        if not self.designs_done:
            return ""
        whole = (
            counted(self.designs_done, "design") if self.designs is None else f"{self.designs_done:,} of {counted(self.designs, 'design')}"
        )
        return f"; {whole}"

    def _pace(self) -> str:
        spent = f"{duration(self._clock() - self._began)} spent" if self.workers else ""  # somebody who watches wasn't there from the start
        return ", ".join(part for part in (self.speed(), spent) if part)


def said(row: Mapping[str, Any]) -> str:
    """A row in a line."""
    result = f"{count(row['cycles'])} cycles" if row["status"] == "ok" else f"{row['status']}: {row['error']}"
    return f"{words.row(row['launch'], row['device'], row['overrides'])}: {result}"


def duration(seconds: float) -> str:
    """A time for people: 45 s, 29 min, 3 h 12 min, 2 d 5 h."""
    whole = round(seconds)
    if whole < 100:
        return f"{whole} s"
    minutes = round(seconds / 60)
    if minutes < 100:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours < 48 else f"{hours // 24} d {hours % 24} h"


def _per_second(rate: float) -> str:
    return f"{rate:,.0f} rows/s" if rate >= 100 else f"{rate:.3g} rows/s" if rate >= 1 else f"{60 * rate:.2g} rows/min"


def _short(text: str, style: str = "") -> Text:
    return Text(text.partition("\n")[0], style, no_wrap=True, overflow="ellipsis")


def _lines(pairs: Sequence[tuple[str, str]]) -> Table:
    found = Table.grid(padding=(0, 1))
    found.add_column(justify="right", no_wrap=True)
    found.add_column(no_wrap=True, overflow="ellipsis")
    for number, text in pairs:
        found.add_row(f"  {number}", text)
    return found
