"""Each row of banks rotated by a hash of its number, so that no stride meets one bank again and again."""

from __future__ import annotations

from typing import Any

from archex.engine.standard import ROTATED, phases
from archex.parts.bank_conflict import BankConflict


class HashedBanks(BankConflict):
    """Rows keep together; words of different rows meet in a bank as if by chance."""

    name = "hashed_banks"

    @staticmethod
    def access_cycles(access: Any, scratch: Any, params: Any) -> int:
        return phases(access, scratch, int(params[0]), int(params[1]), ROTATED)
