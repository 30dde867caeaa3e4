"""How a launch is run, whatever the device.

In: the root keys of a request. Out: `Options`, the third argument of `simulate`.
"""

from __future__ import annotations

import attrs

SAMPLING = ("auto", "off")
VARIANTS = ("best", "all")


@attrs.frozen
class Options:
    """sampling: `auto` or `off` (everything in detail). repeat: runs back to back. seed: of buffers without a seed of their own."""

    sampling: str = "auto"
    repeat: int = 1
    seed: int = 0
