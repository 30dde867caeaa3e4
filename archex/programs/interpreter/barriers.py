"""Barriers of a workgroup: who has arrived, when all go on, what a reducing barrier answers.

In: a wave that reaches a barrier, or the end of one. Out: waves made ready again. Exited lanes count as arrived.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from archex.base.jit import jit_bare as jit
from archex.base.jit import outlined
from archex.programs.interpreter import table as n
from archex.programs.interpreter.compute import place
from archex.programs.values import LOW32, leading_zeros, popcount


@jit
def _threads(live: Any) -> Any:
    """Threads a wave stands for: every group of 32 with a live lane counts whole."""
    return 32 * (np.int64(live & LOW32 != 0) + np.int64((live >> 32) & LOW32 != 0))


@outlined("i:pippiiiiiiippp")
def arrive(
    code: Any, o: Any, r: Any, p: Any, base: Any, first_predicate: Any, act: Any, mask: Any, live: Any, slot: Any, c: Any, x: Any,
    bars: Any, fault: Any
) -> Any:  # fmt: skip
    """A wave is at a barrier; a fault number."""
    fault[n.F_VALUE], fault[n.F_EXTRA] = popcount(act), popcount(live)
    if act != live:
        return n.DIVERGED_BARRIER
    lane = 63 - leading_zeros(act & -act)
    number = r[place(code[o + n.A], base) + lane]
    wanted = r[place(code[o + n.B], base) + lane]
    if number < 0 or number >= n.BARRIERS:
        fault[n.F_VALUE] = number
        return n.BAD_BARRIER
    if code[o + n.MODE] == n.PASS:
        return n.NO_FAULT
    at = (slot * n.BARRIERS + number) * n.BARRIER_COLUMNS
    bars[at + n.B_THREADS] += _threads(live)
    bars[at + n.B_WANTED] = max(bars[at + n.B_WANTED], wanted)
    if code[o + n.MODE] != n.ARRIVE:
        bars[at + n.B_WAVES] += 1
        x[c * n.CONTEXT_COLUMNS + n.WAITING] = number
    if code[o + n.MODE] == n.REDUCE:
        bars[at + n.B_TRUE] += popcount(p[first_predicate + code[o + n.C]] & act)
        bars[at + n.B_LANES] += popcount(act)
    return n.NO_FAULT


@outlined("i:ipppppp")
def release(slot: Any, code: Any, shape: Any, r: Any, p: Any, x: Any, bars: Any) -> Any:
    """Open the barriers of a workgroup that everyone has reached; whether one opened."""
    threads = np.int64(0)
    first = slot * shape[n.WAVES]
    for w in range(shape[n.WAVES]):
        at = (first + w) * n.CONTEXT_COLUMNS
        if x[at + n.STATUS] != n.DONE:
            threads += _threads(x[at + n.LIVE])
    opened = False
    for number in range(n.BARRIERS):
        bar = (slot * n.BARRIERS + number) * n.BARRIER_COLUMNS
        if bars[bar + n.B_THREADS] == 0:
            continue
        wanted = bars[bar + n.B_WANTED]
        if bars[bar + n.B_THREADS] < (wanted if wanted > 0 else threads):
            continue
        for w in range(shape[n.WAVES]):
            c = first + w
            at = c * n.CONTEXT_COLUMNS
            if x[at + n.STATUS] == n.WAIT and x[at + n.WAITING] == number:
                x[at + n.STATUS] = n.READY
                _answer(c, (x[at + n.AT] - 1) * n.CODE_COLUMNS, code, shape, r, p, x, bars, bar)
        for column in range(n.BARRIER_COLUMNS):
            bars[bar + column] = 0
        opened = True
    return opened


@jit
def _answer(c: Any, o: Any, code: Any, shape: Any, r: Any, p: Any, x: Any, bars: Any, bar: Any) -> Any:
    """Give a wave the result of a reducing barrier."""
    if code[o + n.MODE] != n.REDUCE:
        return
    true, asked = bars[bar + n.B_TRUE], bars[bar + n.B_LANES]
    if code[o + n.PRED] < 0:
        base = (shape[n.FIRST_ROW] + c * shape[n.REGISTERS]) * shape[n.LANES]
        d = place(code[o + n.DST], base)
        for i in range(shape[n.LANES]):
            r[d + i] = true
        return
    holds = true == asked if code[o + n.WIDTH] == 0 else true > 0
    p[c * shape[n.PREDICATES] + code[o + n.PRED]] = np.int64(-1) if holds else np.int64(0)
