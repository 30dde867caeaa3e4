"""Where the time of a timeline went, device by device; the parts add up to the whole.

In: a `Timeline`. Out: `Spent`s. A moment counts once: for what runs then, or, where nothing runs, for what keeps the device idle.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from archex.timeline.commands import Command
from archex.timeline.run import Timeline

#: What runs, by which kinds of commands run at a moment.
_RUNNING = ("kernel", "stalled", "copy", "prefetch", "migration", "faults", "collective")
_NAMES = {
    "kernel": "kernels", "stalled": "kernels waiting for pages", "copy": "copies", "prefetch": "prefetches", "migration": "migrations",
    "faults": "fault service", "collective": "collectives",
}  # fmt: skip
#: Why nothing runs, the first that holds.
TRAVEL, ORDER, NOTHING = "idle: packet under way", "idle: between commands", "idle: nothing asked for"
FUNCTION = "idle: function of the host"
HOST = "idle: host in "


class Spent(NamedTuple):
    """A part of a device's time."""

    device: int
    what: str
    ns: float


def spent(timeline: Timeline) -> list[Spent]:
    """What each device's time went to, the largest part first."""
    found = []
    calls = [(call.begun, call.ended, HOST + call.what) for call in timeline.calls]
    commands: dict[int, list[Command]] = {device.number: [] for device in timeline.devices}
    for command in timeline.commands:
        commands[command.device].append(command)
    for device in timeline.devices:
        spans = [*_spans(commands[device.number]), *calls]
        parts = _parts(spans, timeline.total_ns)
        found += [Spent(device.number, what, ns) for what, ns in sorted(parts.items(), key=lambda item: (-item[1], item[0]))]
    return found


def host_spent(timeline: Timeline) -> list[tuple[str, str, int, float]]:
    """(thread, call, how many, nanoseconds) of what host threads did."""
    found: dict[tuple[str, str], list[float]] = {}
    for call in timeline.calls:
        found.setdefault((call.thread, call.what), []).append(call.ended - call.begun)
    return [(thread, what, len(spans), sum(spans)) for (thread, what), spans in found.items()]


def _spans(commands: Sequence[Command]) -> Iterator[tuple[float, float, str]]:
    """When what was so on a device, by its commands: (from, to, what)."""
    for command in commands:
        if command.kind in _RUNNING:
            cause = command.waited_for
            if command.kind == "migration" and cause is not None and cause.kind == "prefetch" and cause.device == command.device:
                continue  # the prefetch itself is there
            begin = command.started
            for still, goes_on in command.stalls:
                yield begin, still, command.kind
                yield still, goes_on, "stalled"
                begin = goes_on
            yield begin, command.ended, command.kind
        else:
            yield command.started, command.ended, FUNCTION if command.kind == "function" else ORDER
        if command.graph is None:
            yield command.submitted, command.arrived, TRAVEL
            yield command.arrived, command.started, ORDER


def _parts(spans: list[tuple[float, float, str]], total: float) -> dict[str, float]:
    edges = sorted(
        [(begin, 1, what) for begin, end, what in spans if end > begin] + [(end, -1, what) for begin, end, what in spans if end > begin]
    )
    active: dict[str, int] = {}
    parts: dict[str, float] = {}
    before = 0.0
    for time, change, what in edges:
        if time > before:
            name = _what(active)
            parts[name] = parts.get(name, 0.0) + time - before
            before = time
        count = active.get(what, 0) + change
        if count:
            active[what] = count
        else:
            del active[what]
    if total > before:
        parts[NOTHING] = parts.get(NOTHING, 0.0) + total - before
    return parts


def _what(active: dict[str, int]) -> str:
    running = [_NAMES[kind] for kind in _RUNNING if kind in active]
    if running:
        return " beside ".join(running)
    if FUNCTION in active:
        return FUNCTION
    if ORDER in active:
        return ORDER
    if TRAVEL in active:
        return TRAVEL
    calls = sorted(what for what in active if what.startswith(HOST))
    # A thread that waits does nothing for the device; one that works does.
    busy = [what for what in calls if not what.startswith(HOST + "sync")]
    return (busy or calls or [NOTHING])[0]
