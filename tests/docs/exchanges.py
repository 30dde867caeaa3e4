"""Writes the table of docs/links.md: `python tests/docs/exchanges.py`.

In: devices, exchanges, sizes. Out: what the library would do, and the rate that each rank sends at, between two marks of the page.
"""

from __future__ import annotations

import re
from pathlib import Path

from archex.assembly.links import network
from archex.base.units import show
from archex.links import plan
from archex.testing.devices import described

PAGE = Path(__file__).resolve().parents[2] / "docs/links.md"
_BLOCK = re.compile(r"(<!-- begin exchanges -->\n).*?(<!-- end exchanges -->)", re.DOTALL)


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


def page() -> str:
    """The page with the table of now."""
    return _BLOCK.sub(lambda found: found[1] + table() + found[2], PAGE.read_text())


if __name__ == "__main__":
    PAGE.write_text(page())
