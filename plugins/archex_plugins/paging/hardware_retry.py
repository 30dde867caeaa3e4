"""The device asks again for a page until it is there: faults are seen to as they come, beside those that are being moved."""

from __future__ import annotations

from typing import Any

import attrs
from archex.parts.page_migration import PageMigration, PageMigrationSpec
from archex.parts.part import number

BATCH, FAULT_SERVICE = 3, 6  # of `params`, behind page, block and keeps_copy


@attrs.frozen(kw_only=True)
class RetryNumbers(PageMigrationSpec):
    """What a fault costs, and how many go on at a time."""

    batch: int = number("count", "faults that are seen to at a time", low=1)
    outstanding: int = number("count", "pages that a kernel may wait for at a time", low=1)
    latency: float = number("s", "from a fault until somebody begins to see to it, and from its end until the next try")
    fault_service: float = number("s", "seeing to a fault, beside others")
    remote_rate: float | None = number("B/s", "loads, or stores, to pages that stay on the host; null: as copies", low=1, default=None)
    remote_latency: float = number("s", "from a load until its bytes from the host are there", default=0)
    host_fault: float = number("s", "a touch by the host of what lies on a device, until that begins to move", default=0)


class HardwareRetry(PageMigration):
    """Each fault by itself; nobody waits for a batch, and the next faults are seen to while pages move."""

    name = "hardware_retry"
    Spec = RetryNumbers

    @staticmethod
    def serve(faults: int, blocks: int, params: Any) -> float:
        return float(-(-faults // int(params[BATCH])) * params[FAULT_SERVICE])
