"""Writes the tables of docs/links.md: `python tests/docs/exchanges.py`.

In: devices, links, exchanges, sizes. Out: what the library would do, and how long it takes, each table between two marks of the page.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

from archex.assembly.links import network
from archex.base.units import show
from archex.describe import DeviceSpec, describe
from archex.links import plan
from archex.testing.devices import compose, described, installed, slot_file

PAGE = Path(__file__).resolve().parents[2] / "docs/links.md"
_BLOCK = re.compile(r"(<!-- begin (\w+) -->\n).*?(<!-- end \2 -->)", re.DOTALL)
#: Sixteen devices joined otherwise: what it is, the file of links, numbers that differ.
_JOINED: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("18 links to switches that add", "h200", {}),
    ("19 links", "h200", {"links": 19}),
    ("9 links", "h200", {"links": 9}),
    ("switches that only switch", "h200", {"reduces": False, "library.switched": None}),
    ("a ring", "ring", {}),
    ("a torus of 4 by 4", "torus_16", {"columns": 4}),
    ("a bus, four to a switch", "expansion_bus", {}),
    ("two machines of eight, eight cards each", "machines", {}),
    ("two machines of eight, two cards each", "machines", {"cards": 2}),
)


def table() -> str:
    """An exchange of eight devices a line."""
    lines = ["| exchange | size | device | by | alone | each sends |", "|---|---|---|---|---|---|"]
    for kind in ("all_reduce", "all_gather", "all_to_all"):
        for size in (64 << 10, 4 << 20, 256 << 20):
            for device in ("h200", "a100", "mi300x"):
                found = plan(network(described(device), 8), kind, range(8), size)
                by = f"{found.algorithm}, {found.protocol}".replace("_", " ")
                rate = f"{found.bus_rate / 1e9:.3g} GB/s"
                lines.append(f"| {kind} | {show(size, 'B')} | `{device}` | {by} | {found.alone_ns / 1e3:.1f} us | {rate} |")
    return "\n".join(lines) + "\n"


def joined() -> str:
    """The same devices with other links, a line each."""
    asked = [(kind, size) for kind in ("all_reduce", "all_to_all") for size in (64 << 10, 4 << 20, 256 << 20)]
    named = [f"{kind}, {show(size, 'B')}" for kind, size in asked]
    lines = [f"| sixteen devices by | {' | '.join(named)} |", "|---|" + "---|" * len(asked)]
    for what, file, numbers in _JOINED:
        net = network(_with(file, numbers), 16)
        times = [f"{plan(net, kind, range(16), size).alone_ns / 1e3:.0f} us" for kind, size in asked]
        lines.append(f"| {what} | {' | '.join(times)} |")
    return "\n".join(lines) + "\n"


def _with(file: str, numbers: Mapping[str, Any]) -> DeviceSpec:
    """An h200 with the links of a file."""
    links = deepcopy(slot_file("link", file))
    for path, value in numbers.items():
        *above, last = path.split(".")
        at = links
        for key in above:
            at = at[key]
        at[last] = value
    return describe(compose("h200") | {"link": links | {"sources": {}}}, installed())


_TABLES = {"exchanges": table, "joined": joined}


def page() -> str:
    """The page with the tables of now."""
    return _BLOCK.sub(lambda found: found[1] + _TABLES[found[2]]() + found[3], PAGE.read_text())


if __name__ == "__main__":
    PAGE.write_text(page())
