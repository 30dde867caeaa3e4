"""What a register file keeps."""

from __future__ import annotations

import numpy as np

from archex.testing.contracts.part import PartContract


class RegisterFileContract(PartContract):
    """Some cycle, never more than an operand each; more banks are never slower."""

    def cycles(self, registers: list[int], banks: int) -> int:
        read = self.policy("read_cycles")
        return int(read(np.array([*registers, *[-1] * (6 - len(registers))], dtype=np.int64), len(registers), self.params(banks)))

    def test_at_least_a_cycle_and_at_most_one_an_operand(self) -> None:
        random = np.random.default_rng(5)
        for banks in (0, 1, 2, 4, 8):
            for count in range(1, 7):
                found = self.cycles([int(r) for r in random.integers(0, 64, count)], banks)
                assert 1 <= found <= count, (banks, count, found)

    def test_more_banks_are_never_slower(self) -> None:
        registers = [3, 7, 11, 15]
        found = [self.cycles(registers, banks) for banks in (1, 2, 4, 8, 16)]
        assert found == sorted(found, reverse=True)
