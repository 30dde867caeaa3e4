"""Address translation: buffers of recent pages, and the one walk a buffer makes at a time.

In: an address, the cycle it is asked for. Out: cycles until its translation is there. A buffer is looked up where the device says: by
every request to the second level (one buffer for each instance of it), or by reads of memory only (one for the device).
"""

from __future__ import annotations

from typing import Any

from archex.base.jit import jit_bare as jit
from archex.engine import tables as tab
from archex.engine.servers import wait
from archex.engine.state import DI_PAGE_SETS, DI_PAGE_WAYS, DI_WALK, USES

NUMBER = 0  # columns of `memory.pages`: page, count of its last use, cycle from which it is known
USED = 1
KNOWN = 2
_MISSES = tab.COUNTER_INDEX["translation_misses"]


@jit
def translate(paths: Any, memory: Any, buffer: int, address: int, now: float) -> float:
    """Cycles until buffer number `buffer` knows the page of `address`; a page not held is walked for, the oldest of its set goes."""
    sets, ways = paths.dram_int[DI_PAGE_SETS], paths.dram_int[DI_PAGE_WAYS]
    page = address // int(paths.translation[tab.TRANSLATION_PAGE])
    first = (buffer * sets + page % sets) * ways
    memory.scalars[USES] += 1
    oldest = first
    for k in range(first, first + ways):
        row = memory.pages[k]
        if row[NUMBER] == page:
            row[USED] = memory.scalars[USES]
            return max(row[KNOWN] - now, 0.0)
        if row[USED] < memory.pages[oldest, USED]:
            oldest = k
    memory.counters[_MISSES] += 1
    delay = paths.translation[tab.TRANSLATION_MISS]
    if paths.dram_int[DI_WALK] >= 0:
        delay += wait(memory.servers, paths.dram_int[DI_WALK] + buffer, now, paths.translation[tab.TRANSLATION_INTERVAL])
    row = memory.pages[oldest]
    row[NUMBER], row[USED], row[KNOWN] = page, memory.scalars[USES], int(now + delay)
    return delay
