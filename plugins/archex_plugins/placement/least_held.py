"""To the compute unit with the fewest workgroups; the earlier one in filling order when several have equally few."""

from __future__ import annotations

from typing import Any

from archex.parts.placement import Placement


class LeastHeld(Placement):
    """Balances residence over compute units."""

    name = "least_held"

    @staticmethod
    def place_workgroup(view: Any, state: Any, params: Any) -> int:
        best, fewest = -1, 1 << 62
        for position in range(view.order.shape[0]):
            unit = view.order[position]
            if view.available[unit] <= view.cycle and view.held[unit] < fewest:
                best, fewest = unit, view.held[unit]
        return best
