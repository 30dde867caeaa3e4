"""Chunks over channels in their order."""

from __future__ import annotations

from typing import Any

from archex.parts.interleave import Interleave


class PlainChunks(Interleave):
    """Strides of channels x chunk bytes all meet one channel."""

    name = "plain_chunks"

    @staticmethod
    def map_address(address: int, params: Any) -> int:
        return (address // int(params[1])) % int(params[0])
