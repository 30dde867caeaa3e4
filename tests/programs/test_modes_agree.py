"""Compiled and uncompiled, the interpreter leaves the same bits in memory and the same traces."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
from archex.programs.arguments import Argument
from archex.programs.buffers import Fill
from archex.programs.trace import TraceSource
from draining import drain
from running import floats, reference, run_functional, whole, work

HERE = Path(__file__).resolve().parent


def digest() -> str:
    """A hash over memory and traces of kernels that between them use every group of operations."""
    found = hashlib.sha256()
    n = 40
    launches = {
        "k_gelu_f4": work(1, 64, floats("A", 4 * n), floats("C", 4 * n, Fill()), n),
        "k_gelu_h8": work(1, 32, floats("A", 8 * 20, dtype="f16"), floats("C", 8 * 20, Fill(), dtype="f16"), 20),
        "k_scan_block": work(1, 64, floats("A", 64), floats("C", 64, Fill()), 60),
        "k_histogram": work(1, 64, whole("A", 4 * n, Fill("uniform_int", 0, 1 << 24), "u32"), whole("C", 256, Fill(), "u32"), n, 255),
        "k_mandelbrot": work((1, 1), (16, 16), whole("C", 256), 16, 16, 8),
        "k_divmod": work(1, 32, whole("A", 32, Fill("uniform_int", -(2**31), 2**31 - 1)), whole("C", 32), 32, 7919, 1),
        "k_rope": work(1, 32, floats("A", 64, dtype="f16"), floats("C", 64, Fill(), dtype="f16"), 8, 2),
        "k_dfma_chainILi1E": work(1, 32, floats("C", 4, Fill(), dtype="f64"), 1),
        "k_chase": work(1, 1, whole("P", 128 * 32, Fill("random_cycle", stride_bytes=128), "u32"), whole("C", 1, Fill(), "u32"), 1),
        "k_mma_chainILi1E": work(1, 32, floats("C", 128, Fill()), 1),
        "k_mma_f8_chainILi1E": work(1, 32, floats("C", 128, Fill()), 1),
        "k_mma_tf32_chainILi1E": work(1, 32, floats("C", 128, Fill()), 1),
        "k_mma_s8_chainILi1E": work(1, 32, whole("C", 128), 1),
        "k_mma_sparse_chainILi1E": work(1, 32, floats("C", 128, Fill()), 1),
        "triton_matmul_M=1024,N=1024,K=1024,BM=64,BN=64,BK=32": work(
            1, 128, floats("A", 64 * 32, dtype="f16"), floats("B", 64 * 32, dtype="f16"), floats("C", 64 * 64, dtype="f16"), 64, 64, 32,
            Argument("u64", 0), Argument("u64", 0), local=32768,
        ),
    }  # fmt: skip
    for name, launch in launches.items():
        run = run_functional(reference(name), launch, 64)
        for buffer in launch.buffers:
            found.update(run.read(buffer.name).tobytes())
        found.update(repr(drain(TraceSource(reference(name), launch, 32, 16), 1)).encode())
    return found.hexdigest()


def test_compiled_and_uncompiled_agree() -> None:
    code = "import test_modes_agree; print(test_modes_agree.digest())"
    search = os.pathsep.join([str(HERE), *sys.path])
    other = "0" if os.environ.get("ARCHEX_JIT", "1") != "0" else "1"
    environment = os.environ | {"ARCHEX_JIT": other, "PYTHONPATH": search}
    printed = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True).stdout
    assert printed.strip() == digest()


def test_a_seed_decides_what_buffers_hold() -> None:
    kernel, launch = reference("k_copy_f1"), work(1, 32, floats("A", 32), floats("C", 32, Fill()), 32)
    first, again, other = (run_functional(kernel, launch, seed=seed).read("C") for seed in (0, 0, 1))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
