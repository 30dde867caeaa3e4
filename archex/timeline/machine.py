"""What the event engine knows of devices and of the host beside them: times in nanoseconds, rates in bytes a nanosecond.

`host`, `processor` and `copies` have the fields of the parts of the same kinds (`archex.parts.host`, `command_processor`, `copy_engine`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs

from archex.timeline.paged import Paged


@attrs.frozen
class Shared:
    """What an exchange between devices takes: its time alone, what its call costs, what of each link meanwhile, compute units and memory
    of each device."""

    alone_ns: float
    links: Mapping[str, float] = attrs.field(factory=dict)
    units: float = 0.0
    memory_share: float = 0.0
    about: str = ""
    call_ns: float = 0.0


@attrs.frozen(eq=False)
class Machine:
    """Devices of one kind and their host.

    launch_ns, drain_ns, gap_ns: beginning and end of a kernel, and between two that run one after the other. pick_queue: as the host's
    part has it, without `params`. links: name -> bytes a nanosecond. collective(kind, ranks, bytes, root) and peer(source, target, bytes)
    say what an exchange takes, of each link in bytes a nanosecond; way(source, target) names the links between two; None: there are none.
    paged: what managed memory does, if there is any.
    """

    host: Any
    processor: Any
    copies: Any
    pick_queue: Callable[[int, int, Sequence[int], list[Any]], int]
    launch_ns: float
    drain_ns: float
    gap_ns: float
    clock_hz: float
    units: int
    memory_rate: float
    devices: int = 1
    links: Mapping[str, float] = attrs.field(factory=dict)
    collective: Callable[[str, Sequence[int], int, int], Shared] | None = None
    peer: Callable[[int, int, int], Shared] | None = None
    way: Callable[[int, int], Sequence[str]] | None = None
    paged: Paged | None = None
