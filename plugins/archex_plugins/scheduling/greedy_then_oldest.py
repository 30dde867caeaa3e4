"""Greedy, then oldest: stay with a wave while it can issue, so that its working set stays small."""

from __future__ import annotations

from archex.engine.standard import pick_oldest
from archex.parts.wave_scheduler import WaveScheduler


class GreedyThenOldest(WaveScheduler):
    """Keeps the wave that issued last; when it can't, takes the one that started first."""

    name = "greedy_then_oldest"
    pick_wave = staticmethod(pick_oldest)
