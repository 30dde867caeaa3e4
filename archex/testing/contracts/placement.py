"""What a placement keeps."""

from __future__ import annotations

import numpy as np

from archex.engine.policies import NONE, PlaceView
from archex.testing.contracts.part import PartContract


class PlacementContract(PartContract):
    """Returns a unit that can take a workgroup, whichever has room."""

    places = ("dispatcher.placement",)

    def test_places_where_there_is_room(self) -> None:
        units, random = 12, np.random.default_rng(4)
        order = random.permutation(units).astype(np.int64)
        state, params, last = self.state(units, 1), self.params(), NONE
        held = np.zeros(units, dtype=np.int64)
        for cycle in range(200):
            available = np.where(random.random(units) < 0.5, cycle, 1 << 60).astype(np.int64)
            unit = int(self.policy("place_workgroup")(PlaceView(available, held, order, last, cycle, cycle), state, params))
            if (available <= cycle).any():
                assert unit != NONE, "a workgroup waits although there is room"
            if unit != NONE:
                assert available[unit] <= cycle
                held[unit] += 1
                last = int(np.flatnonzero(order == unit)[0])

    def test_serves_a_unit_that_alone_has_room(self) -> None:
        units = 12
        state, params, order, held = self.state(units, 1), self.params(), np.arange(units), np.zeros(units, dtype=np.int64)
        for step in range(4 * units):
            free = 5 * step % units
            available = np.where(order == free, step, 1 << 60).astype(np.int64)
            assert int(self.policy("place_workgroup")(PlaceView(available, held, order, NONE, step, step), state, params)) == free
            held[free] += 1
