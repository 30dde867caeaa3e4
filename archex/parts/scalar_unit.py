"""The unit that executes what is the same in all lanes of a wave: uniform arithmetic, special registers, uniform constant loads."""

from __future__ import annotations

import attrs

from archex.parts.part import Part
from archex.parts.timing import UnitSpec


@attrs.frozen(kw_only=True)
class ScalarUnitSpec(UnitSpec):
    """Pipes and timings of uniform operations."""


class ScalarUnit(Part):
    """One value a wave instead of one a lane."""

    kind = "scalar_unit"
    Spec = ScalarUnitSpec
