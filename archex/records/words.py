"""Numbers and names of rows in sentences."""

from __future__ import annotations

from collections.abc import Sequence


def counted(number: int, name: str) -> str:
    """`1 row`, `2,000 rows`."""
    plural = f"{name}es" if name.endswith("ch") else f"{name}s"
    return f"{number:,} {name if number == 1 else plural}"


def listed(names: Sequence[str], most: int = 5) -> str:
    """The first of some names."""
    return ", ".join(names) if len(names) <= most else f"{', '.join(names[:most])} and {len(names) - most:,} more"


def design(device: str | None, overrides: str | None) -> str:
    """A design as a person knows it."""
    return f"{device or ''} {overrides or ''}".strip()


def row(launch: str, device: str | None, overrides: str | None) -> str:
    """A row as a person knows it."""
    return f"{launch} on {design(device, overrides)}".strip()
