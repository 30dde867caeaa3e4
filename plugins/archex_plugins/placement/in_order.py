"""Round-robin over compute units in the device's filling order; with several dies that order goes from die to die."""

from __future__ import annotations

from archex.engine.standard import place_in_order
from archex.parts.placement import Placement


class InOrder(Placement):
    """The next unit in filling order that has room."""

    name = "in_order"
    place_workgroup = staticmethod(place_in_order)
