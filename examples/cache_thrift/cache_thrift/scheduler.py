"""A wave scheduler that holds waves back while they push each other's lines out of the vector cache (after CCWS, MICRO 2012)."""

import attrs
from archex.parts.part import number
from archex.parts.wave_scheduler import WaveScheduler

# A slot's words in `state`: its points, when they were last brought up to date, where its history goes on, and the history itself.
POINTS, SINCE, NEXT, HISTORY = 0, 1, 2, 3


@attrs.frozen(kw_only=True)
class Numbers:
    history: int = number("count", "lines remembered for each wave", low=1, high=64)
    gain: int = number("count", "points a wave gets for a line that it had and lost", low=1)
    hold: int = number("count", "points, over all waves, that hold one more wave back", low=1)


class Sparing(WaveScheduler):
    """Greedy, then oldest, among the waves that aren't held back.

    A wave that misses a line which it fetched a little while ago has lost it to the others: it gets points, which fade by one
    a cycle. The more points there are in all, the more of the waves with the fewest points are held back.
    """

    name = "sparing"
    Spec = Numbers

    @classmethod
    def state_words(cls, spec, count, each):
        return count * (HISTORY + spec.history)

    @staticmethod
    def pick_wave(view, state, params):
        words = HISTORY + int(params[0])
        total = 0
        for slot in range(view.slots):
            at = slot * words
            state[at + POINTS] = max(0, state[at + POINTS] - (view.cycle - state[at + SINCE]))
            state[at + SINCE] = view.cycle
            total += state[at + POINTS]
        running = view.slots - min(total // int(params[2]), view.slots - 1)
        best = -1
        for slot in range(view.slots):
            if (view.ready >> slot) & 1:
                before = 0  # waves with more points, or as many and older
                for other in range(view.slots):
                    more = state[other * words + POINTS] - state[slot * words + POINTS]
                    if more > 0 or (more == 0 and view.age[view.first + other] < view.age[view.first + slot]):
                        before += 1
                if before < running:
                    if slot == view.last:
                        return slot
                    if best < 0 or view.age[view.first + slot] < view.age[view.first + best]:
                        best = slot
        return best

    @staticmethod
    def note_miss(event, state, params):
        history = int(params[0])
        at = event.slot * (HISTORY + history)
        for entry in range(history):
            if state[at + HISTORY + entry] == event.line + 1:
                state[at + POINTS] += int(params[1])
                return
        state[at + HISTORY + state[at + NEXT]] = event.line + 1  # 0 is an empty entry
        state[at + NEXT] = (state[at + NEXT] + 1) % history
