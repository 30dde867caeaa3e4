"""A driver on the host sees to faults, a batch at a time; waves are replayed when the batch has been moved."""

from __future__ import annotations

from typing import Any

import attrs
from archex.parts.page_migration import PageMigration, PageMigrationSpec
from archex.parts.part import choice, number

# Of `params`: what stands in the Spec before the part's own numbers are page, block and keeps_copy.
BATCH_SERVICE, BLOCK_SERVICE, FAULT_SERVICE = 6, 7, 8


@attrs.frozen(kw_only=True)
class DriverNumbers(PageMigrationSpec):
    """How many faults the driver takes at once and what it does with them."""

    batch: int = number("count", "faults that are seen to together, at most", low=1)
    outstanding: int = number("count", "pages that a kernel may wait for at a time", low=1)
    latency: float = number("s", "from a fault until the driver begins to see to it")
    batch_service: float = number("s", "the driver's time for a batch")
    block_service: float = number("s", "beside that for each block in which a fault lies")
    fault_service: float = number("s", "beside that for each fault")
    run_service: float = number(
        "s", "beside that for each further piece of a block of which pages lie together, copied by itself", default=0
    )
    page_service: float = number("s", "beside that for each page that comes", default=0)
    page_back: float = number("s", "for each page that goes back to the host", default=0)
    dense: int = number("count", "faults of a page of which everything is touched, those on one address together", low=1, default=1)
    mixed: int = number(
        "count", "touches a page or more apart that are open at a time, so that their faults arrive in any order", low=1, default=1
    )
    prefetch_call: float = number("s", "on the processor, call that prefetches, beside that of a copy", default=0)
    prefetch_page: float = number(
        "s", "there for each page that comes, while others move; one back to the host returns at its end", default=0
    )
    prefetch_made: float = number("s", "there for each page that nobody has touched", default=0)
    block_still: float = number("s", "in place of `block_service`, for a block into which nothing moves", default=0)
    page_mapped: float = number("s", "for each 4 KiB touched of a page that stays on the host, as advised, and is mapped", default=0)
    page_claimed: float = number("s", "for each page that is written and of which others have copies", default=0)
    remote_rate: float | None = number("B/s", "loads, or stores, to pages that stay on the host; null: as copies", low=1, default=None)
    remote_latency: float = number("s", "from a load until its bytes from the host are there", default=0)
    host_fault: float = number("s", "on the processor, a touch of a page that lies on a device, or nowhere", default=0)
    host_move: float = number("s", "beside that where pages come from a device", default=0)
    host_page: float = number("s", "beside `page_back`, for each of them", default=0)
    host_return: float = number("s", "the first time that a page of a block comes", default=0)
    host_made: float = number("s", "on the processor, for each page that its fault makes", default=0)
    host_block: float = number("s", "the first page of a block that it makes, with which the block's memory is cleared", default=0)
    host_store: float = number("s", "the first store to each 4 KiB of a page that came or was made", default=0)
    host_claim: float = number("s", "the first store to each 4 KiB of a page of which devices have copies", default=0)
    advise_call: float = number("s", "on the processor, call that advises", default=0)
    advise_copies: float = number("s", "there for each page of the host that may have copies from now on", default=0)
    advise_stay: float = number("s", "there for each page of the host that is to stay there", default=0)
    advise_map: float = number("s", "there for each of them that is mapped at once", default=0)
    replay: str = choice(
        "when waves go on: after each batch, of which those behind it are thrown away and come again, or stay in the buffer",
        ("batch_flush", "batch"),
    )


class DriverMigrated(PageMigration):
    """One batch after the other: taken from the buffer, seen to block by block, moved, replayed."""

    name = "driver_migrated"
    Spec = DriverNumbers

    @staticmethod
    def serve(faults: int, blocks: int, params: Any) -> float:
        return float(params[BATCH_SERVICE] + blocks * params[BLOCK_SERVICE] + faults * params[FAULT_SERVICE])
