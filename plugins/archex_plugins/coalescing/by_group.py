"""Neighbouring lanes are merged, groups of them are not: the address unit takes a few lanes at a time."""

from __future__ import annotations

from typing import Any

import attrs
from archex.engine.standard import merge_lanes
from archex.parts.coalescing import Coalescing
from archex.parts.part import number


@attrs.frozen(kw_only=True)
class ByGroupNumbers:
    """How many lanes pass at a time."""

    lanes: int = number("count", "lanes merged with one another; 1: none are", low=1, high=64, default=16)


class ByGroup(Coalescing):
    """One request a distinct line and group of lanes; a line that several groups want is looked up by each."""

    name = "by_group"
    Spec = ByGroupNumbers

    @staticmethod
    def coalesce(access: Any, line: int, sector: int, lines: Any, sectors: Any, scratch: Any, params: Any) -> int:
        size, found, begin = int(params[0]), 0, 0
        while begin < access.lanes:
            found += merge_lanes(access, begin, min(begin + size, access.lanes), line, sector, lines[found:], sectors[found:], scratch)
            begin += size
        return found
