"""Least recently used, exactly."""

from __future__ import annotations

from archex.engine.standard import victim_oldest
from archex.parts.replacement import Replacement


class Lru(Replacement):
    """Drops the line that was used longest ago."""

    name = "lru"
    pick_victim = staticmethod(victim_oldest)
