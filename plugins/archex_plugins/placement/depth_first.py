"""One compute unit is filled before the next, in the device's filling order."""

from __future__ import annotations

from typing import Any

from archex.parts.placement import Placement


class DepthFirst(Placement):
    """The first unit in filling order that has room: neighbouring workgroups share caches, and few units are busy when there are few."""

    name = "depth_first"

    @staticmethod
    def place_workgroup(view: Any, state: Any, params: Any) -> int:
        for position in range(view.order.shape[0]):
            unit = view.order[position]
            if view.available[unit] <= view.cycle:
                return unit
        return -1
