"""What the event engine knows of a part `page_migration`, and what comes of asking for pages: values only.

In: a part's Spec, scaled. Out: frozen maps that `pages` and those who have pages moved share.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs


@attrs.frozen
class Paged:
    """A part `page_migration` as the event engine sees it: times in nanoseconds, rates in bytes a nanosecond.

    serve(faults, blocks): nanoseconds; None: nothing moves by itself. leaving(last_use, draws, count) and fetched(wanted, here) as the
    parts that decide have them. room: blocks on each device. The other numbers have the names and meanings of the parts' own.
    """

    page: int
    block: int
    keeps_copy: bool
    room: Sequence[int]
    leaving: Callable[[Any, Any, int], Any]
    fetched: Callable[[Any, Any], Any]
    serve: Callable[[int, int], float] | None = None
    batch: int = 1
    outstanding: int = 1
    latency: float = 0.0
    replay: str = "each"
    dense: int = 1
    mixed: int = 1
    block_still: float = 0.0
    run_service: float = 0.0
    page_service: float = 0.0
    page_back: float = 0.0
    page_mapped: float = 0.0
    page_claimed: float = 0.0
    host_fault: float = 0.0
    host_move: float = 0.0
    host_page: float = 0.0
    host_return: float = 0.0
    host_made: float = 0.0
    host_block: float = 0.0
    host_store: float = 0.0
    host_claim: float = 0.0
    prefetch_call: float = 0.0
    prefetch_page: float = 0.0
    prefetch_made: float = 0.0
    advise_call: float = 0.0
    advise_copies: float = 0.0
    advise_stay: float = 0.0
    advise_map: float = 0.0
    remote_rate: float | None = None
    remote_latency: float = 0.0


@attrs.frozen
class Moved:
    """Bytes that come, of them those that travel from other devices, bytes that left to make room and what is written back of these.

    blocks: those into which something comes, or of which others lose copies; runs: pieces of them that lie
    together, beside the first of each block; still: the other ones. made: pages that were nowhere.
    mapped: pages that stay where they are. claimed: those of which others lose a copy. new, again: blocks that the host makes, or has
    back, for the first time.
    """

    came: int
    between: Mapping[int, int]
    left: int
    written: int
    blocks: int
    runs: int = 0
    still: int = 0
    made: int = 0
    mapped: int = 0
    claimed: int = 0
    new: int = 0
    again: int = 0
