"""Greedy, then the oldest workgroup, whose wave has waited longest: older workgroups make room sooner, waves of one are served alike."""

from __future__ import annotations

from typing import Any

from archex.engine.standard import pick_workgroup
from archex.parts.wave_scheduler import WaveScheduler


class OldestWorkgroup(WaveScheduler):
    """Keeps the wave that issued last; when it can't, the oldest workgroup that has one that can gives the one that issued longest ago.

    Going round the slots would not do: whoever gets a result issues what takes it, and the turn is at the slot behind; where results come
    in a rhythm, some slots never have it.
    """

    name = "oldest_workgroup"
    pick_wave = staticmethod(pick_workgroup)

    @classmethod
    def state_words(cls, spec: Any, count: int, each: int) -> int:
        return count  # the cycle of each slot's last issue
