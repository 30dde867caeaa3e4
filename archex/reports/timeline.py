"""One wave's life, as text and as a file for the Perfetto viewer.

In: `WaveEvent`s in the order of issue. Out: lines for people, and JSON in the Chrome trace format (a cycle is drawn as one microsecond).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from rich.table import Table

from archex.records.events import WaveEvent
from archex.reports.text import count, name, percent, table


def as_perfetto(events: Sequence[WaveEvent], title: str) -> str:
    """Three tracks: waiting, issuing, in flight (overlapping ones on further tracks)."""
    found: list[dict[str, object]] = [{"ph": "M", "pid": 1, "name": "process_name", "args": {"name": title}}]
    found += [_named(1, "waiting"), _named(2, "issue")]
    free: list[float] = []
    for event in events:
        about = {"line": event.line, "block": event.block, "lanes": event.lanes}
        if event.issue > event.since:
            found.append(_slice(1, event.reason or "waiting", event.since, event.issue, {"for": event.operation}))
        found.append(_slice(2, event.operation, event.issue, event.issue + 1, about))
        if event.done > event.issue + 1:
            track = next((index for index, end in enumerate(free) if end <= event.issue), len(free))
            if track == len(free):
                free.append(0.0)
                found.append(_named(3 + track, "in flight"))
            free[track] = event.done
            found.append(_slice(3 + track, event.operation, event.issue, event.done, about))
    return json.dumps({"traceEvents": found, "displayTimeUnit": "ns", "otherData": {"one microsecond": "one cycle"}}, indent=None)


def _named(track: int, text: str) -> dict[str, object]:
    return {"ph": "M", "pid": 1, "tid": track, "name": "thread_name", "args": {"name": text}}


def _slice(track: int, text: str, start: float, end: float, about: Mapping[str, object]) -> dict[str, object]:
    return {"ph": "X", "pid": 1, "tid": track, "name": text, "ts": start, "dur": end - start, "args": about}


def as_table(events: Sequence[WaveEvent], title: str) -> Table:
    """One line an instruction."""
    lines = []
    for event in events:
        waited = event.issue - event.since
        because = f"{waited:,.0f} for {name(event.reason)}" if waited > 0 and event.reason else f"{waited:,.0f}" if waited > 0 else ""
        line = str(event.line) if event.line else ""
        lines.append([f"{event.issue:,.0f}", because, event.operation, f"{event.done:,.0f}", str(event.lanes), line])
    return table(title, ["issue", "waited<", "operation<", "done", "lanes", "line"], lines, left=0)


def sums(events: Sequence[WaveEvent]) -> Table:
    """Where the wave's time went: cycles by state."""
    spent: dict[str, float] = {"issue": float(len(events))}
    for event in events:
        if event.issue > event.since:
            for reason, cycles in (event.waits or {event.reason or "other": event.issue - event.since}).items():
                spent[reason] = spent.get(reason, 0.0) + cycles
    whole = sum(spent.values())
    ranked = sorted(spent.items(), key=lambda item: -item[1])
    return table("Where its time went", ["state", "cycles", "share"], [[name(s), count(c), percent(100 * c / whole)] for s, c in ranked])
