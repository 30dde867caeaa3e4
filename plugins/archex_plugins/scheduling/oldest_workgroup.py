"""Greedy, then the oldest workgroup, its waves in turn: older workgroups make room sooner, waves of one are served alike."""

from __future__ import annotations

from typing import Any

from archex.engine.bits import lowest
from archex.engine.policies import GROUP_AGES
from archex.parts.wave_scheduler import WaveScheduler


class OldestWorkgroup(WaveScheduler):
    """Keeps the wave that issued last; when it can't, goes round the waves of the oldest workgroup that has one that can."""

    name = "oldest_workgroup"

    @staticmethod
    def pick_wave(view: Any, state: Any, params: Any) -> int:
        if view.last >= 0 and (view.ready >> view.last) & 1:
            return view.last
        mask, mine, group = view.ready, 0, 1 << 62
        while mask != 0:
            slot = lowest(mask)
            mask &= mask - 1
            started = view.age[view.first + slot] // GROUP_AGES
            if started < group:
                group, mine = started, 0
            if started == group:
                mine |= 1 << slot
        behind = mine & ~((2 << view.last) - 1) if view.last >= 0 else mine
        return lowest(behind) if behind != 0 else lowest(mine)
