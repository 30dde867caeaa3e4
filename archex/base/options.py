"""How a launch is run, whatever the device.

In: the root keys of a request. Out: `Options`, the third argument of `simulate`.
"""

from __future__ import annotations

import attrs

SAMPLING = ("auto", "off")
VARIANTS = ("best", "all")


@attrs.frozen
class Options:
    """sampling: `auto` or `off` (everything in detail). repeat: runs back to back. seed: of buffers without a seed of their own.

    keep_traces: record traces for other runs of the same launch, and read those that are there. It costs the first run some time and
    changes nothing in any row, so it is no part of a point's identity.
    """

    sampling: str = "auto"
    repeat: int = 1
    seed: int = 0
    keep_traces: bool = False
