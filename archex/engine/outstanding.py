"""What waves have waited for since they issued last: they are charged when they issue, and a stretch of a run ends in between.

In: the state between two turns. Out: wave-cycles by reason, and cycles of schedulers and compute units that are still active: what belongs
to the time up to now beside what has been counted. Without it a stretch would lack the waves that others keep from issuing.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from archex.base import layout as lay
from archex.engine import tables as tab
from archex.engine.stalls import USE_FULL, USE_HOLD, USE_MOST, USE_PIPE, USE_REASON, USE_START
from archex.engine.state import (
    NOW,
    S_LIVE,
    S_QUEUE,
    S_SINCE,
    TOKEN_FIXED,
    TOKEN_MASK,
    TOKEN_SHIFT,
    U_LIVE,
    U_SINCE,
    W_BARRIER,
    W_BUSY,
    W_FETCH,
    W_GROUP,
    W_HOLD,
    W_HOLD_REASON,
    W_OWN,
    W_PC,
    W_PIPE,
    W_PREVIOUS,
    W_TOKEN,
    X_FULL,
    X_MEMORY,
    Core,
    State,
)


def active_cycles(state: State) -> tuple[int, int]:
    """(cycles of schedulers, of compute units) since their first wave came, of those that have waves now."""
    now = int(state.scalars[NOW])
    found = []
    for rows, live, since in ((state.schedulers, S_LIVE, S_SINCE), (state.units, U_LIVE, U_SINCE)):
        found.append(int(np.maximum(now - rows[rows[:, live] > 0, since], 0).sum()))
    return found[0], found[1]


def waiting(core: Core, state: State) -> np.ndarray:
    """int64[REASONS]: cycles since each resident wave's last issue, by what they went to so far, as `stalls` would charge them."""
    now = int(state.scalars[NOW])
    stalls: Any = np.zeros(tab.REASONS, np.int64)
    numbers = np.flatnonzero((state.waves[:, W_GROUP] >= 0) & (state.waves[:, W_PREVIOUS] < now - 1))
    waves = state.waves[numbers]
    code = core.code[np.maximum(waves[:, W_PC], 0)]
    started = waves[:, W_PC] >= 0
    reached = waves[:, W_PREVIOUS] + 1

    def charge(until: np.ndarray, reason: Any) -> None:
        nonlocal reached
        cycles = np.maximum(np.minimum(until, now) - reached, 0)
        np.add.at(stalls, np.broadcast_to(reason, cycles.shape), cycles)
        reached = reached + cycles

    charge(waves[:, W_HOLD], waves[:, W_HOLD_REASON])
    barred = waves[:, W_BARRIER] >= 0
    charge(np.where(barred, now, 0), tab.STALL_BARRIER)
    charge(waves[:, W_FETCH] * started, tab.STALL_FETCH)
    own, pipe = waves[:, W_OWN], waves[:, W_PIPE]
    mine = started & (code[:, lay.PIPE_ALTERNATIVE] < 0) & (own & USE_PIPE == code[:, lay.PIPE])
    hold = np.where(mine, (own >> USE_HOLD) & USE_MOST, 0)
    charge((np.minimum(waves[:, W_PREVIOUS], own >> USE_START) + hold) * mine, tab.STALL_DEPENDENCY)
    charge((own >> USE_START) + hold, (own >> USE_FULL) & USE_REASON)
    token = waves[:, W_TOKEN]
    reason = token & TOKEN_MASK
    charge((token >> TOKEN_SHIFT) * started, np.where(reason < TOKEN_FIXED, reason, tab.STALL_DEPENDENCY))
    g = numbers // int(core.unit_int[tab.SLOTS])
    queue = state.queue[g, state.schedulers[g, S_QUEUE]]
    charge(np.where(started & (code[:, X_MEMORY] != 0), queue, 0), tab.STALL_MEMORY_QUEUE)
    rows = state.pipes[np.maximum(pipe, 0)]
    busy = rows[:, 1] - np.maximum(rows[:, 0] - now, 0) - waves[:, W_BUSY]
    busy = np.clip(np.where(started & (pipe >= 0), busy, 0), 0, np.maximum(now - reached, 0))
    charge(reached + busy, code[:, X_FULL])
    charge(np.full(len(waves), now), tab.STALL_NOT_SELECTED)
    return stalls
