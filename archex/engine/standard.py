"""The textbook policies, in the form every policy has: what tests run with and what the built-in parts hand over.

In: views and parameters as `policies` defines them. Out: one number. Compiled centrally, never called from here.
"""

from __future__ import annotations

from typing import Any

from archex.base.jit import jit_bare as jit
from archex.engine.bits import lowest, mix
from archex.engine.policies import GROUP_AGES


def pick_oldest(view: Any, state: Any, params: Any) -> int:
    """The wave that issued last while it can, else the oldest."""
    if view.last >= 0 and (view.ready >> view.last) & 1:
        return view.last
    best, age, mask = -1, 1 << 62, view.ready
    while mask != 0:
        slot = lowest(mask)
        mask &= mask - 1
        if view.age[view.first + slot] < age:
            best, age = slot, view.age[view.first + slot]
    return best


def pick_workgroup(view: Any, state: Any, params: Any) -> int:
    """The wave that issued last while it can, else of the oldest workgroup that has one that can the one that issued longest ago.

    `state`: the cycle of each slot's last issue.
    """
    best = view.last
    if best < 0 or not (view.ready >> best) & 1:
        mask, group, issued = view.ready, 1 << 62, 1 << 62
        while mask != 0:
            slot = lowest(mask)
            mask &= mask - 1
            started = view.age[view.first + slot] // GROUP_AGES
            if started < group or (started == group and state[slot] < issued):
                best, group, issued = slot, started, state[slot]
    state[best] = view.cycle
    return best


def pick_round_robin(view: Any, state: Any, params: Any) -> int:
    """The next slot after the one that issued last."""
    above = view.ready & ~((2 << view.last) - 1) if view.last >= 0 else view.ready
    return lowest(above) if above != 0 else lowest(view.ready)


def read_at_once(registers: Any, count: int, params: Any) -> int:
    """All operands in one cycle."""
    return 1


def ignore_wave(event: Any, state: Any, params: Any) -> int:
    """No feedback wanted."""
    return 0


def ignore_set(view: Any, state: Any, params: Any) -> int:
    """No feedback wanted."""
    return 0


def index_modulo(line: int, sets: int, params: Any) -> int:
    """Low bits (any count of sets)."""
    return line % sets


def victim_oldest(view: Any, state: Any, params: Any) -> int:
    """The way used longest ago."""
    oldest = view.last_use[view.first]
    for way in range(1, view.ways):
        oldest = min(oldest, view.last_use[view.first + way])
    best = 0
    while view.last_use[view.first + best] != oldest:
        best += 1
    return best


_BUCKETS = 256  # hash buckets in `scratch`: stamps from word 256, keys from word 512
_STAMPS = 256
_KEYS = 512
_VALUES = 768  # positions of keys, or of up to 256 banks how full they are: generation << 16 | height


@jit
def bucket_of(scratch: Any, key: int) -> int:
    """The bucket that holds `key` in this generation, or the free one where it belongs."""
    bucket = mix(key) & (_BUCKETS - 1)
    while scratch[_STAMPS + bucket] == scratch[0] and scratch[_KEYS + bucket] != key:
        bucket = (bucket + 1) & (_BUCKETS - 1)
    return bucket


@jit
def seen(scratch: Any, key: int) -> bool:
    """Whether `key` has come before in this generation; it has now."""
    bucket = bucket_of(scratch, key)
    if scratch[_STAMPS + bucket] == scratch[0]:
        return True
    scratch[_STAMPS + bucket] = scratch[0]
    scratch[_KEYS + bucket] = key
    return False


@jit
def append_line(lines: Any, sectors: Any, scratch: Any, found: int, line: int, mask: int) -> int:
    """Add a line's sectors to the first `found` entries; the new number of entries."""
    if found > 0 and lines[found - 1] == line:
        sectors[found - 1] |= mask
        return found
    bucket = bucket_of(scratch, line)
    if scratch[_STAMPS + bucket] == scratch[0]:
        sectors[scratch[_VALUES + bucket]] |= mask
        return found
    scratch[_STAMPS + bucket] = scratch[0]
    scratch[_KEYS + bucket] = line
    scratch[_VALUES + bucket] = found
    lines[found] = line
    sectors[found] = mask
    return found + 1


def coalesce_lines(access: Any, line: int, sector: int, lines: Any, sectors: Any, scratch: Any, params: Any) -> int:
    """Distinct lines in the order of the lanes that touch them first, with the sectors of each."""
    return merge_lanes(access, 0, access.lanes, line, sector, lines, sectors, scratch)


@jit
def merge_lanes(access: Any, begin: int, end: int, line: int, sector: int, lines: Any, sectors: Any, scratch: Any) -> int:
    """Merge what the lanes begin..end-1 want; the number of distinct lines."""
    scratch[0] += 1
    found = 0
    for lane in range(begin, end):
        address = access.addresses[lane]
        if address >= 0:
            number = address // line
            within = address - number * line
            first = within // sector
            last = (within + access.bytes - 1) // sector
            whole = line // sector
            if last < whole:
                found = append_line(lines, sectors, scratch, found, number, (2 << last) - (1 << first))
            else:
                found = append_line(lines, sectors, scratch, found, number, (1 << whole) - (1 << first))
                found = append_line(lines, sectors, scratch, found, number + 1, (2 << (last - whole)) - 1)
    return found


@jit
def one_more(scratch: Any, bank: int) -> int:
    """How full a bank is with one more in this generation."""
    height = scratch[_VALUES + bank] + 1 if scratch[_VALUES + bank] >> 16 == scratch[0] else (scratch[0] << 16) + 1
    scratch[_VALUES + bank] = height
    return height & 0xFFFF


PLAIN, CROSSED, ROTATED = 0, 1, 2


@jit
def bank_of(word: int, banks: int, order: int) -> int:
    """The bank of a word: PLAIN in turn; CROSSED: each row's order by exclusive or with its number; ROTATED: by a hash of its number."""
    row = word // banks
    place = word - row * banks
    if order == PLAIN:
        return place
    if order == ROTATED:
        return (place + mix(row)) % banks
    return place ^ (row % banks) if banks & (banks - 1) == 0 else (place + row) % banks


@jit
def phase_cycles(access: Any, scratch: Any, first: int, end: int, banks: int, bank_bytes: int, order: int) -> int:
    """Passes for the lanes first..end-1: the most distinct words any bank must give."""
    words = (access.bytes + bank_bytes - 1) // bank_bytes
    scratch[0] += 1
    most = 0
    for lane in range(first, end):
        address = access.addresses[lane]
        if address < 0:
            continue
        for k in range(words):
            word = address // bank_bytes + k
            if not seen(scratch, word):
                most = max(most, one_more(scratch, bank_of(word, banks, order)))
    return most


def bank_passes(access: Any, scratch: Any, params: Any) -> int:
    """Passes through banks that hold words in turn."""
    return phases(access, scratch, int(params[0]), int(params[1]), PLAIN)


@jit
def phases(access: Any, scratch: Any, banks: int, bank_bytes: int, order: int) -> int:
    """Passes through banked memory: lanes go in phases that fill all banks; two neighbouring load phases on the same words merge."""
    lanes = max(1, min(access.lanes, banks * bank_bytes // access.bytes))
    total, first = 0, 0
    while first < access.lanes:
        middle, end = min(first + lanes, access.lanes), min(first + 2 * lanes, access.lanes)
        passes = phase_cycles(access, scratch, first, middle, banks, bank_bytes, order)
        passes += phase_cycles(access, scratch, middle, end, banks, bank_bytes, order)
        if access.store == 0 and lanes < 32 and passes > 1:
            passes = min(passes, max(1, phase_cycles(access, scratch, first, end, banks, bank_bytes, order)))
        total += passes
        first = end
    return max(total, 1)


def channel_hash(address: int, params: Any) -> int:
    """Chunks of params[1] bytes over params[0] channels, each round of channels in another order."""
    channels = int(params[0])
    chunk = address // int(params[1])
    return (chunk + mix(chunk // channels)) % channels


def place_in_order(view: Any, state: Any, params: Any) -> int:
    """The next unit in filling order that has room."""
    units = view.order.shape[0]
    position = view.last
    for _ in range(units):
        position += 1
        if position >= units:
            position = 0
        unit = view.order[position]
        if view.available[unit] <= view.cycle:
            return unit
    return -1
