"""A launch's arguments as the bytes a kernel finds in its parameter space, and the values that hold for the whole launch.

In: `ir.Function`, arguments in order, buffer addresses, extents. Out: the parameter block; constants for special values.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping, Sequence
from typing import Protocol

import attrs
import numpy as np

from archex.base.errors import ProgramError
from archex.programs.buffers import Buffer
from archex.programs.ir import Function
from archex.programs.tensor_map import TensorMap

_FORMATS = {"i32": "<i", "u32": "<I", "i64": "<q", "u64": "<Q", "f16": "<e", "f32": "<f", "f64": "<d"}
#: Kinds of scalar arguments, beside `bytes` (a struct by value) and `buffer`.
SCALARS = tuple(_FORMATS)
#: Workgroups of a cluster.
MOST_IN_CLUSTER = 16


@attrs.frozen
class Argument:
    """One argument: a scalar of `kind`, raw `bytes`, the address of buffer `value` plus `offset`, or a `tensor_map`."""

    kind: str
    value: int | float | bytes | str | TensorMap
    offset: int = 0

    def encode(self, addresses: Mapping[str, int]) -> bytes:
        """Its bytes."""
        if self.kind == "buffer":
            return struct.pack("<Q", addresses[str(self.value)] + self.offset)
        if isinstance(self.value, TensorMap):
            return self.value.encode(addresses[self.value.buffer])
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
    def cluster(self) -> tuple[int, int, int]: ...
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

    cluster = cluster_of(function, launch)
    if any(size < 1 for size in cluster):
        raise _at(function, f"cluster is {list(cluster)}: every extent must be at least 1")
    if math.prod(cluster) > MOST_IN_CLUSTER:
        raise _at(function, f"cluster is {list(cluster)}: {math.prod(cluster)} workgroups, at most {MOST_IN_CLUSTER} are possible")
    if any(extent % size for extent, size in zip(launch.grid, cluster, strict=True)):
        raise _at(function, f"grid is {list(launch.grid)}: must be a multiple of the cluster, {list(cluster)}")


def cluster_of(function: Function, launch: LaunchLike) -> tuple[int, int, int]:
    """Extents of a cluster of workgroups: what the launch says, else what the source requires, else one workgroup."""
    given, required = launch.cluster, function.required_cluster
    if required and given not in (required, (1, 1, 1)):
        raise _at(function, f"cluster is {list(given)}, `{function.name}` requires {list(required)}")
    return required or given


def cluster_order(grid: tuple[int, int, int], cluster: tuple[int, int, int]) -> np.ndarray:
    """Workgroup numbers in the order of dispatch: cluster after cluster, x fastest, and within one by rank, x fastest."""
    numbers = np.arange(math.prod(grid), dtype=np.int64)
    if cluster == (1, 1, 1):
        return numbers
    (x, y, z), (across, down, deep) = grid, cluster
    blocked = numbers.reshape(z // deep, deep, y // down, down, x // across, across)
    return blocked.transpose(0, 2, 4, 1, 3, 5).reshape(-1)


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
    cluster = cluster_of(function, launch)
    clusters = tuple(extent // size for extent, size in zip(launch.grid, cluster, strict=True))
    values = {
        f"{name}.{axis}": size
        for name, extent in (("ntid", launch.block), ("nctaid", launch.grid), ("cluster_nctaid", cluster), ("nclusterid", clusters))
        for axis, size in zip("xyz", extent, strict=True)
    }
    values |= {"nwarpid": -(-threads // 32), "WARP_SZ": 32, "smid": 0, "nsmid": 1, "gridid": 0, "clock_hi": 0, "globaltimer_hi": 0}
    values |= {"total_smem_size": local, "aggr_smem_size": local, "dynamic_smem_size": launch.dynamic_local_bytes}
    values |= {"reserved_smem_offset_begin": 0, "reserved_smem_offset_end": 0, "reserved_smem_offset_cap": 0}
    values |= {"cluster_nctarank": math.prod(cluster), "is_explicit_cluster": int(cluster != (1, 1, 1))}
    return values | {f"envreg{i}": 0 for i in range(32)} | {f"pm{i}": 0 for i in range(8)}
