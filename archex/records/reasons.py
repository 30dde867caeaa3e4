"""Failed rows by why they failed.

In: rows' statuses and errors, one after the other. Out: reasons with how many rows each holds for. Reasons that differ in numbers alone
are one, so that a hundred thousand rows have a handful.
"""

from __future__ import annotations

import re

FAILED = ("error", "killed")
_NUMBER = re.compile(r"(?<![\w])\d[\w.]*")
#: Kinds of reasons told apart; rows of further ones are counted together.
_MOST = 1000
_OTHERS = "other reasons"


def kind_of(reason: str) -> str:
    """What reasons that differ in numbers alone have in common."""
    return _NUMBER.sub("N", reason)


class Reasons:
    """Counts; the text of a kind is the reason itself as long as all its rows have the same one."""

    def __init__(self) -> None:
        self._found: dict[str, tuple[str, int]] = {}

    def add(self, status: str, error: str | None, rows: int = 1) -> str | None:
        """Count `rows` more (or less); the reason if none of its kind came before."""
        reason = f"{status}: {(error or 'no reason given').strip().partition(chr(10))[0]}"
        kind = kind_of(reason)
        if kind not in self._found and len(self._found) >= _MOST:
            kind = reason = _OTHERS
        known = self._found.get(kind)
        if known is None:
            self._found[kind] = reason, rows
            return reason
        text, before = known
        self._found[kind] = text if text == reason else kind, before + rows
        if before + rows <= 0:
            del self._found[kind]
        return None

    def __len__(self) -> int:
        return len(self._found)

    def most(self, most: int | None = None) -> list[tuple[str, int]]:
        """(reason, rows), the most frequent first."""
        return sorted(self._found.values(), key=lambda found: -found[1])[:most]
