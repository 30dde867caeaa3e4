"""On which channel of memory an address lies.

`map_address(address, params) -> channel`. `params[0]` is the channels, `params[1]` the bytes in a row on one channel; the part's own
numbers follow.
"""

from __future__ import annotations

from archex.parts.part import Part, PolicyFunction


class Interleave(Part):
    """Spreads addresses over channels."""

    kind = "interleave"
    functions = (PolicyFunction("map_address", ("address", "params"), "0 to channels - 1", "on every access to memory"),)
