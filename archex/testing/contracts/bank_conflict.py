"""What a rule for banks keeps, wherever it puts words."""

from __future__ import annotations

from typing import Any

import numpy as np

from archex.engine.policies import SCRATCH, Access
from archex.testing.contracts.part import PartContract


class BankConflictContract(PartContract):
    """Neighbouring words take one pass, words of one bank a pass each, and more lanes never fewer passes."""

    places = ("local_memory.access",)

    def passes(self, addresses: Any, size: int = 4, banks: int = 32, store: int = 0) -> int:
        access = Access(np.asarray(addresses, dtype=np.int64), len(addresses), size, store)
        return int(self.policy("access_cycles")(access, np.zeros(SCRATCH, dtype=np.int64), self.params(banks, 4)))

    def test_a_row_takes_one_pass(self) -> None:
        for banks in (32, 64, 256):
            assert self.passes(np.arange(32) * 4, banks=banks) == 1
        assert self.passes(np.full(32, 64)) == 1, "lanes on one word are served together"

    def test_words_of_one_bank_take_a_pass_each(self) -> None:
        """Which words share a bank is found by asking for two at a time."""
        same = [0] + [word for word in range(1, 32 * 64) if self.passes([0, 4 * word]) == 2]
        assert len(same) >= 32, "32 banks share 2,048 words"
        for lanes in (2, 8, 32):
            assert self.passes(4 * np.array(same[:lanes])) == lanes

    def test_passes_lie_between_what_banks_and_words_allow(self) -> None:
        random = np.random.default_rng(6)
        for span in (32, 64, 256, 4096):
            words = random.integers(0, span, 32)
            distinct = len(set(words.tolist()))
            assert -(-distinct // 32) <= self.passes(4 * words) <= distinct

    def test_more_lanes_never_take_fewer_passes(self) -> None:
        random = np.random.default_rng(7)
        words = 4 * random.integers(0, 512, 32)
        found = [self.passes(np.where(np.arange(32) < lanes, words, -1)) for lanes in range(1, 33)]
        assert found == sorted(found)

    def test_a_pattern_moved_by_the_period_takes_as_many_passes(self) -> None:
        random = np.random.default_rng(8)
        for banks in (16, 32, 48):
            period = self.part.period(self.made(), banks, 4)  # type: ignore[attr-defined]
            for stride in (1, 2, 3, 8, 17, 32, 33):
                base = 4 * int(random.integers(0, 1024))
                pattern = base + 4 * stride * np.arange(32)
                if period:
                    assert self.passes(pattern, banks=banks) == self.passes(pattern + period, banks=banks)
