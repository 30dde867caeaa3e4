"""The line's low bits; any count of sets."""

from __future__ import annotations

from archex.engine.standard import index_modulo
from archex.parts.set_index import SetIndex


class Modulo(SetIndex):
    """Neighbouring lines lie in neighbouring sets."""

    name = "modulo"
    set_index = staticmethod(index_modulo)
