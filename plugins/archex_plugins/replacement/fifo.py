"""First in, first out: the age of a line counts from its fill, and use doesn't make it younger."""

from __future__ import annotations

from typing import Any

from archex.parts.part import NoNumbers
from archex.parts.replacement import Replacement

FILLS, LINES = 0, 1  # words of `state`: fills so far, then for each line the number of its fill


class Fifo(Replacement):
    """Drops the line that came first; needs no bookkeeping on a hit."""

    name = "fifo"

    @classmethod
    def state_words(cls, spec: NoNumbers, count: int, each: int) -> int:
        return LINES + count * each

    @staticmethod
    def pick_victim(view: Any, state: Any, params: Any) -> int:
        at = LINES + view.index * view.ways
        first = 0
        for way in range(1, view.ways):
            if state[at + way] < state[at + first]:
                first = way
        return first

    @staticmethod
    def note_fill(view: Any, state: Any, params: Any) -> None:
        state[FILLS] += 1
        state[LINES + view.index * view.ways + view.hit] = state[FILLS]
