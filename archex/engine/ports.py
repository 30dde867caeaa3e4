"""The memory ports of a compute unit: one access after the other, and what arrives beside them.

In: a port, the cycle of an access, how long it holds the port. Out: the cycle it starts. What bulk copies read is read in the gaps; where
there are none, accesses and copies take turns.
"""

from __future__ import annotations

from typing import Any

from archex.base.jit import jit_bare as jit

BULK_PORT = 2  # columns of `ports` beside those of memory instructions
OWED = 3  # cycles that local memory's port owes to bulk copies
REMOTE_PORT = 4  # to and from other compute units of a cluster
CONSTANT_PORT = 5  # out of the cache of constants
PORTS = 6


@jit
def take_port(state: Any, unit: int, port: int, now: float, held: float) -> float:
    """Take local memory's port for `held` cycles; the cycle it is free for that."""
    ports = state.ports[unit]
    start = max(now, ports[port])
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
def take_way(state: Any, unit: int, start: float, held: float) -> float:
    """Take the way to the other compute units of the cluster for `held` cycles; the cycle it is free for that."""
    start = max(start, state.ports[unit, REMOTE_PORT])
    state.ports[unit, REMOTE_PORT] = start + held
    return start


@jit
def owe(state: Any, unit: int, port: int, now: float, cycles: float) -> None:
    """A bulk copy takes local memory's port for so many cycles, in its gaps."""
    ports = state.ports[unit]
    idle = now - ports[port]
    if idle > 0.0:
        ports[OWED] = max(ports[OWED] - idle, 0.0)
        ports[port] = now
    ports[OWED] += cycles
