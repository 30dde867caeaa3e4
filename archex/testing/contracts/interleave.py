"""What an interleave keeps."""

from __future__ import annotations

from typing import Any

import numpy as np

from archex.testing.contracts.part import PartContract


class InterleaveContract(PartContract):
    """Every channel is used, a chunk stays on one, streams spread evenly."""

    places = ("memory.interleave",)

    def channels(self, addresses: Any, channels: int, chunk: int) -> list[int]:
        params = self.params(channels, chunk)
        return [int(self.policy("map_address")(int(address), params)) for address in addresses]

    def test_streams_spread_evenly(self) -> None:
        for channels in (1, 2, 6, 128, 192):
            found = self.channels(np.arange(channels * 16) * 256, channels, 256)
            assert set(found) == set(range(channels))
            assert np.bincount(found).max() <= 2 * 16

    def test_a_chunk_lies_on_one_channel(self) -> None:
        assert len(set(self.channels(range(512, 1024, 32), 8, 512))) == 1
