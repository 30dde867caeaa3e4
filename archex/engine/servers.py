"""Shared servers as virtual backlogs: a leaky bucket that drains one cycle a cycle.

In: arrival time and cost in cycles. Out: the wait before service. Requests reach a shared server slightly out of time order
(compute units advance in turns), which a reservation ("busy until") turns into false waiting for everybody; a backlog does not.
"""

from __future__ import annotations

from typing import Any

from archex.base.jit import jit_bare as jit

CLOCK = 0  # row that holds, in its first column, the cycle of the instruction whose requests are being served
LAST = 0  # latest cycle seen
BACKLOG = 1  # cycles of work ahead at that time
TARGET = 2  # sector of the latest atomic
SERVER_COLUMNS = 8
ACCEPTED = 1  # in row CLOCK: cycles the latest atomic waited until the second level took it
REPEATED = 2  # in row CLOCK: what the atomic being served costs where the one before was on the same sector
RESULT = 3  # in row CLOCK: sectors that its result takes on the way up, for each of its own
TOUCHED = 4  # in row CLOCK: its sector that takes the most passes
FARTHER = 5  # in row CLOCK: cycles that a store's lines travel beyond this device


@jit
def wait(servers: Any, index: int, now: float, cost: float) -> float:
    """Cycles a request that arrives at `now` waits at server `index`, whose work grows by `cost`.

    A server drains by the clock of issue, not by arrivals: one that arrives late, held up in its own compute unit, must not let the time of
    everybody's server run ahead (all later requests would see work that no longer drains, wait, arrive later still, and so on without end).
    """
    clock = servers[CLOCK, 0]
    backlog = servers[index, BACKLOG]
    elapsed = clock - servers[index, LAST]
    if elapsed > 0.0:
        servers[index, LAST] = clock
        backlog -= elapsed
        if backlog < 0.0:
            backlog = 0.0
    servers[index, BACKLOG] = backlog + cost
    ahead = now - clock
    return backlog - ahead if backlog > ahead else 0.0
