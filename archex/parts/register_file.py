"""Registers: how many a compute unit has, in which steps they are given to waves, how many operands are read a cycle."""

from __future__ import annotations

import attrs

from archex.parts.part import Part, choice, number


@attrs.frozen(kw_only=True)
class RegisterFileSpec:
    """Size, ports, allocation."""

    size: int = number("B", "vector registers of a compute unit", low=1024)
    granule: int = number("count", "registers a thread are given in multiples of this", low=1, default=1)
    most: int = number("count", "registers a thread can address", low=8)
    operands: float = number("count", "register operands read a cycle and scheduler; 0: as many as wanted", default=0)
    accumulators: str = choice(
        "accumulator registers: `none`, or in the same file behind the others (`unified`)", ("none", "unified"), default="none"
    )
    accumulator_offset: int = number("count", "accumulators start at a multiple of this", low=1, default=1)


class RegisterFile(Part):
    """One file a scheduler; a wave's registers lie in the file of its scheduler."""

    kind = "register_file"
    Spec = RegisterFileSpec
