"""What the compute units next in turn will read, asked of the host while the one at hand is advanced.

In: a compute unit, the end of the quantum. Out: nothing; no state changes. The waves of all compute units take more room than the host's
near caches have, and each unit's turn is short: without this, most of it is waiting for its own state. Three steps, a unit apart, as
each needs what the one before has asked for: schedulers, then the waves that are due, then what their instructions read.
"""

from __future__ import annotations

from typing import Any

from archex.base import layout as lay
from archex.base.jit import jit_bare as jit
from archex.engine import tables as tab
from archex.engine.bits import lowest, prefetch
from archex.engine.rings import place_of
from archex.engine.state import (
    GATE_COLUMNS,
    HOST_LINE,
    L_PIPES,
    S_READY,
    S_WAITING,
    SCHEDULER_COLUMNS,
    UNIT_COLUMNS,
    W_CONTEXT,
    W_END,
    W_LANES,
    W_PC,
    WAVE_COLUMNS,
    X_MEMORY,
    X_SOURCES,
)

MANY = 1024  # waves from which on it pays


@jit
def ask_range(array: Any, first: int, words: int) -> None:
    """Ask for so many words of a flat array (or grid) from `first` on."""
    for word in range(0, words, HOST_LINE):
        prefetch(array, first + word)


@jit
def ask_schedulers(core: Any, state: Any, unit: int) -> None:
    """The schedulers of a compute unit, and what they ask of all their waves."""
    schedulers, slots = core.unit_int[tab.SCHEDULERS], core.unit_int[tab.SLOTS]
    first, number = unit * schedulers, schedulers * slots
    ask_range(state.schedulers, first * SCHEDULER_COLUMNS, schedulers * SCHEDULER_COLUMNS)
    ask_range(state.ready_from, first * slots, number)
    ask_range(state.gates, first * slots * GATE_COLUMNS, number * GATE_COLUMNS)
    ask_range(state.age, first * slots, number)
    ask_range(state.pipes, first * core.launch[L_PIPES] * 2, schedulers * core.launch[L_PIPES] * 2)
    ask_range(state.units, unit * UNIT_COLUMNS, UNIT_COLUMNS)


@jit
def ask_waves(core: Any, state: Any, unit: int, end: int) -> None:
    """The waves of a compute unit that could issue before `end`."""
    schedulers, slots = core.unit_int[tab.SCHEDULERS], core.unit_int[tab.SLOTS]
    for g in range(unit * schedulers, (unit + 1) * schedulers):
        mask = state.schedulers[g, S_READY] | state.schedulers[g, S_WAITING]
        while mask != 0:
            w = g * slots + lowest(mask)
            mask &= mask - 1
            if state.ready_from[w] < end:
                prefetch(state.waves, w * WAVE_COLUMNS + W_PC)
                prefetch(state.waves, w * WAVE_COLUMNS + W_LANES)


@jit
def ask_operands(core: Any, state: Any, trace: Any, unit: int, end: int) -> None:
    """What the instructions at which those waves are will read and write: operands, records of memory, the block that follows."""
    schedulers, slots, tokens = core.unit_int[tab.SCHEDULERS], core.unit_int[tab.SLOTS], state.tokens.shape[1]
    for g in range(unit * schedulers, (unit + 1) * schedulers):
        mask = state.schedulers[g, S_READY] | state.schedulers[g, S_WAITING]
        while mask != 0:
            w = g * slots + lowest(mask)
            mask &= mask - 1
            if state.ready_from[w] >= end:
                continue
            wave = state.waves[w]
            pc, context = wave[W_PC], wave[W_CONTEXT]
            row = core.code[pc]
            if row[lay.DST0] >= 0:
                prefetch(state.tokens, w * tokens + row[lay.DST0])
            if row[X_MEMORY] != 0 and row[lay.RECORD] >= 0:
                prefetch(
                    trace.records,
                    place_of(trace.records, context, trace.cursor[context, lay.RECORD_HEAD] + row[lay.RECORD]) * lay.RECORD_COLUMNS,
                )
            if pc + 1 < wave[W_END]:
                following = core.code[pc + 1]
                for k in range(following[X_SOURCES]):
                    prefetch(state.tokens, w * tokens + following[lay.SRC0 + k])
            else:
                prefetch(trace.blocks, place_of(trace.blocks, context, trace.cursor[context, lay.BLOCK_HEAD]) * 2)


@jit
def ask_ahead(core: Any, state: Any, trace: Any, unit: int, end: int) -> None:
    """Take each step for the compute unit whose turn for it has come, while `unit` is about to be advanced."""
    units = state.units.shape[0]
    if unit + 3 < units:
        ask_schedulers(core, state, unit + 3)
    if unit + 2 < units:
        ask_waves(core, state, unit + 2, end)
    if unit + 1 < units:
        ask_operands(core, state, trace, unit + 1, end)
