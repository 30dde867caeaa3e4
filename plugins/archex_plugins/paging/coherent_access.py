"""Fine-grained coherent memory: nothing moves by itself, a kernel reads and writes pages of the host over the link."""

from __future__ import annotations

import attrs
from archex.parts.page_migration import PageMigration, PageMigrationSpec
from archex.parts.part import number


@attrs.frozen(kw_only=True)
class RemoteNumbers(PageMigrationSpec):
    """What the link gives to loads and stores."""

    remote_rate: float | None = number(
        "B/s", "loads, or stores, to memory of the host; null: host and device have one memory", low=1, default=None
    )
    remote_latency: float = number("s", "from a load until its bytes from the host are there")
    remote_pending: int = number("B", "that may be on their way at a time", low=64)


class CoherentAccess(PageMigration):
    """Pages stay where they are unless they are prefetched; the link's rate and latency bound a kernel that touches them."""

    name = "coherent_access"
    Spec = RemoteNumbers
