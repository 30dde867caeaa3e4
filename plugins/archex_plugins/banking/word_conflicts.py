"""Banks of words: lanes on the same word are served together, on different words of one bank one after the other."""

from __future__ import annotations

from typing import Any

from archex.engine.standard import bank_passes
from archex.parts.bank_conflict import BankConflict


class WordConflicts(BankConflict):
    """Lanes go in phases that could fill all banks; a phase takes as long as its fullest bank."""

    name = "word_conflicts"
    access_cycles = staticmethod(bank_passes)

    @classmethod
    def period(cls, spec: Any, banks: int, width: int) -> int:
        return banks * width  # a whole row of banks
