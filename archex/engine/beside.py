"""What a wave starts beside itself: groups of it, waits for them, and matrix products whose operands lie in local memory.

In: a decoded instruction, the cycle of issue. Out: completions, kept in rings a wave. Groups of a kind complete in the order started,
so a group's completion is that of everything started up to its end.
"""

from __future__ import annotations

from typing import Any

from archex.base import layout as lay
from archex.base.jit import jit_bare as jit
from archex.engine import tables as tab
from archex.engine.ports import go_ahead
from archex.engine.state import W_PIPE, X_HOLD

_WAVEFRONTS = tab.COUNTER_INDEX["local_memory_wavefronts"]
#: The kinds of `layout`, and beside bulk copies out of local memory the reads of it: it may be written again once they are done.
GROUP_READS = lay.GROUP_KINDS
RINGS = lay.GROUP_KINDS + 1
RING = 32  # groups remembered; waiting until more than that are under way waits for the oldest remembered
R_LATEST = 0  # completion of everything started so far
R_CLOSED = 1  # groups closed
R_TIMES = 2  # completion of the latest RING groups
RING_COLUMNS = R_TIMES + RING


@jit
def clear_rings(state: Any, w: int) -> None:
    """A wave begins: nothing is under way."""
    for kind in range(RINGS):
        for column in range(RING_COLUMNS):
            state.rings[w, kind, column] = 0


@jit
def add_to_group(state: Any, w: int, kind: int, done: int) -> None:
    """Something of this kind, of the group still open, completes at `done`."""
    ring = state.rings[w, kind]
    ring[R_LATEST] = max(ring[R_LATEST], done)


@jit
def close_group(state: Any, w: int, kind: int) -> None:
    """What was started since the last close is a group."""
    ring = state.rings[w, kind]
    ring[R_TIMES + (ring[R_CLOSED] & (RING - 1))] = ring[R_LATEST]
    ring[R_CLOSED] += 1


@jit
def group_reached(state: Any, w: int, kind: int, under_way: int) -> int:
    """Cycle from which at most `under_way` closed groups are incomplete; -1: nothing started so far is."""
    ring = state.rings[w, kind]
    if under_way < 0:
        return ring[R_LATEST]
    last = ring[R_CLOSED] - 1 - min(under_way, RING - 1)
    return ring[R_TIMES + (last & (RING - 1))] if last >= 0 else 0


@jit
def product(core: Any, state: Any, memory: Any, unit: int, w: int, pc: int, now: int) -> int:
    """A matrix product that runs beside its wave from `now` on, with an operand in local memory; its completion.

    The units of all schedulers read local memory at a time: each is held until all could have read what a product such as this one reads.
    """
    row = core.code[pc]
    end = float(now + row[X_HOLD])
    read = row[lay.BYTES] / (core.local_memory[tab.LOCAL_BANKS] * core.local_memory[tab.LOCAL_BANK_BYTES])
    if read > 0.0:
        memory.counters[_WAVEFRONTS] += int(read + 0.5)
        together = core.unit_int[tab.SCHEDULERS] * read
        end = max(end, now + together)
        go_ahead(state, core.owners[tab.OWNER_LOCAL, unit], read, together / (end - now))
    whole = int(end)
    if whole < end:
        whole += 1
    pipe = state.pipes[state.waves[w, W_PIPE]]
    if whole > pipe[0]:
        pipe[1] += whole - pipe[0]
        pipe[0] = whole
    done = whole + row[lay.LATENCY]
    add_to_group(state, w, lay.GROUP_MATRIX, done)
    return done
