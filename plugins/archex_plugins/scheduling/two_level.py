"""Two levels: groups of waves that go on together, one of them before the others (after Narasiman et al., MICRO 2011).

Waves in turn all reach their next load at about the same time, and then nobody has work left to hide it. When one group goes first, groups
reach their loads one after the other: while the first waits, the next ones compute.
"""

from __future__ import annotations

from typing import Any

import attrs
from archex.parts.part import number
from archex.parts.wave_scheduler import WaveScheduler

from archex_plugins.scheduling.choose import following

# Words of `state`: the group that goes first, the cycle at which it last could issue, then for each group 1 + its slot served last.
ACTIVE, SINCE, SERVED = 0, 1, 2


@attrs.frozen(kw_only=True)
class TwoLevelNumbers:
    """How large a group is and how long it is waited for."""

    group: int = number("count", "slots of a group", low=1, high=64)
    patience: int = number("cycles", "a group in which nobody could issue for so long gives way to the next one", low=1)


class TwoLevel(WaveScheduler):
    """In turn within the group that goes first; others fill the cycles it leaves, and follow it when its waves wait long."""

    name = "two_level"
    Spec = TwoLevelNumbers

    @classmethod
    def state_words(cls, spec: TwoLevelNumbers, count: int, each: int) -> int:
        return SERVED + -(-count // spec.group)

    @staticmethod
    def pick_wave(view: Any, state: Any, params: Any) -> int:
        size, patience = int(params[0]), int(params[1])
        groups = (view.slots + size - 1) // size
        for step in range(groups):
            group = (state[ACTIVE] + step) % groups
            ready = view.ready if groups == 1 else (view.ready >> (group * size)) & ((1 << size) - 1)
            if ready == 0:
                continue
            if step == 0:
                state[SINCE] = view.cycle
            elif view.cycle - state[SINCE] >= patience:
                state[ACTIVE] = group
                state[SINCE] = view.cycle
            slot = following(ready, state[SERVED + group] - 1)
            state[SERVED + group] = slot + 1
            return group * size + slot
        return -1
