"""Data moved between registers and memory: loads, stores and atomics of a wave, in any space.

In: an encoded operation, addresses in a scratch row, the lanes that take part. Out: registers or memory changed, or a fault number.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from archex.base.jit import outlined
from archex.base.layout import AFFINE
from archex.programs.interpreter import table as n
from archex.programs.interpreter.atomics import combine
from archex.programs.interpreter.clusters import MAPPED, local_bits, put_local
from archex.programs.interpreter.memory import (
    PAGE,
    PAGES_LIMIT,
    PAGES_USED,
    SIZE,
    computed_elements,
    element,
    find,
    insert,
    read,
    write,
)
from archex.programs.ir import LOCAL_WINDOW, PRIVATE_WINDOW
from archex.programs.values import low_bits, shift_right, sign_extend

GLOBAL_, LOCAL_, PRIVATE_, CONSTANT_, PARAMETER_, GENERIC_ = range(1, 7)  # `ir.Space` as plain numbers
#: What is known of the addresses of the access at hand (`look`).
KIND, FIRST, STRIDE, LOWEST_ADDRESS, HIGHEST_ADDRESS, BITS = range(6)
DESCRIPTOR, LOOK_COLUMNS = 8, 80  # where the descriptor of a bulk copy begins, and the size of it all
_WITHIN = 2**40 - 1  # an address without its window
_LOCAL_TAG, _PRIVATE_TAG = LOCAL_WINDOW >> 40, PRIVATE_WINDOW >> 40


@outlined("i:iiiiipppipip")
def _fetch(
    space: Any,
    row: Any,
    address: Any,
    width: Any,
    lane: Any,
    t: Any,
    pages: Any,
    local: Any,
    local_at: Any,
    private: Any,
    private_at: Any,
    shape: Any,
) -> Any:
    """Bits at an address of any space."""
    if space == GENERIC_:
        tag = address >> 40
        if tag == _LOCAL_TAG:
            space, address = np.int64(LOCAL_), address & _WITHIN
        elif tag == _PRIVATE_TAG:
            space, address = np.int64(PRIVATE_), address & _WITHIN
    if space == LOCAL_:
        return local_bits(address, width, local, shape, local_at)
    if space == PRIVATE_:
        word = private[private_at + lane * shape[n.PRIVATE_WORDS] + (address >> 3)]
        return low_bits(shift_right(word, (address & 7) * 8), width * 8)
    if row < 0:
        row = find(t, shape[n.BUFFERS], np.int64(-1), address, width)
    return read(t, pages, row, address, width)


@outlined("i:iiiiiippppipip")
def _put(
    space: Any,
    row: Any,
    address: Any,
    width: Any,
    lane: Any,
    value: Any,
    t: Any,
    pages: Any,
    state: Any,
    local: Any,
    local_at: Any,
    private: Any,
    private_at: Any,
    shape: Any,
) -> Any:
    """Change memory of any space; whether it could be (constants cannot)."""
    if space == GENERIC_:
        tag = address >> 40
        if tag == _LOCAL_TAG:
            space, address = np.int64(LOCAL_), address & _WITHIN
        elif tag == _PRIVATE_TAG:
            space, address = np.int64(PRIVATE_), address & _WITHIN
    if space == LOCAL_:
        put_local(address, width, value, local, shape, local_at)
        return True
    if space == PRIVATE_:
        at = private_at + lane * shape[n.PRIVATE_WORDS] + (address >> 3)
        private[at] = insert(private[at], address, width, value)
        return True
    if row < 0:
        row = find(t, shape[n.BUFFERS], np.int64(-1), address, width)
    if t[row + PAGE] < 0:  # nothing may be written here
        return False
    write(t, pages, state, row, address, width, value)
    return True


@outlined("v:pippiiiippppipip")
def load(
    code: Any,
    o: Any,
    lists: Any,
    r: Any,
    base: Any,
    addresses: Any,
    act: Any,
    lanes: Any,
    look: Any,
    t: Any,
    pages: Any,
    local: Any,
    local_at: Any,
    private: Any,
    private_at: Any,
    shape: Any,
) -> Any:
    """Move data from memory to registers."""
    width, space, row, extend = code[o + n.WIDTH], code[o + n.SPACE], code[o + n.HINT], code[o + n.EXTEND]
    elements = row >= 0 and computed_elements(t, row, width)
    alike = look[KIND] == AFFINE and look[STRIDE] == 0 and space != PRIVATE_ and space != GENERIC_
    for part in range(code[o + n.VECTOR]):
        target = lists[code[o + n.LIST] + part]
        if target < 0:
            continue
        d = (target >> 1) + (target & 1) * base
        step = part * width
        if alike:
            value = _fetch(space, row, look[FIRST] + step, width, np.int64(0), t, pages, local, local_at, private, private_at, shape)
            if extend > 0:
                value = low_bits(sign_extend(value, width * 8), extend)
            for i in range(lanes):
                chosen = -((act >> i) & 1)
                r[d + i] = (r[d + i] & ~chosen) | (value & chosen)
            continue
        for i in range(lanes):
            if (act >> i) & 1 == 0:
                continue
            address = r[addresses + i] + step
            if space == LOCAL_ and address < MAPPED:
                value = low_bits(shift_right(local[local_at + (address >> 3)], (address & 7) * 8), width * 8)
            elif elements:
                value = element(t, row, (address - t[row]) >> t[row + SIZE])
            elif row >= 0:
                value = read(t, pages, row, address, width)
            else:
                value = _fetch(space, row, address, width, i, t, pages, local, local_at, private, private_at, shape)
            if extend > 0:
                value = low_bits(sign_extend(value, width * 8), extend)
            r[d + i] = value


@outlined("i:pippiiiippppipip")
def change(
    code: Any,
    o: Any,
    lists: Any,
    r: Any,
    base: Any,
    addresses: Any,
    act: Any,
    lanes: Any,
    t: Any,
    pages: Any,
    state: Any,
    local: Any,
    local_at: Any,
    private: Any,
    private_at: Any,
    shape: Any,
) -> Any:
    """Stores and atomics, lane by lane in order; a fault number."""
    op, width, space, row, vector, at = (
        code[o + n.OP],
        code[o + n.WIDTH],
        code[o + n.SPACE],
        code[o + n.HINT],
        code[o + n.VECTOR],
        code[o + n.LIST],
    )
    if (space == GLOBAL_ or space == GENERIC_) and state[PAGES_LIMIT] - state[PAGES_USED] < np.int64(lanes):
        return n.NEED_PAGES
    for i in range(lanes):
        if (act >> i) & 1 == 0:
            continue
        lane = i
        for part in range(vector):
            address = r[addresses + i] + part * width
            source = lists[at + part]
            value = low_bits(r[((source >> 1) + (source & 1) * base) + i], width * 8)
            if op == n.ATOMIC:
                old = _fetch(space, row, address, width, lane, t, pages, local, local_at, private, private_at, shape)
                third = np.int64(0)
                source = lists[at + 2 * vector]
                if source >= 0:
                    third = r[((source >> 1) + (source & 1) * base) + i]
                value = combine(code[o + n.MODE], code[o + n.FLAGS], width, old, value, third)
                target = lists[at + vector + part]
                if not _put(space, row, address, width, lane, value, t, pages, state, local, local_at, private, private_at, shape):
                    return n.READ_ONLY
                if target >= 0:
                    r[((target >> 1) + (target & 1) * base) + i] = old
            elif not _put(space, row, address, width, lane, value, t, pages, state, local, local_at, private, private_at, shape):
                return n.READ_ONLY
    return n.NO_FAULT
