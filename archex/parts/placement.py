"""Which compute unit gets the next workgroup.

`place_workgroup(view, state, params) -> unit or -1`. `view`: `available` (cycle from which a unit can take a workgroup), `held` (workgroups
it has), `order` (units in the order in which an empty device is filled), `last` (position in `order` served last, -1 at first), `cycle`,
`workgroup`. `state_words(spec, count, each)`: `count` is the compute units, `each` is 1.
"""

from __future__ import annotations

from archex.parts.part import Part, PolicyFunction


class Placement(Part):
    """Orders the starts of workgroups over compute units and dies."""

    kind = "placement"
    functions = (
        PolicyFunction(
            "place_workgroup", ("view", "state", "params"), "a unit with available[unit] <= cycle, or -1", "whenever a start is due"
        ),
    )
