"""Packets as they lie in a ring: 64 bytes of a kernel's dispatch, field by field, and the header that makes one valid.

In: a dispatch. Out: its bytes, little-endian, and back. A ring's packet is written in full but for its first 16 bits, the header, which
comes last: until then the device sees an invalid packet. Numbers of the layout are those of the published queueing language
(`results/reference/facts`, category `aql`).
"""

from __future__ import annotations

import struct
from typing import Any

import attrs

SIZE = 64
#: field -> (byte where it begins, its bits), in order.
LAYOUT: dict[str, tuple[int, int]] = {
    "header": (0, 16), "setup": (2, 16), "workgroup_size_x": (4, 16), "workgroup_size_y": (6, 16), "workgroup_size_z": (8, 16),
    "reserved0": (10, 16), "grid_size_x": (12, 32), "grid_size_y": (16, 32), "grid_size_z": (20, 32), "private_segment_size": (24, 32),
    "group_segment_size": (28, 32), "kernel_object": (32, 64), "kernarg_address": (40, 64), "reserved2": (48, 64),
    "completion_signal": (56, 64),
}  # fmt: skip
#: What a packet can be, by the first 8 bits of its header.
TYPES = {"vendor_specific": 0, "invalid": 1, "kernel_dispatch": 2, "barrier_and": 3, "agent_dispatch": 4, "barrier_or": 5}
#: Whom memory is made visible to before (acquire) and behind (release) a packet.
SCOPES = ("none", "agent", "system")
_CODE = {16: "H", 32: "I", 64: "Q"}
_STRUCT = struct.Struct("<" + "".join(_CODE[bits] for _, bits in LAYOUT.values()))


def header(kind: str = "kernel_dispatch", *, barrier: bool = False, acquire: str = "system", release: str = "system") -> int:
    """The 16 bits: 8 of the type, the barrier bit, two each of the scopes. barrier: it waits for all packets before it."""
    return TYPES[kind] | barrier << 8 | SCOPES.index(acquire) << 9 | SCOPES.index(release) << 11


@attrs.frozen(kw_only=True)
class Dispatch:
    """A kernel's dispatch. grid: threads in each dimension, not workgroups. setup: number of dimensions."""

    workgroup: tuple[int, int, int]
    grid: tuple[int, int, int]
    private_bytes: int = 0
    local_bytes: int = 0
    kernel: int = 0
    arguments: int = 0
    signal: int = 0
    barrier: bool = False
    acquire: str = "system"
    release: str = "system"

    @property
    def dimensions(self) -> int:
        """As many as have more than one thread."""
        return max((place + 1 for place, size in enumerate(self.grid) if size > 1), default=1)

    def encode(self) -> bytes:
        """The packet; ValueError names a field whose value has no room."""
        values: dict[str, int] = {
            "header": header(barrier=self.barrier, acquire=self.acquire, release=self.release), "setup": self.dimensions,
            "reserved0": 0, "private_segment_size": self.private_bytes, "group_segment_size": self.local_bytes,
            "kernel_object": self.kernel, "kernarg_address": self.arguments, "reserved2": 0, "completion_signal": self.signal,
        }  # fmt: skip
        for axis, size, threads in zip("xyz", self.workgroup, self.grid, strict=True):
            values |= {f"workgroup_size_{axis}": size, f"grid_size_{axis}": threads}
        for field, (_, bits) in LAYOUT.items():
            if not 0 <= values[field] < 1 << bits:
                raise ValueError(f"{field}: {values[field]} has no room in {bits} bits")
        return _STRUCT.pack(*(values[field] for field in LAYOUT))


def decode(packet: bytes) -> Dispatch:
    """The dispatch that a packet asks for; ValueError for one of another size or type, or whose reserved fields aren't 0."""
    if len(packet) != SIZE:
        raise ValueError(f"a packet has {SIZE} bytes, not {len(packet)}")
    values: dict[str, Any] = dict(zip(LAYOUT, _STRUCT.unpack(packet), strict=True))
    word = values["header"]
    if word & 0xFF != TYPES["kernel_dispatch"]:
        name = next((name for name, number in TYPES.items() if number == word & 0xFF), str(word & 0xFF))
        raise ValueError(f"header: is a packet {name}, not a kernel_dispatch")
    for field in ("reserved0", "reserved2"):
        if values[field]:
            raise ValueError(f"{field}: {values[field]} must be 0")
    scopes = [word >> shift & 3 for shift in (9, 11)]
    if max(scopes) >= len(SCOPES):
        raise ValueError(f"header: {word:#06x} has a scope that there isn't")
    return Dispatch(
        workgroup=(values["workgroup_size_x"], values["workgroup_size_y"], values["workgroup_size_z"]),
        grid=(values["grid_size_x"], values["grid_size_y"], values["grid_size_z"]),
        private_bytes=values["private_segment_size"],
        local_bytes=values["group_segment_size"],
        kernel=values["kernel_object"],
        arguments=values["kernarg_address"],
        signal=values["completion_signal"],
        barrier=bool(word >> 8 & 1),
        acquire=SCOPES[scopes[0]],
        release=SCOPES[scopes[1]],
    )


assert _STRUCT.size == SIZE
