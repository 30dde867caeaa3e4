"""The standard suite's kernels on matrix units leave in memory what numpy computes, at small shapes; each variant of each."""

from __future__ import annotations

import numpy as np
import pytest
from archex.programs.arguments import Argument
from archex.programs.buffers import Buffer, Fill
from running import Work, floats, run_functional, standard, work

WIDTHS = pytest.mark.parametrize("width", [32, 64])
UNUSED = (Argument("u64", 0), Argument("u64", 0))
#: Local memory of a tile of 128 x 128 and 32 of k, rows padded.
TILE = 18944


def product(run: object, m: int, n: int, k: int) -> np.ndarray:
    """A B of a run's buffers."""
    a, b = (run.read(name).astype(np.float64) for name in "AB")  # type: ignore[attr-defined]
    return np.asarray(a.reshape(m, k) @ b.reshape(k, n))


def halves(m: int, n: int, k: int, out: str = "f32") -> tuple[Buffer, ...]:
    """A, B and C of a product of f16."""
    return floats("A", m * k, dtype="f16"), floats("B", k * n, dtype="f16"), floats("C", m * n, Fill(), dtype=out)


@WIDTHS
@pytest.mark.parametrize("stages", [2, 3, 4])
@pytest.mark.parametrize("variant", ["async", "direct"])
def test_staged_product(variant: str, stages: int, width: int) -> None:
    m, n, k = 128, 256, 160
    launch = work((n // 128, m // 128), 256, *halves(m, n, k), m, n, k, local=TILE * (stages if variant == "async" else 2))
    run = run_functional(standard("tensor_gemm", f"tensor_gemm_{variant}_{stages}"), launch, width)
    np.testing.assert_allclose(run.read("C").reshape(m, n), product(run, m, n, k), atol=1e-4)


@pytest.mark.parametrize(("tile", "threads", "local"), [(64, 128, 19456), (128, 256, 2 * TILE)])
def test_product_in_groups(tile: int, threads: int, local: int) -> None:
    m, n, k = 256, 128, 96
    grid = (m // tile) * (n // tile)
    for width in (32, 64):
        launch = work(grid, threads, *halves(m, n, k, "f16"), m, n, k, local=local)
        run = run_functional(standard("matmul_direct", f"matmul_{tile}"), launch, width)
        np.testing.assert_allclose(run.read("C").reshape(m, n), product(run, m, n, k), atol=2e-3)
    launch = work(grid, threads, *halves(m, n, k, "f16"), m, n, k, *UNUSED, local=32768)
    run = run_functional(standard(f"triton_matmul_{tile}", "t_matmul"), launch)
    np.testing.assert_allclose(run.read("C").reshape(m, n), product(run, m, n, k), atol=2e-3)


def small_floats(raw: np.ndarray) -> np.ndarray:
    """Values of e4m3, NaN aside."""
    sign, exponent, mantissa = raw >> 7, raw >> 3 & 15, (raw & 7).astype(np.float64)
    size = np.where(exponent == 0, mantissa / 8 * 2.0**-6, (1 + mantissa / 8) * 2.0 ** (exponent.astype(np.float64) - 7))
    return np.asarray(np.where(sign == 1, -size, size))


@pytest.mark.parametrize(
    ("file", "entry", "local", "width"),
    [
        ("fp8_gemm_async", "fp8_gemm_async", 3 * 24576, 32),
        ("fp8_gemm", "fp8_gemm_sync", 2 * 192 * 80, 32),
        ("fp8_gemm", "fp8_gemm_sync", 2 * 192 * 80, 64),
        ("fp8_gemm", "fp8_gemm_f16", 2 * 192 * 144, 32),
        ("fp8_gemm", "fp8_gemm_f16", 2 * 192 * 144, 64),
    ],
)
def test_product_of_small_floats(file: str, entry: str, local: int, width: int) -> None:
    m, n, k = 128, 128, 384
    rng = np.random.default_rng(1)
    raw = {name: rng.integers(0, 256, count).astype(np.uint8) for name, count in (("A", m * k), ("B", n * k))}
    raw = {name: np.where(values & 0x7F > 0x48, values & 0xC7, values).astype(np.uint8) for name, values in raw.items()}
    buffers = [Buffer(name, "u8", values.size, Fill("file"), values.tobytes()) for name, values in raw.items()]
    launch = work((n // 64, m // 128), 256, *buffers, floats("C", m * n, Fill()), m, n, k, local=local)
    run = run_functional(standard(file, entry), launch, width)
    wanted = small_floats(raw["A"]).reshape(m, k) @ small_floats(raw["B"]).reshape(n, k).T
    np.testing.assert_allclose(run.read("C").reshape(m, n), wanted, rtol=1e-3, atol=1e-2)


PAIRS = np.array([(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)])


def sparse_work(m: int, n: int, k: int, local: int) -> tuple[Work, np.ndarray]:
    """A launch of a product whose left matrix keeps two of each four in random places, and that matrix as it is."""
    rng = np.random.default_rng(2)
    kept = rng.uniform(-0.5, 0.5, (m, k // 4, 2)).astype(np.float16)
    places = PAIRS[rng.integers(0, 6, (m, k // 4))]
    dense = np.zeros((m, k // 4, 4))
    np.put_along_axis(dense, places, kept.astype(np.float64), 2)
    # 16 columns are 16 bits; a lane's word has those of a row and of the row 8 below
    bits = (places[..., 0] | places[..., 1] << 2).reshape(m, k // 16, 4)
    short = (bits << (4 * np.arange(4))).sum(2).reshape(m // 16, 2, 8, k // 32, 2)
    words = (short[:, 0] | short[:, 1] << 16).transpose(0, 2, 1, 3).astype(np.uint32)
    a = Buffer("A", "f16", kept.nbytes, Fill("file"), kept.tobytes())
    e = Buffer("places", "u32", words.nbytes, Fill("file"), np.ascontiguousarray(words).tobytes())
    b, c = floats("B", k * n, dtype="f16"), floats("C", m * n, Fill())
    return work((n // 128, m // 128), 256, a, e, b, c, m, n, k, local=local), dense.reshape(m, k)


@WIDTHS
@pytest.mark.parametrize(("variant", "local"), [("async", 3 * 27648), ("direct", 2 * 27648), ("expanded", 2 * TILE)])
def test_sparse_product(variant: str, local: int, width: int) -> None:
    m, n, k = 128, 128, 192
    launch, dense = sparse_work(m, n, k, local)
    run = run_functional(standard("sparse_gemm", f"sparse_gemm_{variant}"), launch, width)
    wanted = dense @ run.read("B").astype(np.float64).reshape(k, n)
    np.testing.assert_allclose(run.read("C").reshape(m, n), wanted, atol=1e-4)


@WIDTHS
@pytest.mark.parametrize(("variant", "local"), [("async", 3 * 35840), ("direct", 2 * TILE)])
def test_dense_product(variant: str, local: int, width: int) -> None:
    m, n, k = 128, 128, 192
    launch = work((n // 128, m // 128), 256, *halves(m, n, k), m, n, k, local=local)
    run = run_functional(standard("sparse_gemm", f"dense_gemm_{variant}"), launch, width)
    np.testing.assert_allclose(run.read("C").reshape(m, n), product(run, m, n, k), atol=1e-4)


@WIDTHS
@pytest.mark.parametrize("variant", ["async", "direct"])
def test_attention(variant: str, width: int) -> None:
    heads, tokens, scale = 2, 192, 0.18033688
    q, k, v = (floats(name, heads * tokens * 64, Fill("uniform", -2, 2), dtype="f16") for name in "QKV")
    out = floats("O", heads * tokens * 64, Fill(), dtype="f16")
    launch = work((tokens // 64, heads), 128, q, k, v, out, tokens, scale, local=46080)
    run = run_functional(standard("attention", f"attention_{variant}"), launch, width)
    q_, k_, v_ = (run.read(name).astype(np.float64).reshape(heads, tokens, 64) for name in "QKV")
    scores = q_ @ k_.transpose(0, 2, 1) * scale
    p = np.exp2(scores - scores.max(2, keepdims=True))
    np.testing.assert_allclose(run.read("O").reshape(heads, tokens, 64), p @ v_ / p.sum(2, keepdims=True), atol=3e-3)


@WIDTHS
@pytest.mark.parametrize(("variant", "local"), [("async", 3 * 9728), ("direct", 2 * 9728)])
def test_convolution(variant: str, local: int, width: int) -> None:
    channels, height, rows, kernels = 64, 9, 11, 64
    inputs = floats("in", channels * height * rows, dtype="f16"), floats("weights", kernels * channels * 9, dtype="f16")
    out = floats("out", kernels * height * rows, Fill())
    launch = work((kernels // 64, (height * rows + 63) // 64), 128, *inputs, out, channels, height, rows, kernels, local=local)
    run = run_functional(standard("convolution_nhwc", f"convolution_nhwc_{variant}"), launch, width)
    x = np.pad(run.read("in").astype(np.float64).reshape(height, rows, channels), ((1, 1), (1, 1), (0, 0)))
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), axis=(0, 1))
    w = run.read("weights").astype(np.float64).reshape(3, 3, channels, kernels)
    found = run.read("out").reshape(height, rows, kernels)
    np.testing.assert_allclose(found, np.einsum("yxcrq,rqck->yxk", windows, w), atol=1e-4)
