"""The cache of constants: kernel parameters, constant memory.

In: a load of constants, with a record where its address comes out of a register. Out: cycles beyond its plain latency. The cache hands
one word to all lanes; lanes that want another word are served in a further pass. All schedulers of a compute unit share the passes.
"""

from __future__ import annotations

from typing import Any

from archex.base import layout as lay
from archex.base.jit import jit_bare as jit
from archex.engine import tables as tab
from archex.engine.addresses import expand_regular, expand_scattered
from archex.engine.fetch import holds
from archex.engine.global_memory import record_of
from archex.engine.ports import CONSTANT_PORT
from archex.engine.standard import seen
from archex.engine.state import L_WIDTH, U_CONSTANT, U_CONSTANT_2, W_CONTEXT

WITHIN = (1 << 40) - 1  # an address without its window
BANK_BYTES = 1 << 16  # of constant memory


@jit
def line_extra(core: Any, state: Any, unit: int, line: int) -> int:
    """Cycles until a line of constants is at hand."""
    constant = core.constant
    size = int(constant[tab.CONSTANT_LINE])
    units = state.units
    line = min(max(line, 0), state.constant_order.shape[1] - 1)
    if holds(state.constant_order, unit, line, units[unit, U_CONSTANT], int(constant[tab.CONSTANT_NEAR_BYTES]) // size):
        return 0
    units[unit, U_CONSTANT] += 1
    state.constant_order[unit, line] = units[unit, U_CONSTANT]
    if holds(state.constant_order_2, unit, line, units[unit, U_CONSTANT_2], int(constant[tab.CONSTANT_MIDDLE_BYTES]) // size):
        return int(constant[tab.CONSTANT_MIDDLE_EXTRA])
    units[unit, U_CONSTANT_2] += 1
    state.constant_order_2[unit, line] = units[unit, U_CONSTANT_2]
    return int(constant[tab.CONSTANT_COLD_EXTRA])


@jit
def wait_words(core: Any, state: Any, unit: int, now: int, words: int) -> int:
    """Cycles until the last of so many words is handed out, beyond what a single one takes with nothing else going on."""
    constant = core.constant
    start = max(float(now), state.ports[unit, CONSTANT_PORT])
    state.ports[unit, CONSTANT_PORT] = start + constant[tab.CONSTANT_WORD_INTERVAL] * words
    return int(start - now + constant[tab.CONSTANT_WORD_EXTRA] * (words - 1))


@jit
def constant_extra(core: Any, state: Any, memory: Any, trace: Any, unit: int, w: int, pc: int, now: int) -> int:
    """Cycles a load of constants issued at `now` takes beyond its plain latency. Uniform ones have a path of their own."""
    size = int(core.constant[tab.CONSTANT_LINE])
    if size <= 0:
        return 0
    row = core.code[pc]
    unit = core.owners[tab.OWNER_CONSTANT, unit]
    if row[lay.RECORD] < 0:
        late = line_extra(core, state, unit, row[lay.OFFSET] // size)
        return late if row[lay.FLAGS] & lay.UNIFORM else late + wait_words(core, state, unit, now, 1)
    kind, base, stride, mask = record_of(core, state, trace, w, pc)
    if kind == lay.NO_ACCESS:
        return 0
    width = core.launch[L_WIDTH]
    if kind == lay.SCATTERED:
        expand_scattered(memory, trace.pool, state.waves[w, W_CONTEXT], base, mask, width, 0)
    else:
        expand_regular(memory, kind, base, stride, mask, width)
    scratch = memory.scratch
    scratch[0] += 1
    words, late = 0, 0
    for lane in range(width):
        address = memory.addresses[lane]
        if address >= 0 and not seen(scratch, address // 4):
            words += 1
            late = max(late, line_extra(core, state, unit, (address & WITHIN) // size))
    return late if row[lay.FLAGS] & lay.UNIFORM else late + wait_words(core, state, unit, now, max(words, 1))
