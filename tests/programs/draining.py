"""A trace source read to its end, as the engine would: every wave's blocks with their records, in order."""

from __future__ import annotations

import numpy as np
from archex.base import layout
from archex.programs.arguments import cluster_order
from archex.programs.graph import memory_slots
from archex.programs.ir import Function
from archex.programs.trace import TraceSource

#: A record: kind, base, stride, mask, and its row of the pool where it has one.
Record = tuple[int, int, int, int, tuple[int, ...]]
Step = tuple[int, int, tuple[Record, ...]]


def records_of(function: Function, block: int) -> int:
    """Memory slots of a block."""
    return sum(memory_slots(operation) for operation in function.blocks[block].operations)


def drain(source: TraceSource, workgroups: int, chunk: int = 1 << 30) -> dict[tuple[int, int], list[Step]]:
    """(workgroup, wave) -> its steps. At most `chunk` blocks of a wave are taken between two refills."""
    waves, slots = source.waves_per_workgroup, source.slots
    found: dict[tuple[int, int], list[Step]] = {}
    waiting = [int(number) for number in cluster_order(source.launch.grid, source.cluster)][:workgroups]
    size = source.cluster_size
    bound: dict[int, int] = {}
    while waiting or bound:
        whole = [first for first in range(0, slots, size) if not any(first + rank in bound for rank in range(size))]
        free = [first + rank for first in whole for rank in range(size)][: len(waiting)]
        for slot in free:
            bound[slot] = waiting.pop(0)
        if free:
            source.start(np.array([bound[slot] for slot in free]), np.array(free))
        source.refill(np.array(sorted(bound)))
        for slot, workgroup in list(bound.items()):
            done = [_take(source, slot * waves + w, found.setdefault((workgroup, w), []), chunk) for w in range(waves)]
            if all(done):
                del bound[slot]
    return found


def _take(source: TraceSource, c: int, steps: list[Step], chunk: int) -> bool:
    cursor = source.cursor[c]
    for _ in range(min(int(cursor[layout.BLOCK_TAIL] - cursor[layout.BLOCK_HEAD]), chunk)):
        block, lanes = (int(v) for v in source.blocks[c, cursor[layout.BLOCK_HEAD] % source.blocks.shape[1]])
        cursor[layout.BLOCK_HEAD] += 1
        records = []
        for _ in range(records_of(source.function, block)):
            kind, base, stride, mask = (int(v) for v in source.records[c, cursor[layout.RECORD_HEAD] % source.records.shape[1]])
            cursor[layout.RECORD_HEAD] += 1
            addresses: tuple[int, ...] = ()
            if kind in (layout.SCATTERED, layout.BULK, layout.SIGNALS):
                assert base == cursor[layout.POOL_HEAD]
                addresses, base = tuple(int(a) for a in source.pool[c, base % source.pool.shape[1]]), 0
                cursor[layout.POOL_HEAD] += 1
            records.append((kind, base, stride, mask, addresses))
        steps.append((block, lanes, tuple(records)))
    return bool(cursor[layout.FINISHED]) and cursor[layout.BLOCK_HEAD] == cursor[layout.BLOCK_TAIL]
