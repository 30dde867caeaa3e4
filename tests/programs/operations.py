"""One instruction over many operands: what it leaves in memory, as bits."""

from __future__ import annotations

import numpy as np
from archex.programs.buffers import Buffer
from archex.programs.ir import Function
from archex.programs.trace import run_functional
from running import source, work

COUNT = 256
_EDGES = {
    2: [0, 1, 0x8000, 0x7FFF, 0xFFFF, 0x3C00, 0xBC00, 0x7C00, 0xFC00, 0x7E00, 0x0001, 0x03FF, 0x0400, 0x7BFF, 0x3F80, 0x7F80],
    4: [0, 1, 1 << 31, (1 << 31) - 1, (1 << 32) - 1, 31, 32, 33, 0x3F800000, 0xBF800000, 0x7F800000, 0xFF800000, 0x7FC00000, 0x00000001,
    0x007FFFFF, 0x7F7FFFFF],
    8: [0, 1, 1 << 63, (1 << 63) - 1, (1 << 64) - 1, 63, 64, 65, 0x3FF0000000000000, 0x7FF0000000000000, 0xFFF0000000000000,
    0x7FF8000000000000, 1 << 32, 3 << 31, 5, 7],
}  # fmt: skip


def operands(size: int, seed: int, spread: str = "bits") -> np.ndarray:
    """COUNT operands of `size` bytes: edges against edges, then random bits, or `near`: floats of moderate size, or `small`: below 70."""
    rng = np.random.default_rng(seed)
    kind = np.dtype(f"u{size}")
    bits = (
        rng.integers(0, 1 << (8 * size), COUNT, dtype=kind, endpoint=False)
        if size < 8
        else rng.integers(0, 2**63, COUNT).astype(kind) * kind.type(2)
    )
    if spread == "small":
        return rng.integers(0, 70, COUNT).astype(kind)
    if spread == "near":
        return (rng.standard_normal(COUNT) * 10.0 ** rng.integers(-3, 3, COUNT)).astype(f"f{size}").view(kind)
    edges = np.array(_EDGES[size], dtype=kind)
    rng.shuffle(edges)
    bits[: len(edges)] = edges
    bits[len(edges) : 2 * len(edges)] = edges
    return bits


def program(instruction: str, sizes: list[int], out: int) -> Function:
    """A kernel that loads operands a0, a1, ... of the given bytes, runs `instruction` (writing `r`) and stores `out` bytes of r."""
    names = {2: "b16", 4: "b32", 8: "b64"}
    registers = "".join(f".reg .{names[size]} a{i}; " for i, size in enumerate(sizes)) + f".reg .{names[out]} r; .reg .pred q; "
    body = ["mov.u32 r0, %tid.x; mov.u32 r1, %ctaid.x; mov.u32 r2, %ntid.x; mad.lo.s32 r3, r1, r2, r0;"]
    for i, size in enumerate(sizes):
        body.append(f"ld.param.u64 rd{i}, [in{i}]; mad.wide.u32 rd{i}, r3, {size}, rd{i}; ld.global.{names[size]} a{i}, [rd{i}];")
    body.append(instruction)
    body.append(f"ld.param.u64 rd20, [o]; mad.wide.u32 rd20, r3, {out}, rd20; st.global.{names[out]} [rd20], r; ret;")
    parameters = ", ".join([*(f".param .u64 in{i}" for i in range(len(sizes))), ".param .u64 o"])
    return source("\n".join(body), parameters, registers)


def evaluate(instruction: str, inputs: list[np.ndarray], out: int, width: int = 32) -> np.ndarray:
    """The results' bits."""
    function = program(instruction, [array.dtype.itemsize for array in inputs], out)
    buffers = [Buffer(f"A{i}", f"u{8 * array.dtype.itemsize}", array.nbytes, data=array.tobytes()) for i, array in enumerate(inputs)]
    result = Buffer("R", f"u{8 * out}", COUNT * out)
    run = run_functional(function, work(2, COUNT // 2, *buffers, result), width)
    return run.read("R")
