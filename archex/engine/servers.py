"""Shared servers as virtual backlogs: a leaky bucket that drains one cycle a cycle.

In: arrival time and cost in cycles. Out: the wait before service. Requests reach a shared server slightly out of time order
(compute units advance in turns), which a reservation ("busy until") turns into false waiting for everybody; a backlog does not.
"""

from __future__ import annotations

from typing import Any

from archex.base.jit import jit_bare as jit

LAST = 0  # latest arrival seen
BACKLOG = 1  # cycles of work ahead at that time
SERVER_COLUMNS = 2


@jit
def wait(servers: Any, index: int, now: float, cost: float) -> float:
    """Cycles a request that arrives at `now` waits at server `index`, whose work grows by `cost`."""
    backlog = servers[index, BACKLOG]
    elapsed = now - servers[index, LAST]
    if elapsed > 0.0:
        servers[index, LAST] = now
        backlog -= elapsed
        if backlog < 0.0:
            backlog = 0.0
    servers[index, BACKLOG] = backlog + cost
    return backlog
