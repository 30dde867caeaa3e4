"""Re-reference interval prediction (Jaleel et al., ISCA 2010): until a line is hit, it is suspected not to be used again.

Static: a new line is expected a long time away, so that a scan leaves before what has hit. Duelling (`duel` above 0): a few sets expect new
lines at the far end, where they go next unless they hit; the other sets follow whichever rule misses less.
"""

from __future__ import annotations

from typing import Any

import attrs
from archex.parts.part import number
from archex.parts.replacement import Replacement

# Words of `state`: the duel's score (above 0: the far end wins), fills at the far end so far, then for each line how far away it is.
DUEL, FILLS, LINES = 0, 1, 2
MOST = 512  # of the duel's score


@attrs.frozen(kw_only=True)
class RripNumbers:
    """Width of the prediction, and the duel."""

    bits: int = number("count", "bits of a line's prediction", low=1, high=8, default=2)
    duel: int = number("count", "of so many sets one always follows the first rule and one the second; 0: no duel", low=0, default=0)
    rarely: int = number("count", "the second rule keeps one new line of so many", low=2, default=32)


class Rrip(Replacement):
    """Drops a line that is predicted farthest away, the one used longest ago of several; when none is so far, all move on."""

    name = "rrip"
    Spec = RripNumbers

    @classmethod
    def check(cls, spec: RripNumbers) -> list[tuple[str, object, str]]:
        return [("duel", 1, "must be 0 or at least 2: each rule has a set")] if spec.duel == 1 else []

    @classmethod
    def state_words(cls, spec: RripNumbers, count: int, each: int) -> int:
        return LINES + count * each

    @staticmethod
    def pick_victim(view: Any, state: Any, params: Any) -> int:
        at = LINES + view.index * view.ways
        victim = 0
        for way in range(1, view.ways):
            farther = state[at + way] - state[at + victim]
            if farther > 0 or (farther == 0 and view.last_use[view.first + way] < view.last_use[view.first + victim]):
                victim = way
        older = (1 << int(params[0])) - 1 - state[at + victim]
        for way in range(view.ways):
            state[at + way] += older
        return victim

    @staticmethod
    def note_hit(view: Any, state: Any, params: Any) -> None:
        state[LINES + view.index * view.ways + view.hit] = 0

    @staticmethod
    def note_fill(view: Any, state: Any, params: Any) -> None:
        far, duel = (1 << int(params[0])) - 1, int(params[1])
        second = False
        if duel > 0:
            place = view.index % duel
            if place == 0:
                state[DUEL] = min(state[DUEL] + 1, MOST)
            elif place == 1:
                state[DUEL] = max(state[DUEL] - 1, -MOST)
            second = place == 1 or (place != 0 and state[DUEL] > 0)
        if second:
            state[FILLS] += 1
        keep = not second or state[FILLS] % int(params[2]) == 0
        state[LINES + view.index * view.ways + view.hit] = far - 1 if keep else far
