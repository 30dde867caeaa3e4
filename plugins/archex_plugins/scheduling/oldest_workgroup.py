"""Greedy, then the oldest workgroup, its waves in turn: older workgroups make room sooner, waves of one are served alike."""

from __future__ import annotations

from archex.engine.standard import pick_oldest_workgroup
from archex.parts.wave_scheduler import WaveScheduler


class OldestWorkgroup(WaveScheduler):
    """Keeps the wave that issued last; when it can't, goes round the waves of the oldest workgroup that has one that can."""

    name = "oldest_workgroup"
    pick_wave = staticmethod(pick_oldest_workgroup)
