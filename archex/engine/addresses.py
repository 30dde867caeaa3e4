"""From a memory record to addresses, lines and bank passes.

In: a record (affine or scattered) of the trace ring. Out: `memory.addresses` lane by lane where needed, `memory.lines/sectors`,
passes through banks. Affine records, the common case, take short cuts: neighbouring lanes touch neighbouring lines, and bank
passes depend on stride, width and mask only, so they are remembered.
"""

from __future__ import annotations

from typing import Any

from archex.base import layout as lay
from archex.base.jit import jit_bare as jit
from archex.engine.bits import mix
from archex.engine.bundle import whole
from archex.engine.patterns import P_PASSES, pattern_row
from archex.engine.policies import Access
from archex.engine.rings import place_at
from archex.engine.standard import bank_passes, bucket_of, one_more
from archex.engine.state import A_BUSIEST, A_LANES, A_PASSES, A_SECTORS, FAULT, FAULT_VALUE, MEMO_ROWS

FAULT_COALESCE = 5  # positions in policies.ARGUMENTS
FAULT_ACCESS_CYCLES = 6
_passes = jit(bank_passes)


@jit
def expand_affine(memory: Any, base: int, stride: int, mask: int, width: int) -> None:
    """Addresses lane by lane of an affine access, -1 where inactive."""
    for lane in range(width):
        memory.addresses[lane] = base + lane * stride if (mask >> lane) & 1 else -1


@jit
def expand_rows(memory: Any, kind: int, base: int, stride: int, width: int) -> None:
    """Addresses lane by lane of lanes in rows (layout's ROWS); all are active."""
    shift = kind - lay.ROWS
    step, half = stride >> lay.ROW_SHIFT, 1 << (lay.ROW_SHIFT - 1)
    along = ((stride & (2 * half - 1)) ^ half) - half
    for lane in range(width):
        memory.addresses[lane] = base + (lane & ((1 << shift) - 1)) * along + (lane >> shift) * step


@jit
def expand_regular(memory: Any, kind: int, base: int, stride: int, mask: int, width: int) -> None:
    """Addresses lane by lane of an affine access, or of lanes in rows."""
    if kind == lay.AFFINE:
        expand_affine(memory, base, stride, mask, width)
    else:
        expand_rows(memory, kind, base, stride, width)


@jit
def expand_scattered(memory: Any, pool: Any, context: int, position: int, mask: int, width: int, bias: int) -> None:
    """Addresses lane by lane from the pool (less `bias`), -1 where inactive."""
    row = pool[place_at(pool, context, position)]
    for lane in range(width):
        address = row[lane]
        memory.addresses[lane] = address - bias if (mask >> lane) & 1 and address >= 0 else -1


@jit
def affine_lines(memory: Any, base: int, stride: int, mask: int, width: int, bytes_of: int, line: int, sector: int) -> int:
    """Lines and sectors of an affine access in lane order; the number of lines. Lines come in order, so only the last can repeat."""
    found = 0
    number = -1
    whole = line // sector
    for lane in range(width):
        if (mask >> lane) & 1:
            address = base + lane * stride
            this = address // line
            within = address - this * line
            first = within // sector
            last = (within + bytes_of - 1) // sector
            if this != number:
                number = this
                memory.lines[found] = this
                memory.sectors[found] = 0
                found += 1
            if last < whole:
                memory.sectors[found - 1] |= (2 << last) - (1 << first)
            else:
                memory.sectors[found - 1] |= (1 << whole) - (1 << first)
                number = this + 1
                memory.lines[found] = number
                memory.sectors[found] = (2 << (last - whole)) - 1
                found += 1
    return found


@jit
def dense_lines(memory: Any, base: int, length: int, line: int, sector: int) -> int:
    """Lines and sectors of `length` bytes in a row from `base`."""
    whole = (1 << (line // sector)) - 1
    first, last = base // line, (base + length - 1) // line
    for k in range(first, last + 1):
        memory.lines[k - first] = k
        memory.sectors[k - first] = whole
    head = (base - first * line) // sector
    tail = (base + length - 1 - last * line) // sector
    memory.sectors[0] &= ~((1 << head) - 1)
    memory.sectors[last - first] &= (2 << tail) - 1
    return last - first + 1


@jit
def lines_of(
    functions: Any,
    memory: Any,
    params: Any,
    standard: int,
    kind: int,
    base: int,
    stride: int,
    mask: int,
    width: int,
    bytes_of: int,
    line: int,
    sector: int,
) -> int:
    """Lines of an access into `memory.lines/sectors`. Scattered accesses (or a special `coalesce`) must be expanded before."""
    if kind == lay.AFFINE and standard != 0:
        every = (1 << width) - 1 if width < 64 else -1
        if stride == bytes_of and mask == every:
            return dense_lines(memory, base, bytes_of * width, line, sector)
        if stride == 0:
            return dense_lines(memory, base, bytes_of, line, sector)
        return affine_lines(memory, base, stride, mask, width, bytes_of, line, sector)
    found = functions.coalesce(
        Access(whole(memory.addresses), width, bytes_of, 0), line, sector, whole(memory.lines), whole(memory.sectors),
        whole(memory.scratch), whole(params),
    )  # fmt: skip
    if found < 1 or found > 2 * width:
        memory.scalars[FAULT] = FAULT_COALESCE
        memory.scalars[FAULT_VALUE] = found
        return 1
    return found


@jit
def memo_row(memory: Any, stride: int, mask: int, bytes_of: int, phase: int, what: int) -> int:
    """The row of `memo` for this pattern; row[0] tells whether it is filled with it."""
    lanes = (mask & 0xFFFFFFFF) * 3 + ((mask >> 32) & 0xFFFFFFFF)
    strides = (stride & 0xFFFFFFFF) + (stride >> 32) * 31
    row = mix(strides * 977 + lanes + bytes_of * 131 + phase * 31 + what * 7) & (MEMO_ROWS - 1)
    known = memory.memo[row]
    if known[0] == stride and known[1] == mask and known[2] == bytes_of and known[3] == phase * 256 + what:
        return row
    known[0], known[1], known[2], known[3], known[4] = stride, mask, bytes_of, phase * 256 + what, -1
    return row


@jit
def cache_passes(memory: Any, params: Any, kind: int, base: int, stride: int, mask: int, width: int, bytes_of: int, store: int) -> int:
    """Passes through the data banks of the vector cache (params: banks, bytes a bank). Scattered: addresses are expanded."""
    if kind == lay.AFFINE:
        row = memo_row(memory, stride, mask, bytes_of, base % int(params[1]), store)
        if memory.memo[row, 4] < 0:
            expand_affine(memory, base, stride, mask, width)
            memory.memo[row, 4] = _passes(Access(whole(memory.addresses), width, bytes_of, store), whole(memory.scratch), params)
        return memory.memo[row, 4]
    return _passes(Access(whole(memory.addresses), width, bytes_of, store), whole(memory.scratch), params)


@jit
def local_passes(
    functions: Any, memory: Any, params: Any, period: int, kind: int, base: int, stride: int, mask: int, width: int, bytes_of: int,
    store: int,
) -> int:  # fmt: skip
    """Passes through local memory, by the device's policy. A pattern moved by a multiple of `period` bytes costs the same."""
    passes = 0
    row, place = -1, -1
    if kind != lay.SCATTERED:
        if period > 0:
            row = memo_row(memory, stride, mask, bytes_of, base % period, 2 + store + 4 * kind)
            passes = memory.memo[row, 4]
            if passes > 0:
                return passes
        expand_regular(memory, kind, base, stride, mask, width)
    elif period > 0:
        place = pattern_row(memory, period, width, bytes_of, store)
        if place >= 0 and memory.patterns[place, P_PASSES] > 0:
            return memory.patterns[place, P_PASSES]
    passes = functions.access_cycles(Access(whole(memory.addresses), width, bytes_of, store), whole(memory.scratch), whole(params))
    if passes < 1 or passes > 4096:
        memory.scalars[FAULT] = FAULT_ACCESS_CYCLES
        memory.scalars[FAULT_VALUE] = passes
        return 1
    if row >= 0:
        memory.memo[row, 4] = passes
    if place >= 0:
        memory.patterns[place, P_PASSES] = passes
    return passes


@jit
def atomic_weights(memory: Any, width: int, line: int, sector: int, lines: int) -> None:
    """For each line of an atomic (addresses expanded): most lanes on one address, distinct addresses, and `memory.atomics`.

    A sector takes a pass for each lane on the one of its addresses that has the most: the others go along.
    """
    for k in range(lines):
        memory.weights[k] = 0
        memory.words[k] = 0
        for column in range(A_SECTORS + line // sector):
            memory.atomics[k, column] = 0
    scratch = memory.scratch
    scratch[0] += 1
    generation = scratch[0]
    for lane in range(width):
        address = memory.addresses[lane]
        if address < 0:
            continue
        number = address // line
        k = 0
        while k < lines - 1 and memory.lines[k] != number:
            k += 1
        bucket = bucket_of(scratch, address)
        if scratch[256 + bucket] != generation:
            scratch[256 + bucket] = generation
            scratch[512 + bucket] = address
            scratch[768 + bucket] = 0
            memory.words[k] += 1
        scratch[768 + bucket] += 1
        row = memory.atomics[k]
        row[A_LANES] += 1
        place = (address - number * line) // sector
        if scratch[768 + bucket] > row[A_SECTORS + place]:
            row[A_SECTORS + place] += 1
            row[A_PASSES] += 1
            if row[A_SECTORS + place] > memory.weights[k]:
                memory.weights[k] = row[A_SECTORS + place]
                row[A_BUSIEST] = place


@jit
def partial_sectors(
    memory: Any, kind: int, base: int, stride: int, mask: int, width: int, bytes_of: int, lines: int, line: int, sector: int
) -> None:
    """For each line of a store the sectors of which only some bytes are written, into `memory.words`. Scattered: addresses are expanded."""
    for k in range(lines):
        memory.words[k] = 0
        memory.weights[k] = 0
    if kind == lay.AFFINE and (stride == bytes_of or stride == -bytes_of) and mask == ((1 << width) - 1 if width < 64 else -1):
        first = base if stride > 0 else base + stride * (width - 1)
        memory.words[0] += 1 if first % sector else 0
        memory.words[lines - 1] += 1 if (first + width * bytes_of) % sector else 0
        return
    whole = line // sector
    bits = min(60 // whole, 16)
    most = (1 << bits) - 1
    k = 0
    for lane in range(width):
        if not (mask >> lane) & 1:
            continue
        address = base + lane * stride if kind == lay.AFFINE else memory.addresses[lane]
        if address < 0:
            continue
        number = address // line
        if memory.lines[k] != number:
            k = 0
            while k < lines - 1 and memory.lines[k] != number:
                k += 1
        place = (address - number * line) // sector
        written = (memory.weights[k] >> (place * bits)) & most
        memory.weights[k] += min(bytes_of, most - written) << (place * bits)
    for k in range(lines):
        j = 0
        while memory.weights[k] == 0 and j < k:  # a line named before, whose bytes were counted there
            if memory.lines[j] == memory.lines[k]:
                memory.weights[k] = memory.weights[j]
            j += 1
        for place in range(whole):
            if (memory.sectors[k] >> place) & 1 and (memory.weights[k] >> (place * bits)) & most < min(sector, most):
                memory.words[k] += 1


@jit
def local_weight(memory: Any, width: int, banks: int, bank_bytes: int) -> int:
    """Most lanes on one bank or address of a local-memory atomic (addresses expanded)."""
    scratch = memory.scratch
    scratch[0] += 1
    most = 1
    for lane in range(width):
        address = memory.addresses[lane]
        if address >= 0:
            most = max(most, one_more(scratch, (address // bank_bytes) % banks))
    return most
