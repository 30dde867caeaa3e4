"""The arrays of one interpreter, allocated for a function, a launch and a number of wave contexts.

In: tables, sizes. Out: a `Machine` of flat arrays. Large arrays are zero pages until touched.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from archex.base import layout
from archex.programs.interpreter import table as n
from archex.programs.interpreter.encode import Tables
from archex.programs.interpreter.matrix import SCRATCH
from archex.programs.interpreter.memory import PAGE_WORDS
from archex.programs.interpreter.workgroups import Machine
from archex.programs.values import LOW32

#: Pages to begin with; they double when they run out.
FIRST_PAGES = 256


class Sizes(NamedTuple):
    """What an interpreter is allocated for. Rings are powers of two."""

    contexts: int
    waves: int  # of a workgroup
    lanes: int
    local_bytes: int
    private_bytes: int
    buffers: int
    limit: int
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    tracing: bool
    cluster: tuple[int, int, int] = (1, 1, 1)
    block_ring: int = 64
    record_ring: int = 64
    pool_ring: int = 16


def power_of_two(least: int) -> int:
    """The first power of two not below `least`."""
    return 1 << max(0, least - 1).bit_length()


def _zeros(size: int) -> np.ndarray:
    return np.zeros(max(1, size), dtype=np.int64)


def _cursor(contexts: int) -> np.ndarray:
    """Positions to begin with: waves run in step, and rings that begin at one place would share few places in the host's caches."""
    cursor = np.zeros((contexts, layout.CURSOR_COLUMNS), np.int64)
    number = np.arange(contexts)
    for tail, head, together in (
        (layout.BLOCK_TAIL, layout.BLOCK_HEAD, 4),  # entries in a cache line of the host
        (layout.RECORD_TAIL, layout.RECORD_HEAD, 2),
        (layout.POOL_TAIL, layout.POOL_HEAD, 1),
    ):
        cursor[:, tail] = cursor[:, head] = number * together
    return cursor.reshape(-1)


def _lane_values(sizes: Sizes) -> np.ndarray:
    """Special values that depend on the lane only: [wave, special value, lane]. Those of the workgroup stay 0 here."""
    linear = np.arange(sizes.waves * sizes.lanes, dtype=np.int64)
    group, (x, y, _) = linear % 32, sizes.block
    bit = np.int64(1) << group
    values = {
        "tid.x": linear % x,
        "tid.y": linear // x % y,
        "tid.z": linear // (x * y),
        "laneid": group,
        "warpid": linear // 32,
        "lanemask_eq": bit,
        "lanemask_lt": bit - 1,
        "lanemask_le": 2 * bit - 1,
        "lanemask_gt": LOW32 & ~(2 * bit - 1),
        "lanemask_ge": LOW32 & ~(bit - 1),
    }
    table = np.zeros((sizes.waves, n.LANE_SPECIALS, sizes.lanes), dtype=np.int64)
    for name, value in values.items():
        table[:, n.SPECIAL_ROWS.index(name)] = value.reshape(sizes.waves, sizes.lanes)
    return table


def allocate(tables: Tables, sizes: Sizes, table: np.ndarray) -> Machine:
    """Arrays for `sizes.contexts` waves."""
    lanes, contexts = sizes.lanes, sizes.contexts
    slots = max(1, contexts // sizes.waves)
    constants = tables.constants.shape[0]
    shape = _zeros(n.SHAPE_COLUMNS)
    block, record, pool = sizes.block_ring, sizes.record_ring, sizes.pool_ring
    local_words, private_words = -(-sizes.local_bytes // 8), -(-sizes.private_bytes // 8)
    entries = {
        n.LANES: lanes, n.REGISTERS: tables.registers, n.PREDICATES: tables.predicates, n.BLOCKS: len(tables.blocks), n.WAVES: sizes.waves,
        n.LOCAL_WORDS: local_words, n.PRIVATE_WORDS: private_words, n.LOCAL_BYTES: sizes.local_bytes, n.PRIVATE_BYTES: sizes.private_bytes,
        n.BUFFERS: sizes.buffers, n.LIMIT: sizes.limit, n.SCRATCH: constants * lanes, n.FIRST_ROW: constants + 2, n.BLOCK_RING: block,
        n.RECORD_RING: record, n.POOL_RING: pool, n.TRACING: int(sizes.tracing), n.THREADS: int(np.prod(sizes.block)),
        n.GRID_X: sizes.grid[0], n.GRID_Y: sizes.grid[1], n.GRID_Z: sizes.grid[2],
        n.BLOCK_X: sizes.block[0], n.BLOCK_Y: sizes.block[1], n.BLOCK_Z: sizes.block[2], n.CLUSTER: int(np.prod(sizes.cluster)),
        n.CLUSTER_X: sizes.cluster[0], n.CLUSTER_Y: sizes.cluster[1], n.CLUSTER_Z: sizes.cluster[2],
    }  # fmt: skip
    for column, value in entries.items():
        shape[column] = value
    registers = _zeros((constants + 2 + contexts * tables.registers) * lanes)
    registers[: constants * lanes] = tables.constants.reshape(-1)
    traced = contexts if sizes.tracing else 0
    page_state = _zeros(2)
    page_state[1] = FIRST_PAGES if tables.writes_memory else 0
    return Machine(
        code=tables.code.reshape(-1).copy(), blocks=tables.blocks.reshape(-1), lists=tables.lists, shape=shape,
        specials=np.concatenate([tables.specials, _lane_values(sizes).reshape(-1)]),
        registers=registers, predicates=_zeros(contexts * tables.predicates), contexts=_zeros(contexts * n.CONTEXT_COLUMNS),
        stack=_zeros(contexts * n.STACK_DEPTH * n.STACK_COLUMNS), bars=_zeros(slots * n.BARRIERS * n.BARRIER_COLUMNS), table=table,
        pages=_zeros(int(page_state[1]) * PAGE_WORDS), page_state=page_state, local=_zeros(slots * local_words),
        private=_zeros(contexts * lanes * private_words), ring=_zeros(traced * block * 2),
        records=_zeros(traced * record * layout.RECORD_COLUMNS),
        pool=_zeros(traced * pool * lanes), cursor=_cursor(contexts), counts=_zeros(2 * len(tables.blocks)),
        look=_zeros(SCRATCH + tables.scratch), phases=_zeros(slots * local_words if tables.signals else 1),
        fault=_zeros(n.FAULT_COLUMNS),
    )  # fmt: skip


def more_pages(machine: Machine) -> Machine:
    """The same machine with twice the pages."""
    pages = np.concatenate([machine.pages, np.zeros_like(machine.pages)])
    machine.page_state[1] *= 2
    return machine._replace(pages=pages)
