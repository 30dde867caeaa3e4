"""What a program advises about managed pages, and what came of it: copies that several hold, pages that devices reach from afar.

In: pages and an advice. Out: who holds a copy of what, what is mapped. Nothing here moves or has a time. The host is row -1.
"""

from __future__ import annotations

import numpy as np

#: What can be advised: pages that are mostly read have copies until somebody writes; those that prefer the host are reached from there,
#: mapped by a fault or for all devices beforehand.
ADVICE = ("none", "read_mostly", "prefer_host", "map_host")
_MOSTLY, _PREFER, _MAP = 1, 2, 3


class Advised:
    """Advice for each page. copies, mapped: who has them, the host behind the devices; the page itself is no copy. given: whether there
    has been any advice: without it nobody has copies, and nothing is mapped."""

    def __init__(self, pages: int, devices: int) -> None:
        self.kind = np.zeros(pages, dtype=np.int8)
        self.copies = np.zeros((devices + 1, pages), dtype=bool)
        self.mapped = np.zeros((devices + 1, pages), dtype=bool)
        self.given = False

    def set(self, pages: np.ndarray, advice: str) -> None:
        """Advise; an advice takes the place of the one before."""
        kind = ADVICE.index(advice)
        self.given |= kind > 0
        self.kind[pages] = kind
        self.mapped[:-1, pages] = kind == _MAP

    def mostly(self, pages: np.ndarray) -> np.ndarray:
        """Which of the pages may have copies."""
        return np.asarray(self.kind[pages] == _MOSTLY)

    def stay(self, pages: np.ndarray) -> np.ndarray:
        """Which of the pages devices reach on the host."""
        return np.asarray(self.kind[pages] >= _PREFER)

    def copied(self, pages: np.ndarray) -> np.ndarray:
        """Of which of the pages there are copies."""
        return np.asarray(self.copies[:, pages].any(axis=0))
