"""Registers: how many a compute unit has, in which steps they are given to waves, how long an instruction's operands take to read.

`read_cycles(registers, count, params) -> cycles`: the first `count` of `registers` are the numbers of the operands an instruction
reads; `params` starts with the number of banks, then come the part's own numbers. Asked once for each instruction of a program, before
it runs. The result comes so much later than after a read in one cycle; the pipe is held for as long, divided by the collectors: each
gathers the operands of one instruction while others wait for theirs.
"""

from __future__ import annotations

from typing import Any

import attrs

from archex.parts.part import Part, PolicyFunction, choice, number


@attrs.frozen(kw_only=True)
class RegisterFileSpec:
    """Size, banks, allocation."""

    size: int = number("B", "vector registers of a compute unit", low=1024)
    granule: int = number("count", "registers a thread are given in multiples of this", low=1, default=1)
    most: int = number("count", "registers a thread can address", low=8)
    banks: int = number("count", "banks next to a scheduler, each with one read a cycle; 0: as many reads as wanted", default=0, high=64)
    collectors: int = number("count", "instructions of a scheduler whose operands are gathered at a time", low=1, high=64, default=1)
    read_window: int = number(
        "cycles",
        "an instruction reads its operands within so many cycles from issue, one a cycle from each of two banks; who can't holds issue up; "
        "0: no limit",
        high=16,
        default=0,
    )
    accumulators: str = choice(
        "accumulator registers: `none`, in the same file behind the others (`unified`), or in a file of their own (`split`)",
        ("none", "unified", "split"),
        default="none",
    )
    accumulator_offset: int = number("count", "accumulators start at a multiple of this", low=1, default=1)
    accumulator_size: int = number("B", "accumulators of a compute unit, where they have a file of their own", default=0)


class RegisterFile(Part):
    """One file a scheduler; a wave's registers lie in the file of its scheduler."""

    kind = "register_file"
    Spec = RegisterFileSpec
    functions = (
        PolicyFunction("read_cycles", ("registers", "count", "params"), "1 to 64 cycles", "once for each instruction of a program"),
    )

    @classmethod
    def parameters(cls, spec: Any) -> tuple[float, ...]:
        """What a part's own Spec adds to the kind's; the banks stand first in `params` already."""
        return cls.numbers(spec, RegisterFileSpec)

    @classmethod
    def check(cls, spec: RegisterFileSpec) -> list[tuple[str, object, str]]:
        if (spec.accumulators == "split") != (spec.accumulator_size > 0):
            return [("accumulator_size", spec.accumulator_size, "must be above 0 where accumulators are split, and only there")]
        return []
