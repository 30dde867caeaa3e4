"""A machine operation on its way from expansion to the table of code."""

from __future__ import annotations

import attrs

from archex.lowering.form import Value
from archex.programs.ir import Operation

#: How the names of memory operations begin.
MEMORY = ("load_", "store_", "atomic_", "reduce_", "copy_async")
#: How the names of operations begin that refer to what a trace records.
RECORDED = (*MEMORY, "copy_bulk", "signal", "constant_load")


@attrs.define(slots=True, eq=False)
class Node:
    """One machine operation: its name, what it reads and writes, the program's operation it belongs to, its memory record.

    interval: cycles it holds its pipe, where the machine operation has several lengths; flags: beside those that follow from its name.
    """

    name: str
    reads: list[Value]
    writes: list[Value]
    source: Operation | None = None
    guarded: bool = False
    record: int = -1
    bytes: int = 0
    offset: int = 0
    ends: bool = False
    last: bool = False
    base: Value | None = None
    zero: bool = False
    wall: bool = False
    interval: float = -1.0
    flags: int = 0
