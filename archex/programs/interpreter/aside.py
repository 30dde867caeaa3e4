"""What a wave starts beside itself, and the barriers it reports to: dispatch.

In: an encoded operation and the lanes that take part, possibly none. Out: its records, memory changed, or a fault number; BLOCKED where the
wave has to wait before the operation.
"""

from __future__ import annotations

from typing import Any

from archex.base.jit import outlined
from archex.programs.interpreter import table as n
from archex.programs.interpreter.bulk import bulk
from archex.programs.interpreter.copies import copy_lanes
from archex.programs.interpreter.signals import signal
from archex.programs.values import popcount


@outlined("i:iiiipp", "aside")
def meeting(arriving: Any, act: Any, live: Any, c: Any, x: Any, fault: Any) -> Any:
    """One half of the cluster's barrier; a fault number, or BLOCKED: all live lanes take part."""
    if act == 0:
        return n.NO_FAULT
    fault[n.F_VALUE], fault[n.F_EXTRA] = popcount(act), popcount(live)
    if act != live:
        return n.DIVERGED_BARRIER
    at = c * n.CONTEXT_COLUMNS
    if arriving:
        x[at + n.ARRIVED] += 1
        return n.NO_FAULT
    if x[at + n.WAITING] == n.MET:  # woken
        x[at + n.WAITING] = 0
        return n.NO_FAULT
    x[at + n.WAITING] = n.MET
    return n.BLOCKED


@outlined("i:pippiipiiiippppppppppp", "aside", entry=True)
def aside(
    code: Any, o: Any, lists: Any, r: Any, base: Any, first_predicate: Any, p: Any, act: Any, live: Any, c: Any, local_at: Any, look: Any,
    x: Any, t: Any, pages: Any, state: Any, local: Any, phases: Any, shape: Any, records: Any, pool: Any, fault: Any,
) -> Any:  # fmt: skip
    """One operation; a fault number or BLOCKED."""
    op = code[o + n.OP]
    if op == n.COPY:
        reading = act
        if code[o + n.MODE] == n.IGNORED:
            reading = act & ~p[first_predicate + code[o + n.C]]
        return copy_lanes(code, o, lists, r, base, act, reading, c, local_at, look, x, t, pages, local, shape, records, pool, fault)
    if op == n.BULK:
        return bulk(code, o, lists, r, base, act, c, local_at, look, x, t, pages, state, local, phases, shape, records, pool, fault)
    if op == n.SIGNAL:
        return signal(code, o, r, base, p, first_predicate, act, c, local_at, x, local, phases, shape, records, pool, fault)
    return meeting(code[o + n.MODE], act, live, c, x, fault)
