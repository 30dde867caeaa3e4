"""The vector cache of a compute unit: lookup of an access's lines, outstanding misses, stores passing through.

In: `memory.lines/sectors` of an access, the cycle its first line is looked up. Out: completion of each line in `memory.times`
and stall cycles of the port when misses or stores outstanding are at their limit.
"""

from __future__ import annotations

from typing import Any

from archex.base.jit import jit_bare as jit
from archex.engine import tables as tab
from archex.engine.bits import count, prefetch
from archex.engine.cache import feedback, find, home_of, line_in, put_line, set_at, spot_of, touch
from archex.engine.memory_path import expect, make_room, settle
from archex.engine.merging import MERGE_COLUMNS, merge_place
from archex.engine.policies import HIT
from archex.engine.state import (
    DIRTY_SHIFT,
    FILL_SHIFT,
    HOST_LINE,
    I_LINE,
    I_MERGED,
    I_PARTITIONS,
    I_REPEATED,
    I_STRIDE,
    I_WAYS,
    I_WRITE,
    LINES,
    PENDING_BUCKETS,
    PENDING_GRAIN,
    PENDING_SHIFT,
    SECTOR_MASK,
    U_PENDING,
    U_PENDING_TIME,
    U_STORES,
)

#: Of a load's latency the share until the level below has taken the request; the rest is its work and the way back.
WAY_DOWN = 1.0 / 3.0
_LOOKUPS = tab.COUNTER_INDEX["vector_cache_lookups"]
_HITS = tab.COUNTER_INDEX["vector_cache_hits"]
_WRITTEN = tab.COUNTER_INDEX["vector_cache_written"]


@jit
def catch_up(units: Any, pending: Any, unit: int, bucket: int) -> None:
    """Retire the misses that complete before `bucket`."""
    reached = units[unit, U_PENDING_TIME]
    if bucket - reached >= PENDING_BUCKETS:
        for place in range(PENDING_BUCKETS):
            pending[unit, place] = 0
        units[unit, U_PENDING] = 0
        reached = bucket
    while reached < bucket and units[unit, U_PENDING] > 0:
        place = reached & (PENDING_BUCKETS - 1)
        units[unit, U_PENDING] -= pending[unit, place]
        pending[unit, place] = 0
        reached += 1
    units[unit, U_PENDING_TIME] = max(reached, bucket)


@jit
def admit_miss(units: Any, pending: Any, unit: int, now: float, completion: float, limit: int) -> float:
    """Cycles a miss at `now` waits for a free entry among `limit` outstanding ones; books it until its completion."""
    catch_up(units, pending, unit, int(now) // PENDING_GRAIN)
    waited = 0.0
    while units[unit, U_PENDING] >= limit:
        bucket = units[unit, U_PENDING_TIME] + 1
        catch_up(units, pending, unit, bucket)
        waited = max(waited, bucket * PENDING_GRAIN - now)
    reached = units[unit, U_PENDING_TIME]
    bucket = min(max(int(completion + waited) // PENDING_GRAIN, reached), reached + PENDING_BUCKETS - 1)
    pending[unit, bucket & (PENDING_BUCKETS - 1)] += 1
    units[unit, U_PENDING] += 1
    return waited


@jit
def look_up(paths: Any, functions: Any, links: Any, memory: Any, unit: int, lines: int, start: float, bypass: int) -> int:
    """Look up a load's lines: `sectors` keeps what must be fetched, `times` the hit's completion or the request, `places` the entry.

    The number of lines with something to fetch.
    """
    levels_int, levels = paths.levels_int, paths.levels
    rate = levels[0, tab.LEVEL_LINES_PER_CYCLE]
    latency = levels[0, tab.LEVEL_LATENCY]
    ways = levels_int[0, I_WAYS]
    misses = 0
    for k in range(lines):
        line, want = memory.lines[k], memory.sectors[k]
        now = start + k / rate if rate > 0.0 else start
        memory.times[k] = now
        memory.places[k] = -1
        wanted = count(want)
        memory.counters[_LOOKUPS] += wanted
        if bypass != 0:
            misses += 1
            continue
        first = memory.firsts[k]
        entry = find(memory.cells, first, ways, line)
        if entry >= 0:
            status = settle(memory.cells[entry + 2 * ways], int(now))
            there = want & (status | (status >> PENDING_SHIFT)) & SECTOR_MASK
            memory.counters[_HITS] += count(there)
            memory.cells[entry + 2 * ways] = status
            touch(memory.scalars, memory.cells, entry, ways)
            feedback(levels_int, functions.note_set, memory.cells, memory.set_state, paths.victim_params, 0, first, entry, HIT)
            missing = want & ~there
            if missing == 0:
                memory.sectors[k] = 0
                done = now + latency
                if want & ~status & SECTOR_MASK:
                    done = max(done, float(status >> FILL_SHIFT))
                memory.times[k] = done
                continue
            memory.sectors[k] = missing
        else:
            if memory.spots[k] < 0:
                ask_below(paths, functions, memory, unit, k)
            entry = make_room(paths, functions, links.write_line, memory, unit, 0, first, line, now)
        memory.places[k] = entry
        misses += 1
    return misses


@jit
def look_ahead(paths: Any, functions: Any, memory: Any, unit: int, lines: int) -> None:
    """Find where each line of an access lives, and ask the host for those sets all at once: it waits for them in parallel."""
    levels_int = paths.levels_int
    own = paths.level_instance[0, unit]
    many = lines > 2
    for k in range(lines):
        line = memory.lines[k]
        spot = spot_of(levels_int, paths.index_params, functions.set_index, memory.scalars, 0, line)
        memory.firsts[k], _ = set_at(levels_int, 0, own, 0, spot)
        memory.spots[k] = -1
        ask(levels_int, memory.cells, 0, memory.firsts[k])
        if many:
            ask_below(paths, functions, memory, unit, k)


@jit
def ask_below(paths: Any, functions: Any, memory: Any, unit: int, k: int) -> None:
    """Ask the host for the sets of the second level where line k of an access may be."""
    levels_int = paths.levels_int
    if levels_int[0, I_LINE] != levels_int[1, I_LINE]:
        return
    below = paths.level_instance[1, unit]
    line = memory.lines[k]
    if levels_int[1, I_MERGED] >= 0:
        prefetch(memory.merges, merge_place(paths, unit, line) * MERGE_COLUMNS)
    spot = spot_of(levels_int, paths.index_params, functions.set_index, memory.scalars, 1, line)
    memory.spots[k] = spot
    first, _ = set_at(levels_int, 1, below, home_of(spot), spot)
    ask(levels_int, memory.cells, 1, first)
    if levels_int[1, I_PARTITIONS] > 1 and home_of(spot) != paths.unit_partition[unit]:
        first, _ = set_at(levels_int, 1, below, paths.unit_partition[unit], spot)
        ask(levels_int, memory.cells, 1, first)


@jit
def ask(levels_int: Any, cells: Any, level: int, first: int) -> None:
    """Ask the host for a set."""
    for word in range(0, levels_int[level, I_STRIDE], HOST_LINE):
        prefetch(cells, first + word)


@jit
def join_earlier(paths: Any, memory: Any, k: int) -> float:
    """Line k of an access that names lines more than once: what an earlier one has asked for is on its way. The cycle it is there."""
    arrival = 0.0
    for j in range(k):
        shared = memory.sectors[k] & memory.sectors[j]
        if memory.lines[j] == memory.lines[k] and shared != 0:
            arrival = max(arrival, memory.times[j])
            memory.counters[_HITS] += count(shared)
            memory.sectors[k] &= ~shared
    return max(arrival, memory.times[k] + paths.levels[0, tab.LEVEL_LATENCY]) if arrival > 0.0 else 0.0


@jit
def load_lines(
    paths: Any, functions: Any, links: Any, memory: Any, unit: int, lines: int, start: float, bypass: int
) -> tuple[float, float]:
    """(completion of the last line, cycles the port stalls for a free miss entry)."""
    memory.scalars[LINES] = lines
    look_ahead(paths, functions, memory, unit, lines)
    ways = paths.levels_int[0, I_WAYS]
    misses = look_up(paths, functions, links, memory, unit, lines, start, bypass)
    stalled = 0.0
    if misses > 0:
        repeated = paths.levels_int[0, I_REPEATED] != 0 and bypass == 0
        for k in range(lines):
            earlier = join_earlier(paths, memory, k) if repeated and memory.sectors[k] != 0 else 0.0
            if memory.sectors[k] != 0:
                memory.times[k] = links.read_line(
                    paths, functions, links.write_line, memory, unit, memory.lines[k], memory.sectors[k], memory.times[k], 0.0,
                    memory.spots[k],
                )  # fmt: skip
            memory.times[k] = max(memory.times[k], earlier)
        limit = int(paths.levels[0, tab.LEVEL_PENDING])
        rate = paths.levels[0, tab.LEVEL_LINES_PER_CYCLE]
        for k in range(lines):
            if memory.sectors[k] != 0:
                if limit > 0:
                    now = start + (k / rate if rate > 0.0 else 0.0)
                    stalled += admit_miss(memory.units, memory.pending, unit, now + stalled, memory.times[k] + stalled, limit)
                    memory.times[k] += stalled
                entry = memory.places[k]
                if entry >= 0 and line_in(memory.cells, entry) == memory.lines[k]:
                    expect(memory.cells, entry + 2 * ways, memory.sectors[k], int(memory.times[k]))
    latest = 0.0
    for k in range(lines):
        latest = max(latest, memory.times[k])
    return latest, stalled


@jit
def admit_store(memory: Any, unit: int, now: float, transit: float, sectors: int) -> float:
    """Cycles a written line waits for free store entries, one a sector; they are free again `transit` cycles after it left."""
    entries = memory.stores.shape[1]
    waited = 0.0
    for _ in range(min(sectors, entries)):
        place = memory.units[unit, U_STORES]
        waited = max(memory.stores[unit, place] - now, waited)
        memory.stores[unit, place] = now + waited + transit
        memory.units[unit, U_STORES] = place + 1 if place + 1 < entries else 0
    return waited


@jit
def store_lines(
    paths: Any, functions: Any, links: Any, memory: Any, unit: int, lines: int, start: float, private: int
) -> tuple[float, float]:
    """(cycle the last line is accepted below, cycles the port stalls). Private lines may stay here until they are evicted.

    `memory.words` says how many sectors of each line are written in part.
    """
    levels_int, levels = paths.levels_int, paths.levels
    ways = levels_int[0, I_WAYS]
    limit = int(levels[1, tab.LEVEL_PENDING_WRITES]) if levels.shape[0] > 1 else 0
    transit = WAY_DOWN * (levels[1, tab.LEVEL_LATENCY] if levels.shape[0] > 1 else paths.dram[tab.DRAM_LATENCY])
    each = levels[0, tab.LEVEL_STORE_LINE_CYCLES]
    partial = max(int(levels[1, tab.LEVEL_PARTIAL]), 1) if levels.shape[0] > 1 else 1
    keep = levels[0, tab.LEVEL_HIT_UPDATE] > 0.0
    stay = private != 0 and levels[0, tab.LEVEL_PRIVATE_BACK] > 0.0
    stalled, latest = 0.0, start
    look_ahead(paths, functions, memory, unit, lines)
    for k in range(lines):
        line, mask = memory.lines[k], memory.sectors[k]
        now = start + k * each + stalled
        first = memory.firsts[k]
        if memory.spots[k] < 0:
            ask_below(paths, functions, memory, unit, k)
        entry = find(memory.cells, first, ways, line)
        written = count(mask)
        memory.counters[_WRITTEN] += written
        if entry >= 0:
            memory.counters[_WRITTEN + 1] += written
        if stay:
            if entry < 0:
                entry = make_room(paths, functions, links.write_line, memory, unit, 0, first, line, now)
            memory.cells[entry + 2 * ways] |= mask | (mask << DIRTY_SHIFT)
            touch(memory.scalars, memory.cells, entry, ways)
            latest = max(latest, now)
            continue
        if entry >= 0:
            if keep:
                memory.cells[entry + 2 * ways] |= mask
            else:
                put_line(memory.cells, entry, -1)
        elif levels_int[0, I_WRITE] == tab.WRITE_THROUGH_ALLOCATE:  # the line takes a place here as one that is read does
            entry = make_room(paths, functions, links.write_line, memory, unit, 0, first, line, now)
            memory.cells[entry + 2 * ways] |= mask
        parts = memory.words[k]
        waited = links.write_line(paths, functions, memory, unit, 0, line, mask, parts, now)
        if limit > 0:
            stalled += admit_store(memory, unit, now, transit + waited, count(mask) + parts * (partial - 1))
        latest = max(latest, start + k * each + stalled + transit + waited)
    return latest, stalled
