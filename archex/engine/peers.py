"""Memory of other devices: what compute units load, store and change there goes over links in packets, past the second level.

In: an access that the vector cache lacks, with its address in the window of a peer (`base.layout`). Out: its completion; waits in cycles.
A packet holds the sectors of a line from the first that is wanted to the last; a load asks for it with a header, on the way there. Data
are looked up at home, in the first level that the other device has only one of; of its other levels and of what its own kernels do nothing
is known. They stay in the vector cache as any others do, and in no other cache on this side.
"""

from __future__ import annotations

from typing import Any

from archex.base import layout as lay
from archex.base.jit import jit_bare as jit
from archex.engine import tables as tab
from archex.engine.bits import count, highest, lowest
from archex.engine.cache import choose_entry, dirty_sectors, find, home_of, line_in, put_line, set_at, spot_of, touch
from archex.engine.memory_path import expect, read_line, settle, write_line
from archex.engine.servers import ACCEPTED, CLOCK, FARTHER, REPEATED, RESULT, TARGET, TOUCHED, wait
from archex.engine.state import (
    DI_HOME,
    DI_LINKS,
    DI_PEERS,
    DIRTY_SHIFT,
    FILL_SHIFT,
    I_FETCH,
    I_LINE,
    I_SECTOR,
    I_WAYS,
    I_WHOLE,
    I_WRITE,
    LAST_END,
    PENDING_SHIFT,
    SECTOR_MASK,
)
from archex.engine.translation import translate
from archex.engine.ways import read_ports, regroup, widen, write_ports

THERE, BACK = 0, 1  # directions, rows of `peer_ways` for each peer
_READ = tab.COUNTER_INDEX["peer_read_sectors"]
_WRITTEN = tab.COUNTER_INDEX["peer_written_sectors"]
_OUT = tab.COUNTER_INDEX["link_out_bytes"]
_IN = tab.COUNTER_INDEX["link_in_bytes"]


@jit
def of_peer(paths: Any, line: int) -> bool:
    """Whether a line of the vector cache is another device's."""
    return (line * paths.levels_int[0, I_LINE]) >> lay.PEER_SHIFT == 1


@jit
def peer_of(paths: Any, line: int) -> int:
    """Which peer's it is, from 0."""
    return ((line * paths.levels_int[0, I_LINE]) >> lay.PEER_BITS) & ((1 << (lay.PEER_SHIFT - lay.PEER_BITS)) - 1)


@jit
def packets_of(paths: Any, mask: int) -> tuple[float, float]:
    """(bytes from the first sector of `mask` to the last, packets that hold them)."""
    span = float((highest(mask) - lowest(mask) + 1) * paths.levels_int[0, I_SECTOR])
    return span, (span + paths.link[tab.LINK_PAYLOAD] - 1.0) // paths.link[tab.LINK_PAYLOAD]


@jit
def cross(paths: Any, servers: Any, peer: int, direction: int, size: float, now: float) -> float:
    """Waits at the links of a way for a packet of `size` bytes."""
    delay = 0.0
    for hop in range(paths.peer_ways.shape[1]):
        link = paths.peer_ways[2 * peer + direction, hop]
        if link >= 0:
            delay += wait(servers, paths.dram_int[DI_LINKS] + link, now + delay, size / paths.peer_links[link])
    return delay


@jit
def fetch_from_memory(paths: Any, servers: Any, peer: int, size: float, now: float) -> float:
    """Wait for the other device's memory, all of its channels together."""
    if paths.dram[tab.DRAM_BYTES] <= 0.0:
        return 0.0
    return wait(servers, paths.dram_int[DI_PEERS] + peer, now, size / paths.dram[tab.DRAM_BYTES])


@jit
def entry_there(paths: Any, functions: Any, memory: Any, peer: int, first: int, line: int, now: float) -> int:
    """Give a line an entry at home; what is dirty and leaves goes to memory. The oldest leaves, whatever the level's own rule."""
    level = paths.dram_int[DI_HOME]
    row = paths.peer_levels[level]
    entry = choose_entry(
        paths.peer_levels, functions.pick_victim, paths.victim_params, memory.cells, memory.set_state, memory.scalars, level, first
    )
    dirty = dirty_sectors(memory.cells[entry + 2 * row[I_WAYS]])
    if line_in(memory.cells, entry) != -1 and dirty != 0:
        fetch_from_memory(paths, memory.servers, peer, float(count(dirty) * row[I_SECTOR]), now)
    put_line(memory.cells, entry, line)
    memory.cells[entry + 2 * row[I_WAYS]] = 0
    return entry


@jit
def served_there(
    paths: Any, functions: Any, memory: Any, peer: int, line: int, mask: int, now: float, atomic_cost: float
) -> tuple[float, float]:
    """(cycles a load or an atomic waits at home, cycles from issue to result there with no links between)."""
    level = paths.dram_int[DI_HOME]
    if level >= paths.levels.shape[0]:
        size = float(count(mask) * paths.levels_int[0, I_SECTOR])
        return fetch_from_memory(paths, memory.servers, peer, size, now), paths.dram[tab.DRAM_LATENCY]
    row = paths.peer_levels[level]
    line, mask = regroup(paths.levels_int, 0, level, line, mask)
    spot = spot_of(paths.peer_levels, paths.index_params, functions.set_index, memory.scalars, level, line)
    first, server = set_at(paths.peer_levels, level, peer, home_of(spot), spot)
    cost = max(paths.levels[level, tab.LEVEL_READ_LEAST], paths.levels[level, tab.LEVEL_READ_SECTOR] * count(mask))
    if atomic_cost > 0.0:
        cost = atomic_cost
        if memory.servers[server, TARGET] == memory.servers[CLOCK, TOUCHED]:
            cost = max(cost, memory.servers[CLOCK, REPEATED])
        memory.servers[server, TARGET] = memory.servers[CLOCK, TOUCHED]
    delay = wait(memory.servers, server, now, cost)
    entry = find(memory.cells, first, row[I_WAYS], line)
    status = 0
    if entry >= 0:
        status = settle(memory.cells[entry + 2 * row[I_WAYS]], int(now))
    else:
        entry = entry_there(paths, functions, memory, peer, first, line, now)
    touch(memory.scalars, memory.cells, entry, row[I_WAYS])
    here = (status | (status >> PENDING_SHIFT)) & SECTOR_MASK
    missing = widen(mask & ~here, row[I_FETCH], row[I_WHOLE]) & ~here
    memory.cells[entry + 2 * row[I_WAYS]] = status | (mask << DIRTY_SHIFT if atomic_cost > 0.0 else 0)
    if mask & ~here == 0:
        arrives = float(status >> FILL_SHIFT) - now if mask & ~status & SECTOR_MASK else 0.0
        return max(delay, arrives), paths.levels[level, tab.LEVEL_LATENCY]
    wait(memory.servers, server, now, paths.levels[level, tab.LEVEL_FILL_SECTOR] * count(missing))
    delay += fetch_from_memory(paths, memory.servers, peer, float(count(missing) * row[I_SECTOR]), now + delay)
    expect(memory.cells, entry + 2 * row[I_WAYS], missing, int(now + delay))
    return delay, paths.dram[tab.DRAM_LATENCY]


@jit
def read_peer(paths: Any, functions: Any, memory: Any, unit: int, line: int, mask: int, now: float, atomic_cost: float) -> float:
    """Completion of a read of sectors of another device, or of an atomic there (`atomic_cost` > 0), as `read_line` has it."""
    peer, sector = peer_of(paths, line), paths.levels_int[0, I_SECTOR]
    instance = paths.level_instance[1, unit]
    sectors = count(mask)
    span, number = packets_of(paths, mask)
    headers = paths.link[tab.LINK_HEADER] * number
    out, back, up = headers, headers + span, float(sectors * sector)
    delay = 0.0
    if paths.translation[tab.TRANSLATION_EARLY] > 0.0:
        delay = translate(paths, memory, instance, line * paths.levels_int[0, I_LINE], now)
    if atomic_cost > 0.0:  # operands go as what is written; only a result comes back
        out, back = headers + span, headers + span if memory.servers[CLOCK, RESULT] > 0.0 else 0.0
        delay += write_ports(paths, memory.servers, unit, 1, instance, up + paths.link[tab.LINK_PORT], now + delay)
        atomic_cost = max(atomic_cost, paths.link[tab.LINK_ATOMIC] * sectors)
        up *= memory.servers[CLOCK, RESULT]
    if up > 0.0:
        delay += read_ports(paths, memory.servers, unit, 1, instance, up, now + delay)
    delay += cross(paths, memory.servers, peer, THERE, out, now + delay)
    waited, latency = served_there(paths, functions, memory, peer, line, mask, now + delay, atomic_cost)
    delay += waited
    if atomic_cost > 0.0:
        memory.servers[CLOCK, ACCEPTED] = delay
    if back > 0.0:
        delay += cross(paths, memory.servers, peer, BACK, back, now + delay)
    memory.counters[_WRITTEN if atomic_cost > 0.0 else _READ] += sectors
    memory.counters[_OUT] += int(out)
    memory.counters[_IN] += int(back)
    return now + latency + delay + 2.0 * paths.peer_latency[peer]


@jit
def write_peer(paths: Any, functions: Any, memory: Any, unit: int, line: int, mask: int, parts: int, now: float) -> float:
    """The wait until a written line is on its way; its place in the row CLOCK says how much later it is there."""
    peer, sector = peer_of(paths, line), paths.levels_int[0, I_SECTOR]
    instance, sectors = paths.level_instance[1, unit], count(mask)
    span, number = packets_of(paths, mask)
    size = span + paths.link[tab.LINK_HEADER] * number
    if parts > 0 and span > sector:
        size += paths.link[tab.LINK_MASK] * number
    delay = 0.0
    if paths.translation[tab.TRANSLATION_EARLY] > 0.0:
        delay = translate(paths, memory, instance, line * paths.levels_int[0, I_LINE], now)
    moved = sectors + max(paths.levels[1, tab.LEVEL_PARTIAL] - 1.0, 0.0) * parts
    delay += write_ports(paths, memory.servers, unit, 1, instance, moved * sector + paths.link[tab.LINK_PORT] * number, now + delay)
    delay += cross(paths, memory.servers, peer, THERE, size, now + delay)
    level = paths.dram_int[DI_HOME]
    if level >= paths.levels.shape[0] or paths.levels_int[level, I_WRITE] != tab.WRITE_BACK:
        delay += fetch_from_memory(paths, memory.servers, peer, float(sectors * sector), now + delay)
    else:
        row = paths.peer_levels[level]
        own, written = regroup(paths.levels_int, 0, level, line, mask)
        spot = spot_of(paths.peer_levels, paths.index_params, functions.set_index, memory.scalars, level, own)
        first, server = set_at(paths.peer_levels, level, peer, home_of(spot), spot)
        cost = paths.levels[level, tab.LEVEL_WRITE_BASE] + paths.levels[level, tab.LEVEL_WRITE_SECTOR] * count(written)
        delay += wait(memory.servers, server, now + delay, cost)
        entry = find(memory.cells, first, row[I_WAYS], own)
        if entry < 0:
            entry = entry_there(paths, functions, memory, peer, first, own, now)
        memory.cells[entry + 2 * row[I_WAYS]] |= written | (written << DIRTY_SHIFT)
        touch(memory.scalars, memory.cells, entry, row[I_WAYS])
    memory.counters[_WRITTEN] += sectors
    memory.counters[_OUT] += int(size)
    way = paths.peer_latency[peer]
    memory.servers[CLOCK, FARTHER] = max(memory.servers[CLOCK, FARTHER], way)
    memory.scalars[LAST_END] = max(memory.scalars[LAST_END], int(now + delay + 2.0 * way))
    return delay


@jit
def read_any(
    paths: Any, functions: Any, write: Any, memory: Any, unit: int, line: int, mask: int, now: float, atomic_cost: float, spot: int
) -> float:
    """`read_line`, wherever the line is at home."""
    if of_peer(paths, line):
        return read_peer(paths, functions, memory, unit, line, mask, now, atomic_cost)
    return read_line(paths, functions, write, memory, unit, line, mask, now, atomic_cost, spot)


@jit
def write_any(paths: Any, functions: Any, memory: Any, unit: int, above: int, line: int, mask: int, parts: int, now: float) -> float:
    """`write_line`, wherever the line is at home; what caches on this side write back is always this device's."""
    if above == 0 and of_peer(paths, line):
        return write_peer(paths, functions, memory, unit, line, mask, parts, now)
    return write_line(paths, functions, memory, unit, above, line, mask, parts, now)
