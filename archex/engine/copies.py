"""Copies that run beside the waves: by lane into local memory, and whole ranges or boxes by one order.

In: a decoded instruction, its record, the cycle. Out: completions, credited to the wave's groups or to barriers in local memory. A bulk
copy passes neither the wave's ports nor the vector cache: its lines go to the second level at the unit's rate, as loads that bypass it.
"""

from __future__ import annotations

from typing import Any

from archex.base import layout as lay
from archex.base.jit import jit_bare as jit
from archex.engine import tables as tab
from archex.engine.addresses import expand_regular, expand_scattered, local_passes
from archex.engine.beside import GROUP_READS, add_to_group
from archex.engine.bits import count
from archex.engine.global_memory import LOCAL_WINDOW
from archex.engine.ports import BULK_PORT, LANE_COPY_PORT, owe, queue_copy, take_way
from archex.engine.rings import place_at
from archex.engine.servers import CLOCK, wait
from archex.engine.signals import owner, signal_event
from archex.engine.state import G_UNIT, I_LINE, I_PORT_READ, I_SECTOR, L_CLUSTER, L_LOCAL_PERIOD, L_WIDTH, W_CONTEXT, W_GROUP, W_RETIRED
from archex.engine.vector_cache import WAY_DOWN


@jit
def expand(memory: Any, trace: Any, context: int, record: Any, width: int) -> None:
    """Addresses lane by lane of a record, -1 where inactive."""
    kind, base = record[lay.RECORD_KIND], record[lay.RECORD_BASE]
    if kind == lay.SCATTERED:
        expand_scattered(memory, trace.pool, context, base, record[lay.RECORD_MASK], width, 0)
    else:
        expand_regular(memory, kind, base, record[lay.RECORD_STRIDE], record[lay.RECORD_MASK], width)


@jit
def pieces_of(paths: Any, memory: Any, trace: Any, context: int, source: Any, target: Any, width: int) -> int:
    """In how many pieces a copy by lane is moved: each is of one line of the source and lies in one of local memory.

    The order of sectors and of halves within them is free. Of sectors whose halves go to two sectors, as in rows shifted by half of one,
    first halves make a piece and second halves another.
    """
    line, sector = paths.levels_int[0, I_LINE], paths.levels_int[0, I_SECTOR]
    expand(memory, trace, context, source, width)
    for lane in range(width):
        memory.places[lane] = memory.addresses[lane]
    expand(memory, trace, context, target, width)
    pairs, pieces = 0, 0
    for lane in range(width):
        if memory.places[lane] < 0 or memory.addresses[lane] < 0:
            continue
        first, to, known = memory.places[lane] // sector, memory.addresses[lane] % LOCAL_WINDOW // sector, False
        for k in range(pairs - 1, -1, -1):
            known = known or (memory.firsts[k] == first and memory.spots[k] == to)
        if not known:
            memory.firsts[pairs], memory.spots[pairs] = first, to
            memory.weights[pairs] = 2 * (memory.places[lane] % sector) // sector
            pairs += 1
    for pair in range(pairs):
        part = 0
        for k in range(pairs):
            if memory.firsts[k] == memory.firsts[pair] and memory.spots[k] != memory.spots[pair]:
                part = 1 + memory.weights[pair]
        key = ((memory.firsts[pair] * sector // line) << 20) + (memory.spots[pair] * sector // line) * 4 + part
        known = False
        for k in range(pieces - 1, -1, -1):
            known = known or memory.words[k] == key
        if not known:
            memory.words[pieces] = key
            pieces += 1
    return pieces


@jit
def steps_of(core: Any, paths: Any, memory: Any, trace: Any, context: int, source: Any, target: Any, width: int, words: int) -> int:
    """Cycles in which a copy by lane through the vector cache is written to local memory, `words` of a bank's width a lane.

    A line of the source a cycle, in the order of lanes; one waits, and those behind it, while a bank that it writes is busy with others.
    """
    line = paths.levels_int[0, I_LINE]
    banks, bank_bytes = int(core.local_memory[tab.LOCAL_BANKS]), int(core.local_memory[tab.LOCAL_BANK_BYTES])
    expand(memory, trace, context, source, width)
    for lane in range(width):
        memory.places[lane] = memory.addresses[lane]
    expand(memory, trace, context, target, width)
    for bank in range(banks):
        memory.spots[bank] = 0  # until when it is busy
    turn, last = 0, 1
    for lane in range(width):
        if memory.places[lane] < 0 or memory.addresses[lane] < 0:
            continue
        number, start = memory.places[lane] // line, turn
        for bank in range(banks):
            memory.weights[bank] = 0  # words of this line
        for other in range(lane, width):
            if memory.places[other] < 0 or memory.addresses[other] < 0 or memory.places[other] // line != number:
                continue
            memory.places[other] = -1
            for word in range(words):
                bank = (memory.addresses[other] % LOCAL_WINDOW // bank_bytes + word) % banks
                memory.weights[bank] += 1
                start = max(start, memory.spots[bank])
        for bank in range(banks):
            if memory.weights[bank] > 0:
                memory.spots[bank] = start + memory.weights[bank]
                last = max(last, memory.spots[bank])
        turn = start + 1
    return last


@jit
def arrive_by_lane(
    core: Any, paths: Any, functions: Any, state: Any, memory: Any, trace: Any, unit: int, w: int, pc: int, now: int, read: int
) -> tuple[int, int]:
    """A copy by lane whose data is there at `read` is written to local memory: (its completion, cycle it leaves the memory queue).

    Copies pass one way piece by piece, and a few wait before it. The writes take local memory's port in the gaps of the waves' accesses
    or in turn with them; hardware does not count them there, and products, which have a way of their own, are not slowed by them.
    """
    row = core.code[pc]
    context = state.waves[w, W_CONTEXT]
    head = trace.cursor[context, lay.RECORD_HEAD] + row[lay.RECORD]
    record = trace.records[place_at(trace.records, context, head + 1)]
    kind, base, stride, mask = record[lay.RECORD_KIND], record[lay.RECORD_BASE], record[lay.RECORD_STRIDE], record[lay.RECORD_MASK]
    if kind == lay.NO_ACCESS:
        return read, now
    width = core.launch[L_WIDTH]
    if kind == lay.SCATTERED:
        expand_scattered(memory, trace.pool, context, base, mask, width, 0)
    elif base >= LOCAL_WINDOW:
        base -= LOCAL_WINDOW
    period, bytes_of = core.launch[L_LOCAL_PERIOD], max(row[lay.BYTES], 1)
    passes = local_passes(functions, memory, core.local_params, period, kind, base, stride, mask, width, bytes_of, 1)
    written, rate = float(passes), core.aside[tab.ASIDE_WRITE_BYTES]
    if rate > 0.0:
        written *= core.local_memory[tab.LOCAL_BANKS] * core.local_memory[tab.LOCAL_BANK_BYTES] / rate
    owe(state, core.owners[tab.OWNER_LOCAL, unit], core.unit_int[tab.LOCAL_PORT], float(now), written)
    source = trace.records[place_at(trace.records, context, head)]
    late = 0  # where the vector cache is passed, that is in `read`
    if row[lay.FLAGS] & lay.BYPASS:
        pieces = pieces_of(paths, memory, trace, context, source, record, width)
        whole = pieces * paths.levels_int[0, I_LINE] <= count(mask) * bytes_of
        passed = core.aside[tab.ASIDE_PAST_INTERVAL] if whole else core.aside[tab.ASIDE_PIECE] * pieces
    else:
        words = max(bytes_of // int(core.local_memory[tab.LOCAL_BANK_BYTES]), 1)
        pieces = steps_of(core, paths, memory, trace, context, source, record, width, words)
        passed = core.aside[tab.ASIDE_PIECE] * pieces
        late = max(int(state.ports[unit, LANE_COPY_PORT]) - now, 0)
    passed += max(state.ports[unit, LANE_COPY_PORT], float(now))
    state.ports[unit, LANE_COPY_PORT] = passed
    taken = queue_copy(state, unit, now, passed, int(core.aside[tab.ASIDE_COPIES]))
    done = read + late + int(core.aside[tab.ASIDE_SMALL_EXTRA]) + max(passes, pieces) - 1
    add_to_group(state, w, lay.GROUP_COPIES, done)
    return done, taken


@jit
def sectors_between(paths: Any, line: int, first: int, end: int) -> int:
    """The sectors of a line that bytes first..end-1 touch."""
    size, sector = paths.levels_int[0, I_LINE], paths.levels_int[0, I_SECTOR]
    start, stop = max(first - line * size, 0), min(end - line * size, size)
    return (2 << ((stop - 1) // sector)) - (1 << (start // sector))


@jit
def move_line(
    paths: Any, functions: Any, links: Any, memory: Any, unit: int, way: int, line: int, first: int, end: int, when: float
) -> float:
    """Move the part of a line that lies in first..end-1; its completion."""
    mask = sectors_between(paths, line, first, end)
    if way == lay.BULK_OUT:
        size, sector = paths.levels_int[0, I_LINE], paths.levels_int[0, I_SECTOR]
        start, stop = max(first, line * size), min(end, line * size + size)
        parts = (1 if start % sector else 0) + (1 if stop % sector and (stop - 1) // sector != start // sector else 0)
        waited = links.write_line(paths, functions, memory, unit, 0, line, mask, parts, when)
        return when + waited + WAY_DOWN * paths.levels[1, tab.LEVEL_LATENCY]
    cost = max(paths.levels[1, tab.LEVEL_ATOMIC_LEAST] * count(mask), 1e-9) if way == lay.BULK_REDUCE else 0.0
    return links.read_line(paths, functions, links.write_line, memory, unit, line, mask, when, cost, -1)


@jit
def move_all(paths: Any, functions: Any, links: Any, memory: Any, unit: int, box: Any, start: float, rate: float) -> float:
    """Move every row of a box through the memory path, bytes in order at `rate` (0: at once); the latest completion."""
    size = paths.levels_int[0, I_LINE]
    bytes_of, way = box[lay.BULK_BYTES], box[lay.BULK_WAY]
    second, third, fourth, fifth = max(box[2], 1), max(box[4], 1), max(box[6], 1), max(box[8], 1)
    latest, sent = start, 0
    if bytes_of <= 0:  # all of it lies outside
        return latest
    for number in range(second * third * fourth * fifth):
        a = number // second
        b = a // third
        c = b // fourth
        first = box[lay.BULK_BASE] + (number - a * second) * box[3] + (a - b * third) * box[5] + (b - c * fourth) * box[7] + c * box[9]
        end = first + bytes_of
        for line in range(first // size, (end + size - 1) // size):
            when = start + (sent / rate if rate > 0.0 else 0.0)
            latest = max(latest, move_line(paths, functions, links, memory, unit, way, line, first, end, when))
            sent += min(end, line * size + size) - max(first, line * size)
    return latest


@jit
def passes_of(core: Any, total: int) -> float:
    """Cycles of local memory's port for so many bytes in a row."""
    return total / (core.local_memory[tab.LOCAL_BANKS] * core.local_memory[tab.LOCAL_BANK_BYTES])


@jit
def deliver(core: Any, paths: Any, state: Any, memory: Any, unit: int, group: int, box: Any, total: int, now: float, done: int) -> None:
    """What a bulk copy brings arrives in the local memory of each target, and is credited to the barrier there."""
    barrier, targets = box[lay.BULK_BARRIER], box[lay.BULK_TARGETS]
    if targets == 0:
        if barrier >= 0:
            barrier %= LOCAL_WINDOW
            signal_event(core, state, owner(core, group, barrier), barrier, 0, 0, box[lay.BULK_CREDIT], done)
        return
    first = group - group % core.launch[L_CLUSTER]
    for rank in range(core.launch[L_CLUSTER]):
        if (targets >> rank) & 1:
            target = state.groups[first + rank, G_UNIT]
            if target != unit and paths.levels_int[1, I_PORT_READ] >= 0:  # read once, but each unit's own port brings it
                cost = total / paths.levels[1, tab.LEVEL_PORT_READ]
                wait(memory.servers, paths.levels_int[1, I_PORT_READ] + target, now, cost)
            if barrier >= 0:
                signal_event(core, state, first + rank, barrier % LOCAL_WINDOW, 0, 0, box[lay.BULK_CREDIT], done)


@jit
def bulk_copy(
    core: Any, paths: Any, functions: Any, links: Any, state: Any, memory: Any, trace: Any, unit: int, w: int, base: int, now: int
) -> int:
    """Start a bulk copy at `now`, whose descriptor is the pool's row `base`; its completion."""
    wave = state.waves[w]
    box = trace.pool[place_at(trace.pool, wave[W_CONTEXT], base)]
    total = box[lay.BULK_BYTES] * max(box[2], 1) * max(box[4], 1) * max(box[6], 1) * max(box[8], 1)
    way = box[lay.BULK_WAY]
    rate = core.aside[tab.ASIDE_BULK_RATE]
    start = max(float(now), state.ports[unit, BULK_PORT])
    taken = total / rate if rate > 0.0 else 0.0
    state.ports[unit, BULK_PORT] = start + max(core.aside[tab.ASIDE_BULK_INTERVAL], taken)
    memory.servers[CLOCK, 0] = float(now)
    if way == lay.BULK_ACROSS:
        between = core.aside[tab.ASIDE_REMOTE_BYTES]
        if between > 0.0:
            start = take_way(state, unit, start, total / between)
            taken = max(taken, total / between)
        latest = start + taken + core.aside[tab.ASIDE_REMOTE_LATENCY]
    else:
        latest = move_all(paths, functions, links, memory, unit, box, start, rate)
    done = int(latest + core.aside[tab.ASIDE_BULK_EXTRA])
    if way == lay.BULK_IN or way == lay.BULK_ACROSS:
        deliver(core, paths, state, memory, unit, wave[W_GROUP], box, total, start, done)
    if way == lay.BULK_OUT or way == lay.BULK_REDUCE or way == lay.BULK_ACROSS:
        owe(state, core.owners[tab.OWNER_LOCAL, unit], core.unit_int[tab.LOCAL_PORT], start, passes_of(core, total))
        add_to_group(state, w, GROUP_READS, int(start + taken + core.local_memory[tab.LOCAL_LATENCY_16]))
        add_to_group(state, w, lay.GROUP_BULK, done)
        wave[W_RETIRED] = max(wave[W_RETIRED], done)
    return done
