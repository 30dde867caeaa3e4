"""Large arrays that the next launch uses again: memory that a process gives back and asks for anew is cleared and mapped page by page.

In: a number of words. Out: zeros that start on a cache line of the host.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence

import numpy as np

from archex.engine.state import HOST_LINE

#: Arrays kept: a launch may begin while the memory of the one before is still there.
KEPT = 2
_rooms: list[tuple[np.ndarray, weakref.ref[np.ndarray]]] = []


def zeros(words: int) -> np.ndarray:
    """int64 zeros; once nobody holds the array, or a part of it, any more, its memory is handed out again."""
    free = [place for place, (_, user) in enumerate(_rooms) if user() is None]
    place = next((place for place in free if _rooms[place][0].size >= words + HOST_LINE), None)
    if place is not None:
        room, _ = _rooms.pop(place)
        found = _part(room, words)
        found[:] = 0
    else:
        for place in reversed(free):  # too small
            del _rooms[place]
        room = np.zeros(words + HOST_LINE, np.int64)
        found = _part(room, words)
    _rooms.append((room, weakref.ref(found)))
    del _rooms[:-KEPT]  # what somebody holds for long is left to them
    return found


def lying_together(arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Copies of arrays, one behind another in memory of their own, each from a cache line of the host on."""
    places = np.cumsum([0, *(-(-array.nbytes // (8 * HOST_LINE)) * HOST_LINE for array in arrays)])
    room = _part(np.zeros(places[-1] + HOST_LINE, np.int64), int(places[-1]))
    found = []
    for array, place in zip(arrays, places, strict=False):
        copy = room[place:].view(array.dtype)[: array.size].reshape(array.shape)
        copy[:] = array
        found.append(copy)
    return found


def _part(room: np.ndarray, words: int) -> np.ndarray:
    """So many words from a cache line of the host on. Through a buffer: views of the part then hold the part, not the room."""
    skipped = -(room.ctypes.data // 8) % HOST_LINE
    return np.frombuffer(room.data, np.int64, words, 8 * skipped)
