"""Workgroups of a cluster: the barrier among them, and what of each other's local memory costs.

In: arrivals and waits of waves, accesses with another workgroup's addresses. Out: waves let go, extra cycles. The workgroups of a cluster
lie in context slots in a row, from a multiple of its size on, in the order of their ranks.
"""

from __future__ import annotations

from typing import Any

from archex.base import layout as lay
from archex.base.jit import jit_bare as jit
from archex.engine import tables as tab
from archex.engine.signals import let_go
from archex.engine.state import (
    ASIDE,
    G_LIVE,
    G_UNIT,
    L_CLUSTER,
    L_WAVES,
    W_BARRIER,
    W_CLUSTER,
    W_GROUP,
)

K_ARRIVED = 0  # waves arrived in the phase under way
K_PHASES = 1  # phases ended
K_TIME = 2  # cycle of the latest arrival
K_END = 3  # cycle from which the waves of the last phase go on
CLUSTER_COLUMNS = 4
#: Bytes that a request to another workgroup's local memory covers, and that its data travel in.
REMOTE_LINE = 128
REMOTE_SECTOR = 32
CLUSTER_WAIT = ASIDE + (1 << 16)


@jit
def first_of(core: Any, group: int) -> int:
    """The context slot of rank 0 of a workgroup's cluster."""
    return group - group % core.launch[L_CLUSTER]


@jit
def end_phase(core: Any, state: Any, first: int) -> None:
    """Let the waves of a cluster go if all that still run have arrived."""
    row = state.clusters[first]
    size = core.launch[L_CLUSTER]
    live = 0
    for group in range(first, first + size):
        live += state.groups[group, G_LIVE]
    if row[K_ARRIVED] == 0 or row[K_ARRIVED] < live:
        return
    row[K_PHASES] += 1
    row[K_ARRIVED] = 0
    row[K_END] = row[K_TIME] + int(core.aside[tab.ASIDE_CLUSTER_BARRIER])
    for group in range(first, first + size):
        for k in range(core.launch[L_WAVES]):
            w = state.members[group, k]
            wave = state.waves[w]
            if wave[W_GROUP] == group and wave[W_BARRIER] == CLUSTER_WAIT:
                let_go(state, w, row[K_END], tab.STALL_BARRIER)


@jit
def arrive_cluster(core: Any, state: Any, w: int, now: int) -> None:
    """A wave arrives at its cluster's barrier and goes on."""
    wave = state.waves[w]
    first = first_of(core, wave[W_GROUP])
    row = state.clusters[first]
    wave[W_CLUSTER] = row[K_PHASES] + 1
    row[K_ARRIVED] += 1
    clock = state.barrier_clock[state.groups[wave[W_GROUP], G_UNIT]]
    clock[2] = max(clock[2], float(now)) + core.aside[tab.ASIDE_CLUSTER_WAVE]
    row[K_TIME] = max(row[K_TIME], int(clock[2]))
    end_phase(core, state, first)


@jit
def wait_cluster(core: Any, state: Any, w: int, now: int) -> tuple[int, int]:
    """A wave waits for the phase it arrived in: (cycle from which it goes on, reason), or it is kept until others let it go."""
    wave = state.waves[w]
    row = state.clusters[first_of(core, wave[W_GROUP])]
    if row[K_PHASES] >= wave[W_CLUSTER]:
        return max(row[K_END], now), tab.STALL_BARRIER
    wave[W_BARRIER] = CLUSTER_WAIT
    return 0, -1


@jit
def clear_cluster(core: Any, state: Any, group: int) -> None:
    """A workgroup starts; with the first of its cluster the barrier is as new."""
    if group == first_of(core, group):
        for column in range(CLUSTER_COLUMNS):
            state.clusters[group, column] = 0


@jit
def remote_rank(core: Any, group: int, address: int) -> int:
    """The context slot of the other workgroup whose local memory this is, -1 if it is the wave's own."""
    rank = address >> lay.CLUSTER_SHIFT
    if rank <= 0 or rank > core.launch[L_CLUSTER]:
        return -1
    other = first_of(core, group) + rank - 1
    return other if other != group else -1


@jit
def way_out(core: Any, memory: Any, group: int, width: int, atomic: bool) -> tuple[int, float]:
    """(context slot of a workgroup that lanes reach, -1 if all stay at home; cycles their requests hold the way there).

    Requests go by lines of one workgroup's local memory, data by sectors.
    """
    other, lines, sectors = -1, 0, 0
    for lane in range(width):
        address = memory.addresses[lane]
        if address < 0:
            continue
        there = remote_rank(core, group, address)
        if there < 0:
            continue
        other = there
        new_line, new_sector = 1, 1
        for before in range(lane):
            if memory.addresses[before] >= 0:
                if memory.addresses[before] // REMOTE_SECTOR == address // REMOTE_SECTOR:
                    new_sector = 0
                if memory.addresses[before] // REMOTE_LINE == address // REMOTE_LINE:
                    new_line = 0
        lines += new_line
        sectors += new_sector
    if atomic:
        return other, sectors * core.aside[tab.ASIDE_REMOTE_ATOMIC]
    return other, lines * core.aside[tab.ASIDE_REMOTE_LINE] + sectors * core.aside[tab.ASIDE_REMOTE_SECTOR]


@jit
def reach_out(core: Any, state: Any, other: int, now: float, start: float, passes: float) -> float:
    """Cycle from which another workgroup's local memory has taken an access, issued at `now`, that leaves here at `start`.

    It holds the port there for `passes`. That port's work is counted from the issue on: an access that waits long for its way would
    otherwise keep the other's own accesses from a port that stands idle.
    """
    start += core.aside[tab.ASIDE_REMOTE_LATENCY]
    port = core.unit_int[tab.LOCAL_PORT]
    target = core.owners[tab.OWNER_LOCAL, state.groups[other, G_UNIT]]
    start = max(start, state.ports[target, port])
    state.ports[target, port] = max(state.ports[target, port], now) + passes
    return start
