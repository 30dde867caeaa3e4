"""A source of traces that reads a recording. Nothing is interpreted and nothing copied: the engine reads the recording's own arrays.

In: a `Recorded`, how many waves may be under way at once. Out: what `trace.Traces` asks for. All waves read one store (`engine.rings`): a
wave that is started gets its cursors, and its trace is there as a whole.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from archex.base import layout
from archex.base.jit import jit
from archex.base.once import Once
from archex.programs.interpreter.machine import power_of_two
from archex.programs.recording.recorded import Recorded


@jit
def count_blocks(cursors: Any, workgroups: Any, waves: Any, blocks: Any, counts: Any) -> None:
    """Add up executions and active lanes of each block, a row of `counts` a workgroup."""
    for i in range(workgroups.size):
        for wave in range(workgroups[i] * waves, (workgroups[i] + 1) * waves):
            for at in range(cursors[wave, layout.BLOCK_HEAD], cursors[wave, layout.BLOCK_TAIL]):
                counts[i, blocks[at, 0], 0] += 1
                counts[i, blocks[at, 0], 1] += blocks[at, 1]


_stores: Once[tuple[np.ndarray, ...]] = Once()


class ReplaySource:
    """Slot s holds contexts s * waves .. (s + 1) * waves - 1, as in `TraceSource`."""

    def __init__(self, recorded: Recorded, contexts: int) -> None:
        self.recorded, self.assumed = recorded, recorded.assumed
        self.blocks, self.records, self.pool = _stores.of(recorded, lambda: tuple(map(_store, recorded.arrays[1:])))
        self.cursor = np.zeros((contexts, layout.CURSOR_COLUMNS), np.int64)
        self._waves = np.arange(recorded.waves, dtype=np.int64)

    def start(self, workgroups: np.ndarray, slots: np.ndarray) -> None:
        """Bind workgroup numbers to free slots."""
        waves, places = self.recorded.waves, slice(layout.BEGUN)
        began = self.recorded.cursors[workgroups[:, None] * waves + self._waves]
        self.cursor[np.asarray(slots)[:, None] * waves + self._waves, places] = began[..., places]

    def refill(self, slots: np.ndarray) -> None:
        """Everything is there."""

    def count(self, workgroups: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """As `TraceSource.count`."""
        counts = np.zeros((len(workgroups), self.recorded.function_blocks, 2), np.int64)
        count_blocks(self.recorded.cursors, np.asarray(workgroups, np.int64), self.recorded.waves, self.recorded.blocks, counts)
        return counts[:, :, 0], counts[:, :, 1]


def _store(array: np.ndarray) -> np.ndarray:
    """Entries as a ring that never comes round. Its length is said to be a power of two; positions stay within what is there."""
    stated: tuple[int, ...] = (1, power_of_two(len(array)), *array.shape[1:])
    return np.lib.stride_tricks.as_strided(array, stated, (array.nbytes, *array.strides))
