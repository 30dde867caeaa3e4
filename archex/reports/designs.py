"""What sets designs apart: their labels, the names they go by, the overrides in which they differ.

In: (run, device, overrides, fingerprint) of each design. Out: `Design`s in the same order, each with a label of its own.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import attrs

Row = dict[str, Any]
_NEXT = re.compile(r", (?=[-+~\w./@]+=)")  # a comma inside a value's brackets starts no override


class Key(NamedTuple):
    """What makes a design one: the run it is of (its number), the device, the overrides; the fingerprint is a name more."""

    run: int
    device: str
    overrides: str
    fingerprint: str = ""


@attrs.frozen
class Design:
    """A design of a run: `label` for people, `names` for `baseline=`, `differs`: its values of the overrides that not all designs share;
    `run`: the run it is of, where there are several."""

    label: str
    device: str
    overrides: str
    names: frozenset[str]
    differs: dict[str, str] = attrs.field(factory=dict)
    run: str = ""


def labels(rows: Sequence[Row]) -> dict[tuple[str, str], str]:
    """(device, overrides) -> label, for the rows of one run."""
    keys = list(dict.fromkeys(Key(0, row["device"] or "", row["overrides"] or "") for row in rows))
    return {(key.device, key.overrides): design.label for key, design in zip(keys, designs(keys, [""]), strict=True)}


def designs(keys: Sequence[Key], runs: Sequence[str]) -> list[Design]:
    """Every design; the name of the run is part of the label where there are several runs."""
    given = [split(key.overrides) for key in keys]
    varying = _varying(given)
    devices = {key.device for key in keys}
    found = []
    for key, overrides in zip(keys, given, strict=True):
        changed = [_said(name, value) for name, value in overrides.items() if name in varying]
        parts = [runs[key.run]] if len(runs) > 1 else []
        parts += [key.device] if len(devices) > 1 or not (parts or changed) else []
        said = {
            *changed,
            *(f"{name}={value}" for name, value in overrides.items()),
            key.device,
            key.overrides,
            key.fingerprint,
            runs[key.run],
        }
        names = {tight(name) for name in said | {" ".join(parts + changed), f"{key.device} {key.overrides}"}} - {""}
        differs = {name: value for name, value in overrides.items() if name in varying}
        found.append(
            Design(
                " ".join(parts + changed), key.device, key.overrides, frozenset(names), differs, "".join(parts[:1]) if len(runs) > 1 else ""
            )
        )
    return _apart(found)


def split(overrides: str) -> dict[str, str]:
    """The overrides of a design by name."""
    pairs = (override.partition("=") for override in _NEXT.split(overrides) if override)
    return {name: value for name, _, value in pairs}


def tight(name: str) -> str:
    """A name without its blanks: `l2.size=64 MiB` and `l2.size=64MiB` are one."""
    return re.sub(r"[\s,]+", "", name)


def _apart(found: list[Design]) -> list[Design]:
    """Designs whose labels say the same get a number (they differ in what no override says)."""
    often = Counter(design.label for design in found)
    seen = Counter[str]()
    numbered = []
    for design in found:
        if often[design.label] > 1:
            seen[design.label] += 1
            label = f"{design.label} ({seen[design.label]})"
            design = attrs.evolve(design, label=label, names=design.names | {tight(label)})
        numbered.append(design)
    return numbered


def _said(name: str, value: str) -> str:
    """A choice by its name alone; a value needs its key."""
    return value if value.isidentifier() and value not in ("null", "true", "false") else f"{name}={value}"


def _varying(given: Sequence[dict[str, str]]) -> set[str]:
    """The names that don't have the same value in every design."""
    values: dict[str, set[str]] = {}
    often = Counter[str]()
    for overrides in given:
        for name, value in overrides.items():
            values.setdefault(name, set()).add(value)
            often[name] += 1
    return {name for name, found in values.items() if len(found) > 1 or often[name] < len(given)}
