"""Where a wave's cycles went: each cycle between two issues is charged to exactly one reason.

In: what its instruction waited for (kept with the wave) and the cycle of issue. Out: `state.stalls`. Reasons follow one
another in the order in which hardware clears them: a hold (branch, barrier, fence, start), fetch, operands, queue or pipe.
What remains is a wave that could issue and was not chosen.
"""

from __future__ import annotations

from typing import Any

from archex.base.jit import jit_bare as jit
from archex.engine import tables as tab
from archex.engine.state import (
    TOKEN_FIXED,
    TOKEN_MASK,
    TOKEN_SHIFT,
    W_BUSY,
    W_FETCH,
    W_HOLD,
    W_HOLD_REASON,
    W_PIPE,
    W_PREVIOUS,
    W_TOKEN,
)


@jit
def busy_cycles(pipes: Any, pipe: int, now: int) -> int:
    """Cycles before `now` in which a pipe could not start an instruction."""
    if pipe < 0:
        return 0
    return pipes[pipe, 1] - max(pipes[pipe, 0] - now, 0)


@jit
def charge_issue(waves: Any, stalls: Any, pipes: Any, w: int, now: int, queue_free: int) -> None:
    """Charge the cycles since wave `w` issued last, now that it issues at `now`."""
    wave = waves[w]
    reached = wave[W_PREVIOUS] + 1
    stalls[tab.SELECTED] += 1
    until = min(wave[W_HOLD], now)
    if until > reached:
        stalls[wave[W_HOLD_REASON]] += until - reached
        reached = until
    until = min(wave[W_FETCH], now)
    if until > reached:
        stalls[tab.STALL_FETCH] += until - reached
        reached = until
    until = min(wave[W_TOKEN] >> TOKEN_SHIFT, now)
    if until > reached:
        code = wave[W_TOKEN] & TOKEN_MASK
        stalls[code if code < TOKEN_FIXED else tab.STALL_DEPENDENCY] += until - reached
        reached = until
    until = min(queue_free, now)
    if until > reached:
        stalls[tab.STALL_MEMORY_QUEUE] += until - reached
        reached = until
    if now > reached:
        busy = min(max(busy_cycles(pipes, wave[W_PIPE], now) - wave[W_BUSY], 0), now - reached)
        stalls[tab.STALL_EXECUTION_UNIT] += busy
        stalls[tab.STALL_NOT_SELECTED] += now - reached - busy
