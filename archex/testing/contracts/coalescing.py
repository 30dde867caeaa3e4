"""What coalescing keeps."""

from __future__ import annotations

from collections import Counter

import numpy as np

from archex.engine.policies import Access
from archex.testing.contracts.part import PartContract


class CoalescingContract(PartContract):
    """Every sector that a lane wants is asked for and no other; a line comes at most once for each lane that wants it."""

    places = ("vector_cache.coalescing",)

    def test_covers_what_lanes_want(self) -> None:
        random = np.random.default_rng(3)
        scratch = np.zeros(1024, dtype=np.int64)
        for size in (1, 2, 4, 8, 16):
            for addresses in (np.arange(32) * size, np.full(32, 4096), random.integers(0, 1 << 20, 32) // size * size):
                lanes = addresses.astype(np.int64)
                lanes[random.random(32) < 0.2] = -1
                lines, sectors = np.zeros(64, dtype=np.int64), np.zeros(64, dtype=np.int64)
                count = int(self.policy("coalesce")(Access(lanes, 32, size, 0), 128, 32, lines, sectors, scratch, self.params()))
                found = {
                    int(line) * 4 + bit
                    for line, mask in zip(lines[:count], sectors[:count], strict=True)
                    for bit in range(4)
                    if mask >> bit & 1
                }
                wanted = {address // 32 for lane in lanes if lane >= 0 for address in (int(lane), int(lane) + size - 1)}
                assert found == wanted
                wanting: Counter[int] = Counter()
                for lane in lanes[lanes >= 0]:
                    wanting.update({int(lane) // 128, (int(lane) + size - 1) // 128})
                named = Counter(lines[:count].tolist())
                assert not [line for line, times in named.items() if times > wanting[line]]
