"""Memory operations of a wave: addresses observed, recorded and checked, then data moved.

In: an encoded operation and the lanes that take part. Out: a trace record (affine runs compressed), registers or memory
changed, or a fault number. Data move only where the operation is executed; addresses are always observed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from archex.base.jit import outlined
from archex.base.layout import AFFINE, SCATTERED
from archex.programs.interpreter.atomics import combine
from archex.programs.interpreter.memory import END, PAGE, PAGES_LIMIT, PAGES_USED, SIZE, computed_elements, element, find, insert, read, write
from archex.programs.interpreter.table import (
    ATOMIC,
    BUFFERS,
    EXECUTE,
    EXTEND,
    F_EXTRA,
    F_VALUE,
    FLAGS,
    HINT,
    LIST,
    LOAD,
    LOCAL_BYTES,
    MISALIGNED,
    MODE,
    NEED_PAGES,
    NO_BUFFER,
    NO_FAULT,
    OFFSET,
    OP,
    OUT_OF_LOCAL,
    OUT_OF_PRIVATE,
    PRIVATE_BYTES,
    PRIVATE_WORDS,
    READ_ONLY,
    SCRATCH,
    SPACE,
    VECTOR,
    WIDTH,
    A,
)
from archex.programs.ir import CONSTANT_WINDOW, LOCAL_WINDOW, PARAMETER_WINDOW, PRIVATE_WINDOW
from archex.programs.values import HIGHEST, LOW32, leading_zeros, low_bits, shift_right, sign_extend

GLOBAL_, LOCAL_, PRIVATE_, CONSTANT_, PARAMETER_, GENERIC_ = range(1, 7)  # `ir.Space` as plain numbers
#: What `observe` leaves behind.
KIND, FIRST, STRIDE, LOWEST_ADDRESS, HIGHEST_ADDRESS, BITS = range(6)
_LOCAL_TAG, _PRIVATE_TAG = LOCAL_WINDOW >> 40, PRIVATE_WINDOW >> 40


@outlined("v:piiiiiip")
def observe(r: Any, a: Any, out: Any, offset: Any, keep: Any, act: Any, width: Any, look: Any) -> Any:
    """Addresses of the lanes `act` into row `out`; what they have in common into `look`."""
    for i in range(width):
        r[out + i] = (r[a + i] + offset) & keep
    first = np.int64(63 - leading_zeros(act & -act))
    base = r[out + first]
    rest = act & (act - 1)
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
        return
    low, high, bits = np.int64(HIGHEST), np.int64(-HIGHEST), np.int64(0)
    for i in range(width):  # without branches, so that it runs on vectors
        chosen = -((act >> i) & 1)
        address = r[out + i]
        low = min(low, (address & chosen) | (HIGHEST & ~chosen))
        high = max(high, (address & chosen) | (-HIGHEST & ~chosen))
        bits |= address & chosen
    look[KIND], look[STRIDE], look[LOWEST_ADDRESS], look[HIGHEST_ADDRESS], look[BITS] = SCATTERED, 0, low, high, bits


@outlined("i:pipiipppp")
def check(code: Any, o: Any, r: Any, addresses: Any, act: Any, t: Any, shape: Any, look: Any, fault: Any) -> Any:
    """Whether all addresses lie in memory and are aligned; a fault number otherwise. Remembers the buffer."""
    size = code[o + WIDTH] * code[o + VECTOR]
    low, high, space = look[LOWEST_ADDRESS], look[HIGHEST_ADDRESS], code[o + SPACE]
    fault[F_VALUE], fault[F_EXTRA] = low, size
    if look[BITS] & (size - 1):
        return MISALIGNED
    if space == LOCAL_:
        fault[F_VALUE] = high
        return NO_FAULT if low >= 0 and high + size <= shape[LOCAL_BYTES] else OUT_OF_LOCAL
    if space == PRIVATE_:
        fault[F_VALUE] = high
        return NO_FAULT if low >= 0 and high + size <= shape[PRIVATE_BYTES] else OUT_OF_PRIVATE
    row = find(t, shape[BUFFERS], code[o + HINT], low, size)
    if row >= 0 and high + size <= t[row + END]:
        code[o + HINT] = row
        return NO_FAULT
    code[o + HINT] = -1
    for i in range(shape[0]):
        if (act >> i) & 1:
            address = r[addresses + i]
            fault[F_VALUE] = address
            tag = address >> 40
            if space == GENERIC_ and tag == _LOCAL_TAG:
                if (address & (2**40 - 1)) + size > shape[LOCAL_BYTES]:
                    return OUT_OF_LOCAL
            elif space == GENERIC_ and tag == _PRIVATE_TAG:
                if (address & (2**40 - 1)) + size > shape[PRIVATE_BYTES]:
                    return OUT_OF_PRIVATE
            elif find(t, shape[BUFFERS], np.int64(-1), address, size) < 0:
                return NO_BUFFER
    return NO_FAULT


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
            space, address = np.int64(LOCAL_), address & (2**40 - 1)
        elif tag == _PRIVATE_TAG:
            space, address = np.int64(PRIVATE_), address & (2**40 - 1)
    if space == LOCAL_:
        word = local[local_at + (address >> 3)]
        return low_bits(shift_right(word, (address & 7) * 8), width * 8)
    if space == PRIVATE_:
        word = private[private_at + lane * shape[PRIVATE_WORDS] + (address >> 3)]
        return low_bits(shift_right(word, (address & 7) * 8), width * 8)
    if row < 0:
        row = find(t, shape[BUFFERS], np.int64(-1), address, width)
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
            space, address = np.int64(LOCAL_), address & (2**40 - 1)
        elif tag == _PRIVATE_TAG:
            space, address = np.int64(PRIVATE_), address & (2**40 - 1)
    if space == LOCAL_:
        at = local_at + (address >> 3)
        local[at] = insert(local[at], address, width, value)
        return True
    if space == PRIVATE_:
        at = private_at + lane * shape[PRIVATE_WORDS] + (address >> 3)
        private[at] = insert(private[at], address, width, value)
        return True
    if row < 0:
        row = find(t, shape[BUFFERS], np.int64(-1), address, width)
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
    width, space, row, extend = code[o + WIDTH], code[o + SPACE], code[o + HINT], code[o + EXTEND]
    elements = row >= 0 and computed_elements(t, row, width)
    alike = look[KIND] == AFFINE and look[STRIDE] == 0 and space != PRIVATE_ and space != GENERIC_
    for part in range(code[o + VECTOR]):
        target = lists[code[o + LIST] + part]
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
            if space == LOCAL_:
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
    op, width, space, row, vector, at = code[o + OP], code[o + WIDTH], code[o + SPACE], code[o + HINT], code[o + VECTOR], code[o + LIST]
    if (space == GLOBAL_ or space == GENERIC_) and state[PAGES_LIMIT] - state[PAGES_USED] < np.int64(lanes):
        return NEED_PAGES
    for i in range(lanes):
        if (act >> i) & 1 == 0:
            continue
        lane = i
        for part in range(vector):
            address = r[addresses + i] + part * width
            source = lists[at + part]
            value = low_bits(r[((source >> 1) + (source & 1) * base) + i], width * 8)
            if op == ATOMIC:
                old = _fetch(space, row, address, width, lane, t, pages, local, local_at, private, private_at, shape)
                third = np.int64(0)
                source = lists[at + 2 * vector]
                if source >= 0:
                    third = r[((source >> 1) + (source & 1) * base) + i]
                value = combine(code[o + MODE], code[o + FLAGS], width, old, value, third)
                target = lists[at + vector + part]
                if not _put(space, row, address, width, lane, value, t, pages, state, local, local_at, private, private_at, shape):
                    return READ_ONLY
                if target >= 0:
                    r[((target >> 1) + (target & 1) * base) + i] = old
            elif not _put(space, row, address, width, lane, value, t, pages, state, local, local_at, private, private_at, shape):
                return READ_ONLY
    return NO_FAULT


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
    space = code[o + SPACE]
    keep = np.int64(LOW32) if space >= LOCAL_ and space <= PARAMETER_ else np.int64(-1)
    offset = code[o + OFFSET]
    a = (code[o + A] >> 1) + (code[o + A] & 1) * base
    addresses = shape[SCRATCH] + lanes
    observe(r, a, addresses, offset, keep, act, lanes, look)
    if space == CONSTANT_ or space == PARAMETER_:
        bank = np.int64(CONSTANT_WINDOW) if space == CONSTANT_ else np.int64(PARAMETER_WINDOW)
        for i in range(lanes):
            r[addresses + i] += bank
        look[FIRST] += bank
        look[LOWEST_ADDRESS] += bank
        look[HIGHEST_ADDRESS] += bank
    outcome = check(code, o, r, addresses, act, t, shape, look, fault)
    if outcome != NO_FAULT or code[o + EXECUTE] == 0:
        return outcome
    op = code[o + OP]
    if op == LOAD:
        load(code, o, lists, r, base, addresses, act, lanes, look, t, pages, local, local_at, private, private_at, shape)
        return NO_FAULT
    return change(code, o, lists, r, base, addresses, act, lanes, t, pages, state, local, local_at, private, private_at, shape)
