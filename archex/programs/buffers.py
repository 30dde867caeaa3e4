"""Buffers of a launch: what memory holds without storing it.

In: buffers (name, type, bytes, fill) and a run's seed. Out: their addresses and a table of numbers from which compiled code
computes any element (`interpreter/memory.py`); `read_elements` gives them to numpy. An element is a function of (seed, name,
index), so a gigabyte of input costs nothing. `random_cycle` is a true permutation with one cycle through all nodes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import attrs
import numpy as np

from archex.base.jit import link
from archex.base.layout import PEER_BITS, PEER_SHIFT
from archex.programs.interpreter.convert_lane import integer_code
from archex.programs.interpreter.memory import BASE, CODE, COLUMNS, DATA, END, KIND, KINDS, PAGE, PARAMETERS, SEED, SIZE, fill_elements
from archex.programs.interpreter.rounding import FORMATS

#: Element types of a buffer: name -> (bytes, code of the conversion tables, numpy type; bf16 as its bits).
DTYPES: dict[str, tuple[int, int, str]] = {
    **{f"{k}{8 * n}": (n, integer_code(8 * n, k != "u"), f"{k}{n}") for k in "iu" for n in (1, 2, 4, 8)},
    "f16": (2, FORMATS["f16"], "f2"),
    "bf16": (2, FORMATS["bf16"], "u2"),
    "f32": (4, FORMATS["f32"], "f4"),
    "f64": (8, FORMATS["f64"], "f8"),
}
FIRST_ADDRESS = 0x100_0000_0000
ALIGNMENT = 2 << 20


@attrs.frozen
class Fill:
    """What a buffer holds at the start. Fields that a kind does not use stay at their defaults.

    low, high: `uniform` and `uniform_int` (high excluded). step: `arange`. stride_bytes: `random_cycle`. row_length, columns:
    `banded`. file: the .npy of `file`. seed: None derives it from the run's seed and the buffer's name.
    """

    kind: str = "zero"
    low: float = 0.0
    high: float = 1.0
    step: float = 1
    stride_bytes: int = 0
    row_length: int = 1
    columns: int = 1
    file: Path | None = None
    seed: int | None = None


@attrs.frozen
class Buffer:
    """A piece of global memory. `data`: its bytes where they are given (files, a program's own variables).

    peer: the device that has it, by how many places it is further on than the one that runs the kernel; 0: that one itself.
    """

    name: str
    dtype: str
    size: int
    fill: Fill = Fill()
    data: bytes = attrs.field(default=b"", repr=False)
    peer: int = 0


def seed_of(name: str, run_seed: int) -> int:
    """A 63-bit seed from the run's seed and a buffer's name."""
    return int.from_bytes(hashlib.blake2b(f"{run_seed}:{name}".encode(), digest_size=8).digest(), "little") >> 1


def peers_of(buffers: Sequence[Buffer]) -> list[int]:
    """The other devices that hold some of the buffers, by distance."""
    return sorted({buffer.peer for buffer in buffers} - {0})


def place(buffers: Sequence[Buffer]) -> dict[str, int]:
    """Addresses, ascending in the given order on each device: 2 MiB alignment and a gap that depends on the name, so that an overrun is
    seen. Each other device has a window of addresses."""
    addresses: dict[str, int] = {}
    free = {0: FIRST_ADDRESS} | {peer: (1 << PEER_SHIFT) + (k << PEER_BITS) for k, peer in enumerate(peers_of(buffers))}
    for buffer in buffers:
        addresses[buffer.name] = free[buffer.peer]
        free[buffer.peer] += -(-buffer.size // ALIGNMENT) * ALIGNMENT + ALIGNMENT * (1 + seed_of(buffer.name, 0) % 7)
    return addresses


def _bits(value: float) -> int:
    return int(np.float64(value).view(np.int64))


def _cycle(nodes: int, step: int, seed: int) -> list[int]:
    """Parameters of a permutation of 0..nodes-1 and its inverse: odd multiplications and a folding shift on the next power of two."""
    bits = max(2, (nodes - 1).bit_length())
    size = 1 << bits
    first = (seed * 0x9E3779B97F4A7C15 >> 7) % size | 1
    second = (seed * 0xC2B2AE3D27D4EB4F >> 11) % size | 1
    added = (seed >> 5) % size
    return [nodes, step, size - 1, (bits + 1) // 2, first, pow(first, -1, size), second, pow(second, -1, size), added]


def _parameters(buffer: Buffer, seed: int) -> list[int]:
    fill = buffer.fill
    size = DTYPES[buffer.dtype][0]
    if fill.kind in ("uniform", "uniform_int"):
        return [_bits(fill.low), _bits(fill.high), int(fill.low), max(1, int(fill.high) - int(fill.low))]
    if fill.kind == "arange":
        return [_bits(fill.step), int(fill.step), int(float(fill.step) == int(fill.step))]
    if fill.kind == "banded":
        return [fill.row_length, fill.columns]
    if fill.kind == "random_cycle":
        step = max(1, fill.stride_bytes // size)
        return _cycle(max(1, buffer.size // (step * size)), step, seed)
    return []


def table(buffers: Sequence[tuple[Buffer, int]], run_seed: int, written: bool) -> np.ndarray:
    """One flat array: rows of all buffers by address, then their data, then a page table where memory is `written`."""
    ordered = sorted(buffers, key=lambda pair: pair[1])
    rows = np.zeros((len(ordered), COLUMNS), dtype=np.int64)
    parts: list[np.ndarray] = []
    at = rows.size
    for row, (buffer, base) in zip(rows, ordered, strict=True):
        size, code, _ = DTYPES[buffer.dtype]
        seed = buffer.fill.seed if buffer.fill.seed is not None else seed_of(buffer.name, run_seed)
        row[[BASE, END, CODE, SIZE, SEED]] = (
            base,
            base + buffer.size,
            code,
            size.bit_length() - 1,
            np.uint64(seed & (2**64 - 1)).astype(np.int64),
        )
        row[KIND], row[PAGE], row[DATA] = KINDS[buffer.fill.kind], -1, -1
        parameters = _parameters(buffer, seed)
        row[PARAMETERS : PARAMETERS + len(parameters)] = parameters
        if buffer.data:
            row[KIND], row[DATA] = KINDS["file"], at
            parts.append(np.frombuffer(buffer.data + b"\0" * (16 - len(buffer.data) % 8), dtype=np.int64))
            at += parts[-1].size
        if written:
            row[PAGE] = at
            parts.append(np.full(-(-buffer.size // 4096), -1, dtype=np.int64))
            at += parts[-1].size
    return np.concatenate([rows.reshape(-1), *parts])


def read_elements(buffer: Buffer, run_seed: int = 0, start: int = 0, count: int | None = None) -> Any:
    """Elements of a buffer's initial contents as a numpy array (bf16 as its bits)."""
    link()
    size, _, kind = DTYPES[buffer.dtype]
    count = buffer.size // size - start if count is None else count
    bits = np.zeros(count, dtype=np.int64)
    fill_elements(table([(buffer, 0)], run_seed, False), np.int64(start), bits)
    return bits.astype(f"u{size}").view(kind)
