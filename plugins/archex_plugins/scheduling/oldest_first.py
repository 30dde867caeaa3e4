"""Oldest first: age decides every time, with no preference for the wave that issued last."""

from __future__ import annotations

from typing import Any

from archex.engine.bits import lowest
from archex.parts.wave_scheduler import WaveScheduler


class OldestFirst(WaveScheduler):
    """Takes the ready wave that started first."""

    name = "oldest_first"

    @staticmethod
    def pick_wave(view: Any, state: Any, params: Any) -> int:
        best, age, mask = -1, 1 << 62, view.ready
        while mask != 0:
            slot = lowest(mask)
            mask &= mask - 1
            if view.age[view.first + slot] < age:
                best, age = slot, view.age[view.first + slot]
        return best
