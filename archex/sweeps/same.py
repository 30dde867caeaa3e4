"""Designs that others equal: which one, in words.

In: designs' fingerprints and labels as they come. Out: a note for each of the first few, and how many more there are.
"""

from __future__ import annotations

#: Designs whose names are remembered, to say which one another equals; and such notes that are written out.
_NAMED, _NOTED = 10_000, 10


class Same:
    """Designs that others equal."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._pairs: dict[str, str] = {}
        self._more = 0

    def name(self, fingerprint: str | None, label: str) -> None:
        """The first design with a fingerprint gives it its name."""
        if fingerprint is not None and len(self._names) < _NAMED:
            self._names.setdefault(fingerprint, label)

    def note(self, fingerprint: str | None, label: str) -> None:
        """A row of the design `label` was asked for before."""
        other = self._names.get(fingerprint or "")
        if other in (None, label) or label in self._pairs:
            return
        if len(self._pairs) < _NOTED:
            self._pairs[label] = str(other)
        else:
            self._last, self._more = label, self._more + (label != getattr(self, "_last", ""))

    @property
    def notes(self) -> tuple[str, ...]:
        """A line each, as far as there is room."""
        more = (f"{self._more:,} more designs are the same as others: not run twice",) if self._more else ()
        return (*(f"{name} is the same design as {other}: not run twice" for name, other in self._pairs.items()), *more)
