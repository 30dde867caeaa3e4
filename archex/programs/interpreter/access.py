"""Memory operations of a wave: addresses observed, recorded and checked, then data moved.

In: an encoded operation and the lanes that take part. Out: a trace record (affine runs compressed), registers or memory
changed, or a fault number. Data move only where the operation is executed; addresses are always observed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from archex.base.jit import jit, outlined
from archex.base.layout import AFFINE, ROW_SHIFT, ROWS, SCATTERED
from archex.programs.interpreter import table as n
from archex.programs.interpreter.clusters import outside
from archex.programs.interpreter.memory import END, find
from archex.programs.interpreter.transfer import (
    BITS,
    CONSTANT_,
    FIRST,
    GENERIC_,
    HIGHEST_ADDRESS,
    KIND,
    LOCAL_,
    LOWEST_ADDRESS,
    PARAMETER_,
    PRIVATE_,
    STRIDE,
    change,
    load,
)
from archex.programs.ir import CONSTANT_WINDOW, LOCAL_WINDOW, PARAMETER_WINDOW, PRIVATE_WINDOW
from archex.programs.values import HIGHEST, LOW32, leading_zeros

_WITHIN = 2**40 - 1  # an address without its window
_LOCAL_TAG, _PRIVATE_TAG = LOCAL_WINDOW >> 40, PRIVATE_WINDOW >> 40


@jit
def observe_rows(r: Any, out: Any, width: Any, look: Any) -> Any:
    """Lanes in rows of four or more, as tiles and two-dimensional workgroups have them: two strides say it all. Else nothing changes."""
    stride = r[out + 1] - r[out]
    row = np.int64(1)
    while row < width and r[out + row] - r[out + row - 1] == stride:
        row += 1
    if row < 4 or row >= width or row & (row - 1):
        return
    step = r[out + row] - r[out]
    half = np.int64(1) << (ROW_SHIFT - 1)
    if stride < -half or stride >= half or step < -half or step >= half:
        return
    bad = np.int64(0)
    shift = np.int64(63 - leading_zeros(row))
    for i in range(width):
        lane = np.int64(i)
        bad |= r[out + i] - (r[out] + (lane & (row - 1)) * stride + (lane >> shift) * step)
    if bad == 0:
        look[KIND], look[FIRST], look[STRIDE] = ROWS + shift, r[out], (step << ROW_SHIFT) | (stride & LOW32)


@outlined("v:piiiiiip")
def observe(r: Any, a: Any, out: Any, offset: Any, keep: Any, act: Any, width: Any, look: Any) -> Any:
    """Addresses of the lanes `act` into row `out`; what they have in common into `look`."""
    for i in range(width):
        r[out + i] = (r[a + i] + offset) & keep
    first = np.int64(63 - leading_zeros(act & -act))
    base = r[out + first]
    rest = act & (act - 1)
    second = first
    stride = np.int64(0)
    bad = np.int64(0)
    if rest != 0:
        second = np.int64(63 - leading_zeros(rest & -rest))
        stride = r[out + second] - base
        if second - first != 1:
            bad = stride % (second - first)
            stride = stride // (second - first)
        base -= first * stride
        for i in range(width):
            lane = i
            bad |= (r[out + i] - (base + lane * stride)) & -((act >> lane) & 1)
    if bad == 0:
        last = np.int64(63 - leading_zeros(act))
        near, far = base + first * stride, base + last * stride
        look[KIND], look[FIRST], look[STRIDE] = AFFINE, base, stride
        look[LOWEST_ADDRESS], look[HIGHEST_ADDRESS], look[BITS] = min(near, far), max(near, far), near | stride
        if second - first > 1:  # the lanes between take no part, and with them not every multiple of the stride
            look[BITS] = near
            for i in range(width):
                look[BITS] |= r[out + i] & -((act >> i) & 1)
        return
    low, high, bits = np.int64(HIGHEST), np.int64(-HIGHEST), np.int64(0)
    for i in range(width):  # without branches, so that it runs on vectors
        chosen = -((act >> i) & 1)
        address = r[out + i]
        low = min(low, (address & chosen) | (HIGHEST & ~chosen))
        high = max(high, (address & chosen) | (-HIGHEST & ~chosen))
        bits |= address & chosen
    look[KIND], look[STRIDE], look[LOWEST_ADDRESS], look[HIGHEST_ADDRESS], look[BITS] = SCATTERED, 0, low, high, bits
    if low >= 0 and act == ((np.int64(1) << width) - 1 if width < 64 else np.int64(-1)):
        observe_rows(r, out, width, look)


@outlined("i:piiipp")
def mapped(r: Any, addresses: Any, act: Any, size: Any, shape: Any, fault: Any) -> Any:
    """Whether local addresses lie in the memories of the cluster's workgroups; a fault number otherwise."""
    for i in range(shape[0]):
        if (act >> i) & 1:
            fault[n.F_VALUE] = r[addresses + i]
            outcome = outside(r[addresses + i], size, shape)
            if outcome != n.NO_FAULT:
                return outcome
    return n.NO_FAULT


@outlined("i:pipiipppp")
def check(code: Any, o: Any, r: Any, addresses: Any, act: Any, t: Any, shape: Any, look: Any, fault: Any) -> Any:
    """Whether all addresses lie in memory and are aligned; a fault number otherwise. Remembers the buffer."""
    size = code[o + n.WIDTH] * code[o + n.VECTOR]
    low, high, space = look[LOWEST_ADDRESS], look[HIGHEST_ADDRESS], code[o + n.SPACE]
    fault[n.F_VALUE], fault[n.F_EXTRA] = low, size
    if look[BITS] & (size - 1):
        return n.MISALIGNED
    if space == LOCAL_:
        fault[n.F_VALUE] = high
        if low >= 0 and high + size <= shape[n.LOCAL_BYTES]:
            return n.NO_FAULT
        return mapped(r, addresses, act, size, shape, fault)
    if space == PRIVATE_:
        fault[n.F_VALUE] = high
        return n.NO_FAULT if low >= 0 and high + size <= shape[n.PRIVATE_BYTES] else n.OUT_OF_PRIVATE
    row = find(t, shape[n.BUFFERS], code[o + n.HINT], low, size)
    if row >= 0 and high + size <= t[row + END]:
        code[o + n.HINT] = row
        return n.NO_FAULT
    code[o + n.HINT] = -1
    for i in range(shape[0]):
        if (act >> i) & 1:
            address = r[addresses + i]
            fault[n.F_VALUE] = address
            tag = address >> 40
            if space == GENERIC_ and tag == _LOCAL_TAG:
                outcome = outside(address & _WITHIN, size, shape)
                if outcome != n.NO_FAULT:
                    fault[n.F_VALUE] = address & _WITHIN
                    return outcome
            elif space == GENERIC_ and tag == _PRIVATE_TAG:
                if (address & _WITHIN) + size > shape[n.PRIVATE_BYTES]:
                    return n.OUT_OF_PRIVATE
            elif find(t, shape[n.BUFFERS], np.int64(-1), address, size) < 0:
                return n.NO_BUFFER
    return n.NO_FAULT


@outlined("i:pippiiipppppipipp")
def access(
    code: Any,
    o: Any,
    lists: Any,
    r: Any,
    base: Any,
    act: Any,
    lanes: Any,
    look: Any,
    t: Any,
    pages: Any,
    state: Any,
    local: Any,
    local_at: Any,
    private: Any,
    private_at: Any,
    shape: Any,
    fault: Any,
) -> Any:
    """One memory operation with an active lane; a fault number. `look` describes its addresses, scratch row 1 holds them."""
    space = code[o + n.SPACE]
    keep = np.int64(LOW32) if space >= LOCAL_ and space <= PARAMETER_ else np.int64(-1)
    offset = code[o + n.OFFSET]
    a = (code[o + n.A] >> 1) + (code[o + n.A] & 1) * base
    addresses = shape[n.SCRATCH] + lanes
    observe(r, a, addresses, offset, keep, act, lanes, look)
    if space == CONSTANT_ or space == PARAMETER_:
        bank = np.int64(CONSTANT_WINDOW) if space == CONSTANT_ else np.int64(PARAMETER_WINDOW)
        for i in range(lanes):
            r[addresses + i] += bank
        look[FIRST] += bank
        look[LOWEST_ADDRESS] += bank
        look[HIGHEST_ADDRESS] += bank
    outcome = check(code, o, r, addresses, act, t, shape, look, fault)
    if outcome != n.NO_FAULT or code[o + n.EXECUTE] == 0:
        return outcome
    op = code[o + n.OP]
    if op == n.LOAD:
        load(code, o, lists, r, base, addresses, act, lanes, look, t, pages, local, local_at, private, private_at, shape)
        return n.NO_FAULT
    return change(code, o, lists, r, base, addresses, act, lanes, t, pages, state, local, local_at, private, private_at, shape)
