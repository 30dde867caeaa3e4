"""What a set index keeps."""

from __future__ import annotations

import numpy as np

from archex.testing.contracts.part import PartContract


class SetIndexContract(PartContract):
    """Every line has one set, every set has lines."""

    places = ("vector_cache.index", "l2.index")

    def test_covers_every_set(self) -> None:
        for sets in (1, 3, 7, 64, 267):
            found = [int(self.policy("set_index")(line, sets, self.params())) for line in range(8 * sets)]
            assert set(found) == set(range(sets))
            counts = np.bincount(found, minlength=sets)
            assert counts.max() <= 4 * counts.mean(), "neighbouring lines must spread over the sets"
