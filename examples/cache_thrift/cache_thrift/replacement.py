"""A replacement policy that lets two rules duel for the better (after DRRIP, ISCA 2010)."""

import attrs
from archex.parts.part import number
from archex.parts.replacement import Replacement

# Words of `state`: the duel's score, fills so far, then for each line how far away its next use is thought to be, 0 to FAR.
DUEL, FILLS, LINES = 0, 1, 2
FAR = 3


@attrs.frozen(kw_only=True)
class Numbers:
    period: int = number("count", "of so many sets, one always follows the first rule and one the second", low=2, default=8)
    rarely: int = number("count", "the second rule keeps one new line of so many", low=2, default=32)


class SetDuelling(Replacement):
    """The first rule expects a new line to be used again soon; the second, which a scan cannot flood, hardly ever does.

    A few sets always follow one rule. Whichever misses less there decides for all other sets.
    """

    name = "set_duelling"
    Spec = Numbers

    @classmethod
    def state_words(cls, spec, count, each):
        return LINES + count * each

    @staticmethod
    def pick_victim(view, state, params):
        at = LINES + view.index * view.ways
        victim = 0
        for way in range(1, view.ways):
            further = state[at + way] - state[at + victim]
            if further > 0 or (further == 0 and view.last_use[view.first + way] < view.last_use[view.first + victim]):
                victim = way
        older = FAR - state[at + victim]
        for way in range(view.ways):
            state[at + way] += older
        return victim

    @staticmethod
    def note_hit(view, state, params):
        state[LINES + view.index * view.ways + view.hit] = 0

    @staticmethod
    def note_fill(view, state, params):
        place = view.index % int(params[0])
        if place == 0:
            state[DUEL] = min(state[DUEL] + 1, 512)
        elif place == 1:
            state[DUEL] = max(state[DUEL] - 1, -512)
        second = place == 1 or (place != 0 and state[DUEL] > 0)
        state[FILLS] += 1
        keep = not second or state[FILLS] % int(params[1]) == 0
        state[LINES + view.index * view.ways + view.hit] = FAR - 1 if keep else FAR
