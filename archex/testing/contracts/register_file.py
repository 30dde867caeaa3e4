"""What a register file keeps."""

from __future__ import annotations

from itertools import pairwise

import attrs
import numpy as np

from archex.describe import occupancy
from archex.testing.contracts.part import PartContract


class RegisterFileContract(PartContract):
    """Some cycle, never more than an operand each; more banks are never slower, more registers never hold fewer waves."""

    places = ("register_file",)
    costs = ("granule",)
    gains = ("size", "collectors")

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

    def test_resident_waves_follow_the_size(self) -> None:
        found = []
        for factor in (1, 2, 4):
            device = self.described()
            spec = attrs.evolve(device["register_file"], size=device["register_file"].size * factor)
            slots = {**device.slots, "register_file": attrs.evolve(device.slots["register_file"], spec=spec)}
            found.append([occupancy(attrs.evolve(device, slots=slots), 128, registers, 0).workgroups for registers in (16, 32, 64)])
        assert all(few <= many for less, more in pairwise(found) for few, many in zip(less, more, strict=True))
        assert all(row == sorted(row, reverse=True) for row in found), "threads with more registers"
