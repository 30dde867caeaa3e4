"""The device's memory: channels, bandwidth, what an access, a row and a change of direction cost."""

from __future__ import annotations

import attrs

from archex.base.units import Duration
from archex.parts.part import Counter, Part, number, policy


@attrs.frozen(kw_only=True)
class MemorySpec:
    """All in nanoseconds and bytes a second: the memory has its own clock."""

    capacity: int = number("B", "capacity of the device's memory", low=2**20)
    bandwidth: float = number("B/s", "bytes a second of all channels together, data only", low=1e6)
    efficiency: float = number("ratio", "share of it that streams can use (refresh, gaps)", low=0.01, high=1, default=1)
    channels: int = number("count", "independent channels", low=1, high=4096)
    access: int = number("B", "bytes moved at least by one access", low=8, high=1024)
    latency: Duration = number("duration", "load to use, from issue, with nothing else going on")
    activates: float = number("Hz", "rows that can be opened a second, all channels; 0: no limit", default=0)
    row: int = number("B", "bytes of an open row of a channel", low=64)
    banks: int = number("count", "banks of a channel, each with one open row", low=1)
    turnaround: Duration = number(
        "duration", "a channel loses this when it changes between reads and writes", default=Duration(0, "cycles")
    )
    write_batch: int = number("count", "writes a channel collects before it turns around", low=1, default=1)
    refresh_interval: Duration = number("duration", "a bank is refreshed once in this time; 0: never", default=Duration(0, "cycles"))
    refresh: Duration = number("duration", "a bank is closed so long by a refresh", default=Duration(0, "cycles"))
    chunk: int = number("B", "bytes in a row on one channel", low=32)
    interleave: object = policy("interleave", "decides on which channel an address lies")


class Memory(Part):
    """Stacks of channels behind the last cache."""

    kind = "memory"
    Spec = MemorySpec
    counters = (
        Counter("dram_read_bytes", "bytes", "bytes read from memory", "dram_read_bytes"),
        Counter("dram_write_bytes", "bytes", "bytes written to memory", "dram_write_bytes"),
    )

    @classmethod
    def check(cls, spec: MemorySpec) -> list[tuple[str, object, str]]:
        if spec.chunk % spec.access:
            return [("chunk", spec.chunk, f"must be a multiple of memory.access ({spec.access} B)")]
        return []
