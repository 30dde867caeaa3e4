"""Every device has links of its own to every other."""

from __future__ import annotations

from typing import Any

from archex.parts.link import Hop, Link

#: Seven rings that use each of the 56 directed links of eight devices once; four and six devices have no such set.
_EIGHT = (
    (0, 5, 7, 2, 1, 6, 4, 3), (0, 4, 5, 6, 2, 7, 3, 1), (0, 1, 4, 6, 5, 2, 3, 7), (0, 7, 1, 5, 3, 4, 2, 6),
    (0, 6, 3, 2, 4, 1, 7, 5), (0, 3, 5, 4, 7, 6, 1, 2), (0, 2, 5, 1, 3, 6, 7, 4),
)  # fmt: skip


class FullMesh(Link):
    """A device's links are dealt evenly to the others: one hop to each, nothing passes through a third device."""

    name = "full_mesh"

    @staticmethod
    def route(source: int, target: int, devices: int, params: Any) -> list[Hop]:
        return [Hop(source, target, params[0] / (devices - 1))]

    @staticmethod
    def rings(devices: int, params: Any) -> list[list[int]]:
        """Rings without a common link: all links for eight devices and odd counts, all but one of a device's for even counts."""
        if devices == 8:
            return [list(ring) for ring in _EIGHT]
        if devices < 4:
            return [list(range(devices)), list(range(devices))[::-1]][: max(devices - 1, 1)]
        count = devices - 1 if devices % 2 else devices - 2  # one device in the centre, the others in a circle
        orders = []
        for turn in range(min(count, 16) // 2):  # zigzags through the circle, each both ways round
            zigzag = [(turn + (k + 1) // 2 * (1 if k % 2 else -1)) % (devices - 1) for k in range(devices - 1)]
            ring = [devices - 1, *zigzag]
            orders += [ring, ring[::-1]]
        return orders

    @staticmethod
    def rotates(devices: int, params: Any) -> bool:
        return True
