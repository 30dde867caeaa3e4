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
def charge(stalls: Any, reason: int, reached: int, until: int, now: int) -> int:
    """Charge the cycles from `reached` until then, or now, to a reason; what is reached with that. No branch: hosts foresee these badly."""
    cycles = max(min(until, now) - reached, 0)
    stalls[reason] += cycles
    return reached + cycles


@jit
def charge_issue(waves: Any, stalls: Any, pipes: Any, row: Any, w: int, now: int, queue_free: int) -> None:
    """Charge the cycles since wave `w` issued last, now that it issues the instruction `row` at `now`."""
    wave = waves[w]
    reached = wave[W_PREVIOUS] + 1
    stalls[tab.SELECTED] += 1
    reached = charge(stalls, wave[W_HOLD_REASON], reached, wave[W_HOLD], now)
    reached = charge(stalls, tab.STALL_FETCH, reached, wave[W_FETCH], now)
    own, start = wave[W_OWN], wave[W_OWN] >> USE_START
    mine = (own & USE_PIPE == row[lay.PIPE]) & (row[lay.PIPE_ALTERNATIVE] < 0)  # known when code is made: a fixed wait, not a busy pipe
    hold = (own >> USE_HOLD) & USE_MOST if mine else 0
    reached = charge(stalls, tab.STALL_DEPENDENCY, reached, min(wave[W_PREVIOUS], start) + hold, now)
    reached = charge(stalls, (own >> USE_FULL) & USE_REASON, reached, start + hold, now)  # in the pipe's queue
    code = wave[W_TOKEN] & TOKEN_MASK
    reached = charge(stalls, code if code < TOKEN_FIXED else tab.STALL_DEPENDENCY, reached, wave[W_TOKEN] >> TOKEN_SHIFT, now)
    reached = charge(stalls, tab.STALL_MEMORY_QUEUE, reached, queue_free, now)
    if now > reached:
        busy = min(max(busy_cycles(pipes, wave[W_PIPE], now) - wave[W_BUSY], 0), now - reached)
        stalls[row[X_FULL]] += busy
        stalls[tab.STALL_NOT_SELECTED] += now - reached - busy
