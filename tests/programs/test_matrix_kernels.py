"""Kernels of the reference set on matrix units, at small shapes, against numpy."""

from __future__ import annotations

import numpy as np
import pytest
from archex.programs.arguments import Argument
from archex.programs.buffers import Buffer
from draining import drain
from running import TraceSource, floats, reference, run_functional, work

NOTHING = Argument("u64", 0)  # scratch pointers that the kernels never use


def halves(name: str, values: np.ndarray) -> Buffer:
    return Buffer(name, "f16", 2 * values.size, data=values.astype(np.float16).tobytes())


def operands(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).uniform(-0.5, 0.5, shape).astype(np.float16).astype(np.float64)


@pytest.mark.parametrize(("stages", "local", "width"), [(2, 37888, 32), (3, 56832, 32), (4, 75776, 32), (3, 56832, 64)])
def test_a_product_of_fragments(stages: int, local: int, width: int) -> None:
    m, n, k = 128, 256, 96
    a, b = operands(m, k), operands(k, n)
    launch = work((n // 128, m // 128), 256, halves("A", a), halves("B", b), floats("C", m * n), m, n, k, local=local)
    found = run_functional(reference(f"k_hgemm_wmmaILi{stages}"), launch, width).read("C").reshape(m, n)
    assert np.abs(found - a @ b).max() < 1e-5


#: Tile, depth of a step, stages, waves of 32, local memory.
TILES = [(128, 128, 64, 3, 4, 98304), (128, 256, 64, 3, 8, 147456), (64, 64, 32, 4, 4, 32768), (128, 128, 32, 2, 8, 32768)]


@pytest.mark.parametrize("width", [32, 64])
@pytest.mark.parametrize("tile", TILES, ids=lambda tile: "-".join(map(str, tile)))
def test_a_product_with_operands_in_local_memory(tile: tuple[int, ...], width: int) -> None:
    rows, columns, depth, stages, waves, local = tile
    m, n, k = 256, 256, 192
    a, b = operands(m, k), operands(k, n)
    name = f"triton_matmul_M=1024,N=1024,K=1024,BM={rows},BN={columns},BK={depth},stages={stages},warps={waves}"
    groups = m // rows * (n // columns)
    launch = work(groups, 32 * waves, halves("A", a), halves("B", b), halves("C", np.zeros(m * n)), m, n, k, NOTHING, NOTHING, local=local)
    found = run_functional(reference(name), launch, width).read("C").reshape(m, n).astype(np.float64)
    assert np.abs(found - a @ b).max() <= 2.0**-11 * np.abs(a @ b).max() + 1e-5


@pytest.mark.parametrize(("depth", "waves", "local"), [(64, 4, 65536), (128, 8, 131072)])
def test_attention(depth: int, waves: int, local: int) -> None:
    length, heads = 256, 2
    q, k, v = (4 * operands(heads, length, depth + extra)[:, :, :depth] for extra in range(3))
    scale = depth**-0.5
    launch = work(
        (length // 128, heads), 32 * waves, halves("Q", q), halves("K", k), halves("V", v), halves("O", np.zeros(q.size)), length,
        float(scale / np.log(2)), NOTHING, NOTHING, local=local,
    )  # fmt: skip
    found = run_functional(reference(f"triton_attn_B=4,H=16,S=1024,D={depth}"), launch).read("O").reshape(q.shape).astype(np.float64)
    weights = np.exp(np.einsum("hid,hjd->hij", q, k) * scale)
    wanted = weights / weights.sum(-1, keepdims=True) @ v
    assert np.abs(found - wanted).max() < 2e-3


@pytest.mark.parametrize("tile", TILES[1:3], ids=lambda tile: "-".join(map(str, tile)))
def test_timing_records_what_whole_execution_does(tile: tuple[int, ...]) -> None:
    """And executes no product for it."""
    rows, columns, depth, stages, waves, local = tile
    kernel = reference(f"triton_matmul_M=1024,N=1024,K=1024,BM={rows},BN={columns},BK={depth},stages={stages},warps={waves}")
    sizes = (rows, columns, 3 * depth)
    buffers = [floats(name, 1 << 17, dtype="f16") for name in "ABC"]
    launch = work(1, 32 * waves, *buffers, *sizes, NOTHING, NOTHING, local=local)
    timing, whole = (TraceSource(kernel, launch, 32, waves, mode) for mode in ("timing", "functional"))
    assert drain(timing, 1) == drain(whole, 1)
    assert timing.chosen is not None
    for block, chosen in zip(kernel.blocks, timing.chosen, strict=True):
        assert not any(block.operations[at].op in ("matrix", "matrix_async", "matrix_load") for at in chosen)


def test_fragments_record_the_same_in_timing() -> None:
    launch = work(
        1, 256, floats("A", 1 << 14, dtype="f16"), floats("B", 1 << 14, dtype="f16"), floats("C", 1 << 14), 128, 128, 64, local=56832
    )
    timing, whole = (TraceSource(reference("k_hgemm_wmmaILi3"), launch, 32, 8, mode) for mode in ("timing", "functional"))
    assert drain(timing, 1) == drain(whole, 1)
