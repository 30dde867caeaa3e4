"""A recording: the whole trace of a launch in four arrays, and the file that holds them.

In: the arrays, or a path. Out: a file put in place whole; the arrays mapped into memory, which all processes of a machine share; None for a
file that is torn or not ours. A header, sealed with its hash, says how long everything is and what the words add up to, so that a reader
has checked every page by the time it uses one, at the speed of memory.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import struct
from pathlib import Path
from typing import Any

import attrs
import numpy as np

from archex.base.kept import put

_MARK = b"archex trace 1\n\0"
_HEAD = struct.Struct("<16s32sQ")  # mark, hash of the description, its length
_PAGE = 4096


@attrs.frozen(eq=False)
class Recorded:
    """The trace of a launch. waves: of a workgroup; function_blocks: of its function; assumed: as `TraceSource.assumed` has it.

    cursors: a row a wave, workgroup after workgroup, as the engine reads them: where its entries begin and end in the other arrays, which
    hold those of all waves one after another as `base.layout` describes them.
    """

    waves: int
    function_blocks: int
    assumed: tuple[str, ...]
    cursors: np.ndarray
    blocks: np.ndarray
    records: np.ndarray
    pool: np.ndarray

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        return self.cursors, self.blocks, self.records, self.pool

    @property
    def size(self) -> int:
        """Bytes."""
        return sum(array.nbytes for array in self.arrays)


def write(path: Path, recorded: Recorded) -> None:
    """Put a recording's file in place; OSError if it cannot be written."""
    words = np.concatenate([array.reshape(-1) for array in recorded.arrays])
    words = np.concatenate([words, np.zeros(-len(words) % (_PAGE // 8), np.int64)])
    about = {
        "waves": recorded.waves, "function_blocks": recorded.function_blocks, "assumed": recorded.assumed,
        "shapes": [array.shape for array in recorded.arrays], "sums": _sums(words),
    }  # fmt: skip
    text = json.dumps(about).encode()
    head = _HEAD.pack(_MARK, hashlib.sha256(text).digest(), len(text)) + text
    put(path, (head.ljust(_up(len(head)), b"\0"), words.data.cast("B")))


def read(path: Path) -> Recorded | None:
    """A recording's file, mapped."""
    try:
        with open(path, "rb") as file:
            mark, seal, length = _HEAD.unpack(file.read(_HEAD.size))
            text = file.read(min(length, path.stat().st_size))
            if mark != _MARK or hashlib.sha256(text).digest() != seal:
                return None
            # A copy on write, because compiled code tells arrays that may be written from others; nobody writes.
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
    except (OSError, struct.error, ValueError):
        return None
    about = json.loads(text)
    start, shapes = _up(_HEAD.size + length), [tuple(shape) for shape in about["shapes"]]
    count = sum(int(np.prod(shape)) for shape in shapes)
    if len(mapped) != start + _up(8 * count):
        return None
    words = np.frombuffer(mapped, np.int64, offset=start)
    if _sums(words) != about["sums"]:
        return None
    arrays, at = [], 0
    for shape in shapes:
        size = int(np.prod(shape))
        arrays.append(words[at : at + size].reshape(shape))
        at += size
    return Recorded(about["waves"], about["function_blocks"], tuple(about["assumed"]), *arrays)


def _up(size: int) -> int:
    """Whole pages."""
    return -(-size // _PAGE) * _PAGE


def _sums(words: np.ndarray) -> list[int]:
    """What the words add up to, and the pages by their places: a page that is missing, foreign or elsewhere changes one of the two."""
    pages = words.reshape(-1, _PAGE // 8).sum(1)
    places: Any = 2 * np.arange(len(pages), dtype=np.int64) + 1
    return [int(pages.sum()), int((pages * places).sum())]
