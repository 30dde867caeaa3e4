"""The unit for reciprocals, roots, exponentials, sines, and for conversions that share it."""

from __future__ import annotations

import attrs

from archex.parts.part import Part
from archex.parts.timing import UnitSpec


@attrs.frozen(kw_only=True)
class SpecialFunctionUnitSpec(UnitSpec):
    """Pipes and timings of special functions."""


class SpecialFunctionUnit(Part):
    """Few lanes behind a table: a wave takes several cycles."""

    kind = "special_function_unit"
    Spec = SpecialFunctionUnitSpec
