"""One request a distinct line, with the sectors that its lanes want."""

from __future__ import annotations

from archex.engine.standard import coalesce_lines
from archex.parts.coalescing import Coalescing


class ByLine(Coalescing):
    """Merges all lanes of a wave at once."""

    name = "by_line"
    coalesce = staticmethod(coalesce_lines)
