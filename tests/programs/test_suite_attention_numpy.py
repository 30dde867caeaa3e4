"""The standard suite's decode attention and direct convolution leave in memory what numpy computes, at small shapes."""

from __future__ import annotations

import numpy as np
import pytest
from archex.programs.buffers import Fill
from running import floats, run_functional, standard, whole, work

WIDTHS = pytest.mark.parametrize("width", [32, 64])
DEPTH = 128


def partials(run: object, queries: int, splits: int) -> np.ndarray:
    """What the shares of each query come to together."""
    parts = run.read("partial").astype(np.float64).reshape(queries, splits, DEPTH + 4)  # type: ignore[attr-defined]
    weights = np.exp2(parts[..., DEPTH] - parts[..., DEPTH].max(1, keepdims=True))
    sums = (weights[..., None] * parts[..., :DEPTH]).sum(1)
    return np.asarray(sums / (weights * parts[..., DEPTH + 1]).sum(1)[:, None])


def attention(q: np.ndarray, k: np.ndarray, v: np.ndarray, scale: float) -> np.ndarray:
    """Of one query over its keys; scale for powers of two."""
    scores = k @ q * scale
    p = np.exp2(scores - scores.max())
    return np.asarray(p @ v / p.sum())


@WIDTHS
def test_decode(width: int) -> None:
    heads, tokens, splits, scale = 2, 75, 3, 0.12751743
    q, k, v = (floats(name, count * DEPTH, dtype="f16") for name, count in (("Q", heads), ("K", heads * tokens), ("V", heads * tokens)))
    partial = floats("partial", heads * splits * (DEPTH + 4), Fill())
    run = run_functional(standard("decode", "decode_split"), work((splits, heads), 128, q, k, v, partial, tokens, scale), width)
    q_, k_, v_ = (run.read(name).astype(np.float64).reshape(heads, -1, DEPTH) for name in "QKV")
    wanted = np.stack([attention(q_[h, 0], k_[h], v_[h], scale) for h in range(heads)])
    np.testing.assert_allclose(partials(run, heads, splits), wanted, atol=2e-4)


@WIDTHS
def test_paged_decode(width: int) -> None:
    sequences, heads, pages, tokens, splits, scale = 2, 2, 4, 53, 2, 0.12751743
    cache = sequences * pages * heads * 16 * DEPTH
    table = whole("table", sequences * pages, Fill("random_cycle"))
    lengths = whole("lengths", sequences, Fill("uniform_int", tokens, tokens + 1))
    launch = work(
        (splits, sequences * heads), 128, floats("Q", sequences * heads * DEPTH, dtype="f16"), floats("K", cache, dtype="f16"),
        floats("V", cache, dtype="f16"), table, lengths, floats("partial", sequences * heads * splits * (DEPTH + 4), Fill()), heads, pages,
        scale,
    )  # fmt: skip
    run = run_functional(standard("decode", "decode_paged"), launch, width)
    q = run.read("Q").astype(np.float64).reshape(sequences, heads, DEPTH)
    order = run.read("table").reshape(sequences, pages)
    k, v = (run.read(name).astype(np.float64).reshape(-1, heads, 16, DEPTH)[order] for name in "KV")
    wanted = [
        attention(q[s, h], *(x[s, :, h].reshape(-1, DEPTH)[:tokens] for x in (k, v)), scale) for s in range(sequences) for h in range(heads)
    ]
    np.testing.assert_allclose(partials(run, sequences * heads, splits), np.stack(wanted), atol=2e-4)


@WIDTHS
def test_shares_put_together(width: int) -> None:
    queries, splits = 3, 4
    launch = work(
        queries, 128, floats("partial", queries * splits * (DEPTH + 4), Fill("uniform", 0.25, 1)), floats("O", queries * DEPTH), splits
    )
    run = run_functional(standard("decode", "decode_combine"), launch, width)
    np.testing.assert_allclose(run.read("O").reshape(queries, DEPTH), partials(run, queries, splits), rtol=1e-5)


@WIDTHS
def test_direct_convolution(width: int) -> None:
    channels, kernels, height, rows = 3, 8, 12, 40
    sizes = {"in": channels * height * rows, "weights": kernels * channels * 9}
    out = floats("out", kernels * height * rows, Fill())
    inputs = [floats(name, count) for name, count in sizes.items()]
    launch = work((2, 2, 2), (32, 8), *inputs, out, channels, height, rows, local=channels * 9 * 16)
    run = run_functional(standard("convolution_nchw", "convolution_nchw"), launch, width)
    x = np.pad(run.read("in").astype(np.float64).reshape(channels, height, rows), ((0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), axis=(1, 2))
    w = run.read("weights").astype(np.float64).reshape(kernels, channels, 3, 3)
    np.testing.assert_allclose(run.read("out").reshape(kernels, height, rows), np.einsum("cyxrq,kcrq->kyx", windows, w), atol=1e-5)
