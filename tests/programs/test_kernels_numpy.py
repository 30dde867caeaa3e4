"""Reference kernels, executed whole at small shapes, leave in memory what numpy computes."""

from __future__ import annotations

import numpy as np
import pytest
from archex.programs.buffers import Fill
from running import UNIFORM, floats, reference, run_functional, whole, work

INDEX = Fill("uniform_int", low=0, high=1000)
WIDTHS = pytest.mark.parametrize("width", [32, 64])


def close(found: np.ndarray, wanted: np.ndarray, tolerance: float = 1e-5) -> None:
    np.testing.assert_allclose(found.astype(np.float64), wanted.astype(np.float64), rtol=tolerance, atol=tolerance)


def gelu(x: np.ndarray) -> np.ndarray:
    return 0.5 * x * (1 + np.tanh(0.79788456 * (x + 0.044715 * x**3)))


def keep(i: np.ndarray) -> np.ndarray:
    i = i.astype(np.uint32)
    i ^= i >> 16
    i *= np.uint32(0x7FEB352D)
    i ^= i >> 15
    i *= np.uint32(0x846CA68B)
    i ^= i >> 16
    return np.where(i > 429496729, np.float32(1.1111111), np.float32(0))


@WIDTHS
@pytest.mark.parametrize("clean", [False, True])
def test_copies(width: int, clean: bool) -> None:
    for name, dtype, each in (("k_copy_f1", "f32", 1), ("k_copy_f4", "f32", 4), ("k_copy_h1", "f16", 1)):
        a, c = floats("A", 400 * each, dtype=dtype), floats("C", 500 * each, Fill(), dtype=dtype)
        run = run_functional(reference(name, clean), work(4, 128, a, c, 400), width)
        x = run.read("A")
        assert np.array_equal(run.read("C")[: 400 * each], x + x if name == "k_copy_h1" else x)
        assert not run.read("C")[400 * each :].any()
    a, c = whole("A", 300, Fill("uniform_int", 0, 256), "u8"), whole("C", 300, Fill(), "u8")
    run = run_functional(reference("k_copy_b1", clean), work(3, 128, a, c, 300), width)
    assert np.array_equal(run.read("C"), run.read("A") + np.uint8(1))


@WIDTHS
def test_elementwise(width: int) -> None:
    n = 200
    a, b, c = floats("A", 4 * n), floats("B", 4 * n), floats("C", 4 * n, Fill())
    run = run_functional(reference("k_triad_f4"), work(2, 128, a, b, c, n, 0.5), width)
    close(run.read("C"), run.read("A") + np.float32(0.5) * run.read("B"), 1e-6)
    run = run_functional(reference("k_bias_f4"), work(2, 128, a, b, c, n, 16), width)
    close(run.read("C").reshape(n, 4), run.read("A").reshape(n, 4) + run.read("B").reshape(n, 4)[np.arange(n) % 16])
    run = run_functional(reference("k_gelu_f4"), work(2, 128, a, c, n), width)
    close(run.read("C"), gelu(run.read("A").astype(np.float64)), 1e-5)
    run = run_functional(reference("k_dropout_f4"), work(2, 128, a, c, n), width)
    assert np.array_equal(run.read("C"), run.read("A") * keep(np.arange(4 * n)))
    run = run_functional(reference("k_bias_gelu_dropout_f4"), work(2, 128, a, b, c, n, 16), width)
    biased = (run.read("A").reshape(n, 4) + run.read("B").reshape(n, 4)[np.arange(n) % 16]).astype(np.float64).reshape(-1)
    close(run.read("C"), gelu(biased) * keep(np.arange(4 * n)), 1e-5)
    h, k = floats("A", 8 * n, Fill("uniform", -3, 3), "f16"), floats("C", 8 * n, Fill(), "f16")
    run = run_functional(reference("k_gelu_h8"), work(2, 128, h, k, n), width)
    close(run.read("C"), gelu(run.read("A").astype(np.float64)), 2e-3)
    run = run_functional(reference("k_aos"), work(2, 128, floats("A", 8 * n), floats("C", n, Fill()), n), width)
    x = run.read("A").reshape(n, 8)
    close(run.read("C"), x[:, 0] + x[:, 3] + x[:, 5], 1e-6)
    run = run_functional(reference("k_strided"), work(2, 128, floats("A", 7 * n), floats("C", n, Fill()), n, 7), width)
    assert np.array_equal(run.read("C"), run.read("A")[::7])
    run = run_functional(reference("k_gather"), work(2, 128, floats("A", 1000), whole("I", n, INDEX), floats("C", n, Fill()), n), width)
    assert np.array_equal(run.read("C"), run.read("A")[run.read("I")])


@WIDTHS
def test_reductions(width: int) -> None:
    a, c = floats("A", 4 * 1000), floats("C", 4, Fill())
    run = run_functional(reference("k_reduce_f4"), work(3, 128, a, c, 1000), width)
    close(run.read("C")[:1], run.read("A").astype(np.float64).sum(keepdims=True), 1e-3)
    n = 300
    run = run_functional(reference("k_scan_block"), work(2, 256, floats("A", n), floats("C", n, Fill()), n), width)
    x = run.read("A").astype(np.float64)
    close(run.read("C"), np.concatenate([np.cumsum(x[:256]), np.cumsum(x[256:])]), 1e-4)
    rows, columns = 70, 128
    w, v = floats("W", rows * columns, dtype="f16"), floats("X", columns, dtype="f16")
    run = run_functional(reference("k_gemv_h"), work(18, 128, w, v, floats("C", rows, Fill()), rows, columns // 8), width)
    close(run.read("C"), run.read("W").astype(np.float64).reshape(rows, columns) @ run.read("X").astype(np.float64), 1e-4)


@WIDTHS
def test_rows(width: int) -> None:
    rows, columns = 2, 2048
    a, g, c = floats("A", rows * columns, dtype="f16"), floats("G", columns, dtype="f16"), floats("C", rows * columns, Fill(), dtype="f16")
    run = run_functional(reference("k_softmax_hILi1E"), work(rows, 256, a, c), width)
    e = np.exp(run.read("A").astype(np.float64).reshape(rows, columns))
    close(run.read("C").reshape(rows, columns), e / e.sum(1, keepdims=True), 1e-4)
    columns = 4096
    a, g, c = floats("A", rows * columns, dtype="f16"), floats("G", columns, dtype="f16"), floats("C", rows * columns, Fill(), dtype="f16")
    run = run_functional(reference("k_rmsnorm_hILi2E"), work(rows, 256, a, g, c), width)
    x = run.read("A").astype(np.float64).reshape(rows, columns)
    close(run.read("C").reshape(rows, columns), x / np.sqrt((x * x).mean(1, keepdims=True) + 1e-6) * run.read("G").astype(np.float64), 2e-3)
    columns = 1024
    a, g, c = floats("A", rows * columns), floats("G", columns), floats("C", rows * columns, Fill())
    run = run_functional(reference("k_layernorm_fILi1E"), work(rows, 256, a, g, c), width)
    x = run.read("A").astype(np.float64).reshape(rows, columns)
    wanted = (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5) * run.read("G").astype(np.float64)
    close(run.read("C").reshape(rows, columns), wanted * keep(np.arange(rows * columns)).reshape(rows, columns), 1e-4)


@WIDTHS
@pytest.mark.parametrize("name", ["k_transpose_naive", "k_transpose_smemILi0E", "k_transpose_smemILi1E"])
def test_transpose(name: str, width: int) -> None:
    n = 64
    run = run_functional(reference(name), work((2, 2), (32, 8), floats("A", n * n), floats("C", n * n, Fill()), n), width)
    assert np.array_equal(run.read("C").reshape(n, n), run.read("A").reshape(n, n).T)


@WIDTHS
@pytest.mark.parametrize(
    ("name", "grid", "block", "m", "n", "k"),
    [
        ("k_sgemm_naive", (2, 1), (16, 16), 16, 32, 24),
        ("k_sgemm_tiledILi16E", (2, 1), (16, 16), 16, 32, 32),
        ("k_sgemm_tiledILi32E", (1, 1), (32, 32), 32, 32, 64),
        ("k_sgemm_128", (1, 1), (256,), 128, 128, 16),
    ],
)
def test_matrix_product(name: str, grid: tuple[int, int], block: tuple[int, ...], m: int, n: int, k: int, width: int) -> None:
    a, b, c = floats("A", m * k), floats("B", k * n), floats("C", m * n, Fill())
    run = run_functional(reference(name), work(grid, block, a, b, c, m, n, k), width)
    close(
        run.read("C").reshape(m, n), run.read("A").astype(np.float64).reshape(m, k) @ run.read("B").astype(np.float64).reshape(k, n), 1e-5
    )


@WIDTHS
def test_stencils_and_convolution(width: int) -> None:
    n = 40
    run = run_functional(reference("k_stencil2d"), work((2, 5), (32, 8), floats("A", n * n), floats("C", n * n, Fill()), n), width)
    x = run.read("A").reshape(n, n)
    inner = x[1:-1, 1:-1] + x[1:-1, 2:] + x[1:-1, :-2] + x[2:, 1:-1] + x[:-2, 1:-1]
    found = run.read("C").reshape(n, n)
    close(found[1:-1, 1:-1], 0.2 * inner.astype(np.float64))
    assert not found[0].any()
    assert not found[:, -1].any()
    n = 10
    run = run_functional(reference("k_stencil3d"), work((1, 2, n), (32, 8), floats("A", n**3), floats("C", n**3, Fill()), n), width)
    x = run.read("A").astype(np.float64).reshape(n, n, n)
    c = slice(1, -1)
    inner = x[c, c, c] + x[c, c, 2:] + x[c, c, :-2] + x[c, 2:, c] + x[c, :-2, c] + x[2:, c, c] + x[:-2, c, c]
    close(run.read("C").reshape(n, n, n)[c, c, c], 0.125 * inner)
    channels, size, kernels = 3, 12, 4
    a, w, o = floats("A", channels * size * size), floats("W", kernels * channels * 9), floats("C", kernels * size * size, Fill())
    run = run_functional(reference("k_conv3x3_nchw"), work((1, 2, 1), (32, 8), a, w, o, channels, size, size), width)
    x = np.lib.stride_tricks.sliding_window_view(run.read("A").astype(np.float64).reshape(channels, size, size), (3, 3), axis=(1, 2))
    weights = run.read("W").astype(np.float64).reshape(kernels, channels, 3, 3)
    close(run.read("C").reshape(kernels, size, size)[:, :-2, :-2], np.einsum("cyxrq,kcrq->kyx", x, weights), 1e-5)


@WIDTHS
def test_sparse_and_irregular(width: int) -> None:
    rows, each = 40, 16
    pointers, columns = whole("R", rows + 1, Fill("arange", step=each)), whole("I", rows * each, Fill("uniform_int", 0, 100))
    for name, grid in (("k_spmv_vector", 10), ("k_spmv_scalar", 1)):
        launch = work(grid, 128, pointers, columns, floats("V", rows * each), floats("X", 100), floats("C", rows, Fill()), rows)
        run = run_functional(reference(name), launch, width)
        products = run.read("V").astype(np.float64) * run.read("X").astype(np.float64)[run.read("I")]
        close(run.read("C"), products.reshape(rows, each).sum(1))
    n = 500
    data = whole("A", 4 * n, Fill("uniform_int", 0, 1 << 24), "u32")
    run = run_functional(reference("k_histogram"), work(2, 128, data, whole("C", 256, Fill(), "u32"), n, 255), width)
    assert np.array_equal(run.read("C"), np.bincount((run.read("A") >> 4) & 255, minlength=256))
    run = run_functional(reference("k_atomic_global"), work(3, 128, floats("C", 64, Fill()), 300, 63), width)
    assert np.array_equal(run.read("C"), np.bincount((np.arange(300) * 33) & 63, minlength=64).astype(np.float32))
    points, clusters, features = 100, 5, 6
    launch = work(1, 128, floats("A", features * points), floats("B", clusters * features), whole("C", points), points, clusters, features)
    run = run_functional(reference("k_kmeans"), launch, width)
    x, centres = run.read("A").reshape(features, points), run.read("B").reshape(clusters, features)
    distance = ((x[None].astype(np.float64) - centres[:, :, None].astype(np.float64)) ** 2).sum(1)
    assert np.array_equal(run.read("C"), distance.argmin(0))
    w, h = 32, 16
    run = run_functional(reference("k_mandelbrot"), work((2, 1), (16, 16), whole("C", w * h), w, h, 20), width)
    assert mandelbrot(w, h, 20, run.read("C").reshape(h, w)) < 0.02


def mandelbrot(w: int, h: int, limit: int, found: np.ndarray) -> float:
    """Share of points whose count differs from one in double precision (rounding on the edge)."""
    c = (-2 + 3 * np.arange(w) / w)[None, :] + 1j * (-1.5 + 3 * np.arange(h) / h)[:, None]
    z, counts, going = np.zeros_like(c), np.zeros(c.shape, int), np.ones(c.shape, bool)
    for _ in range(limit):
        going &= np.abs(z) < 2
        counts += going
        z = np.where(going, z * z + c, z)
    return float((counts != found).mean())


@WIDTHS
def test_integer_kernels(width: int) -> None:
    n = 100
    run = run_functional(
        reference("k_divmod"), work(1, 128, whole("A", n, Fill("uniform_int", -(2**31), 2**31 - 1)), whole("C", n), n, 7919, 3), width
    )
    v = run.read("A") & 0x7FFFFFFF
    for r in range(3):
        v = v // 7919 + v % 7919 * 31 + r
    assert np.array_equal(run.read("C"), v)
    wide = Fill("uniform_int", -(2**31), 2**31 - 1)
    run = run_functional(reference("k_dp4a"), work(1, 128, whole("A", 4 * n, wide), whole("B", 4 * n, wide), whole("C", n), n, 2), width)
    x, y = run.read("A").reshape(n, 4), run.read("B").reshape(n, 4).astype(np.int64)
    total = np.zeros(n, np.int64)
    for r in range(2):
        other = (y + np.array([r, 0, 0, 0])).astype(np.int32)
        total += (x.view(np.int8).astype(np.int64) * np.ascontiguousarray(other).view(np.int8)).reshape(n, -1).sum(1)
    assert np.array_equal(run.read("C"), total.astype(np.int32))
    run = run_functional(
        reference("k_chase"),
        work(1, 1, whole("P", 64 * 32, Fill("random_cycle", stride_bytes=128), "u32"), whole("C", 1, Fill(), "u32"), 3),
        width,
    )
    assert not run.read("C").any()


@WIDTHS
def test_live_registers_and_spills(width: int) -> None:
    n, iterations = 1024, 2
    for name, count, step, jump in (("k_liveILi32E", 32, 512, 11), ("k_spillILi1E", 96, 1024, 37)):
        run = run_functional(reference(name), work(1, 128, floats("A", n), floats("C", n, Fill()), n, iterations), width)
        t = np.arange(128)
        acc = np.stack([run.read("A")[(t + j * step) & (n - 1)] for j in range(count)]).astype(np.float64)
        for i in range(iterations):
            k = 1 + i * 1e-3
            for j in range(count):
                acc[j] = acc[(j + jump) % count] * k + acc[j] if "live" in name else acc[j] * k + acc[(j + jump) % count]
        close(run.read("C")[:128], acc.sum(0), 1e-4)


@WIDTHS
def test_positions(width: int) -> None:
    n = 256
    run = run_functional(reference("k_nbody"), work(1, 256, floats("A", 4 * n), floats("C", 4 * n, Fill()), n), width)
    x = run.read("A").astype(np.float64).reshape(n, 4)
    d = x[None, :, :3] - x[:, None, :3]
    r = 1 / np.sqrt((d * d).sum(2) + 0.01)
    close(run.read("C").reshape(n, 4)[:, :3], (d * (x[None, :, 3] * r**3)[:, :, None]).sum(1), 1e-3)
    pairs, heads, tokens = 16, 2, 4
    launch = work(
        1, 128, floats("A", 2 * pairs * heads * tokens, dtype="f16"), floats("C", 2 * pairs * heads * tokens, Fill(), "f16"), pairs, heads
    )
    run = run_functional(reference("k_rope"), launch, width)
    i = np.arange(pairs * heads * tokens)
    angle = i // (pairs * heads) * np.exp(-9.21034 * (i % pairs) / pairs)
    v = run.read("A").astype(np.float64).reshape(-1, 2)
    wanted = np.stack([v[:, 0] * np.cos(angle) - v[:, 1] * np.sin(angle), v[:, 0] * np.sin(angle) + v[:, 1] * np.cos(angle)], 1)
    close(run.read("C").reshape(-1, 2), wanted, 1e-3)


def test_triton_rows() -> None:
    rows, columns = 2, 2048
    from archex.programs.arguments import Argument

    scratch = (Argument("u64", 0), Argument("u64", 0))
    a, c = floats("A", rows * columns, dtype="f16"), floats("C", rows * columns, Fill(), dtype="f16")
    kernel = reference("triton_softmax_rows=512,cols=2048")
    run = run_functional(kernel, work(rows, kernel.max_threads or 128, a, c, columns, *scratch, local=4096))
    e = np.exp(run.read("A").astype(np.float64).reshape(rows, columns))
    close(run.read("C").reshape(rows, columns), e / e.sum(1, keepdims=True), 1e-4)
    kernel = reference("triton_rmsnorm_rows=512,cols=2048")
    weights = floats("W", columns, dtype="f16")
    run = run_functional(kernel, work(rows, kernel.max_threads or 128, a, weights, c, columns, *scratch, local=4096))
    x = run.read("A").astype(np.float64).reshape(rows, columns)
    close(run.read("C").reshape(rows, columns), x / np.sqrt((x * x).mean(1, keepdims=True) + 1e-6) * run.read("W").astype(np.float64), 2e-3)
    kernel = reference("triton_add_n=1048576")
    run = run_functional(
        kernel, work(2, kernel.max_threads or 128, floats("X", 1500), floats("Y", 1500), floats("O", 2048, Fill()), 1500, *scratch)
    )
    assert np.array_equal(run.read("O")[:1500], run.read("X") + run.read("Y"))
    assert not run.read("O")[1500:].any()


def test_triton_decode() -> None:
    from archex.programs.arguments import Argument

    kernel, depth, length = reference("triton_decode"), 128, 256
    shapes = {
        name: floats(name, count, dtype="f16") for name, count in (("Q", 2 * depth), ("K", 2 * length * depth), ("V", 2 * length * depth))
    }
    out = floats("O", 2 * depth, Fill(), dtype="f16")
    launch = work(
        2, kernel.max_threads or 128, *shapes.values(), out, length, 0.0883883, Argument("u64", 0), Argument("u64", 0), local=65536
    )
    run = run_functional(kernel, launch)
    q = run.read("Q").astype(np.float64).reshape(2, depth)
    k, v = (run.read(name).astype(np.float64).reshape(2, length, depth) for name in "KV")
    p = np.exp(np.einsum("bsd,bd->bs", k, q) * 0.0883883)
    close(run.read("O").reshape(2, depth), np.einsum("bs,bsd->bd", p / p.sum(1, keepdims=True), v), 2e-3)


@WIDTHS
def test_other_vendors_kernels(width: int) -> None:
    n = 300
    run = run_functional(reference("m_vectoradd"), work(2, 256, floats("O", 512, Fill()), floats("X", 512), floats("Y", 512), n), width)
    assert np.array_equal(run.read("O")[:n], (run.read("X") + run.read("Y"))[:n])
    assert not run.read("O")[n:].any()
    run = run_functional(reference("m_relu"), work(2, 256, n, floats("X", 512), floats("O", 512, Fill())), width)
    assert np.array_equal(run.read("O")[:n], np.maximum(run.read("X"), 0)[:n])
    size = 64
    launch = work((1, 1), (16, 16), floats("O", size * size, Fill()), floats("A", size * size), size // 4, 1, local=16384)
    run = run_functional(reference("m_matrixtranspose"), launch, width)
    assert np.array_equal(run.read("O").reshape(size, size), run.read("A").reshape(size, size).T)
    size = 32
    matrices = [floats(name, size * size) for name in "ABC"]
    run = run_functional(reference("m_matrixmultiplication"), work((1, 1), (8, 8), *matrices, size, floats("S", 1024)), width)
    x, y = (run.read(name).astype(np.float64).reshape(size, size) for name in "AB")
    close(run.read("C").reshape(size, size), x @ y, 1e-5)
    taps = 16
    launch = work(1, 256, floats("O", 256), floats("K", taps), floats("X", 256), floats("H", taps + 1), taps)
    run = run_functional(reference("m_fir"), launch, width)
    x, k, h = (run.read(name).astype(np.float64) for name in "XKH")
    wanted = [sum(k[i] * (x[t - i] if t >= i else h[taps - (i - t)]) for i in range(taps)) for t in range(256)]
    close(run.read("O"), np.array(wanted), 1e-5)


def test_other_vendors_bodies() -> None:
    n = 64
    four = [floats(name, 4 * n, UNIFORM if name in "PV" else Fill()) for name in ("P", "V", "S", "NP", "NV")]
    position, velocity, stage, new_position, new_velocity = four
    launch = work(1, n, position, velocity, n, 0.005, 50.0, stage, new_position, new_velocity)
    run = run_functional(reference("m_nbody"), launch, 64)
    p, o = (run.read(name).astype(np.float64).reshape(n, 4) for name in "PV")
    d = p[None, :, :3] - p[:, None, :3]
    a = (d * (p[None, :, 3] * ((d * d).sum(2) + 50.0) ** -1.5)[:, :, None]).sum(1)
    close(run.read("NV").reshape(n, 4)[:, :3], o[:, :3] + a * 0.005, 1e-4)
    close(run.read("NP").reshape(n, 4)[:, :3], p[:, :3] + o[:, :3] * 0.005 + a * 0.5 * 0.005**2, 1e-4)
