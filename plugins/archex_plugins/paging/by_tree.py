"""A binary tree over a block: the largest part of it comes of which more than a share is there or asked for."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np
from archex.parts.page_prefetch import PagePrefetch
from archex.parts.part import number


@attrs.frozen(kw_only=True)
class TreeNumbers:
    """How dense is dense."""

    threshold: float = number("ratio", "share of a part of the block above which all of it comes", low=0, high=1, default=0.5)


class ByTree(PagePrefetch):
    """Halves, quarters and so on of a block are looked at; scattered touches bring themselves only, dense ones bring what is between."""

    name = "by_tree"
    Spec = TreeNumbers

    @staticmethod
    def pick_fetched(wanted: Any, here: Any, params: Any) -> Any:
        blocks, pages = wanted.shape
        taken, found, size = wanted | here, wanted.copy(), 2
        while size <= pages:
            parts = (blocks, pages // size, size)
            dense = (taken.reshape(parts).sum(axis=2) > params[0] * size) & wanted.reshape(parts).any(axis=2)
            found |= np.repeat(dense, size, axis=1)
            size *= 2
        return found & ~here
