"""Where the workgroups of a cluster can start: all of them at one time, on compute units of one group.

In: the rooms of compute units and when each is free. Out: `state.offered`, as `available` for the dispatcher's policy.
"""

from __future__ import annotations

from typing import Any

from archex.base.jit import jit_bare as jit
from archex.engine.state import G_LIVE, INFINITY, L_CLUSTER, L_PER_UNIT, U_ROOM_HEAD, U_ROOM_TAIL


@jit
def rooms_at(core: Any, state: Any, unit: int, now: int) -> tuple[int, int]:
    """(rooms of a compute unit that are free at `now`, cycle of the next one)."""
    per_unit = core.launch[L_PER_UNIT]
    free, following = 0, INFINITY
    for k in range(state.units[unit, U_ROOM_HEAD], state.units[unit, U_ROOM_TAIL]):
        moment = state.room[unit, k % per_unit]
        if moment <= now:
            free += 1
        else:
            following = min(following, moment)
    return free, following


@jit
def offer_cluster(core: Any, paths: Any, state: Any, now: int) -> tuple[bool, int]:
    """(whether a cluster can start at `now`, else the cycle at which to look again); offers the units of the groups that hold it."""
    units = state.offered.shape[0]
    following = INFINITY
    found = False
    for unit in range(units):
        state.offered[unit], later = rooms_at(core, state, unit, now)
        following = min(following, later)
    groups = 0
    for unit in range(units):
        groups = max(groups, paths.unit_group[unit] + 1)
    for group in range(groups):
        total = 0
        for unit in range(units):
            if paths.unit_group[unit] == group:
                total += state.offered[unit]
        fits = total >= core.launch[L_CLUSTER]
        found = found or fits
        for unit in range(units):
            if paths.unit_group[unit] == group:
                state.offered[unit] = now if fits and state.offered[unit] > 0 else INFINITY
    return found, following


@jit
def keep_offer(core: Any, paths: Any, state: Any, placed: int, now: int) -> None:
    """A workgroup of the cluster was placed on unit `placed`: the others go to its group."""
    for unit in range(state.offered.shape[0]):
        if paths.unit_group[unit] != paths.unit_group[placed]:
            state.offered[unit] = INFINITY
    free, _ = rooms_at(core, state, placed, now)
    if free == 0:
        state.offered[placed] = INFINITY


@jit
def first_offered(core: Any, state: Any) -> int:
    """The first unit, in the order of filling, that is offered."""
    for k in range(state.offered.shape[0]):
        if state.offered[core.unit_order[k]] < INFINITY:
            return core.unit_order[k]
    return 0


@jit
def block_free(core: Any, state: Any) -> bool:
    """Whether context slots for a whole cluster are free: its workgroups may end one by one, so more clusters than fit have some left."""
    size = core.launch[L_CLUSTER]
    for first in range(0, state.groups.shape[0], size):
        live = 0
        for group in range(first, first + size):
            live += state.groups[group, G_LIVE]
        if live == 0:
            return True
    return False
