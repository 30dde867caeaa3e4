"""The memory ports of a compute unit: one access after the other, and what arrives beside them.

In: a port, the cycle of an access, how long it holds the port. Out: the cycle it starts. Operands of matrix products come first: the
accesses of waves get the share of local memory's port that products leave. What copies read and write goes in the gaps; where there are
none, accesses and copies take turns.
"""

from __future__ import annotations

from typing import Any

from archex.base.jit import jit_bare as jit

BULK_PORT = 2  # columns of `ports` beside those of memory instructions
OWED = 3  # cycles that local memory's port owes to bulk copies
REMOTE_PORT = 4  # to and from other compute units of a cluster
CONSTANT_PORT = 5  # out of the cache of constants
AHEAD = 6  # cycles of local memory's port that products have still to read
AHEAD_RATIO = 7  # cycles they take for each that they leave
LANE_COPY_PORT = 8  # copies by lane past the vector cache
COPIES_NEXT = 9  # entry of the ring that the next copy by lane takes
COPIES = 10  # ring of cycles at which the copies by lane before the port have passed
MOST_COPIES = 32
PORTS = COPIES + MOST_COPIES
#: What products leave of the port at least.
LEFT = 0.05


@jit
def take_port(state: Any, unit: int, port: int, now: float, held: float) -> float:
    """Take local memory's port for `held` cycles; the cycle it is free for that."""
    ports = state.ports[unit]
    start = max(now, ports[port])
    ahead = ports[AHEAD]
    if ahead > 0.0:
        ahead = max(ahead - max(now - ports[port], 0.0), 0.0)
        first = min(ahead, held * ports[AHEAD_RATIO])
        ports[AHEAD] = ahead - first
        start += first
    owed = ports[OWED]
    if owed > 0.0:
        owed = max(owed - max(now - ports[port], 0.0), 0.0)
        paid = min(owed, held)
        ports[OWED] = owed - paid
        ports[port] = start + held + paid
    else:
        ports[port] = start + held
    return start


@jit
def queue_copy(state: Any, unit: int, taken: int, passed: float, room: int) -> int:
    """A copy by lane that passes its port by `passed` leaves the memory queue at `taken`, or once one of `room` before has passed."""
    if room <= 0:
        return taken
    ports = state.ports[unit]
    place = int(ports[COPIES_NEXT]) % room
    taken = max(taken, int(ports[COPIES + place]))
    ports[COPIES + place] = passed
    ports[COPIES_NEXT] = place + 1
    return taken


@jit
def take_way(state: Any, unit: int, start: float, held: float) -> float:
    """Take the way to the other compute units of the cluster for `held` cycles; the cycle it is free for that."""
    start = max(start, state.ports[unit, REMOTE_PORT])
    state.ports[unit, REMOTE_PORT] = start + held
    return start


@jit
def go_ahead(state: Any, unit: int, cycles: float, share: float) -> None:
    """A matrix product reads local memory for so many cycles; `share`: of the port's time, what products such as this one take."""
    ports = state.ports[unit]
    ports[AHEAD] += cycles
    ports[AHEAD_RATIO] = share / max(1.0 - share, LEFT)


@jit
def owe(state: Any, unit: int, port: int, now: float, cycles: float) -> None:
    """A copy takes local memory's port for so many cycles, in its gaps."""
    ports = state.ports[unit]
    idle = now - ports[port]
    if idle > 0.0:
        ports[AHEAD] = max(ports[AHEAD] - idle, 0.0)
        ports[OWED] = max(ports[OWED] - idle, 0.0)
        ports[port] = now
    ports[OWED] += cycles
