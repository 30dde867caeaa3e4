"""A timeline as text and as a file for the Perfetto viewer.

In: a `Timeline`. Out: tables of where the time went, and JSON in the Chrome trace format: a process for the host with a track a thread, a
process a device with a track a stream; further tracks where commands of a stream overlap, as the nodes of a graph do.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from rich.table import Table

from archex.reports.text import count, percent, table, time
from archex.timeline import Timeline
from archex.timeline.spent import host_spent, spent

#: Devices, or sets of devices that look alike, that a table has.
_DEVICES = 8


def as_perfetto(timeline: Timeline, title: str) -> str:
    """The trace; times in microseconds."""
    found: list[dict[str, Any]] = [_name(1, 0, "process_name", f"host of {title}")]
    threads = {name: place + 1 for place, name in enumerate(timeline.workload.threads)}
    found += [_name(1, track, "thread_name", name) for name, track in threads.items()]
    found += [_slice(1, threads[c.thread], f"{c.what} {c.name}".strip(), c.begun, c.ended, {"answer": c.answer}) for c in timeline.calls]
    tracks: dict[tuple[int, str], list[tuple[int, float]]] = {}
    made = 0
    for device in range(timeline.workload.devices):
        found.append(_name(2 + device, 0, "process_name", f"device {device}"))
    for c in sorted(timeline.commands, key=lambda command: (command.started, command.number)):
        if c.kind in ("record", "wait", "graph") and c.ended <= c.started:
            continue
        free = tracks.setdefault((c.device, c.stream), [])
        place = next((place for place, (_, end) in enumerate(free) if end <= c.started), len(free))
        if place == len(free):
            made += 1
            free.append((made, 0.0))
            found.append(_name(2 + c.device, made, "thread_name", c.stream))
        free[place] = (free[place][0], c.ended)
        about = {
            "event": c.number,
            "waited for": c.waited_for.label() if c.waited_for else "",
            "bytes": c.bytes,
            "issued us": c.issued / 1e3,
        }
        found.append(_slice(2 + c.device, free[place][0], f"{c.kind} {c.name}".strip(), c.started, c.ended, about))
    return json.dumps({"traceEvents": found, "displayTimeUnit": "ns"})


def _name(process: int, track: int, kind: str, text: str) -> dict[str, Any]:
    return {"ph": "M", "pid": process, "tid": track, "name": kind, "args": {"name": text}}


def _slice(process: int, track: int, text: str, begin: float, end: float, about: dict[str, Any]) -> dict[str, Any]:
    known = {key: value for key, value in about.items() if value not in ("", 0, None)}
    return {"ph": "X", "pid": process, "tid": track, "name": text, "ts": begin / 1e3, "dur": (end - begin) / 1e3, "args": known}


def where_it_went(timeline: Timeline, title: str) -> Table:
    """Each device's time by what ran on it, or by what kept it idle; of many devices those that look alike together, and the first few."""
    whole = timeline.total_ns or 1.0
    parts: dict[int, list[tuple[str, str, str]]] = {}
    for part in spent(timeline):
        parts.setdefault(part.device, []).append((part.what, time(part.ns), percent(100 * part.ns / whole, 1)))
    alike: dict[tuple[object, ...], list[int]] = {}
    for device, own in parts.items():
        alike.setdefault(tuple(own) if len(parts) > _DEVICES else (device, *own), []).append(device)
    lines = [[_numbers(some), *line] for some in list(alike.values())[:_DEVICES] for line in parts[some[0]]]
    if more := [device for some in list(alike.values())[_DEVICES:] for device in some]:
        lines.append(["...", f"of {len(more)} more devices: in the rows", "", ""])
    return table(title, ["device", "what<", "time", "share"], lines)


def _numbers(some: Sequence[int]) -> str:
    """Numbers of devices, those in a row as a range."""
    runs: list[list[int]] = []
    for number in some:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


def host_calls(timeline: Timeline) -> Table:
    """What host threads did."""
    lines = [[thread, what, count(number), time(ns), time(ns / number)] for thread, what, number, ns in host_spent(timeline)]
    return table("What the host did", ["thread", "call<", "calls", "time", "each"], lines)


def summary(names: Sequence[str], timelines: Sequence[Timeline]) -> Table:
    """One line a design."""
    lines = []
    for name, one in zip(names, timelines, strict=True):
        busy = sum(part.ns for part in spent(one) if not part.what.startswith("idle")) / len(one.devices)
        lines.append([name, time(one.total_ns), percent(100 * busy / (one.total_ns or 1.0), 1), count(len(one.commands))])
    return table("Designs", ["design", "total", "busy", "commands"], lines)
