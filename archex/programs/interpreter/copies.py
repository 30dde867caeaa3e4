"""Copies by lane from global to local memory, beside the wave: done at once, since programs wait before they look.

In: an encoded operation, the lanes that take part. Out: two records (where from, where to), local memory changed where the copy is
executed, or a fault number. A lane may read fewer bytes than it writes; the others become zero.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from archex.base.jit import jit_bare as jit
from archex.base.jit import outlined
from archex.programs.interpreter import table as n
from archex.programs.interpreter.access import observe
from archex.programs.interpreter.clusters import outside, put_local
from archex.programs.interpreter.compute import place
from archex.programs.interpreter.memory import END, find, read
from archex.programs.interpreter.records import keep_lanes
from archex.programs.interpreter.transfer import BITS, HIGHEST_ADDRESS, LOWEST_ADDRESS
from archex.programs.values import LOW32


@jit
def _bytes_read(code: Any, o: Any, r: Any, base: Any, i: Any) -> Any:
    """Bytes that lane `i` reads."""
    width = code[o + n.WIDTH]
    if code[o + n.MODE] != n.SOME_BYTES:
        return width
    return min(width, r[place(code[o + n.C], base) + i] & LOW32)


@outlined("i:pipiiipppp", "aside")
def _source(code: Any, o: Any, r: Any, base: Any, addresses: Any, act: Any, look: Any, t: Any, shape: Any, fault: Any) -> Any:
    """Whether what the lanes `act` read lies in memory and is aligned."""
    width = code[o + n.WIDTH]
    fault[n.F_VALUE], fault[n.F_EXTRA] = look[LOWEST_ADDRESS], width
    if look[BITS] & (width - 1):
        return n.MISALIGNED
    row = find(t, shape[n.BUFFERS], code[o + n.HINT], look[LOWEST_ADDRESS], width)
    if row >= 0 and look[HIGHEST_ADDRESS] + width <= t[row + END]:
        code[o + n.HINT] = row
        return n.NO_FAULT
    code[o + n.HINT] = -1
    for i in range(shape[n.LANES]):
        if (act >> i) & 1:
            size = _bytes_read(code, o, r, base, i)
            if find(t, shape[n.BUFFERS], np.int64(-1), r[addresses + i], size) < 0:
                fault[n.F_VALUE], fault[n.F_EXTRA] = r[addresses + i], size
                return n.NO_BUFFER
    return n.NO_FAULT


@outlined("v:piiiiippppi", "aside")
def _move(
    code: Any, o: Any, source: Any, target: Any, size: Any, row: Any, t: Any, pages: Any, local: Any, shape: Any, local_at: Any
) -> Any:
    """One lane's bytes: `size` of them read, the rest zero."""
    width = code[o + n.WIDTH]
    step = min(width, np.int64(8))
    if row < 0 and size > 0:
        row = find(t, shape[n.BUFFERS], np.int64(-1), source, size)
    for part in range(0, width, step):
        value = np.int64(0)
        if part + step <= size:
            value = read(t, pages, row, source + part, step)
        else:
            for i in range(part, size):
                value |= read(t, pages, row, source + i, np.int64(1)) << ((i - part) * 8)
        put_local(target + part, step, value, local, shape, local_at)


@outlined("i:pippiiiiippppppppp", "aside")
def copy_lanes(
    code: Any, o: Any, lists: Any, r: Any, base: Any, act: Any, reading: Any, c: Any, local_at: Any, look: Any, x: Any, t: Any, pages: Any,
    local: Any, shape: Any, records: Any, pool: Any, fault: Any,
) -> Any:  # fmt: skip
    """One copy; `reading`: the lanes of `act` that read anything. A fault number."""
    lanes, width, traced = shape[n.LANES], code[o + n.WIDTH], shape[n.TRACING] and code[o + n.SLOT] >= 0
    source, target = shape[n.SCRATCH], shape[n.SCRATCH] + lanes
    if code[o + n.MODE] == n.SOME_BYTES:
        for i in range(lanes):
            if _bytes_read(code, o, r, base, i) == 0:
                reading &= ~(np.int64(1) << i)
    if reading != 0:
        observe(r, place(code[o + n.B], base), source, lists[code[o + n.LIST]], np.int64(-1), reading, lanes, look)
        outcome = _source(code, o, r, base, source, reading, look, t, shape, fault)
        if outcome != n.NO_FAULT:
            return outcome
    if traced:
        keep_lanes(c, reading, r, source, lanes, look, x, shape, records, pool)
    if act != 0:
        observe(r, place(code[o + n.A], base), target, code[o + n.OFFSET], np.int64(LOW32), act, lanes, look)
        fault[n.F_VALUE], fault[n.F_EXTRA] = look[HIGHEST_ADDRESS], width
        if look[BITS] & (width - 1):
            return n.MISALIGNED
        for i in range(lanes):
            if (act >> i) & 1:
                outcome = outside(r[target + i], width, shape)
                if outcome != n.NO_FAULT:
                    fault[n.F_VALUE] = r[target + i]
                    return outcome
    if traced:
        keep_lanes(c, act, r, target, lanes, look, x, shape, records, pool)
    if code[o + n.EXECUTE]:
        for i in range(lanes):
            if (act >> i) & 1:
                size = _bytes_read(code, o, r, base, i) if (reading >> i) & 1 else np.int64(0)
                _move(code, o, r[source + i], r[target + i], size, code[o + n.HINT], t, pages, local, shape, local_at)
    return n.NO_FAULT
