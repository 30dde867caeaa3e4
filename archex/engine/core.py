"""The main loop: the dispatcher and the compute units, a few cycles at a time.

In: everything of a launch, as tuples of arrays and of functions. Out: a return code; all else is in the state. Compute units advance one
after the other by a quantum of cycles, each event by event, so that its state stays in the host's caches.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from archex.base.jit import jit_bare as jit
from archex.engine import tables as tab
from archex.engine.ahead import MANY, ask_ahead
from archex.engine.dispatch import dispatch, resume_starved
from archex.engine.issue import turn
from archex.engine.state import (
    C_DISPATCH,
    CURSOR,
    DISPATCHED,
    FINISHED_GROUPS,
    INFINITY,
    L_CLUSTER,
    L_QUANTUM,
    L_WAVES,
    LIVE,
    NEXT_ROOM,
    NOT_STARTED,
    NOW,
    PARKED,
    S_NOW,
    STARVED,
    STOP_INSTRUCTIONS,
    STOP_WORKGROUPS,
    U_NEXT,
    U_TURN,
)

_INSTRUCTIONS = tab.COUNTER_INDEX["wave_instructions"]


class Functions(NamedTuple):
    """The compiled policies as the core calls them."""

    pick_wave: Any
    note_wave: Any
    coalesce: Any
    access_cycles: Any
    map_address: Any
    place_workgroup: Any
    set_index: Any
    pick_victim: Any
    note_set: Any


class Links(NamedTuple):
    """Steps of the memory path, compiled apart: linked into each other they would be compiled again at every level of calls."""

    write_line: Any
    read_line: Any


class Calls(NamedTuple):
    """Steps of an instruction, compiled apart."""

    global_access: Any
    local_access: Any
    aside: Any
    links: Any


class Trace(NamedTuple):
    """The rings of `layout`."""

    blocks: Any
    records: Any
    pool: Any
    cursor: Any


class Whole(NamedTuple):
    """Everything of a launch: constants, what changes, traces, policies, steps."""

    core: Any
    paths: Any
    state: Any
    memory: Any
    trace: Any
    functions: Any
    calls: Any


@jit
def advance_unit(core: Any, paths: Any, functions: Any, calls: Any, state: Any, memory: Any, trace: Any, unit: int, end: int) -> int:
    """Run a compute unit until `end`; a return code."""
    schedulers = core.unit_int[tab.SCHEDULERS]
    first = unit * schedulers
    while True:
        g = best = first + state.units[unit, U_TURN]
        now = state.schedulers[best, S_NOW]
        for _ in range(schedulers - 1):
            g = g + 1 if g + 1 < first + schedulers else first
            if state.schedulers[g, S_NOW] < now:
                best, now = g, state.schedulers[g, S_NOW]
        if now >= end:
            state.units[unit, U_NEXT] = now
            return tab.RUNNING
        code = turn(core, paths, functions, calls, state, memory, trace, unit, best)
        if code != tab.RUNNING:
            state.units[unit, U_NEXT] = now
            return code


@jit
def run_core(whole: Any) -> int:
    """Go on until something is needed, a stop condition holds or the launch is over."""
    core, paths, state, memory, trace = whole.core, whole.paths, whole.state, whole.memory, whole.trace
    functions, calls = whole.functions, whole.calls
    scalars = state.scalars
    units = state.units.shape[0]
    if scalars[STARVED] > 0:
        resume_starved(core, state, trace)
        scalars[PARKED] = scalars[STARVED]
    while True:
        end = scalars[NOW] + core.launch[L_QUANTUM]
        if scalars[DISPATCHED] < end:  # once a quantum, however often the run is interrupted
            code = dispatch(core, paths, functions, state, trace, end)
            if code != tab.RUNNING:
                return code
            scalars[DISPATCHED] = end
        many = scalars[LIVE] * core.launch[L_WAVES] >= MANY
        for unit in range(scalars[CURSOR], units):
            if many:
                ask_ahead(core, state, trace, unit, end)
            if state.units[unit, U_NEXT] < end:
                code = advance_unit(core, paths, functions, calls, state, memory, trace, unit, end)
                if code != tab.RUNNING:
                    scalars[CURSOR] = unit
                    return code
        scalars[CURSOR] = 0
        scalars[NOW] = end
        if scalars[NOT_STARTED] == 0 and scalars[LIVE] == 0:
            return tab.DONE
        following, room = INFINITY, INFINITY
        for unit in range(units):
            following = min(following, state.units[unit, U_NEXT])
            room = min(room, state.available[unit])
        if core.launch[L_CLUSTER] > 1:
            room = scalars[NEXT_ROOM]
        if scalars[NOT_STARTED] > 0:
            following = min(following, max(int(state.clocks[C_DISPATCH]), room))
        if following >= INFINITY:
            return tab.STUCK
        scalars[NOW] = max(end, following)
        if scalars[STOP_INSTRUCTIONS] > 0 and state.counters[_INSTRUCTIONS] >= scalars[STOP_INSTRUCTIONS]:
            return tab.WINDOW
        if scalars[STOP_WORKGROUPS] > 0 and scalars[FINISHED_GROUPS] >= scalars[STOP_WORKGROUPS]:
            return tab.WINDOW
