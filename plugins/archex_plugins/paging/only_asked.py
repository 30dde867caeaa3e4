"""Nothing comes that wasn't asked for."""

from __future__ import annotations

from typing import Any

from archex.parts.page_prefetch import PagePrefetch


class OnlyAsked(PagePrefetch):
    """A page a fault."""

    name = "only_asked"

    @staticmethod
    def pick_fetched(wanted: Any, here: Any, params: Any) -> Any:
        return wanted
