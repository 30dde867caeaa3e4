"""Barriers in local memory: arrivals and bytes that a phase waits for, in one word; phases ended beside it.

In: an encoded operation and the lanes that take part. Out: the word changed, a record, results; BLOCKED where a phase to wait for has
not ended. They steer control, so they are executed in every mode. A phase ends when no arrival and no byte is missing.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from archex.base import layout
from archex.base.jit import jit_bare as jit
from archex.base.jit import outlined
from archex.programs.interpreter import table as n
from archex.programs.interpreter.clusters import local_word, outside
from archex.programs.interpreter.compute import place
from archex.programs.interpreter.records import keep, pool_row, pool_start
from archex.programs.ir import BYTES_BITS, EXPECTED_BITS, PENDING_BITS
from archex.programs.values import LOW32, leading_zeros, low_bits, shift_right, sign_extend

_BYTES_AT = PENDING_BITS + EXPECTED_BITS
_PHASE_AT = _BYTES_AT + BYTES_BITS
_MOST = (1 << PENDING_BITS) - 1
_MOST_BYTES = (1 << (BYTES_BITS - 1)) - 1


@outlined("i:iiiippp", "aside")
def change_signal(at: Any, mode: Any, count: Any, size: Any, local: Any, phases: Any, fault: Any) -> Any:
    """One lane's operation on the word `at` of local memory: `count` arrivals, `size` bytes more to expect; a fault number."""
    word = local[at]
    expected = low_bits(shift_right(word, PENDING_BITS), EXPECTED_BITS)
    if mode == n.SIGNAL_SET:
        fault[n.F_VALUE], fault[n.F_EXTRA] = count, _MOST
        if count < 1 or count > _MOST:
            return n.BAD_COUNT
        local[at], phases[at] = count | (count << PENDING_BITS), 0
        return n.NO_FAULT
    if expected == 0:
        return n.NOT_SET_UP
    if mode == n.SIGNAL_END:
        local[at] = 0
        return n.NO_FAULT
    pending = low_bits(word, PENDING_BITS) - count
    missing = sign_extend(shift_right(word, _BYTES_AT), BYTES_BITS) + size
    fault[n.F_EXTRA] = expected
    if pending < 0:
        return n.TOO_MANY_ARRIVALS
    fault[n.F_VALUE], fault[n.F_EXTRA] = missing, _MOST_BYTES
    if missing > _MOST_BYTES or missing < -_MOST_BYTES:
        return n.BAD_SIZE
    if pending == 0 and missing == 0:
        phases[at] += 1
        pending = expected
    local[at] = pending | (expected << PENDING_BITS) | (low_bits(missing, BYTES_BITS) << _BYTES_AT) | ((phases[at] & 7) << _PHASE_AT)
    return n.NO_FAULT


@jit
def _address(code: Any, o: Any, r: Any, base: Any, i: Any) -> Any:
    """The barrier that lane `i` names, as an address in local memory."""
    return (r[place(code[o + n.A], base) + i] + code[o + n.OFFSET]) & LOW32


@outlined("i:pipipiiiippppp", "aside")
def wait_signal(
    code: Any, o: Any, r: Any, base: Any, p: Any, first_predicate: Any, act: Any, at: Any, c: Any, x: Any, local: Any, phases: Any,
    shape: Any, fault: Any,
) -> Any:  # fmt: skip
    """Wait for a phase: how many must have ended through `fault`, or BLOCKED, or a fault number. The result is true once it has ended."""
    k = c * n.CONTEXT_COLUMNS
    first = np.int64(63 - leading_zeros(act & -act))
    needed = x[k + n.NEEDED] - 1
    if needed < 0:
        if low_bits(shift_right(local[at], PENDING_BITS), EXPECTED_BITS) == 0:
            return n.NOT_SET_UP
        asked = r[place(code[o + n.B], base) + first]
        ended = phases[at]
        if code[o + n.WIDTH]:  # the phase of a parity
            over = (ended & 1) != (asked & 1)
        else:
            over = (ended & 7) != shift_right(asked, _PHASE_AT)
        needed = ended if over else ended + 1
        if not over:
            x[k + n.NEEDED], x[k + n.WORD], x[k + n.WAITING] = needed + 1, at, n.SIGNALLED
            return n.BLOCKED
    x[k + n.NEEDED] = 0
    if code[o + n.PRED] >= 0:
        p[first_predicate + code[o + n.PRED]] |= act
    fault[n.F_VALUE] = needed
    return n.NO_FAULT


@outlined("i:pipipiiiippppppp", "aside")
def signal(
    code: Any, o: Any, r: Any, base: Any, p: Any, first_predicate: Any, act: Any, c: Any, local_at: Any, x: Any, local: Any, phases: Any,
    shape: Any, records: Any, pool: Any, fault: Any,
) -> Any:  # fmt: skip
    """One operation of a wave on barriers in local memory; a fault number, or BLOCKED."""
    lanes, mode = shape[n.LANES], code[o + n.MODE]
    traced = shape[n.TRACING] and code[o + n.SLOT] >= 0
    if act == 0:
        if traced:
            keep(c, np.int64(layout.NO_ACCESS), np.int64(0), np.int64(0), np.int64(0), x, shape, records)
        return n.NO_FAULT
    first = np.int64(63 - leading_zeros(act & -act))
    address = _address(code, o, r, base, first)
    counts, sizes = place(code[o + n.B], base), place(code[o + n.C], base)
    alike = True
    arrivals, size = np.int64(0), np.int64(0)
    for i in range(lanes):
        if (act >> i) & 1 == 0:
            continue
        mine = _address(code, o, r, base, i)
        fault[n.F_VALUE], fault[n.F_EXTRA] = mine, 8
        if mine & 7:
            return n.MISALIGNED
        outcome = outside(mine, np.int64(8), shape)
        if outcome != n.NO_FAULT:
            return outcome
        alike = alike and mine == address
        if mode == n.SIGNAL_WAIT:
            differ = r[counts + i] ^ r[counts + first]
            if mine != address or (differ & 1 if code[o + n.WIDTH] else shift_right(differ, _PHASE_AT)) != 0:
                return n.MANY_BARRIERS
            continue
        at = local_word(mine, local_at, shape)
        count = r[counts + i] & LOW32 if mode == n.SIGNAL_SET or mode == n.SIGNAL_ARRIVE else np.int64(0)
        more = r[sizes + i] & LOW32
        if mode == n.SIGNAL_COMPLETE:
            more = -more
        if mode == n.SIGNAL_COPIES:  # `more`: whether these arrivals come in addition to those of the phase
            count = np.int64(1) - more
            arrivals += 1
            size += more
            more = np.int64(0)
        elif mode == n.SIGNAL_SET:
            arrivals = count
        else:
            arrivals += count
            size += more
        if not alike and (r[counts + i] != r[counts + first] or r[sizes + i] != r[sizes + first]):
            return n.MANY_BARRIERS
        if code[o + n.DST] >= 0:
            r[place(code[o + n.DST], base) + i] = local[at]
        outcome = change_signal(at, mode, count, more, local, phases, fault)
        if outcome != n.NO_FAULT:
            if outcome != n.BAD_COUNT and outcome != n.BAD_SIZE:
                fault[n.F_VALUE] = mine
            return outcome
    if mode == n.SIGNAL_WAIT:
        at = local_word(address, local_at, shape)
        outcome = wait_signal(code, o, r, base, p, first_predicate, act, at, c, x, local, phases, shape, fault)
        if outcome != n.NO_FAULT:
            return outcome
        arrivals = fault[n.F_VALUE]
    if not traced:
        return n.NO_FAULT
    if mode == n.SIGNAL_END:
        keep(c, np.int64(layout.NO_ACCESS), np.int64(0), np.int64(0), np.int64(0), x, shape, records)
        return n.NO_FAULT
    if alike:
        keep(c, np.int64(layout.SIGNAL), address, arrivals, size, x, shape, records)
        return n.NO_FAULT
    position = pool_row(c, x)
    start = pool_start(c, position, shape)
    active = np.int64(0)
    for i in range(lanes):
        pool[start + i] = np.int64(-1)
        if (act >> i) & 1:
            active += 1
            pool[start + i] = _address(code, o, r, base, i)
    if mode != n.SIGNAL_SET:
        arrivals, size = arrivals // active, size // active
    keep(c, np.int64(layout.SIGNALS), position, arrivals, size, x, shape, records)
    return n.NO_FAULT


@jit
def signalled(c: Any, x: Any, phases: Any) -> Any:
    """Whether a wave waits for a phase that has ended."""
    at = c * n.CONTEXT_COLUMNS
    if x[at + n.STATUS] != n.WAIT or x[at + n.WAITING] != n.SIGNALLED:
        return False
    return phases[x[at + n.WORD]] >= x[at + n.NEEDED] - 1
