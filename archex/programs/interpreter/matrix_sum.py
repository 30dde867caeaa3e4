"""Products of small matrices: elements gathered into a scratch array, summed, and put back.

In: registers by the tables of `matrix_layout`, or local memory by a descriptor. Out: sums, as bits of the accumulator's type.
Products of short floats are exact in double precision; they are added to the accumulator one after another along k, in double precision,
and the sum is rounded once, to nearest even. Double precision is a chain of fused multiply-adds in that order; whole numbers are exact.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from archex.base.jit import jit_bare as jit
from archex.base.jit import outlined
from archex.programs.interpreter import table as n
from archex.programs.interpreter.compute import place
from archex.programs.interpreter.double_lane import D_FMA, directed
from archex.programs.interpreter.rounding import F64, NEAREST, nan_of, narrow, widen
from archex.programs.values import LOW32, bits_of_f64, f64_of, fma64, low_bits, shift_right, sign_extend


@jit
def _element(kind: Any, bits: Any) -> Any:
    """What bits of an element stand for: a double's bits, or a whole number."""
    if kind < 16:
        return bits_of_f64(widen(bits, kind))
    width = (kind - 16) >> 1
    return sign_extend(bits, width) if kind & 1 else low_bits(bits, width)


@outlined("v:piipiiiipi", "matrix")
def gather(
    lists: Any, table: Any, registers: Any, r: Any, base: Any, group: Any, count: Any, kind: Any, look: Any, at: Any
) -> Any:  # fmt: skip
    """Elements out of registers of the group of lanes that begins at lane `group`."""
    for e in range(count):
        entry = lists[table + e]
        row = place(lists[registers + ((entry >> 5) & 0xFF)], base) + group
        look[at + e] = _element(kind, shift_right(r[row + (entry & 31)], entry >> 13))


@outlined("v:piipiiiipi", "matrix")
def scatter(
    lists: Any, table: Any, registers: Any, r: Any, base: Any, group: Any, count: Any, short: Any, look: Any, at: Any
) -> Any:  # fmt: skip
    """Results into registers; `short`: two of 16 bits share one."""
    for e in range(count):
        entry = lists[table + e]
        target = lists[registers + ((entry >> 5) & 0xFF)]
        if target < 0:
            continue
        where = place(target, base) + group + (entry & 31)
        value = look[at + e]
        if short:
            low = entry >> 13
            value = (r[where] & ~(np.int64(0xFFFF) << low)) | (value << low)
        r[where] = value


@outlined("i:iiiii", "matrix")
def element_address(descriptor: Any, line: Any, depth: Any, size: Any, turned: Any) -> Any:
    """Local address of element `depth` of a line (a row of the first, a column of the second operand), `size` bytes.

    Eight lines of 16 bytes are one matrix where nothing is swizzled; else lines of 128, 64 or 32 bytes repeat every eight, and the 16-byte
    parts of a line are exchanged by the number of the line (address bits 4..6 by bits 7..9). `turned`: lines follow each other in memory.
    """
    start = (descriptor & 0x3FFF) << 4
    leading, stride = ((descriptor >> 16) & 0x3FFF) << 4, ((descriptor >> 32) & 0x3FFF) << 4
    mode = (descriptor >> 62) & 3
    if turned:
        inner, outer = line * size, depth
    else:
        inner, outer = depth * size, line
    if mode == 0:
        if turned:
            leading, stride = stride, leading
        return start + (inner & 15) + (inner >> 4) * leading + (outer & 7) * 16 + (outer >> 3) * stride
    wide = np.int64(256) >> mode
    address = start + (inner & (wide - 1)) + (inner // wide) * leading + (outer & 7) * wide + (outer >> 3) * stride
    if mode == 3:
        mask = np.int64(1)
    elif mode == 2:
        mask = np.int64(3)
    else:
        mask = np.int64(7)
    phase = (descriptor >> 49) & 7
    return address ^ ((((address >> 7) - phase) & mask) << 4)


@outlined("i:piiiiiiiiipip", "matrix")
def fetch(
    local: Any, local_at: Any, limit: Any, descriptor: Any, first: Any, lines: Any, depth: Any, size: Any, turned: Any, kind: Any,
    look: Any, at: Any, fault: Any,
) -> Any:  # fmt: skip
    """Elements out of local memory; a fault number."""
    for i in range(lines):
        for k in range(depth):
            address = element_address(descriptor, first + i, np.int64(k), size, turned)
            if address + size > limit:
                fault[n.F_VALUE], fault[n.F_EXTRA] = address, size
                return n.OUT_OF_LOCAL
            word = shift_right(local[local_at + (address >> 3)], (address & 7) * 8)
            look[at + i * depth + k] = _element(kind, word)
    return n.NO_FAULT


@outlined("v:piiiiiiiiiii", "matrix")
def sums(
    look: Any, first: Any, index: Any, second: Any, total: Any, rows: Any, columns: Any, terms: Any, depth: Any, kind: Any, saturate: Any,
    mode: Any,
) -> Any:  # fmt: skip
    """total[i, j] += first[i, q] * second[j, index[i, q]] for q = 0, 1, ..., as bits of type `kind`."""
    for i in range(rows):
        for j in range(columns):
            at = total + i * columns + j
            a, x, b = first + i * terms, index + i * terms, second + j * depth
            if kind >= 16:
                whole = look[at]
                for q in range(terms):
                    whole += look[a + q] * look[b + look[x + q]]
                if saturate:
                    whole = min(max(whole, np.int64(-(2**31))), np.int64(2**31 - 1))
                look[at] = whole & LOW32
            elif kind == F64:
                value = f64_of(look[at])
                for q in range(terms):
                    if mode == NEAREST:
                        value = fma64(f64_of(look[a + q]), f64_of(look[b + look[x + q]]), value)
                    else:
                        value = directed(np.int64(D_FMA), mode, f64_of(look[a + q]), f64_of(look[b + look[x + q]]), value)
                look[at] = bits_of_f64(value) if value == value else nan_of(np.int64(F64))
            else:
                value = f64_of(look[at])
                for q in range(terms):
                    value += f64_of(look[a + q]) * f64_of(look[b + look[x + q]])
                look[at] = narrow(value, kind, np.int64(NEAREST), saturate)
