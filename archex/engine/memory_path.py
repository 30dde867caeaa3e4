"""The memory path below the vector cache: an ordered list of cache levels, then the channels.

In: `memory.lines/sectors/times` filled by the vector cache (what it lacks, when it asks). Out: completion times. A request
resolves at once: the latency of the level that has the data, plus the waits at every server on its way. What it waited at one
server it need not wait again at the next: a burst goes through servers in a row at the pace of the slowest.
"""

from __future__ import annotations

from typing import Any

from archex.base.jit import jit_bare as jit
from archex.engine import tables as tab
from archex.engine.bits import count
from archex.engine.cache import choose_entry, dirty_sectors, feedback, find, home_of, line_in, put_line, set_at, spot_of, touch
from archex.engine.dram import dram_read, dram_write
from archex.engine.merging import join_read, merge_place, note_read
from archex.engine.policies import FILLED_SET, HIT
from archex.engine.servers import ACCEPTED, CLOCK, REPEATED, RESULT, TARGET, TOUCHED, wait
from archex.engine.state import (
    COPIED,
    DI_ACCESS,
    DIRTY_SHIFT,
    FILL_SHIFT,
    FLAG_MASK,
    I_COPY,
    I_FETCH,
    I_LINE,
    I_MERGED,
    I_PARTITIONS,
    I_SECTOR,
    I_WAYS,
    I_WHOLE,
    I_WRITE,
    PENDING_SHIFT,
    SECTOR_MASK,
)
from archex.engine.translation import translate
from archex.engine.ways import accesses_of, distance, note_lookup, read_ports, regroup, widen, write_ports

_L2_READ = tab.COUNTER_INDEX["l2_read_sectors"]
_L2_WRITE = tab.COUNTER_INDEX["l2_write_sectors"]
_L2_ATOMIC = tab.COUNTER_INDEX["l2_atomic_sectors"]
_FAR_WRITTEN = tab.COUNTER_INDEX["far_written_sectors"]
_FAR = tab.COUNTER_INDEX["far_sectors"]


@jit
def write_line(paths: Any, functions: Any, memory: Any, unit: int, above: int, line: int, mask: int, parts: int, now: float) -> float:
    """Write sectors of a line of level `above`, `parts` of them in part, to the levels below; the wait until they are accepted.

    A line that must leave to make room goes on down in the same way; of its waits only the memory channel's holds the writer.
    """
    levels = paths.levels.shape[0]
    delay = 0.0
    first_level = above + 1
    if above == 0 and paths.translation[tab.TRANSLATION_EARLY] > 0.0:
        delay = translate(paths, memory, paths.level_instance[1, unit], line * paths.levels_int[0, I_LINE], now)
    while True:
        level = above + 1
        if level >= levels:
            row = paths.levels_int[above]
            accesses = accesses_of(mask, row[I_SECTOR], paths.dram_int[DI_ACCESS])
            return delay + dram_write(paths, functions.map_address, memory, line * row[I_LINE], accesses, now)
        row = paths.levels_int[level]
        line, mask = regroup(paths.levels_int, above, level, line, mask)
        sectors = count(mask)
        instance = paths.level_instance[level, unit]
        moved = sectors + max(paths.levels[level, tab.LEVEL_PARTIAL] - 1.0, 0.0) * parts
        parts = 0
        waited = write_ports(paths, memory.servers, unit, level, instance, moved * row[I_SECTOR], now)
        spot = spot_of(paths.levels_int, paths.index_params, functions.set_index, memory.scalars, level, line)
        partition = home_of(spot)
        first, server = set_at(paths.levels_int, level, instance, partition, spot)
        cost = paths.levels[level, tab.LEVEL_WRITE_BASE] + paths.levels[level, tab.LEVEL_WRITE_SECTOR] * sectors
        waited += wait(memory.servers, server, now + waited, cost)
        if level == first_level:
            delay += waited
        if level == 1:
            memory.counters[_L2_WRITE] += sectors
            if row[I_PARTITIONS] > 1 and partition != paths.unit_partition[unit]:
                memory.counters[_FAR_WRITTEN] += sectors
        entry = find(memory.cells, first, row[I_WAYS], line)
        note_lookup(
            memory.counters, level, sectors, sectors
        )  # a write that allocates needs nothing from below: a hit, as hardware counts it
        through = row[I_WRITE] != tab.WRITE_BACK
        if entry >= 0:
            status = memory.cells[entry + 2 * row[I_WAYS]]
            if status & COPIED:
                for other in range(row[I_PARTITIONS]):
                    if other != partition:
                        copy_first, _ = set_at(paths.levels_int, level, instance, other, spot)
                        copy = find(memory.cells, copy_first, row[I_WAYS], line)
                        if copy >= 0:
                            put_line(memory.cells, copy, -1)
                status &= ~COPIED
            memory.cells[entry + 2 * row[I_WAYS]] = status | mask | (0 if through else mask << DIRTY_SHIFT)
            touch(memory.scalars, memory.cells, entry, row[I_WAYS])
            feedback(paths.levels_int, functions.note_set, memory.cells, memory.set_state, paths.victim_params, level, first, entry, HIT)
            if not through:
                return delay
            above = level
            continue
        if row[I_WRITE] == tab.WRITE_THROUGH:
            above = level
            continue
        entry = choose_entry(
            paths.levels_int, functions.pick_victim, paths.victim_params, memory.cells, memory.set_state, memory.scalars, level, first
        )
        old, old_dirty = line_in(memory.cells, entry), dirty_sectors(memory.cells[entry + 2 * row[I_WAYS]])
        put_line(memory.cells, entry, line)
        memory.cells[entry + 2 * row[I_WAYS]] = mask | (0 if through else mask << DIRTY_SHIFT)
        touch(memory.scalars, memory.cells, entry, row[I_WAYS])
        feedback(paths.levels_int, functions.note_set, memory.cells, memory.set_state, paths.victim_params, level, first, entry, FILLED_SET)
        above = level
        if through:
            continue
        if old == -1 or old_dirty == 0:
            return delay
        line, mask = old, old_dirty


@jit
def make_room(paths: Any, functions: Any, write_line: Any, memory: Any, unit: int, level: int, first: int, line: int, now: float) -> int:
    """Give `line` an entry in its set, writing back what leaves."""
    row = paths.levels_int[level]
    entry = choose_entry(
        paths.levels_int, functions.pick_victim, paths.victim_params, memory.cells, memory.set_state, memory.scalars, level, first
    )
    old, old_dirty = line_in(memory.cells, entry), dirty_sectors(memory.cells[entry + 2 * row[I_WAYS]])
    put_line(memory.cells, entry, line)
    memory.cells[entry + 2 * row[I_WAYS]] = 0
    feedback(paths.levels_int, functions.note_set, memory.cells, memory.set_state, paths.victim_params, level, first, entry, FILLED_SET)
    if old != -1 and old_dirty != 0:
        write_line(paths, functions, memory, unit, level, old, old_dirty, 0, now)
    touch(memory.scalars, memory.cells, entry, row[I_WAYS])
    return entry


@jit
def settle(status: int, now: int) -> int:
    """A line's status once what was on its way by `now` has arrived."""
    if (status >> FILL_SHIFT) <= now:
        arrived = (status >> PENDING_SHIFT) & SECTOR_MASK
        return (status | arrived) & ~(SECTOR_MASK << PENDING_SHIFT) & FLAG_MASK
    return status


@jit
def expect(cells: Any, place: int, mask: int, completion: int) -> None:
    """Sectors of the entry whose status lies at `place` arrive at `completion`."""
    status = cells[place]
    fill = max(status >> FILL_SHIFT, completion)
    cells[place] = (status & FLAG_MASK) | (mask << PENDING_SHIFT) | (fill << FILL_SHIFT)


@jit
def read_line(
    paths: Any, functions: Any, write_line: Any, memory: Any, unit: int, line: int, mask: int, now: float, atomic_cost: float, spot: int
) -> float:
    """Completion of a read of sectors the vector cache lacks. With `atomic_cost` > 0 it is an atomic at the second level.

    `spot`: the line's in the second level where it is known, else -1.

    An atomic holds the slice for its own cost, always at the line's home, and leaves the sectors dirty.
    """
    levels = paths.levels.shape[0]
    delay = 0.0
    completion = 0.0
    # where the status of the entries that will receive the data lies: at most two a level
    entry_a, entry_b, entry_c, entry_d = -1, -1, -1, -1
    mask_a, mask_b, mask_c, mask_d = 0, 0, 0, 0
    level = 1
    arrived = 0
    extra, up = 0.0, 0.0
    moment = int(now)
    place, wanted, sought = -1, mask, line
    if paths.levels_int[1, I_MERGED] >= 0 and atomic_cost <= 0.0:
        place = merge_place(paths, unit, line)
        completion = join_read(paths, memory, place, unit, line, mask, now)
        if completion >= 0.0:
            return completion
    if paths.translation[tab.TRANSLATION_EARLY] > 0.0:
        delay = translate(paths, memory, paths.level_instance[1, unit], line * paths.levels_int[0, I_LINE], now)
    while True:
        if level >= levels:
            row = paths.levels_int[level - 1]
            accesses = accesses_of(mask, row[I_SECTOR], paths.dram_int[DI_ACCESS])
            delay += dram_read(paths, functions.map_address, memory, line * row[I_LINE], accesses, now + delay)
            completion = now + paths.dram[tab.DRAM_LATENCY] + delay + extra
            break
        row = paths.levels_int[level]
        line, mask = regroup(paths.levels_int, level - 1, level, line, mask)
        sectors = count(mask)
        instance = paths.level_instance[level, unit]
        partitions = row[I_PARTITIONS]
        atomic = level == 1 and atomic_cost > 0.0
        bytes_up = float(sectors * row[I_SECTOR])
        if atomic:  # its operands go down, its result comes up
            delay += write_ports(paths, memory.servers, unit, level, instance, bytes_up, now + delay)
            bytes_up *= memory.servers[CLOCK, RESULT]
        if bytes_up > 0.0:
            held_up = read_ports(paths, memory.servers, unit, level, instance, bytes_up, now + delay)
            delay, up = delay + held_up, up + held_up
        if spot < 0 or level > 1:
            spot = spot_of(paths.levels_int, paths.index_params, functions.set_index, memory.scalars, level, line)
        home = home_of(spot)
        near = paths.unit_partition[unit] if partitions > 1 else 0
        near_first = -1
        hit = False
        if near != home and not atomic:
            near_first, server = set_at(paths.levels_int, level, instance, near, spot)
            entry = find(memory.cells, near_first, row[I_WAYS], line)
            if entry >= 0:
                status = settle(memory.cells[entry + 2 * row[I_WAYS]], moment)
                memory.cells[entry + 2 * row[I_WAYS]] = status
                if mask & ~(status | (status >> PENDING_SHIFT)) & SECTOR_MASK == 0:
                    hit = True
                    extra += distance(paths, level, unit, server)
                    cost = max(paths.levels[level, tab.LEVEL_READ_LEAST], paths.levels[level, tab.LEVEL_READ_SECTOR] * sectors)
                    delay += wait(memory.servers, server, now + delay, cost)
                    touch(memory.scalars, memory.cells, entry, row[I_WAYS])
                    feedback(
                        paths.levels_int,
                        functions.note_set,
                        memory.cells,
                        memory.set_state,
                        paths.victim_params,
                        level,
                        near_first,
                        entry,
                        HIT,
                    )
                    if mask & ~status:
                        arrived = max(arrived, status >> FILL_SHIFT)
                else:
                    near_first = -2 - entry  # the copy is there in part: it receives the rest
            if not hit:
                extra += paths.levels[level, tab.LEVEL_FAR_EXTRA]
                memory.counters[_FAR] += sectors
        held = 0
        if not hit:
            first, server = set_at(paths.levels_int, level, instance, home, spot)
            cost = max(paths.levels[level, tab.LEVEL_READ_LEAST], paths.levels[level, tab.LEVEL_READ_SECTOR] * sectors)
            if atomic:
                cost = atomic_cost
                if memory.servers[server, TARGET] == memory.servers[CLOCK, TOUCHED]:
                    cost = max(cost, memory.servers[CLOCK, REPEATED])
                memory.servers[server, TARGET] = memory.servers[CLOCK, TOUCHED]
            delay += wait(memory.servers, server, now + delay, cost)
            if atomic:
                memory.servers[CLOCK, ACCEPTED] = delay
            extra += distance(paths, level, unit, server)
            entry = find(memory.cells, first, row[I_WAYS], line)
            status = 0
            if entry >= 0:
                status = settle(memory.cells[entry + 2 * row[I_WAYS]], moment)
                held = mask & (status | (status >> PENDING_SHIFT)) & SECTOR_MASK
                hit = held == mask
                if held & ~status:
                    arrived = max(arrived, status >> FILL_SHIFT)
            missing = widen(mask & ~held, row[I_FETCH], row[I_WHOLE]) & ~(status | (status >> PENDING_SHIFT)) & SECTOR_MASK
            if entry < 0:
                entry = make_room(paths, functions, write_line, memory, unit, level, first, line, now)
            else:
                feedback(
                    paths.levels_int, functions.note_set, memory.cells, memory.set_state, paths.victim_params, level, first, entry, HIT
                )
            touch(memory.scalars, memory.cells, entry, row[I_WAYS])
            if atomic:
                status |= mask << DIRTY_SHIFT
            copies = near != home and not atomic and row[I_COPY] != 0
            memory.cells[entry + 2 * row[I_WAYS]] = status | (COPIED if copies else 0)
            if not hit:
                wait(memory.servers, server, now, paths.levels[level, tab.LEVEL_FILL_SECTOR] * count(missing))
                entry_c, mask_c = entry_a, mask_a
                entry_a, mask_a = entry + 2 * row[I_WAYS], missing
            if copies:
                if near_first <= -2:
                    entry = -2 - near_first
                else:
                    entry = make_room(paths, functions, write_line, memory, unit, level, near_first, line, now)
                touch(memory.scalars, memory.cells, entry, row[I_WAYS])
                entry_d, mask_d = entry_b, mask_b
                entry_b, mask_b = entry + 2 * row[I_WAYS], mask | missing
            note_lookup(memory.counters, level, sectors, count(held))
            if not hit:
                mask = missing
        else:
            note_lookup(memory.counters, level, sectors, sectors)
        if level == 1:
            memory.counters[_L2_READ] += 0 if atomic else sectors
            memory.counters[_L2_WRITE] += sectors if atomic else 0
            memory.counters[_L2_ATOMIC] += sectors if atomic else 0
        if hit:
            completion = now + paths.levels[level, tab.LEVEL_LATENCY] + delay + extra
            break
        level += 1
    completion = max(completion, float(arrived))
    time = int(completion)
    if place >= 0:
        note_read(memory, place, sought, wanted, int(completion - up))
    if entry_a >= 0:
        expect(memory.cells, entry_a, mask_a, time)
    if entry_b >= 0:
        expect(memory.cells, entry_b, mask_b, time)
    if entry_c >= 0:
        expect(memory.cells, entry_c, mask_c, time)
    if entry_d >= 0:
        expect(memory.cells, entry_d, mask_d, time)
    return completion
