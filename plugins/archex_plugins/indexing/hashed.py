"""A hash of the whole line number, so that no stride hits few sets."""

from __future__ import annotations

from archex.engine.standard import index_hashed
from archex.parts.set_index import SetIndex


class Hashed(SetIndex):
    """Rotates each round of sets by a hash of the upper bits: neighbours still spread evenly."""

    name = "hashed"
    set_index = staticmethod(index_hashed)
