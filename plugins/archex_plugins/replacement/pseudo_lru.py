"""Tree pseudo-LRU: one bit an inner node points away from what was used last."""

from __future__ import annotations

from typing import Any

from archex.parts.part import NoNumbers
from archex.parts.replacement import Replacement


class PseudoLru(Replacement):
    """Follows the bits to a line that wasn't used lately; a way count that isn't a power of two leaves the tree lopsided."""

    name = "pseudo_lru"

    @classmethod
    def state_words(cls, spec: NoNumbers, count: int, each: int) -> int:
        return count * ((each + 62) // 63)  # a set's tree has each - 1 nodes; 63 bits a word stay positive

    @staticmethod
    def pick_victim(view: Any, state: Any, params: Any) -> int:
        base = view.index * ((view.ways + 62) // 63)
        low, high, node = 0, view.ways, 0
        while high - low > 1:
            middle = (low + high) // 2
            right = (state[base + node // 63] >> (node % 63)) & 1
            # Nodes in preorder: the left subtree of w ways has w - 1 of them.
            if right:
                node += middle - low
                low = middle
            else:
                node += 1
                high = middle
        return low

    @staticmethod
    def note_hit(view: Any, state: Any, params: Any) -> None:
        base = view.index * ((view.ways + 62) // 63)
        low, high, node = 0, view.ways, 0
        while high - low > 1:
            middle = (low + high) // 2
            bit = 1 << (node % 63)
            if view.hit >= middle:
                state[base + node // 63] &= ~bit
                node += middle - low
                low = middle
            else:
                state[base + node // 63] |= bit
                node += 1
                high = middle

    note_fill = note_hit
