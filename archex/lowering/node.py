"""A machine operation on its way from expansion to the table of code."""

from __future__ import annotations

import attrs

from archex.lowering.form import Value
from archex.programs.ir import Operation

#: How the names of memory operations begin.
MEMORY = ("load_", "store_", "atomic_", "reduce_")


@attrs.define(slots=True, eq=False)
class Node:
    """One machine operation: its name, what it reads and writes, the program's operation it belongs to, its memory record."""

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
