"""Any blocks leave, by lot."""

from __future__ import annotations

from typing import Any

import numpy as np
from archex.parts.page_eviction import PageEviction


class PagesByLot(PageEviction):
    """No order of touches is its worst case: of memory that is larger than the device a part stays."""

    name = "by_lot"

    @staticmethod
    def pick_leaving(last_use: Any, draws: Any, count: int, params: Any) -> Any:
        return np.argsort(draws, kind="stable")[:count]
