"""Chunks over channels, every round in another order."""

from __future__ import annotations

from archex.engine.standard import channel_hash
from archex.parts.interleave import Interleave


class HashedChunks(Interleave):
    """A hash of the upper address bits rotates each round of channels."""

    name = "hashed_chunks"
    map_address = staticmethod(channel_hash)
