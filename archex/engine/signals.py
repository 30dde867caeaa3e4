"""Barriers that lie in local memory: each counts arrivals and bytes of a phase, which ends when both are there.

In: events with their cycles (those of copies lie ahead). Out: waves let go, as entries of `state.woken`. A phase ends at the last arrival
or at the last byte, whichever is later; when its event is known, so is that cycle.
"""

from __future__ import annotations

from typing import Any

from archex.base import layout as lay
from archex.base.jit import jit_bare as jit
from archex.engine import tables as tab
from archex.engine.state import ASIDE, G_SIGNALS, L_CLUSTER, L_WAVES, W_BARRIER, W_GROUP, W_NEEDED, WOKEN

SIGNALS = 128  # barriers of a workgroup; a further one takes the place of the last
A_ADDRESS = 0
A_EXPECTED = 1  # arrivals of a phase
A_PENDING = 2
A_BYTES = 3  # bytes still to come; below 0 where they came before they were announced
A_PHASES = 4  # phases ended
A_TIME = 5  # cycle of the latest event
A_CARRIES = 6  # 1: this phase has bytes to wait for
A_ENDS = 7  # cycle of the end of each of the last four phases, times 2, plus A_CARRIES
SIGNAL_COLUMNS = A_ENDS + 4
ADDRESS_MASK = (1 << lay.CLUSTER_SHIFT) - 1


@jit
def let_go(state: Any, w: int, moment: int, reason: int) -> None:
    """A wave that waits can go on from `moment`."""
    entry = state.woken[state.scalars[WOKEN]]
    entry[0], entry[1], entry[2] = w, moment, reason
    state.scalars[WOKEN] += 1
    state.waves[w, W_BARRIER] = -1


@jit
def owner(core: Any, group: int, address: int) -> int:
    """The workgroup in whose local memory an address lies, seen from `group`."""
    rank = address >> lay.CLUSTER_SHIFT
    return group if rank <= 0 or rank > core.launch[L_CLUSTER] else group - group % core.launch[L_CLUSTER] + rank - 1


@jit
def place_of(state: Any, group: int, address: int) -> int:
    """The row of a barrier of this workgroup; a new one is made."""
    known = state.groups[group, G_SIGNALS]
    offset = address & ADDRESS_MASK
    for k in range(known):
        if state.signals[group, k, A_ADDRESS] == offset:
            return k
    place = min(known, SIGNALS - 1)
    state.groups[group, G_SIGNALS] = place + 1
    row = state.signals[group, place]
    for column in range(SIGNAL_COLUMNS):
        row[column] = 0
    row[A_ADDRESS] = offset
    return place


@jit
def set_signal(state: Any, group: int, address: int, arrivals: int, now: int) -> None:
    """Set up a barrier: phase 0 begins."""
    row = state.signals[group, place_of(state, group, address)]
    for column in range(A_EXPECTED, SIGNAL_COLUMNS):
        row[column] = 0
    row[A_EXPECTED] = row[A_PENDING] = arrivals
    row[A_TIME] = now


@jit
def signal_event(core: Any, state: Any, group: int, address: int, arrivals: int, announced: int, arrived: int, moment: int) -> None:
    """Arrivals, bytes announced and bytes arrived at a barrier, by `moment`."""
    place = place_of(state, group, address)
    row = state.signals[group, place]
    row[A_PENDING] -= arrivals
    row[A_BYTES] += announced - arrived
    row[A_TIME] = max(row[A_TIME], moment)
    if announced > 0:
        row[A_CARRIES] = 1
    if row[A_EXPECTED] <= 0 or row[A_PENDING] > 0 or row[A_BYTES] != 0:
        return
    row[A_PHASES] += 1
    row[A_ENDS + (row[A_PHASES] & 3)] = row[A_TIME] * 2 + row[A_CARRIES]
    row[A_PENDING] = row[A_EXPECTED]
    reason = tab.STALL_MEMORY if row[A_CARRIES] != 0 else tab.STALL_BARRIER
    row[A_CARRIES] = 0
    for k in range(core.launch[L_WAVES]):
        w = state.members[group, k]
        wave = state.waves[w]
        if wave[W_GROUP] == group and wave[W_BARRIER] == ASIDE + place and wave[W_NEEDED] <= row[A_PHASES]:
            let_go(state, w, row[A_TIME], reason)


@jit
def wait_signal(state: Any, w: int, address: int, phases: int, now: int) -> tuple[int, int]:
    """A wave waits until so many phases have ended: (cycle from which it goes on, reason), or it is kept until others let it go."""
    wave = state.waves[w]
    group = wave[W_GROUP]
    place = place_of(state, group, address)
    row = state.signals[group, place]
    if phases <= row[A_PHASES]:
        if phases <= 0:
            return now, tab.STALL_BARRIER
        end = row[A_ENDS + (max(phases, row[A_PHASES] - 3) & 3)]
        return end // 2, tab.STALL_MEMORY if end & 1 else tab.STALL_BARRIER
    wave[W_BARRIER] = ASIDE + place
    wave[W_NEEDED] = phases
    return 0, -1
