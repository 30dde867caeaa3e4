"""Unified memory: pages that lie on the host or on a device, and what happens when a kernel touches one that lies elsewhere.

`serve(faults, blocks, params) -> seconds` is plain Python, asked once for each group of faults: how long seeing to `faults` pages of
`blocks` blocks takes before they are moved. A part that leaves it out moves nothing by itself: kernels read and write pages of the host
where they are, over the link.

Pages are found missing in the order in which a kernel touches them, are seen to in groups, and move over the link beside copies. Waves
that touch them stand still meanwhile; others go on, as far ahead as pages may be asked for at a time. Where there is no room, blocks
leave first, as a `page_eviction` chooses; what comes along with a page that was asked for, a `page_prefetch` says. A group of faults is
as large as the part's number `batch`, a kernel has at most `outstanding` of them open, and `latency` passes between a fault and its group.
"""

from __future__ import annotations

from typing import Any

import attrs

from archex.parts.part import Part, PolicyFunction, flag, number, policy


@attrs.frozen(kw_only=True)
class PageMigrationSpec:
    """What moves at once, and who decides."""

    page: int = number("B", "what moves at least", low=4096)
    block: int = number("B", "what has a place on the device, and leaves it, at once; prefetching stays within it", low=4096)
    keeps_copy: bool = flag("the host's copy stays when a page moves to a device: one that was only read leaves without being written back")
    eviction: Any = policy("page_eviction", "which blocks leave a full device")
    prefetch: Any = policy("page_prefetch", "what comes along with a page")


class PageMigration(Part):
    """Keeps a page where it was touched last, or lets it be touched from afar."""

    kind = "page_migration"
    Spec = PageMigrationSpec
    functions = (
        PolicyFunction(
            "serve", ("faults", "blocks", "params"), "seconds before the pages are moved", "once for each group of faults", required=False
        ),
    )

    @classmethod
    def check(cls, spec: PageMigrationSpec) -> list[tuple[str, object, str]]:
        found: list[tuple[str, object, str]] = []
        many, left = divmod(spec.block, spec.page)
        if left or many & (many - 1):
            found.append(("block", spec.block, "must be pages times a power of two"))
        if getattr(spec, "batch", 1) > getattr(spec, "outstanding", 1):
            found.append(("batch", spec.batch, "must be at most `outstanding`"))  # type: ignore[attr-defined]
        return found
