"""What a wave scheduler keeps: it picks a ready wave, whatever it has been told."""

from __future__ import annotations

import numpy as np

from archex.assembly.policies import WAVE_FEEDBACK, feedback
from archex.engine.policies import FILLED, ISSUED, MISSED, NONE, Event, WaveView, compile_policy
from archex.engine.standard import ignore_wave
from archex.testing.contracts.part import PartContract


class WaveSchedulerContract(PartContract):
    """Picks a ready wave whenever there is one."""

    places = ("wave_scheduler",)

    def test_picks_a_ready_slot(self) -> None:
        slots, random = 16, np.random.default_rng(1)
        state, params, age, last = self.state(slots, 1), self.params(), random.permutation(slots), NONE
        for cycle in range(300):
            ready = int(random.integers(1, 1 << slots))
            slot = int(self.policy("pick_wave")(WaveView(ready, age, 0, last, cycle, slots), state, params))
            assert slot == NONE or (0 <= slot < slots and ready >> slot & 1), (ready, slot)
            last = slot if slot != NONE else last

    def test_no_wave_starves(self) -> None:
        """With every wave always ready but the last one picked, each is picked in time."""
        slots = 8
        state, params, age, last, seen = self.state(slots, 1), self.params(), np.arange(slots), NONE, set()
        ready = (1 << slots) - 1
        for cycle in range(400):
            slot = int(self.policy("pick_wave")(WaveView(ready, age, 0, last, cycle, slots), state, params))
            if slot == NONE:
                continue
            seen.add(slot)
            ready &= ~(1 << slot)  # it waits for memory now
            ready = ready or (1 << slots) - 1
            last = slot
        assert seen == set(range(slots))

    def test_picks_a_ready_slot_whatever_it_is_told(self) -> None:
        """Feedback as the engine gives it: of issues, and of lines missed and come, few enough to be missed again."""
        slots, random = 8, np.random.default_rng(5)
        state, params, age, last, seen = self.state(slots, 1), self.params(), np.arange(slots), NONE, set()
        function, wanted = feedback(self.part, WAVE_FEEDBACK, ignore_wave)
        note = compile_policy(function, "note_wave")
        for cycle in range(600):
            ready = (1 << slots) - 1
            slot = int(self.policy("pick_wave")(WaveView(ready, age, 0, last, cycle, slots, ready), state, params))
            assert slot == NONE or 0 <= slot < slots
            if slot == NONE:
                continue
            last = slot
            seen.add(slot)
            for what in (ISSUED, MISSED, FILLED):
                if wanted & what and (what == ISSUED or random.random() < 0.3):
                    note(Event(slot, NONE if what == ISSUED else int(random.integers(6)), cycle, what), state, params)
        assert seen, "waves are ready in every cycle and none issues"
