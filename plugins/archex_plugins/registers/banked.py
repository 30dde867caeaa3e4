"""A file of single-ported banks: operands that lie in one bank are read one after the other."""

from __future__ import annotations

from typing import Any

from archex.parts.register_file import RegisterFile


class BankedFile(RegisterFile):
    """Register r lies in bank r mod banks; a register that is read twice is read once."""

    name = "banked"

    @staticmethod
    def read_cycles(registers: Any, count: int, params: Any) -> int:
        banks = int(params[0])
        worst = 1
        if banks > 0:
            for k in range(count):
                here = 0
                for j in range(count):
                    again = False
                    for i in range(j):
                        again = again or registers[i] == registers[j]
                    if not again and registers[j] % banks == registers[k] % banks:
                        here += 1
                worst = max(worst, here)
        return worst
