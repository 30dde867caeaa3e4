"""A launch's arguments as the bytes a kernel finds in its parameter space, and the values that hold for the whole launch.

In: `ir.Function`, arguments in order, buffer addresses, extents. Out: the parameter block; constants for special values.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Protocol

import attrs

from archex.base.errors import ProgramError
from archex.programs.buffers import Buffer
from archex.programs.ir import Function

_FORMATS = {"i32": "<i", "u32": "<I", "i64": "<q", "u64": "<Q", "f16": "<e", "f32": "<f", "f64": "<d"}
#: Kinds of scalar arguments, beside `bytes` (a struct by value) and `buffer`.
SCALARS = tuple(_FORMATS)


@attrs.frozen
class Argument:
    """One argument: a scalar of `kind`, raw `bytes`, or the address of buffer `value` plus `offset`."""

    kind: str
    value: int | float | bytes | str
    offset: int = 0

    def encode(self, addresses: Mapping[str, int]) -> bytes:
        """Its bytes."""
        if self.kind == "buffer":
            return struct.pack("<Q", addresses[str(self.value)] + self.offset)
        if self.kind == "bytes":
            assert isinstance(self.value, bytes)
            return self.value
        number = self.value
        if self.kind[0] in "iu":
            bits = 8 * struct.calcsize(_FORMATS[self.kind])
            assert isinstance(number, int)
            return (number & ((1 << bits) - 1)).to_bytes(bits // 8, "little")
        assert isinstance(number, int | float)
        return struct.pack(_FORMATS[self.kind], float(number))


class LaunchLike(Protocol):
    """What running a function needs to know of a launch."""

    @property
    def grid(self) -> tuple[int, int, int]: ...
    @property
    def block(self) -> tuple[int, int, int]: ...
    @property
    def dynamic_local_bytes(self) -> int: ...
    @property
    def arguments(self) -> Sequence[Argument]: ...
    @property
    def buffers(self) -> Sequence[Buffer]: ...


def check_extents(function: Function, launch: LaunchLike) -> None:
    """Raise what the source promises and the launch breaks."""
    for name, extent in (("grid", launch.grid), ("block", launch.block)):
        if any(size < 1 for size in extent):
            raise _at(function, f"{name} is {list(extent)}: every extent must be at least 1")
    threads = launch.block[0] * launch.block[1] * launch.block[2]
    if function.required_threads and tuple(function.required_threads) != tuple(launch.block):
        raise _at(function, f"block is {list(launch.block)}, `{function.name}` requires {list(function.required_threads)}")
    if function.max_threads and threads > function.max_threads:
        raise _at(function, f"block has {threads} threads, `{function.name}` allows {function.max_threads}")


def _at(function: Function, text: str) -> ProgramError:
    """An error of a launch, at the line of the entry."""
    return ProgramError(text, function.source, function.line)


def parameter_block(function: Function, launch: LaunchLike, addresses: Mapping[str, int]) -> bytes:
    """The parameter space of `function`."""
    given, wanted = launch.arguments, function.parameters
    if len(given) != len(wanted):
        raise _at(function, f"`{function.name}` takes {len(wanted)} arguments, the launch gives {len(given)}")
    block = bytearray(max((p.offset + p.size for p in wanted), default=0))
    for index, (argument, parameter) in enumerate(zip(given, wanted, strict=True)):
        data = argument.encode(addresses)
        if len(data) != parameter.size:
            text = f"argument {index} ({argument.kind}) has {len(data)} bytes, parameter `{parameter.name}` has {parameter.size}"
            raise _at(function, text)
        block[parameter.offset : parameter.offset + parameter.size] = data
    return bytes(block)


def launch_values(function: Function, launch: LaunchLike) -> dict[str, int]:
    """Special values that are the same for every lane of a launch."""
    threads = launch.block[0] * launch.block[1] * launch.block[2]
    local = function.local_bytes + launch.dynamic_local_bytes
    values = {
        f"{name}.{axis}": size
        for name, extent in (("ntid", launch.block), ("nctaid", launch.grid))
        for axis, size in zip("xyz", extent, strict=True)
    }
    values |= {"nwarpid": -(-threads // 32), "WARP_SZ": 32, "smid": 0, "nsmid": 1, "gridid": 0, "clock_hi": 0, "globaltimer_hi": 0}
    values |= {"total_smem_size": local, "aggr_smem_size": local, "dynamic_smem_size": launch.dynamic_local_bytes}
    values |= {"reserved_smem_offset_begin": 0, "reserved_smem_offset_end": 0, "reserved_smem_offset_cap": 0, "is_explicit_cluster": 0}
    return values | {f"envreg{i}": 0 for i in range(32)} | {f"pm{i}": 0 for i in range(8)}
