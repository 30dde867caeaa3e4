"""Operands out of the register file, where reads are what limits issue.

In: the packed reads of an instruction (`layout.READS`), who read last. Out: cycles by which they come too late; the banks' state moved on.
"""

from __future__ import annotations

from typing import Any

from archex.base.jit import jit_bare as jit
from archex.engine.state import S_BANK, S_READER


@jit
def read_registers(scheduler: Any, slot: int, reads: int, now: int, window: int) -> int:
    """Cycles by which an instruction's operands come too late: two banks give one a cycle each. What the wave's own instruction right
    before has left at the same operand is not read again."""
    again = scheduler[S_READER] == slot
    scheduler[S_READER] = slot
    late = 0
    for bank in range(2):
        count = (reads >> 4 * bank) & 15
        if again:
            count -= (reads >> 8 + 4 * bank) & 15
        if count > 0:
            done = max(scheduler[S_BANK + bank], now) + count
            scheduler[S_BANK + bank] = done
            late = max(late, done - now - window)
    return late
