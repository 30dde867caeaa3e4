"""Greedy, then the oldest workgroup, whose wave has waited longest: older workgroups make room sooner, waves of one are served alike."""

from __future__ import annotations

from typing import Any

from archex.engine.bits import lowest
from archex.engine.policies import GROUP_AGES
from archex.parts.wave_scheduler import WaveScheduler


class OldestWorkgroup(WaveScheduler):
    """Keeps the wave that issued last; when it can't, the oldest workgroup that has one that can gives the one that issued longest ago.

    Going round the slots would not do: whoever gets a result issues what takes it, and the turn is at the slot behind; where results come
    in a rhythm, some slots never have it.
    """

    name = "oldest_workgroup"

    @classmethod
    def state_words(cls, spec: Any, count: int, each: int) -> int:
        return count  # the cycle of each slot's last issue

    @staticmethod
    def pick_wave(view: Any, state: Any, params: Any) -> int:
        best = view.last
        if best < 0 or not (view.ready >> best) & 1:
            mask, group, issued = view.ready, 1 << 62, 1 << 62
            while mask != 0:
                slot = lowest(mask)
                mask &= mask - 1
                started = view.age[view.first + slot] // GROUP_AGES
                if started < group or (started == group and state[slot] < issued):
                    best, group, issued = slot, started, state[slot]
        state[best] = view.cycle
        return best
