"""Boxes of a tensor, copied by one lane's order.

In: the tensor's description (`programs/tensor_map.py`) in memory and the coordinates of the box's first element. Out: the descriptor of the
part that lies inside, and elements moved: what lies outside is not read or written, and reads as zero (or not-a-number) in local memory.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from archex.base import layout
from archex.base.jit import outlined
from archex.programs.interpreter import table as n
from archex.programs.interpreter.atomics import FLOAT, combine
from archex.programs.interpreter.clusters import chosen, local_bits, put_local, ranked
from archex.programs.interpreter.compute import place
from archex.programs.interpreter.memory import PAGE, PAGES_LIMIT, PAGES_USED, find, read, write
from archex.programs.interpreter.transfer import DESCRIPTOR
from archex.programs.values import LOW32, low_bits, sign_extend

MARK = 0x736E_6F69_7461_7265  # the first word of a description
MOST_DIMENSIONS, BOX_BITS = 5, 12
_LOCAL_ALIGNMENT = 128
_BYTES = 128  # of a description
# --- in `look`, behind the descriptor: the description's words, then by dimension: box, first inside, behind the last, coordinate, stride
_MAP = DESCRIPTOR + layout.BULK_COLUMNS
_ADDRESS, _FORM, _DIMS, _STRIDES, _BOX_WORD = 1, 2, 3, 8, 12
_BOX, _FIRST, _LAST, _AT, _STEP = (_MAP + 16 + MOST_DIMENSIONS * i for i in range(5))


@outlined("i:ppipiiipppp", "aside")
def describe_box(
    look: Any, lists: Any, entry: Any, r: Any, base: Any, lane: Any, far: Any, t: Any, pages: Any, shape: Any, fault: Any
) -> Any:  # fmt: skip
    """Fill in the descriptor; a fault number."""
    dimensions = lists[entry + n.DIMENSIONS]
    row = find(t, shape[n.BUFFERS], np.int64(-1), far, np.int64(_BYTES))
    fault[n.F_VALUE], fault[n.F_EXTRA] = far, _BYTES
    if row < 0:
        return n.NO_BUFFER
    if far & 63 != 0:
        fault[n.F_EXTRA] = 64
        return n.MISALIGNED
    for i in range(16):
        look[_MAP + i] = read(t, pages, row, far + 8 * i, np.int64(8))
    form = look[_MAP + _FORM]
    fault[n.F_EXTRA] = dimensions
    if look[_MAP] != MARK or form & 0xFF != dimensions:
        return n.NO_TENSOR
    fault[n.F_VALUE], fault[n.F_EXTRA] = look[DESCRIPTOR + layout.BULK_LOCAL], _LOCAL_ALIGNMENT
    if look[DESCRIPTOR + layout.BULK_LOCAL] & (_LOCAL_ALIGNMENT - 1) != 0:
        return n.MISALIGNED
    size = (form >> 8) & 0xFF
    address, credit, span, inside = look[_MAP + _ADDRESS], size, np.int64(0), True
    for k in range(MOST_DIMENSIONS):
        box, at, extent = np.int64(1), np.int64(0), np.int64(1)
        step = size if k == 0 else look[_MAP + _STRIDES + k - 1]
        if k < dimensions:
            box = (look[_MAP + _BOX_WORD] >> (BOX_BITS * k)) & ((1 << BOX_BITS) - 1)
            at = sign_extend(r[place(lists[entry + n.COORDINATES + k], base) + lane] & LOW32, 32)
            extent = look[_MAP + _DIMS + k]
        first, last = max(np.int64(0), -at), min(box, extent - at)
        if first >= last:
            inside = False
        credit *= box
        span += (last - first - 1) * step
        address += (at + first) * step
        look[_BOX + k], look[_FIRST + k], look[_LAST + k], look[_AT + k], look[_STEP + k] = box, first, last, at, step
        if k == 0:
            look[DESCRIPTOR + layout.BULK_BYTES] = max(np.int64(0), last - first) * size
        else:
            look[DESCRIPTOR + layout.BULK_COUNT + 2 * (k - 1)] = max(np.int64(0), last - first)
            look[DESCRIPTOR + layout.BULK_STRIDE + 2 * (k - 1)] = step
    look[DESCRIPTOR + layout.BULK_BASE], look[DESCRIPTOR + layout.BULK_CREDIT] = address, credit
    if not inside:
        look[DESCRIPTOR + layout.BULK_BASE], look[DESCRIPTOR + layout.BULK_BYTES] = look[_MAP + _ADDRESS], 0
        return n.NO_FAULT
    fault[n.F_VALUE], fault[n.F_EXTRA] = address, span + size
    return n.NO_FAULT if find(t, shape[n.BUFFERS], np.int64(-1), address, span + size) >= 0 else n.NO_BUFFER


@outlined("v:pii", "aside")
def describe_range(look: Any, size: Any, kind: Any) -> Any:
    """A range of bytes as one row of elements of `size` bytes, so that the same code moves it."""
    for k in range(MOST_DIMENSIONS):
        look[_BOX + k], look[_FIRST + k], look[_LAST + k], look[_AT + k] = 1, 0, 1, 0
    look[_BOX] = look[_LAST] = look[DESCRIPTOR + layout.BULK_BYTES] // size
    look[_MAP + _ADDRESS], look[_MAP + _FORM] = look[DESCRIPTOR + layout.BULK_BASE], (size << 8) | (kind << 32)


@outlined("i:ppippppppi", "aside")
def move_box(
    lists: Any, look: Any, entry: Any, t: Any, pages: Any, state: Any, local: Any, shape: Any, fault: Any, local_at: Any
) -> Any:  # fmt: skip
    """Move the elements of a box; a fault number."""
    way, near = look[DESCRIPTOR + layout.BULK_WAY], look[DESCRIPTOR + layout.BULK_LOCAL]
    form, targets, inner = look[_MAP + _FORM], look[DESCRIPTOR + layout.BULK_TARGETS], look[DESCRIPTOR + layout.BULK_BYTES]
    size, kind = (form >> 8) & 0xFF, form >> 32
    exchanged = (np.int64(1) << ((form >> 16) & 0xFF)) - 1  # 16-byte parts of a row change places by the number of their 128-byte line
    outward = way == layout.BULK_OUT or way == layout.BULK_REDUCE
    rows, lines = np.int64(1), np.int64(1)
    for k in range(1, MOST_DIMENSIONS):
        rows *= look[_BOX + k]
        lines *= look[DESCRIPTOR + layout.BULK_COUNT + 2 * (k - 1)]
    row = np.int64(-1)
    if inner > 0 and way != layout.BULK_ACROSS:
        row = find(t, shape[n.BUFFERS], np.int64(-1), look[DESCRIPTOR + layout.BULK_BASE], inner)
        if outward and t[row + PAGE] < 0:
            return n.READ_ONLY
    if outward and state[PAGES_LIMIT] - state[PAGES_USED] < lines * ((inner >> 12) + 2):
        return n.NEED_PAGES
    outside = np.int64(0)
    if (form >> 24) & 0xFF != 0 and kind >= FLOAT:
        outside = low_bits(np.int64(-1), size * 8 - 1)
    for line in range(rows):
        rest, address, inside = np.int64(line), look[_MAP + _ADDRESS], inner > 0
        for k in range(1, MOST_DIMENSIONS):
            index = rest % look[_BOX + k]
            rest //= look[_BOX + k]
            inside = inside and index >= look[_FIRST + k] and index < look[_LAST + k]
            address += (look[_AT + k] + index) * look[_STEP + k]
        for index in range(look[_BOX]):
            within = inside and index >= look[_FIRST] and index < look[_LAST]
            far, to = address + (look[_AT] + index) * size, near + (line * look[_BOX] + index) * size
            to ^= ((to >> 7) & exchanged) << 4
            value = outside
            if way == layout.BULK_IN:
                if within:
                    value = read(t, pages, row, far, size)
            else:
                value = local_bits(to, size, local, shape, local_at)
                to = far
            if not outward:
                for rank in range(shape[n.CLUSTER]):
                    if chosen(targets, rank):
                        put_local(ranked(to, targets, rank), size, value, local, shape, local_at)
            elif within:
                if way == layout.BULK_REDUCE:
                    old = read(t, pages, row, far, size)
                    value = combine(lists[entry + n.REDUCTION], kind, size, old, value, np.int64(0))
                write(t, pages, state, row, far, size, value)
    return n.NO_FAULT
