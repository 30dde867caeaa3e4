"""A hash of the whole line number, so that no stride hits few sets."""

from __future__ import annotations

from typing import Any

from archex.engine.bits import mix
from archex.parts.set_index import SetIndex


class Hashed(SetIndex):
    """Rotates each round of sets by a hash of the upper bits: neighbours still spread evenly."""

    name = "hashed"

    @staticmethod
    def set_index(line: int, sets: int, params: Any) -> int:
        return (line + mix(line // sets)) % sets
