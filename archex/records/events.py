"""One wave's life: what `tracing.trace` returns and `archex trace` prints."""

from __future__ import annotations

from collections.abc import Mapping

import attrs


@attrs.frozen
class WaveEvent:
    """One instruction of a wave: issued at `issue`, its result there at `done`, after waiting since `since`, mostly for `reason`.

    Cycles count from the launch's start. `reason` is a state of the stall columns without `stall_` (empty: it did not wait); `waits` shares
    the cycles from `since` to `issue` out among all of them. `operation` is the machine operation, `line` the line of the source it comes
    from (0: none), `lanes` how many lanes were active.
    """

    since: float
    issue: float
    done: float
    operation: str
    reason: str = ""
    line: int = 0
    block: int = 0
    lanes: int = 0
    waits: Mapping[str, float] = attrs.field(factory=dict)
