"""The whole block comes in which a page was asked for."""

from __future__ import annotations

from typing import Any

from archex.parts.page_prefetch import PagePrefetch


class WholeBlock(PagePrefetch):
    """A block a fault: few faults, and bytes for nothing where touches are far apart."""

    name = "whole_block"

    @staticmethod
    def pick_fetched(wanted: Any, here: Any, params: Any) -> Any:
        return ~here & wanted.any(axis=1, keepdims=True)
