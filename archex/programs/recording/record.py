"""Record a launch: run a source to its end and put every wave's trace in one piece.

In: a source that interprets, nothing started yet. Out: a `Recorded`, or None where it would be too large. Rows of addresses that are
equal are kept once: those in local memory are the same in every workgroup.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from archex.base import layout
from archex.base.jit import jit
from archex.programs.arguments import cluster_order
from archex.programs.interpreter.machine import power_of_two
from archex.programs.recording.recorded import Recorded
from archex.programs.trace import TraceSource

#: Workgroups under way at once: what is recorded is still near the host then.
_TOGETHER = 16
_PIECE_COLUMNS = 5  # wave, then first and number of its blocks, of its records
_BLOCKS, _RECORDS, _ROWS, _PIECES = range(4)
_LOW31, _ODD = 0x7FFFFFFF, 0x2C1B3C6D


@jit
def has_row(kind: Any) -> Any:
    """Whether a record of this kind names a row of the pool."""
    return kind == layout.SCATTERED or kind == layout.BULK or kind == layout.SIGNALS


@jit
def row_place(row: Any, pool: Any, places: Any) -> Any:
    """Where an equal row's number stands in the table `places` (less one), or the free place for it."""
    mixed = np.int64(0)
    for k in range(row.size):
        mixed = ((mixed ^ ((row[k] ^ (row[k] >> 31)) & _LOW31)) * _ODD) & _LOW31
        mixed ^= mixed >> 15
    place = mixed & (places.size - 1)
    while places[place] > 0:
        other, same = pool[places[place] - 1], True
        for k in range(row.size):
            same = same and other[k] == row[k]
        if same:
            break
        place = (place + 1) & (places.size - 1)
    return place


@jit
def enter_rows(count: Any, pool: Any, places: Any) -> None:
    """Fill an empty table with the rows that are there."""
    for number in range(count):
        places[row_place(pool[number], pool, places)] = number + 1


@jit
def take(rings: Any, cursor: Any, waves: Any, filled: Any, pieces: Any, blocks: Any, records: Any, pool: Any, places: Any) -> None:
    """Append what the contexts hold, context c as part of wave `waves[c]`, and empty their rings."""
    block_ring, record_ring, pool_ring = rings
    for c in range(waves.size):
        mine, piece, b, r = cursor[c], pieces[filled[_PIECES]], filled[_BLOCKS], filled[_RECORDS]
        piece[0] = waves[c]
        piece[1], piece[2] = b, mine[layout.BLOCK_TAIL] - mine[layout.BLOCK_HEAD]
        piece[3], piece[4] = r, mine[layout.RECORD_TAIL] - mine[layout.RECORD_HEAD]
        for k in range(piece[2]):
            blocks[b + k] = block_ring[c, (mine[layout.BLOCK_HEAD] + k) & (block_ring.shape[1] - 1)]
        for k in range(piece[4]):
            record = records[r + k]
            record[:] = record_ring[c, (mine[layout.RECORD_HEAD] + k) & (record_ring.shape[1] - 1)]
            if has_row(record[layout.RECORD_KIND]):
                row = pool_ring[c, record[layout.RECORD_BASE] & (pool_ring.shape[1] - 1)]
                place = row_place(row, pool, places)
                if places[place] == 0:
                    pool[filled[_ROWS]] = row
                    filled[_ROWS] += 1
                    places[place] = filled[_ROWS]
                record[layout.RECORD_BASE] = places[place] - 1
        filled[_BLOCKS] += piece[2]
        filled[_RECORDS] += piece[4]
        filled[_PIECES] += 1
        mine[layout.BLOCK_HEAD], mine[layout.RECORD_HEAD] = mine[layout.BLOCK_TAIL], mine[layout.RECORD_TAIL]
        mine[layout.POOL_HEAD] = mine[layout.POOL_TAIL]


@jit
def arrange(pieces: Any, blocks: Any, records: Any, rows: Any, cursors: Any, to_blocks: Any, to_records: Any) -> None:
    """Copy pieces, in the order of their waves, behind one another; cursors name where each wave's begin and end."""
    b, r, wave = 0, 0, -1
    for i in range(pieces.shape[0]):
        piece = pieces[i]
        if piece[0] != wave:
            wave = piece[0]
            cursors[wave, layout.BLOCK_HEAD], cursors[wave, layout.RECORD_HEAD] = b, r
            cursors[wave, layout.POOL_TAIL], cursors[wave, layout.FINISHED] = rows, 1
        to_blocks[b : b + piece[2]] = blocks[piece[1] : piece[1] + piece[2]]
        to_records[r : r + piece[4]] = records[piece[3] : piece[3] + piece[4]]
        b, r = b + piece[2], r + piece[4]
        cursors[wave, layout.BLOCK_TAIL], cursors[wave, layout.RECORD_TAIL] = b, r


def record(source: TraceSource, most: int) -> Recorded | None:
    """The recording of a whole launch, of at most so many bytes."""
    waves = source.waves_per_workgroup
    order = cluster_order(source.launch.grid, source.cluster)
    together = max(1, min(source.slots, _TOGETHER) // source.cluster_size) * source.cluster_size
    taken = _Taken(source.width, most)
    for at in range(0, len(order), together):
        numbers = order[at : at + together]
        slots, contexts = np.arange(len(numbers)), len(numbers) * waves
        source.start(numbers, slots)
        while True:
            source.refill(slots)
            if not taken.room(source.cursor[:contexts]):
                return None
            taken.take(source, (numbers[:, None] * waves + np.arange(waves)).ravel())
            if source.cursor[:contexts, layout.FINISHED].all():
                break
    return taken.arranged(len(order) * waves, source)


class _Taken:
    """What has been recorded so far: arrays that grow."""

    def __init__(self, width: int, most: int) -> None:
        self.most = most
        self.filled = np.zeros(4, np.int64)
        self.pieces = np.zeros((1024, _PIECE_COLUMNS), np.int64)
        self.blocks, self.records = np.zeros((1024, 2), np.int64), np.zeros((1024, layout.RECORD_COLUMNS), np.int64)
        self.pool, self.places = np.zeros((1024, width), np.int64), np.zeros(4096, np.int64)

    def room(self, cursor: np.ndarray) -> bool:
        """Make room for what the contexts hold; False past the bytes allowed."""
        heads, tails = [layout.BLOCK_HEAD, layout.RECORD_HEAD, layout.POOL_HEAD], [layout.BLOCK_TAIL, layout.RECORD_TAIL, layout.POOL_TAIL]
        blocks, records, rows = (int(count) for count in self.filled[:3] + (cursor[:, tails] - cursor[:, heads]).sum(0))
        if 16 * blocks + 32 * records + self.pool.itemsize * self.pool.shape[1] * int(self.filled[_ROWS]) > self.most:
            return False
        self.blocks, self.records, self.pool = _grown(self.blocks, blocks), _grown(self.records, records), _grown(self.pool, rows)
        self.pieces = _grown(self.pieces, int(self.filled[_PIECES]) + len(cursor))
        if 2 * rows > self.places.size:
            self.places = np.zeros(power_of_two(4 * rows), np.int64)
            enter_rows(int(self.filled[_ROWS]), self.pool, self.places)
        return True

    def take(self, source: TraceSource, waves: np.ndarray) -> None:
        """Append what the source's first contexts hold."""
        rings = source.blocks, source.records, source.pool
        take(rings, source.cursor, waves, self.filled, self.pieces, self.blocks, self.records, self.pool, self.places)

    def arranged(self, waves: int, source: TraceSource) -> Recorded:
        """The recording of so many waves."""
        pieces = self.pieces[: self.filled[_PIECES]]
        pieces = pieces[np.argsort(pieces[:, 0], kind="stable")]
        cursors = np.zeros((waves, layout.CURSOR_COLUMNS), np.int64)
        sizes = (max(1, int(count)) for count in self.filled[:3])  # no array without an entry: each has a place in memory
        blocks, records, rows = (np.zeros((size, array.shape[1]), np.int64) for size, array in zip(sizes, self._arrays(), strict=True))
        arrange(pieces, self.blocks, self.records, self.filled[_ROWS], cursors, blocks, records)
        rows[:] = self.pool[: len(rows)]
        return Recorded(source.waves_per_workgroup, len(source.function.blocks), source.assumed, cursors, blocks, records, rows)

    def _arrays(self) -> tuple[np.ndarray, ...]:
        return self.blocks, self.records, self.pool


def _grown(array: np.ndarray, count: int) -> np.ndarray:
    if count <= len(array):
        return array
    grown = np.empty((max(count, 2 * len(array)), *array.shape[1:]), array.dtype)
    grown[: len(array)] = array
    return grown
