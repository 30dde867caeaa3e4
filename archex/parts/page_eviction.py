"""Which blocks of managed memory leave a device that is full.

`pick_leaving(last_use, draws, count, params) -> places`, plain Python with numpy: `last_use` says of each block that may leave when it was
touched last (larger is later), `draws` is a number by lot for each, from 0 to 1, the same for the same workload. `count` of them leave.
"""

from __future__ import annotations

from archex.parts.part import Part, PolicyFunction


class PageEviction(Part):
    """Keeps on the device what will be touched again, as far as the past tells."""

    kind = "page_eviction"
    functions = (
        PolicyFunction(
            "pick_leaving", ("last_use", "draws", "count", "params"), "`count` different places in `last_use`", "when a group finds no room"
        ),
    )
