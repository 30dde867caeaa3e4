"""Where a wave's cycles went: each cycle between two issues is charged to exactly one reason.

In: what its instruction waited for (kept with the wave) and the cycle of issue. Out: `state.stalls`. Reasons follow one another in the
order in which hardware clears them: a hold (branch, barrier, fence, start), fetch, the wave's own use of the pipe, operands, queue or
pipe. What remains is a wave that could issue and was not chosen.
"""

from __future__ import annotations

from typing import Any

from archex.base import layout as lay
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
    W_OWN,
    W_PIPE,
    W_PREVIOUS,
    W_TOKEN,
    X_FULL,
    X_HOLD,
)

#: A wave's last use of a pipe, packed: number of the pipe, its reason while it is full, cycles held, cycle of the start.
USE_PIPE, USE_FULL, USE_REASON, USE_HOLD, USE_MOST, USE_START = 255, 8, 15, 12, 4095, 24


@jit
def busy_cycles(pipes: Any, pipe: int, now: int) -> int:
    """Cycles before `now` in which a pipe could not start an instruction."""
    if pipe < 0:
        return 0
    return pipes[pipe, 1] - max(pipes[pipe, 0] - now, 0)


@jit
def note_use(wave: Any, row: Any, pipe: int, start: int) -> None:
    """A wave's instruction starts in a pipe (by number) at `start`."""
    wave[W_OWN] = (start << USE_START) | (min(row[X_HOLD], USE_MOST) << USE_HOLD) | (row[X_FULL] << USE_FULL) | pipe


@jit
def charge_issue(waves: Any, stalls: Any, pipes: Any, row: Any, w: int, now: int, queue_free: int) -> None:
    """Charge the cycles since wave `w` issued last, now that it issues the instruction `row` at `now`."""
    wave = waves[w]
    reached = wave[W_PREVIOUS] + 1
    stalls[tab.SELECTED] += 1
    if reached >= now:
        return
    until = min(wave[W_HOLD], now)
    if until > reached:
        stalls[wave[W_HOLD_REASON]] += until - reached
        reached = until
    until = min(wave[W_FETCH], now)
    if until > reached:
        stalls[tab.STALL_FETCH] += until - reached
        reached = until
    own = wave[W_OWN]
    hold = 0
    if own & USE_PIPE == row[lay.PIPE] and row[lay.PIPE_ALTERNATIVE] < 0:  # known when code is made: a fixed wait, not a busy pipe
        hold = (own >> USE_HOLD) & USE_MOST
        until = min(min(wave[W_PREVIOUS], own >> USE_START) + hold, now)
        if until > reached:
            stalls[tab.STALL_DEPENDENCY] += until - reached
            reached = until
    until = min((own >> USE_START) + hold, now)
    if until > reached:  # in the pipe's queue
        stalls[(own >> USE_FULL) & USE_REASON] += until - reached
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
        stalls[row[X_FULL]] += busy
        stalls[tab.STALL_NOT_SELECTED] += now - reached - busy
