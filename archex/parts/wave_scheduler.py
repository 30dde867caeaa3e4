"""Which ready wave issues next: the policy of each wave scheduler.

`pick_wave(view, state, params) -> slot or -1`. `view`: `ready` (bit a slot: could issue now), `age` and `first` (age[first + slot] is the
start order of the slot's wave, smaller is older), `last` (slot that issued last, -1 none), `cycle`, `slots`, `memory` (of `ready`, the
slots whose next instruction is one of memory). The feedback functions are
optional; their `event` has `slot`, `line` (number of the vector cache's line), `cycle`. They and `pick_wave` share one `state` a scheduler.
`state_words(spec, count, each)`: `count` is the scheduler's slots, `each` is 1.
"""

from __future__ import annotations

from archex.parts.part import Counter, Part, PolicyFunction

_EVENT = ("event", "state", "params")


class WaveScheduler(Part):
    """Chooses among the waves that have an instruction whose operands and pipe are free."""

    kind = "wave_scheduler"
    functions = (
        PolicyFunction("pick_wave", ("view", "state", "params"), "a slot whose ready bit is set, or -1", "for each issue slot"),
        PolicyFunction("note_issue", _EVENT, "nothing", "after a wave issued", required=False),
        PolicyFunction("note_miss", _EVENT, "nothing", "when a line that a wave's load wants isn't in the vector cache", required=False),
        PolicyFunction("note_fill", _EVENT, "nothing", "when a line that a wave's load missed has come", required=False),
    )
    counters = (Counter("wave_instructions", "instructions", "instructions issued, a wave each", "issue_active_pct"),)
