"""Rows sorted into designs, each with a label that says what sets it apart.

In: frames of rows, one a run. Out: `Design`s, each with its rows by launch, in the order of the runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import attrs

if TYPE_CHECKING:
    import polars

Row = dict[str, Any]


@attrs.frozen
class Design:
    """A design of a run: `label` for people, `names` for `baseline=`, its rows by launch."""

    label: str
    device: str
    overrides: str
    names: frozenset[str]
    rows: dict[str, Row]


def designs(runs: Sequence[tuple[str, polars.DataFrame]]) -> list[Design]:
    """Every design of every (name, frame), in order; the name of the run is part of the label where there are several runs."""
    return _designs([(name, frame.to_dicts()) for name, frame in runs])


def labels(rows: Sequence[Row]) -> dict[tuple[str, str], str]:
    """(device, overrides) -> label, for the rows of one run."""
    return {(d.device, d.overrides): d.label for d in _designs([("", rows)])}


def _designs(runs: Sequence[tuple[str, Sequence[Row]]]) -> list[Design]:
    grouped: dict[tuple[int, str, str], dict[str, Row]] = {}
    for number, (_, rows) in enumerate(runs):
        for row in rows:
            by_launch = grouped.setdefault((number, row["device"] or "", row["overrides"] or ""), {})
            known = by_launch.get(row["launch"])
            if known is None or not row["variant"] or _faster(row, known):
                by_launch[row["launch"]] = row
    varying = _varying([overrides for _, _, overrides in grouped])
    devices = {device for _, device, _ in grouped}
    found = []
    for (number, device, overrides), by_launch in grouped.items():
        changed = [_said(o) for o in _split(overrides) if o.partition("=")[0] in varying]
        parts = [runs[number][0]] if len(runs) > 1 else []
        parts += [device] if len(devices) > 1 or not (parts or changed) else []
        fingerprint = next(iter(by_launch.values()))["device_fingerprint"] or ""
        full = f"{device} {overrides}".strip()
        names = {" ".join(parts + changed), device, full, overrides, fingerprint, runs[number][0], *_split(overrides)} - {""}
        found.append(Design(" ".join(parts + changed), device, overrides, frozenset(names), by_launch))
    if len({design.label for design in found}) < len(found):  # told apart by what no label says
        found = [attrs.evolve(d, label=f"{d.label} ({number})") for number, d in enumerate(found, start=1)]
    return found


def _faster(row: Row, other: Row) -> bool:
    """Of two variants of a launch, the one that a device is compared by."""
    return row["status"] == "ok" and bool(other["status"] != "ok" or row["cycles"] < other["cycles"])


def _said(override: str) -> str:
    """A choice by its name alone; a value needs its key."""
    value = override.partition("=")[2]
    return value if value.isidentifier() and value not in ("null", "true", "false") else override


def _split(overrides: str) -> list[str]:
    return overrides.split(", ") if overrides else []


def _varying(overrides: Sequence[str]) -> set[str]:
    """The keys that don't have the same value in every design."""
    values: dict[str, set[str]] = {}
    for text in overrides:
        for override in _split(text):
            key, _, value = override.partition("=")
            values.setdefault(key, set()).add(value)
    everywhere = {key for key in values if all(any(o.startswith(f"{key}=") for o in _split(text)) for text in overrides)}
    return {key for key, found in values.items() if len(found) > 1 or key not in everywhere}
