"""What comes to a device along with pages of managed memory that were asked for.

`pick_fetched(wanted, here, params) -> mask`, plain Python with numpy: both are arrays of blocks by pages of a block, true for pages that a
group of faults asks for, and for those on the device. So is what it returns: which pages come. Those asked for come in any case.
"""

from __future__ import annotations

from archex.parts.part import Part, PolicyFunction


class PagePrefetch(Part):
    """Brings neighbours of a page before they are asked for."""

    kind = "page_prefetch"
    functions = (PolicyFunction("pick_fetched", ("wanted", "here", "params"), "pages that come", "once for each group of faults"),)
