"""The standard suite's kernels, executed whole at small shapes and at both wave widths, leave in memory what numpy computes."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from archex.base import folders
from archex.programs.buffers import Buffer, Fill
from archex.programs.build import load_function
from archex.programs.ir import Function
from archex.suite.launch import read_folder
from archex.suite.laws import law
from archex.sweeps.settings import KERNELS
from running import floats, run_functional, whole, work

WIDTHS = pytest.mark.parametrize("width", [32, 64])


@cache
def kernel(file: str, entry: str) -> Function:
    return load_function(KERNELS / "standard" / f"{file}.ptx", entry)


def run(file: str, entry: str, width: int, grid: Any, block: Any, *items: Any, local: int = 0) -> Any:
    return run_functional(kernel(file, entry), work(grid, block, *items, local=local), width)


def out(count: int, dtype: str = "f32") -> Buffer:
    return floats("C", count, Fill(), dtype)


def close(found: np.ndarray, wanted: np.ndarray, tolerance: float = 1e-5) -> None:
    np.testing.assert_allclose(found.astype(np.float64), wanted.astype(np.float64), rtol=tolerance, atol=tolerance)


def read(done: Any, name: str, *shape: int) -> np.ndarray:
    return np.asarray(done.read(name).astype(np.float64)).reshape(shape or -1)


def gelu(x: np.ndarray) -> np.ndarray:
    return np.asarray(0.5 * x * (1 + np.tanh(0.79788456 * (x + 0.044715 * x**3))))


def keep(count: int) -> np.ndarray:
    i = np.arange(count, dtype=np.uint32)
    i ^= i >> 16
    i *= np.uint32(0x7FEB352D)
    i ^= i >> 15
    i *= np.uint32(0x846CA68B)
    i ^= i >> 16
    return np.where(i > 429496729, np.float64(np.float32(1.1111111)), 0.0)


@WIDTHS
def test_streams(width: int) -> None:
    n = 300
    done = run("streaming", "copy", width, 3, 128, floats("A", 4 * n), out(4 * n), n)
    assert np.array_equal(done.read("C"), done.read("A"))
    done = run("streaming", "triad", width, 3, 128, floats("A", 4 * n), floats("B", 4 * n), out(4 * n), n, 0.5)
    close(done.read("C"), read(done, "A") + 0.5 * read(done, "B"), 1e-6)
    done = run("streaming", "strided", width, 3, 128, floats("A", 7 * n), out(n), n, 7)
    assert np.array_equal(done.read("C"), done.read("A")[::7])
    index = whole("index", n, Fill("uniform_int", 0, 1000))
    done = run("streaming", "gather", width, 3, 128, floats("A", 1000), index, out(n), n)
    assert np.array_equal(done.read("C"), done.read("A")[done.read("index")])
    for entry, shape, axis in (("array_of_structs", (n, 8), 1), ("struct_of_arrays", (8, n), 0)):
        done = run("streaming", entry, width, 3, 128, floats("A", 8 * n), out(n), n)
        fields = np.moveaxis(read(done, "A", *shape), axis, 0)
        close(done.read("C"), fields[0] + fields[3] + fields[5], 1e-6)
    for each in (1, 4):
        done = run("streaming", f"in_flight_{each}", width, 2, 64, floats("A", 4 * 1024), out(128), 1024, local=1024)
        close(done.read("C"), read(done, "A", 8, 128, 4).sum((0, 2)), 1e-5)


@WIDTHS
@pytest.mark.parametrize("entry", ["reduce", "reduce_tree"])
def test_reductions(width: int, entry: str) -> None:
    done = run("rows", entry, width, 3, 256, floats("A", 4 * 2000), out(1), 2000)
    close(done.read("C"), read(done, "A").sum(keepdims=True), 1e-3)


@WIDTHS
def test_rows_of_halves(width: int) -> None:
    rows, each = 3, 320
    shape = (rows, 8 * each)
    a = floats("A", 8 * rows * each, dtype="f16")
    done = run("rows", "softmax", width, rows, 256, a, out(8 * rows * each, "f16"), each)
    e = np.exp(read(done, "A", *shape))
    close(read(done, "C", *shape), e / e.sum(1, keepdims=True), 1e-3)
    done = run("rows", "rmsnorm", width, rows, 256, a, floats("G", 8 * each, dtype="f16"), out(8 * rows * each, "f16"), each)
    x = read(done, "A", *shape)
    close(read(done, "C", *shape), x / np.sqrt((x * x).mean(1, keepdims=True) + 1e-6) * read(done, "G"), 3e-3)


@WIDTHS
def test_fused_and_unfused_are_the_same(width: int) -> None:
    rows, each = 2, 300
    count = 4 * rows * each
    a, g = floats("A", count), floats("G", 4 * each)
    fused = run("rows", "layernorm_dropout", width, rows, 256, a, g, out(count), each)
    x = read(fused, "A", rows, 4 * each)
    wanted = (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5) * read(fused, "G")
    close(fused.read("C"), wanted.reshape(-1) * keep(count), 1e-4)
    close(run("rows", "layernorm", width, rows, 256, a, g, out(count), each).read("C"), wanted.reshape(-1), 1e-4)
    done = run("rows", "dropout", width, 3, 256, a, out(count), rows * each)
    close(done.read("C"), read(done, "A") * keep(count), 1e-6)
    fused = run("elementwise", "bias_gelu", width, (2, rows), 256, a, floats("B", 4 * each), out(count), each)
    biased = read(fused, "A", rows, 4 * each) + read(fused, "B")
    close(fused.read("C"), gelu(biased).reshape(-1), 1e-5)
    close(run("elementwise", "bias", width, (2, rows), 256, a, floats("B", 4 * each), out(count), each).read("C"), biased.reshape(-1), 1e-6)
    done = run("elementwise", "gelu", width, 3, 256, a, out(count), rows * each)
    close(done.read("C"), gelu(read(done, "A")), 1e-5)


@WIDTHS
@pytest.mark.parametrize("entry", ["naive", "padded", "swizzled", "padded_64", "swizzled_64"])
def test_transposes(width: int, entry: str) -> None:
    n, tile = 128, 64 if "64" in entry else 32
    done = run("transpose", f"transpose_{entry}", width, (n // tile, n // tile), (tile, 256 // tile), floats("A", n * n), out(n * n), n)
    assert np.array_equal(done.read("C").reshape(n, n), done.read("A").reshape(n, n).T)


@WIDTHS
@pytest.mark.parametrize(
    ("entry", "tile", "block"), [("naive", 16, (16, 16)), ("tiled", 32, (32, 32)), ("register", 128, (256,)), ("register_64", 64, (256,))]
)
def test_products(width: int, entry: str, tile: int, block: tuple[int, ...]) -> None:
    m, n, k = tile, 2 * tile, 32
    done = run("sgemm", f"sgemm_{entry}", width, (2, 1), block, floats("A", m * k), floats("B", k * n), out(m * n), m, n, k)
    close(read(done, "C", m, n), read(done, "A", m, k) @ read(done, "B", k, n), 1e-5)


@WIDTHS
def test_matrix_times_vector(width: int) -> None:
    rows, each = 37, 80
    w, x = floats("W", 8 * rows * each, dtype="f16"), floats("X", 8 * each, dtype="f16")
    for entry, grid in (("gemv", 10), ("gemv_workgroup", rows)):
        done = run("vectors", entry, width, grid, 128, w, x, out(rows), rows, each)
        close(done.read("C"), read(done, "W", rows, 8 * each) @ read(done, "X"), 1e-4)
    starts, columns = whole("starts", rows + 1, Fill("arange", step=9)), whole("columns", 9 * rows, Fill("uniform_int", 0, 50))
    for entry, grid in (("spmv_scalar", 1), ("spmv_vector", 10)):
        done = run("vectors", entry, width, grid, 128, starts, columns, floats("V", 9 * rows), floats("X", 50), out(rows), rows)
        close(done.read("C"), (read(done, "V") * read(done, "X")[done.read("columns")]).reshape(rows, 9).sum(1))


@WIDTHS
def test_stencils(width: int) -> None:
    n, c = 40, slice(1, -1)
    done = run("stencil", "stencil2d", width, (2, 5), (32, 8), floats("A", n * n), out(n * n), n)
    x, found = read(done, "A", n, n), read(done, "C", n, n)
    close(found[c, c], 0.2 * (x[c, c] + x[c, 2:] + x[c, :-2] + x[2:, c] + x[:-2, c]))
    assert not found[0].any()
    n = 10
    done = run("stencil", "stencil3d", width, (1, 2, n), (32, 8), floats("A", n**3), out(n**3), n)
    x = read(done, "A", n, n, n)
    inner = x[c, c, c] + x[c, c, 2:] + x[c, c, :-2] + x[c, 2:, c] + x[c, :-2, c] + x[2:, c, c] + x[:-2, c, c]
    close(read(done, "C", n, n, n)[c, c, c], 0.125 * inner)


@WIDTHS
def test_counting_and_parting(width: int) -> None:
    n = 500
    data = whole("A", 4 * n, Fill("uniform_int", 0, 1 << 24), "u32")
    done = run("irregular", "histogram", width, 2, 128, data, whole("C", 256, dtype="u32"), n, 255)
    assert np.array_equal(done.read("C"), np.bincount(done.read("A") & 255, minlength=256))
    done = run("irregular", "atomics", width, 4, 128, out(64), n, 63)
    assert np.array_equal(done.read("C"), np.bincount((np.arange(n) * 33) & 63, minlength=64).astype(np.float32))
    done = run("irregular", "divergence", width, 4, 128, whole("turns", n, Fill("uniform_int", 0, 65)), out(n), n)
    value, wanted = np.float64(1), [1.0]
    for _ in range(64):
        value = value * 0.9990234375 + 0.25
        wanted.append(float(value))
    close(done.read("C"), np.array(wanted)[done.read("turns")], 1e-5)
    done = run("irregular", "chase", width, 1, 1, whole("A", 64 * 32, Fill("random_cycle", stride_bytes=128), "u32"), whole("C", 1), 61)
    at, links = 0, done.read("A")
    for _ in range(61):
        at = links[at]
    assert done.read("C")[0] == at


@WIDTHS
def test_scan_in_three_steps(width: int) -> None:
    n, tiles = 700, 6
    done = run("irregular", "scan_tiles", width, tiles, 128, floats("A", 4 * n), out(4 * n), floats("T", tiles, Fill()), n)
    x = read(done, "A")
    parts = [x[512 * tile : 512 * (tile + 1)] for tile in range(tiles)]
    close(done.read("C"), np.concatenate([np.cumsum(part) for part in parts]), 1e-4)
    close(done.read("T"), np.array([part.sum() for part in parts]), 1e-4)
    done = run("irregular", "scan_totals", width, 1, 64, floats("T", tiles), tiles)
    close(done.read("T"), np.cumsum(np.array(floats_of("T", tiles))), 1e-5)
    done = run("irregular", "scan_add", width, tiles, 128, floats("A", 4 * n), floats("T", tiles), n)
    before = np.concatenate([[0.0], floats_of("T", tiles)[:-1]])
    close(done.read("A"), floats_of("A", 4 * n) + np.repeat(before, 512)[: 4 * n], 1e-5)


def floats_of(name: str, count: int) -> np.ndarray:
    from archex.programs.buffers import read_elements

    return np.asarray(read_elements(floats(name, count)).astype(np.float64))


@WIDTHS
def test_spilled_sums(width: int) -> None:
    n, turns = 1024, 2
    done = run("irregular", "spill", width, 1, 256, floats("A", n), out(n), n, turns)
    acc = np.stack([read(done, "A")[(np.arange(256) + j * 1024) & (n - 1)] for j in range(96)])
    for i in range(turns):
        for j in range(96):
            acc[j] = acc[j] * (1 + i * 1e-3) + acc[(j + 37) % 96]
    close(done.read("C")[:256], acc.sum(0), 1e-4)


@pytest.mark.parametrize("suite", ["standard", "long"])
def test_every_launch_reads_parses_and_has_a_law(suite: str) -> None:
    """Every program that a folder names is there, every kernel of it is read, and its law has the launch's own operations."""
    assert (folders.conf() / "suite" / f"{suite}.yaml").is_file()
    for launch in read_folder(KERNELS / suite).values():
        found = law(launch)
        assert found is not None, launch.id
        assert found.flops == (launch.flops or 0), launch.id
        for program in [variant.launch for variant in launch.variants] or [launch]:
            assert all(kernel(step.ptx.name.removesuffix(".ptx"), step.entry).blocks for step in program.steps)
