"""Global memory: contents computed from the address, under an overlay of written pages.

In: the flat table of `buffers.table`, the pages, an address and a width of 1, 2, 4 or 8 bytes (aligned). Out: the bits there,
or a page changed. A page is copied from the computed contents when it is first written.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from archex.base.jit import jit, jit_bare, outlined, pointer
from archex.programs.interpreter.convert_lane import convert_lane
from archex.programs.interpreter.rounding import NEAREST, narrow
from archex.programs.values import f64_of, low_bits, shift_right

BASE, END, KIND, CODE, SIZE, SEED, DATA, PAGE, PARAMETERS = range(9)
COLUMNS = 20
KINDS = {"zero": 0, "uniform": 1, "uniform_int": 2, "arange": 3, "random_cycle": 4, "banded": 5, "file": 6}
PAGE_WORDS = 512
PAGES_USED, PAGES_LIMIT = 0, 1

_GOLDEN = 0x9E3779B97F4A7C15 - 2**64
_MIX1 = 0xBF58476D1CE4E5B9 - 2**64
_MIX2 = 0x94D049BB133111EB - 2**64
_INT64 = 16 + 2 * 64 + 1


@jit_bare
def _hash(seed: Any, index: Any) -> Any:
    """64 well-mixed bits of a seed and an index."""
    z = seed + (index + 1) * np.int64(_GOLDEN)
    z = (z ^ shift_right(z, 30)) * np.int64(_MIX1)
    z = (z ^ shift_right(z, 27)) * np.int64(_MIX2)
    return z ^ shift_right(z, 31)


@jit_bare
def _successor(t: Any, p: Any, node: Any) -> Any:
    """The node behind `node` on the cycle: undo the permutation, one step, permute; values beyond the count walk on."""
    nodes, mask, fold = t[p], t[p + 2], t[p + 3]
    x = node
    while True:
        x ^= x >> fold
        x = (x * t[p + 7]) & mask
        x ^= x >> fold
        x = ((x - t[p + 8]) * t[p + 5]) & mask
        if x < nodes:
            break
    x = x + 1 if x + 1 < nodes else np.int64(0)
    while True:
        x = (x * t[p + 4] + t[p + 8]) & mask
        x ^= x >> fold
        x = (x * t[p + 6]) & mask
        x ^= x >> fold
        if x < nodes:
            return x


@jit_bare
def _number(value: Any, code: Any) -> Any:
    """A double as an element: floats to nearest, integers truncated towards zero and wrapped."""
    if code < 16:
        return narrow(value, code, NEAREST, False)
    return low_bits(np.int64(np.trunc(value)), (code - 16) >> 1)


@outlined("i:pii")
def element(t: Any, row: Any, index: Any) -> Any:
    """Bits of element `index` of the buffer whose row begins at `row`."""
    kind, code, p = t[row + KIND], t[row + CODE], row + PARAMETERS
    if kind == 0:
        return np.int64(0)
    if kind == 1:
        z = _hash(t[row + SEED], index)
        unit = np.float64(shift_right(z, 40)) * np.float64(2.0**-24)
        if t[row + SIZE] == 3:
            unit = np.float64(shift_right(z, 11)) * np.float64(2.0**-53)
        low = f64_of(t[p])
        return _number(low + (f64_of(t[p + 1]) - low) * unit, code)
    if kind == 2:
        z, span = _hash(t[row + SEED], index), t[p + 3]
        value = t[p + 2] + (shift_right(shift_right(z, 32) * span, 32) if span <= 1 << 31 else shift_right(z, 1) % span)
    elif kind == 3:
        if t[p + 2] == 0:
            return _number(np.float64(index) * f64_of(t[p]), code)
        value = index * t[p + 1]
    elif kind == 4:
        step = t[p + 1]
        value = np.int64(0)
        if index % step == 0 and index // step < t[p]:
            value = _successor(t, p, index // step) * step
    else:
        value = (index // t[p] + index % t[p]) % t[p + 1]
    if code < 16:
        return convert_lane(np.int64(_INT64), code, np.int64(NEAREST), np.int64(0), value)
    return low_bits(value, (code - 16) >> 1)


@jit_bare
def computed_elements(t: Any, row: Any, width: Any) -> Any:
    """Whether a buffer is only read, is no stored data, and its elements are as wide as the access."""
    return t[row + PAGE] < 0 and t[row + KIND] != 6 and np.int64(1) << t[row + SIZE] == width


@outlined("i:piii")
def computed(t: Any, row: Any, offset: Any, width: Any) -> Any:
    """Initial contents at a byte offset, `width` bytes."""
    if t[row + KIND] == 0:
        return np.int64(0)
    if t[row + KIND] == 6:
        word = t[t[row + DATA] + (offset >> 3)]
        return low_bits(shift_right(word, (offset & 7) * 8), width * 8)
    size = t[row + SIZE]
    step = np.int64(1) << size
    if step == width:
        return element(t, row, offset >> size)
    if step > width:
        word = element(t, row, offset >> size)
        return low_bits(shift_right(word, (offset & (step - 1)) * 8), width * 8)
    word = np.int64(0)
    for i in range(width >> size):
        word |= element(t, row, (offset >> size) + i) << (i * step * 8)
    return word


@outlined("i:piiii")
def find(t: Any, rows: Any, hint: Any, address: Any, width: Any) -> Any:
    """The row of the buffer that holds an access, or -1; `hint` is looked at first."""
    if hint >= 0:
        if t[hint + BASE] <= address and address + width <= t[hint + END]:
            return hint
    for i in range(rows):
        row = i * COLUMNS
        if t[row + BASE] <= address and address + width <= t[row + END]:
            return np.int64(row)
    return np.int64(-1)


@outlined("i:ppiii")
def read(t: Any, pages: Any, row: Any, address: Any, width: Any) -> Any:
    """Bits at an address inside the buffer of `row`."""
    offset = address - t[row + BASE]
    directory = t[row + PAGE]
    if directory >= 0:
        page = t[directory + (offset >> 12)]
        if page >= 0:
            word = pages[page * PAGE_WORDS + ((offset & 4095) >> 3)]
            return low_bits(shift_right(word, (offset & 7) * 8), width * 8)
    return computed(t, row, offset, width)


@jit_bare
def insert(word: Any, offset: Any, width: Any, value: Any) -> Any:
    """An 8-byte word with `width` bytes of it replaced."""
    if width == 8:
        return value
    shift = (offset & 7) * 8
    mask = ((np.int64(1) << (width * 8)) - 1) << shift
    return (word & ~mask) | ((value << shift) & mask)


@outlined("v:pppiiii")
def write(t: Any, pages: Any, state: Any, row: Any, address: Any, width: Any, value: Any) -> Any:
    """Change memory inside the buffer of `row`. The caller has made sure of a free page."""
    offset = address - t[row + BASE]
    entry = t[row + PAGE] + (offset >> 12)
    page = t[entry]
    if page < 0:
        page = state[PAGES_USED]
        state[PAGES_USED] += 1
        t[entry] = page
        start = (offset >> 12) << 12
        size = t[row + END] - t[row + BASE]
        for i in range(PAGE_WORDS):
            inside = start + i * 8 < size
            pages[page * PAGE_WORDS + i] = computed(t, row, start + i * 8, np.int64(8)) if inside else np.int64(0)
    where = page * PAGE_WORDS + ((offset & 4095) >> 3)
    pages[where] = insert(pages[where], offset, width, value)


@jit
def fill_elements(t: Any, start: Any, out: Any) -> Any:
    """Elements from `start` on of the table's first buffer."""
    t = pointer(t)
    for i in range(out.size):
        if t[KIND] == 6:
            size = t[SIZE]
            out[i] = computed(t, np.int64(0), (start + i) << size, np.int64(1) << size)
        else:
            out[i] = element(t, np.int64(0), start + i)


@jit
def read_elements(t: Any, pages: Any, row: Any, start: Any, out: Any) -> Any:
    """Elements from `start` on as memory holds them now."""
    t, pages = pointer(t), pointer(pages)
    size = t[row + SIZE]
    for i in range(out.size):
        out[i] = read(t, pages, row, t[row + BASE] + ((start + i) << size), np.int64(1) << size)
