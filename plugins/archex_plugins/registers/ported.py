"""A file with read ports: so many operands a cycle, whichever they are."""

from __future__ import annotations

from typing import Any

from archex.parts.register_file import RegisterFile


class PortedFile(RegisterFile):
    """Reads as many operands a cycle as it has banks, wherever they lie."""

    name = "ported"

    @staticmethod
    def read_cycles(registers: Any, count: int, params: Any) -> int:
        banks = int(params[0])
        return max((count + banks - 1) // banks, 1) if banks > 0 else 1
