"""Greedy, and fair at a busy pipe: stay with a wave from one cycle to the next, else the oldest; after a pause, who has waited longest.

Where nobody could issue in the cycle before although waves were ready, they waited for a busy pipe: they are served in turn, so waves that
share it go on at the same pace and none starves until the others end. Where every cycle issues, the oldest go first.
"""

from __future__ import annotations

from typing import Any

from archex.engine.bits import lowest
from archex.parts.wave_scheduler import WaveScheduler

from archex_plugins.scheduling.choose import oldest


class GreedyThenWaiting(WaveScheduler):
    """Keeps the wave that issued in the cycle before, else the oldest; after a cycle without an issue, who issued longest ago."""

    name = "greedy_then_waiting"

    @classmethod
    def state_words(cls, spec: Any, count: int, each: int) -> int:
        return count  # the cycle of each slot's latest issue

    @staticmethod
    def pick_wave(view: Any, state: Any, params: Any) -> int:
        best = view.last
        if best < 0 or view.cycle > state[best] + 1:
            mask, best, waiting = view.ready, -1, 1 << 62
            while mask != 0:
                slot = lowest(mask)
                mask &= mask - 1
                if state[slot] < waiting:
                    best, waiting = slot, state[slot]
        elif (view.ready >> best) & 1 == 0:
            best = oldest(view.ready, view.age, view.first)
        state[best] = view.cycle
        return best
