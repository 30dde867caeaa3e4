"""Copies between host and device, and within a device: engines for each direction, pinned and pageable memory.

Pinned memory is moved by an engine at the link's rate. Pageable memory goes through pinned buffers that the processor copies to or from,
at the rate it copies with (`host.copies`), one buffer while an engine moves another; small pageable copies to the device are written into
the ring. Within a device a kernel copies, at what memory gives.
"""

from __future__ import annotations

import attrs

from archex.parts.part import Part, number


@attrs.frozen(kw_only=True)
class CopyEngineSpec:
    """Engines, rates and what a copy costs before its first byte."""

    to_device: int = number("count", "engines for copies to the device", low=1, high=64)
    to_host: int = number("count", "engines for copies to the host", low=1, high=64)
    small: int = number("B", "copies to the device of fewer bytes are done without leaving the engine of kernels", low=0, default=0)
    setup: float = number("s", "from a copy's start to its first byte, beside the way over the link")
    rate_to_device: float = number("B/s", "pinned memory to the device", low=1)
    rate_to_host: float = number("B/s", "the device to pinned memory", low=1)
    both_ways: float = number("ratio", "part of the two rates together, while both directions are busy", low=0.5, high=1, default=1)
    inline: int = number("B", "pageable copies to the device of fewer bytes are written into the ring")
    inline_rate: float = number("B/s", "at which the device reads them there", low=1)
    staging: float = number("s", "on the processor, beginning of a pageable copy to the device through pinned buffers")
    staging_back: float = number("s", "of one to the host")
    chunk: int = number("B", "size of such a buffer", low=4096)
    buffers: int = number("count", "such buffers that a copy fills in turn", low=1, high=64, default=2)
    within_setup: float = number("s", "a copy within the device, before its first byte, beside the start of its kernel")
    within_share: float = number("ratio", "part of the memory's rate that the kernel reaches, reads and writes together", low=0.01, high=1)
    fill_inline: int = number("B", "fills of fewer bytes are done by the front end", low=0)
    fill_small: float = number("s", "such a fill")
    fill_setup: float = number("s", "a larger one, before its first byte, beside the start of its kernel")
    fill_share: float = number("ratio", "part of the memory's rate at which it is written", low=0.01, high=1)


class CopyEngine(Part):
    """Engines that read on one side and write on the other."""

    kind = "copy_engine"
    Spec = CopyEngineSpec
