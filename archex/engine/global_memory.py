"""Wave-wide accesses to global and private memory: loads, stores, atomics, asynchronous copies.

In: a decoded instruction, its record, the cycle of issue. Out: (cycle of the result, cycle the port took it). The port of the
compute unit serves one access after the other; how long it is held is the larger of tag lookups and data-bank passes.
"""

from __future__ import annotations

from typing import Any

from archex.base import layout as lay
from archex.base.jit import jit_bare as jit
from archex.engine import tables as tab
from archex.engine.addresses import (
    atomic_weights,
    cache_passes,
    expand_affine,
    expand_regular,
    expand_rows,
    expand_scattered,
    lines_of,
    partial_sectors,
)
from archex.engine.bits import count, lowest
from archex.engine.bundle import segment
from archex.engine.ports import LANE_COPY_PORT
from archex.engine.rings import place_at
from archex.engine.servers import ACCEPTED, CLOCK, FARTHER, REPEATED, RESULT, TOUCHED
from archex.engine.state import (
    A_BUSIEST,
    A_LANES,
    A_PASSES,
    ATOMIC_COLUMNS,
    I_LINE,
    I_SECTOR,
    L_PRIVATE,
    L_STANDARD,
    L_WIDTH,
    LAST_END,
    W_CONTEXT,
    W_RETIRED,
    W_STORE,
)
from archex.engine.vector_cache import WAY_DOWN, admit_store, load_lines, store_lines
from archex.engine.wave import look_ahead_pool

LOCAL_WINDOW = 0x7F00_0000_0000  # generic addresses of local memory
PRIVATE_WINDOW = 0x7E00_0000_0000
PRIVATE_BASE = 1 << 45  # where frames lie, beyond every buffer

_LOADS = tab.COUNTER_INDEX["global_load_requests"]
_STORES = tab.COUNTER_INDEX["global_store_requests"]
_ATOMICS = tab.COUNTER_INDEX["atomic_requests"]
_PRIVATE_LOADS = tab.COUNTER_INDEX["private_load_requests"]
_PRIVATE_STORES = tab.COUNTER_INDEX["private_store_requests"]


@jit
def record_of(core: Any, state: Any, trace: Any, w: int, pc: int) -> tuple[int, int, int, int]:
    """(kind, base, stride, mask) of an instruction's record."""
    ordinal = core.code[pc, lay.RECORD]
    if ordinal < 0:
        return lay.NO_ACCESS, 0, 0, 0
    context = state.waves[w, W_CONTEXT]
    row = trace.records[place_at(trace.records, context, trace.cursor[context, lay.RECORD_HEAD] + ordinal)]
    return row[lay.RECORD_KIND], row[lay.RECORD_BASE], row[lay.RECORD_STRIDE], row[lay.RECORD_MASK]


@jit
def leads_to_local(trace: Any, context: int, kind: int, base: int, mask: int) -> bool:
    """Whether a generic access is one of local memory: all lanes' are, or none's."""
    if kind == lay.SCATTERED and mask != 0:
        base = trace.pool[place_at(trace.pool, context, base)][lowest(mask)]
    return base >= LOCAL_WINDOW


@jit
def private_lines(
    core: Any, memory: Any, trace: Any, context: int, w: int, kind: int, base: int, stride: int, mask: int, bytes_of: int
) -> None:
    """Addresses of private accesses, expanded: frames of a wave's lanes are interleaved by 4-byte words."""
    width = core.launch[L_WIDTH]
    frame = PRIVATE_BASE + w * ((core.launch[L_PRIVATE] + 3) // 4) * 4 * width
    if kind != lay.SCATTERED:
        expand_regular(memory, kind, base, stride, mask, width)
    else:
        expand_scattered(memory, trace.pool, context, base, mask, width, 0)
    for lane in range(width):
        if (mask >> lane) & 1 and memory.addresses[lane] >= 0:
            slot = memory.addresses[lane]
            if slot >= PRIVATE_WINDOW:
                slot -= PRIVATE_WINDOW
            word = slot // 4
            memory.addresses[lane] = frame + word * 4 * width + lane * 4 + slot - word * 4


@jit
def count_access(memory: Any, accesses: Any, kind: int, lines: int, mask: int) -> None:
    """Requests and sectors by kind of access, and those of its instruction."""
    counters = memory.counters
    sectors = 0
    for k in range(lines):
        sectors += count(memory.sectors[k])
    accesses[0] += 1
    accesses[1] += sectors
    if kind == lay.LOAD or kind == lay.ASYNC_COPY:
        counters[_LOADS] += 1
        counters[_LOADS + 1] += sectors
    elif kind == lay.STORE:
        counters[_STORES] += 1
        counters[_STORES + 1] += sectors
    elif kind == lay.PRIVATE_LOAD:
        counters[_PRIVATE_LOADS] += 1
    elif kind == lay.PRIVATE_STORE:
        counters[_PRIVATE_STORES] += 1
    else:
        counters[_ATOMICS] += 1
        counters[_ATOMICS + 1] += count(mask)


@jit
def atomic_passes(paths: Any, memory: Any, lines: int, lanes: int, result: int) -> float:
    """Cycles the port is held by the passes of an atomic: lanes that repeat an address go one after the other; results come back."""
    each = paths.levels[0, tab.LEVEL_ATOMIC_PASS]
    held = 0.0
    for k in range(lines):
        held += each * memory.weights[k] if result == 1 else min(each, float(memory.words[k])) * memory.weights[k]
    return max(held, paths.levels[0, tab.LEVEL_ATOMIC_RETURN] * lanes * result, 1.0)


@jit
def atomic_cost(paths: Any, flags: int, words: int, passes: int, moved: int) -> float:
    """Cycles a slice is held by an atomic on a line: so many passes over its sectors, which change `moved` bytes at so many addresses.

    A pass over all of a sector is the cheapest. Compare-and-swap sends two operands, together where all lanes have one address.
    """
    if flags & lay.COMPARE_AND_SWAP and words > 1:
        return passes * paths.levels[1, tab.LEVEL_ATOMIC_COMPARE]
    if moved >= passes * paths.levels_int[1, I_SECTOR]:
        return passes * paths.levels[1, tab.LEVEL_ATOMIC_SECTOR]
    return passes * paths.levels[1, tab.LEVEL_ATOMIC_SAME]


@jit
def atomic_lines(
    paths: Any, functions: Any, links: Any, memory: Any, unit: int, lines: int, start: float, flags: int, bytes_of: int, result: int
) -> tuple[float, float]:
    """(completion, cycles the port stalls) of an atomic on each line, at the second level. result: 1 if the old values come back."""
    levels = paths.levels
    again = levels[1, tab.LEVEL_ATOMIC_FLOAT] if flags & lay.FLOAT_ATOMIC else 0.0
    same = max(levels[1, tab.LEVEL_ATOMIC_SAME], again)
    memory.servers[CLOCK, RESULT] = levels[1, tab.LEVEL_ATOMIC_RESULT] * result
    limit = int(levels[1, tab.LEVEL_PENDING_WRITES])
    each = levels[0, tab.LEVEL_STORE_LINE_CYCLES]
    latest, stalled = start, 0.0
    passed = 0
    for k in range(lines):
        sectors = count(memory.sectors[k])
        now = start + passed * each + stalled
        passed += sectors
        row = memory.atomics[k]
        memory.servers[CLOCK, REPEATED] = again * memory.weights[k]
        memory.servers[CLOCK, TOUCHED] = float(memory.lines[k] * ATOMIC_COLUMNS + row[A_BUSIEST])
        cost = max(atomic_cost(paths, flags, memory.words[k], row[A_PASSES], row[A_LANES] * bytes_of), levels[1, tab.LEVEL_ATOMIC_LEAST])
        done = links.read_line(
            paths, functions, links.write_line, memory, unit, memory.lines[k], memory.sectors[k], now, max(cost, 1e-9), -1
        )
        if limit > 0:
            transit = WAY_DOWN * levels[1, tab.LEVEL_LATENCY] + memory.servers[CLOCK, ACCEPTED]
            stalled += admit_store(memory, unit, now, transit, sectors)
        latest = max(latest, done + stalled + same * max(memory.weights[k] - 1, 0))
    return latest, stalled


@jit
def global_access(
    core: Any, paths: Any, functions: Any, links: Any, state: Any, memory: Any, trace: Any, unit: int, w: int, pc: int, now: int,
    kind: int, base: int, stride: int, mask: int,
) -> tuple[int, int]:  # fmt: skip
    """Carry out a global or private access issued at `now`, whose record is kind, base, stride, mask.

    (cycle of the result, cycle the port took it).
    """
    row = core.code[pc]
    what, bytes_of, flags = row[lay.KIND], max(row[lay.BYTES], 1), row[lay.FLAGS]
    width = core.launch[L_WIDTH]
    line, sector = paths.levels_int[0, I_LINE], paths.levels_int[0, I_SECTOR]
    private = what == lay.PRIVATE_LOAD or what == lay.PRIVATE_STORE or (kind == lay.AFFINE and base >= PRIVATE_WINDOW)
    if private and row[lay.RECORD] < 0:  # a spill slot: every lane at the same offset, so the wave's words lie in a row
        kind, stride = lay.AFFINE, bytes_of
        mask = (1 << width) - 1 if width < 64 else -1
        base = PRIVATE_BASE + (w * ((core.launch[L_PRIVATE] + 3) // 4) * 4 + row[lay.OFFSET]) * width
    elif kind == lay.NO_ACCESS:
        return now + 1, now
    context = state.waves[w, W_CONTEXT]
    atomic = what == lay.ATOMIC or what == lay.REDUCE
    if private and row[lay.RECORD] >= 0:
        private_lines(core, memory, trace, context, w, kind, base, stride, mask, bytes_of)
        kind = lay.SCATTERED
    elif kind == lay.SCATTERED:
        expand_scattered(memory, trace.pool, context, base, mask, width, 0)
        look_ahead_pool(trace, context, base + 1)
    elif kind >= lay.ROWS:
        expand_rows(memory, kind, base, stride, width)
        kind = lay.SCATTERED
    elif atomic or core.launch[L_STANDARD] == 0:
        expand_affine(memory, base, stride, mask, width)
    past = what == lay.ASYNC_COPY and flags & lay.BYPASS != 0  # neither through the cache's banks nor, when it comes, into registers
    port = LANE_COPY_PORT if past else core.unit_int[tab.GLOBAL_PORT]
    memory.servers[CLOCK, 0] = float(now)
    start = max(float(now), state.ports[unit, port])
    store = 1 if what == lay.STORE or what == lay.PRIVATE_STORE or atomic else 0
    passes = 1
    banked = paths.levels[0, tab.LEVEL_BANKS] > 0.0
    if banked and not atomic:
        banks = segment(paths.levels[0], tab.LEVEL_BANKS, 2)
        passes = cache_passes(memory, banks, kind, base, stride, mask, width, bytes_of, store)
    if store == 0 and what != lay.ASYNC_COPY and paths.levels[0, tab.LEVEL_RETURN_BYTES] > 0.0:
        words = count(mask) * max(bytes_of, 4)
        passes = max(passes, int((words + paths.levels[0, tab.LEVEL_RETURN_BYTES] - 1.0) // paths.levels[0, tab.LEVEL_RETURN_BYTES]))
    lines = lines_of(functions, memory, core.line_params, core.launch[L_STANDARD], kind, base, stride, mask, width, bytes_of, line, sector)
    count_access(memory, state.accesses[pc], what, lines, mask)
    rate = paths.levels[0, tab.LEVEL_LINES_PER_CYCLE]
    tags = (lines + rate - 1.0) // rate if rate > 0.0 else 1.0
    if store == 0:
        bypass = 1 if flags & lay.BYPASS else 0
        done, stalled = load_lines(paths, functions, links, memory, unit, lines, start, bypass)
        late = max(paths.levels[0, tab.LEVEL_TAG_EXTRA] * (tags - 1.0), paths.levels[0, tab.LEVEL_DATA_EXTRA] * (passes - 1))
        done += max(late - (lines - 1) / rate, 0.0) if rate > 0.0 else late
        fills = 0.0
        copied = what == lay.ASYNC_COPY
        filled = not copied or bypass == 0
        if filled and paths.levels[0, tab.LEVEL_FILL_SECTOR] > 0.0:  # what arrives from below is written through the same banks
            for k in range(lines):
                fills += paths.levels[0, tab.LEVEL_FILL_SECTOR] * count(memory.sectors[k])
        held = max(tags, float(passes))
        if past:
            held = 0.0  # known with where it goes to
        elif copied:
            held = max(held, core.aside[tab.ASIDE_SMALL_INTERVAL])
        state.ports[unit, port] = start + held + fills + stalled
        return int(done), now if past else int(start + stalled)
    if atomic:
        lines_held = 0
        for k in range(lines):
            lines_held += count(memory.sectors[k])
        atomic_weights(memory, width, line, sector, lines)
        result = 1 if what == lay.ATOMIC else 0
        held = max(paths.levels[0, tab.LEVEL_STORE_LINE_CYCLES] * lines_held, atomic_passes(paths, memory, lines, count(mask), result))
        done, stalled = atomic_lines(paths, functions, links, memory, unit, lines, start, flags, bytes_of, result)
    else:
        held = max(paths.levels[0, tab.LEVEL_STORE_LINE_CYCLES] * lines, float(passes), 1.0)
        partial_sectors(memory, kind, base, stride, mask, width, bytes_of, lines, line, sector)
        memory.servers[CLOCK, FARTHER] = 0.0
        done, stalled = store_lines(paths, functions, links, memory, unit, lines, start, 1 if private else 0)
        stays = private and paths.levels[0, tab.LEVEL_PRIVATE_BACK] > 0.0
        if paths.levels.shape[0] > 1 and not stays:  # a launch is over when the last of its stores has been acknowledged
            acknowledged = done + (1.0 - WAY_DOWN) * paths.levels[1, tab.LEVEL_LATENCY]
            state.scalars[LAST_END] = max(state.scalars[LAST_END], int(acknowledged))
        done += memory.servers[CLOCK, FARTHER]
    left = start + held + stalled
    state.ports[unit, port] = left
    state.waves[w, W_STORE] = max(state.waves[w, W_STORE], int(left))
    state.waves[w, W_RETIRED] = max(state.waves[w, W_RETIRED], int(done))
    return int(done), int(start + stalled)
