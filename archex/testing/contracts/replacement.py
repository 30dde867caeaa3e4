"""What a replacement keeps: its choices are ways, follow from what it was told, and leave no line for ever."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from archex.assembly.policies import SET_FEEDBACK, feedback
from archex.engine.policies import FILLED_SET, HIT, NONE, SetView, compile_policy
from archex.engine.standard import ignore_set
from archex.testing.contracts.part import PartContract


class ReplacementContract(PartContract):
    """Returns a way of the set, the same after the same history, and every way in time."""

    places = ("vector_cache.replacement", "l2.replacement")

    def note_set(self) -> Callable[..., int]:
        """The feedback functions of a replacement as the engine calls them."""
        function, _ = feedback(self.part, SET_FEEDBACK, ignore_set)
        return compile_policy(function, "note_set")  # type: ignore[no-any-return]

    def victims(self, ways: int, sets: int = 4, steps: int = 400) -> Iterator[int]:
        """The choices in a history of hits and fills by lot."""
        random, note, pick = np.random.default_rng(2), self.note_set(), self.policy("pick_victim")
        state, params, used = self.state(sets, ways), self.params(), np.zeros(sets * ways, dtype=np.int64)
        for step in range(1, steps):
            index = int(random.integers(sets))
            view = SetView(index * ways, ways, used, index, NONE, 0)
            if random.random() < 0.5:
                way, what = int(random.integers(ways)), HIT
            else:
                way, what = int(pick(view, state, params)), FILLED_SET
                yield way
            used[view.first + way] = step
            note(view._replace(hit=way, what=what), state, params)

    def test_victim_is_a_way(self) -> None:
        for ways in (1, 2, 3, 4, 12, 16, 64):
            assert set(self.victims(ways)) <= set(range(ways))

    def test_the_same_history_makes_the_same_choices(self) -> None:
        assert list(self.victims(8)) == list(self.victims(8))

    def test_a_line_that_nobody_uses_goes_in_time(self) -> None:
        """New lines only, into one set: none of the old ones stays."""
        note, pick, sets = self.note_set(), self.policy("pick_victim"), 16
        for ways in (2, 4, 7):
            for index in (0, 1, sets - 1):
                state, params, used = self.state(sets, ways), self.params(), np.zeros(sets * ways, dtype=np.int64)
                gone: set[int] = set()
                for step in range(1, 4096):
                    view = SetView(index * ways, ways, used, index, NONE, 0)
                    way = int(pick(view, state, params))
                    gone.add(way)
                    used[view.first + way] = step
                    note(view._replace(hit=way, what=FILLED_SET), state, params)
                assert gone == set(range(ways)), f"ways {set(range(ways)) - gone} keep their lines for ever"
