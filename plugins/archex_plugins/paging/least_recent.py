"""The blocks leave that were touched longest ago."""

from __future__ import annotations

from typing import Any

import numpy as np
from archex.parts.page_eviction import PageEviction


class LeastRecentPages(PageEviction):
    """In the order of their last touch; memory that is run through again and again, a little larger than the device, never stays."""

    name = "least_recent"

    @staticmethod
    def pick_leaving(last_use: Any, draws: Any, count: int, params: Any) -> Any:
        return np.argsort(last_use, kind="stable")[:count]
