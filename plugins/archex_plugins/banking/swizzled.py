"""Banks in another order in each row, so that a column of a table lies in as many banks as a row of it."""

from __future__ import annotations

from typing import Any

from archex.engine.standard import CROSSED, phases
from archex.parts.bank_conflict import BankConflict


class Swizzled(BankConflict):
    """Word w of row r lies in bank w xor r (w + r where banks aren't a power of two); otherwise as with banks in turn."""

    name = "swizzled"

    @staticmethod
    def access_cycles(access: Any, scratch: Any, params: Any) -> int:
        return phases(access, scratch, int(params[0]), int(params[1]), CROSSED)

    @classmethod
    def period(cls, spec: Any, banks: int, width: int) -> int:
        return banks * banks * width  # after as many rows as banks the orders come again
