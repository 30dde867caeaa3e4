"""What one wave did, instruction by instruction, for somebody who follows it.

In: the wave about to issue. Out: rows of `state.log`. Costs one comparison an instruction where nobody follows.
"""

from __future__ import annotations

from typing import Any

from archex.base.jit import jit_bare as jit
from archex.engine import tables as tab
from archex.engine.state import (
    G_WORKGROUP,
    L_WAVES,
    LOG_BLOCK,
    LOG_DONE,
    LOG_ISSUE,
    LOG_LANES,
    LOG_PC,
    LOG_SINCE,
    LOG_STALLS,
    LOG_WAVE,
    LOG_WORKGROUP,
    LOGGED,
    W_BLOCK,
    W_CONTEXT,
    W_GROUP,
    W_LANES,
    W_PC,
    W_PREVIOUS,
)


@jit
def begin_entry(core: Any, state: Any, w: int, now: int) -> int:
    """Before an instruction is charged: its row of the log, -1 if its wave isn't followed or the log is full."""
    wave, scalars = state.waves[w], state.scalars
    group = wave[W_GROUP]
    if state.groups[group, G_WORKGROUP] != scalars[LOG_WORKGROUP] or wave[W_CONTEXT] - group * core.launch[L_WAVES] != scalars[LOG_WAVE]:
        return -1
    entry = scalars[LOGGED]
    scalars[LOGGED] = entry + 1
    if entry >= state.log.shape[0]:
        return -1
    row = state.log[entry]
    row[LOG_SINCE], row[LOG_ISSUE], row[LOG_PC] = wave[W_PREVIOUS] + 1, now, wave[W_PC]
    row[LOG_BLOCK], row[LOG_LANES] = wave[W_BLOCK], wave[W_LANES]
    for reason in range(tab.REASONS):
        row[LOG_STALLS + reason] = -state.stalls[reason]
    return entry


@jit
def charge_entry(state: Any, entry: int) -> None:
    """After it is charged: the cycles each reason got."""
    for reason in range(tab.REASONS):
        state.log[entry, LOG_STALLS + reason] += state.stalls[reason]


@jit
def end_entry(state: Any, entry: int, done: int) -> None:
    """Its result is known to be there at `done`."""
    state.log[entry, LOG_DONE] = done
