"""Matrix operations of a wave, by groups of 32 lanes.

In: an encoded operation and the lanes that take part: of a group all or none. Out: registers or local memory changed, or a fault number.
What is common to a product's operations stands in the side table, as a header whose columns are numbered here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from archex.base.jit import jit_bare as jit
from archex.base.jit import outlined
from archex.base.layout import AFFINE
from archex.programs.interpreter import table as n
from archex.programs.interpreter.compute import place
from archex.programs.interpreter.matrix_sum import fetch, gather, scatter, sums
from archex.programs.interpreter.memory import insert
from archex.programs.interpreter.transfer import FIRST, KIND, LOOK_COLUMNS, STRIDE
from archex.programs.values import LOW32, LOWEST, leading_zeros, low_bits, popcount, shift_right

# --- a product's header: extents, types, and where tables (of `matrix_layout`), registers and memory operands are
(
    ROWS, COLUMNS, DEPTH, TERMS, FIRST_TYPE, SECOND_TYPE, SUM_TYPE, FLAGS, MODE, FIRST_TABLE, SECOND_TABLE, SUM_TABLE, INDEX_TABLE,
    INDEX_SCALE, FIRST_REGISTERS, SECOND_REGISTERS, SUM_REGISTERS, RESULT_REGISTERS, INDEX_REGISTER, GROUP_REGISTER, KEEP, FIRST_SIZE,
    SECOND_SIZE,
) = range(23)  # fmt: skip
HEADER_COLUMNS = 23
SATURATE, FIRST_IN_MEMORY, SECOND_IN_MEMORY, FIRST_TURNED, SECOND_TURNED, NEGATE, SHORT = 1, 2, 4, 8, 16, 32, 64
#: Where products may write within `look`, behind what is known of an access.
SCRATCH = LOOK_COLUMNS


@outlined("i:piiiippiiiiip", "matrix")
def move_rows(
    lists: Any, at: Any, count: Any, storing: Any, turned: Any, r: Any, local: Any, local_at: Any, addresses: Any, base: Any, group: Any,
    limit: Any, fault: Any,
) -> Any:  # fmt: skip
    """8 x 8 matrices of 16-bit elements between registers and local memory; lanes 8 j .. 8 j + 7 hold the addresses of matrix j's rows.

    A fault number: rows lie in the workgroup's own memory.
    """
    for j in range(count):
        if lists[at + j] < 0:
            continue
        row = place(lists[at + j], base) + group
        for lane in range(32):
            value = np.int64(0)
            for e in range(2):
                line, column = np.int64(lane >> 2), np.int64((lane & 3) * 2 + e)
                if turned:
                    line, column = column, line
                address = r[addresses + group + 8 * j + line] + column * 2
                if address + 2 > limit:
                    fault[n.F_VALUE], fault[n.F_EXTRA] = address, 2
                    return n.OUT_OF_LOCAL
                word = local_at + (address >> 3)
                if storing:
                    local[word] = insert(local[word], address, np.int64(2), (r[row + lane] >> (16 * e)) & 0xFFFF)
                else:
                    value |= (shift_right(local[word], (address & 7) * 8) & 0xFFFF) << (16 * e)
            if not storing:
                r[row + lane] = value
    return n.NO_FAULT


@jit
def _transpose(r: Any, target: Any, source: Any, scratch: Any) -> Any:
    """An 8 x 8 matrix of 16-bit elements, turned."""
    for lane in range(32):
        r[scratch + lane] = r[source + lane]
    for lane in range(32):
        value = np.int64(0)
        for e in range(2):
            line, column = (lane & 3) * 2 + e, lane >> 2
            value |= ((r[scratch + (4 * line + (column >> 1))] >> (16 * (column & 1))) & 0xFFFF) << (16 * e)
        r[target + lane] = value


@outlined("i:pippiiiippip", "matrix")
def product(
    lists: Any, h: Any, r: Any, p: Any, base: Any, first_predicate: Any, group: Any, limit: Any, look: Any, local: Any, local_at: Any,
    fault: Any,
) -> Any:  # fmt: skip
    """One product of a group of lanes; a fault number."""
    rows, columns, depth, terms = lists[h + ROWS], lists[h + COLUMNS], lists[h + DEPTH], lists[h + TERMS]
    flags, kind = lists[h + FLAGS], lists[h + SUM_TYPE]
    first = np.int64(SCRATCH)
    index = first + rows * terms
    second = index + rows * terms
    total = second + columns * depth
    outcome = np.int64(n.NO_FAULT)
    if flags & FIRST_IN_MEMORY:
        descriptor = r[place(lists[lists[h + FIRST_REGISTERS]], base) + group]
        line = (r[place(lists[h + GROUP_REGISTER], base) + group] & 3) * 16
        outcome = fetch(
            local, local_at, limit, descriptor, line, rows, terms, lists[h + FIRST_SIZE], flags & FIRST_TURNED, lists[h + FIRST_TYPE], look,
            first, fault,
        )  # fmt: skip
    else:
        gather(
            lists, lists[h + FIRST_TABLE], lists[h + FIRST_REGISTERS], r, base, group, rows * terms, lists[h + FIRST_TYPE], look, first
        )  # fmt: skip
    if outcome == n.NO_FAULT and flags & SECOND_IN_MEMORY:
        descriptor = r[place(lists[lists[h + SECOND_REGISTERS]], base) + group]
        outcome = fetch(
            local, local_at, limit, descriptor, np.int64(0), columns, depth, lists[h + SECOND_SIZE], flags & SECOND_TURNED,
            lists[h + SECOND_TYPE], look, second, fault,
        )  # fmt: skip
    elif outcome == n.NO_FAULT:
        gather(
            lists, lists[h + SECOND_TABLE], lists[h + SECOND_REGISTERS], r, base, group, columns * depth, lists[h + SECOND_TYPE], look,
            second,
        )  # fmt: skip
    if outcome != n.NO_FAULT:
        return outcome
    if flags & NEGATE:
        for e in range(rows * terms):
            look[first + e] ^= LOWEST
    for e in range(rows * terms):
        look[index + e] = e % terms
    if lists[h + INDEX_TABLE] >= 0:
        source = place(lists[h + INDEX_REGISTER], base) + group
        for e in range(rows * terms):
            entry = lists[lists[h + INDEX_TABLE] + e]
            bits = (r[source + (entry & 31)] >> ((entry >> 5) & 31)) & 3
            look[index + e] = (entry >> 10) + ((bits * lists[h + INDEX_SCALE]) >> 1)
    if (p[first_predicate + lists[h + KEEP]] >> group) & 1:
        gather(lists, lists[h + SUM_TABLE], lists[h + SUM_REGISTERS], r, base, group, rows * columns, kind, look, total)
    else:
        for e in range(rows * columns):
            look[total + e] = 0
    sums(look, first, index, second, total, rows, columns, terms, depth, kind, flags & SATURATE, lists[h + MODE])
    scatter(
        lists, lists[h + SUM_TABLE], lists[h + RESULT_REGISTERS], r, base, group, rows * columns, flags & SHORT, look, total
    )  # fmt: skip
    return n.NO_FAULT


@outlined("i:pipppiiiippipp", "matrix", entry=True)
def matrix(
    code: Any, o: Any, lists: Any, r: Any, p: Any, base: Any, first_predicate: Any, act: Any, lanes: Any, look: Any, local: Any,
    local_at: Any, shape: Any, fault: Any,
) -> Any:  # fmt: skip
    """One operation with an active lane; a fault number."""
    op, at = code[o + n.OP], code[o + n.LIST]
    if op == n.M_DESCRIBE:
        lane = np.int64(63 - leading_zeros(act & -act))
        descriptor = r[place(code[o + n.A], base) + lane]
        look[KIND], look[FIRST], look[STRIDE] = AFFINE, (descriptor & 0x3FFF) << 4, 16
        return n.NO_FAULT
    for half in range(np.int64(lanes) >> 5):
        group = np.int64(half * 32)
        here = low_bits(shift_right(act, group), np.int64(32))
        if here == 0:
            continue
        if here != LOW32:
            fault[n.F_VALUE] = popcount(here)
            return n.PART_OF_GROUP
        outcome = np.int64(n.NO_FAULT)
        if op == n.M_PRODUCT:
            outcome = product(lists, at, r, p, base, first_predicate, group, shape[n.LOCAL_BYTES], look, local, local_at, fault)
        elif op == n.M_TRANSPOSE:
            _transpose(r, place(code[o + n.DST], base) + group, place(code[o + n.A], base) + group, shape[n.SCRATCH])
        else:
            # Their addresses are in the second scratch row, observed and checked.
            outcome = move_rows(
                lists, at, code[o + n.VECTOR], op == n.M_STORE, code[o + n.MODE], r, local, local_at, shape[n.SCRATCH] + lanes, base, group,
                shape[n.LOCAL_BYTES], fault,
            )  # fmt: skip
        if outcome != n.NO_FAULT:
            return outcome
    return n.NO_FAULT
