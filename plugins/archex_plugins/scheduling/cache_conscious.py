"""Cache-conscious wave scheduling (Rogers, O'Connor, Aamodt, MICRO 2012): waves that lose their lines get the cache to themselves.

A wave that misses a line which it fetched a while ago has lost it to the others. That raises its score; the scores of all waves together
may not exceed what they come to at rest, so the waves with the lowest scores may not access memory until the score has faded.
"""

from __future__ import annotations

from typing import Any

import attrs
from archex.parts.part import number
from archex.parts.wave_scheduler import WaveScheduler

from archex_plugins.scheduling.choose import oldest

# Words of `state`: misses of a line that was here before, instructions issued, the cycle at which every score is at rest again; then for
# each slot its score above rest and when that was brought up to date, where its next victim tag goes, and the tags (line + 1; 0 is none).
LOST, ISSUED, RESTED, WAVES = 0, 1, 2, 3
SCORE, SINCE, NEXT, TAGS = 0, 1, 2, 3


@attrs.frozen(kw_only=True)
class CacheConsciousNumbers:
    """How much is remembered and how hard waves are held back."""

    tags: int = number("count", "victim tags of a wave: lines it fetched last", low=1, high=64)
    rest: int = number("count", "score of a wave that loses nothing; above it a score fades by one a cycle", low=1)
    throttle: float = number("ratio", "a lost line's score: this, times lost lines an instruction, times all waves' score at rest", low=0)


class CacheConscious(WaveScheduler):
    """Greedy, then oldest; as lines are lost, waves with low scores are kept from memory, the youngest first."""

    name = "cache_conscious"
    Spec = CacheConsciousNumbers

    @classmethod
    def state_words(cls, spec: CacheConsciousNumbers, count: int, each: int) -> int:
        return WAVES + count * (TAGS + spec.tags)

    @staticmethod
    def pick_wave(view: Any, state: Any, params: Any) -> int:
        allowed = view.ready
        if view.cycle < state[RESTED] and view.memory != 0:
            words, rest, cutoff = TAGS + int(params[0]), int(params[1]), int(params[1]) * view.slots
            for slot in range(view.slots):
                at = WAVES + slot * words
                state[at + SCORE] = max(0, state[at + SCORE] - max(0, view.cycle - state[at + SINCE]))
                state[at + SINCE] = max(state[at + SINCE], view.cycle)
            for slot in range(view.slots):
                if (view.memory >> slot) & 1:
                    mine = state[WAVES + slot * words + SCORE]
                    before = 0  # scores of the waves that stand higher, or as high and are older
                    for other in range(view.slots):
                        theirs = state[WAVES + other * words + SCORE]
                        if theirs > mine or (theirs == mine and view.age[view.first + other] < view.age[view.first + slot]):
                            before += theirs + rest
                    if before > 0 and before + mine + rest > cutoff:
                        allowed &= ~(1 << slot)
        if allowed == 0:
            return -1
        if view.last >= 0 and (allowed >> view.last) & 1:
            return view.last
        return oldest(allowed, view.age, view.first)

    @staticmethod
    def note_issue(event: Any, state: Any, params: Any) -> None:
        state[ISSUED] += 1

    @staticmethod
    def note_miss(event: Any, state: Any, params: Any) -> None:
        tags, rest = int(params[0]), int(params[1])
        at = WAVES + event.slot * (TAGS + tags)
        slots = (state.shape[0] - WAVES) // (TAGS + tags)
        for entry in range(tags):
            if state[at + TAGS + entry] == event.line + 1:
                state[at + TAGS + entry] = 0
                state[LOST] += 1
                cutoff = rest * slots
                score = min(int(params[2] * cutoff * state[LOST] / max(1, state[ISSUED])), cutoff)
                left = max(0, state[at + SCORE] - max(0, event.cycle - state[at + SINCE]))
                state[at + SCORE] = max(left, score)
                state[at + SINCE] = event.cycle
                state[RESTED] = max(state[RESTED], event.cycle + state[at + SCORE])
                return

    @staticmethod
    def note_fill(event: Any, state: Any, params: Any) -> None:
        tags = int(params[0])
        at = WAVES + event.slot * (TAGS + tags)
        state[at + TAGS + state[at + NEXT]] = event.line + 1
        state[at + NEXT] = (state[at + NEXT] + 1) % tags
