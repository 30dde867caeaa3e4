"""Triton kernels of the reference at other shapes, and others: compiled, written out as launches, run for the profiler.

Run on the GPU: `python triton_more.py FOLDER write|once`. FOLDER/launches.json, FOLDER/ptx are written by `write`.
"""
import json, sys, os
from pathlib import Path
import torch, triton
import triton.language as tl
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "h200"))
from triton_kernels import t_add, t_softmax, t_rmsnorm, t_matmul, t_attn, t_decode

@triton.jit
def t_matmul_gelu(a, b, bias, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pm = tl.program_id(0); pn = tl.program_id(1)
    rm = pm * BM + tl.arange(0, BM); rn = pn * BN + tl.arange(0, BN); rk = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        x = tl.load(a + rm[:, None] * K + (k + rk)[None, :]); y = tl.load(b + (k + rk)[:, None] * N + rn[None, :])
        acc = tl.dot(x, y, acc)
    acc += tl.load(bias + rn).to(tl.float32)[None, :]
    acc = acc * 0.5 * (1.0 + tl.math.erf(acc * 0.70710678))
    tl.store(c + rm[:, None] * N + rn[None, :], acc.to(tl.bfloat16))
@triton.jit
def t_matmul_f8(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pm = tl.program_id(0); pn = tl.program_id(1)
    rm = pm * BM + tl.arange(0, BM); rn = pn * BN + tl.arange(0, BN); rk = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        x = tl.load(a + rm[:, None] * K + (k + rk)[None, :]); y = tl.load(b + rn[None, :] * K + (k + rk)[:, None])
        acc = tl.dot(x, y, acc)
    tl.store(c + rm[:, None] * N + rn[None, :], acc.to(tl.float16))
@triton.jit
def t_matmul_tf32(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pm = tl.program_id(0); pn = tl.program_id(1)
    rm = pm * BM + tl.arange(0, BM); rn = pn * BN + tl.arange(0, BN); rk = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        x = tl.load(a + rm[:, None] * K + (k + rk)[None, :]); y = tl.load(b + (k + rk)[:, None] * N + rn[None, :])
        acc = tl.dot(x, y, acc)
    tl.store(c + rm[:, None] * N + rn[None, :], acc)
@triton.jit
def t_layernorm(x, w, b, o, cols, B: tl.constexpr):
    r = tl.program_id(0); i = tl.arange(0, B); m = i < cols
    v = tl.load(x + r * cols + i, mask=m, other=0.0).to(tl.float32); mu = tl.sum(v, 0) / cols; d = tl.where(m, v - mu, 0.0)
    s = 1.0 / tl.sqrt(tl.sum(d * d, 0) / cols + 1e-5)
    tl.store(o + r * cols + i, (d * s * tl.load(w + i, mask=m, other=0.0).to(tl.float32) + tl.load(b + i, mask=m, other=0.0).to(tl.float32)).to(tl.float16), mask=m)

ALL = []
def add(name, kernel, grid, tensors, scalars, constants, warps=4, stages=3):
    ALL.append((name, kernel, grid, tensors, scalars, constants, warps, stages))
h, b16, f8, f32 = torch.float16, torch.bfloat16, torch.float8_e4m3fn, torch.float32
for M, N, K, BM, BN, BK, st, w in [(1024, 2048, 512, 128, 128, 64, 4, 8), (1536, 768, 2048, 64, 128, 64, 3, 4), (512, 512, 4096, 64, 64, 64, 3, 4), (3072, 3072, 1024, 128, 256, 32, 4, 8),
                                    (2048, 2048, 2048, 128, 128, 32, 3, 4), (4096, 4096, 1024, 256, 128, 64, 3, 8), (4096, 1024, 4096, 128, 64, 64, 4, 4), (2048, 4096, 2048, 64, 256, 32, 3, 4)]:
    add(f"t_matmul[M={M},N={N},K={K},BM={BM},BN={BN},BK={BK},stages={st},warps={w}]", t_matmul, ((M // BM) * (N // BN), 1, 1), [("a", h, M * K), ("b", h, K * N), ("c", h, M * N)], [("i32", M), ("i32", N), ("i32", K)], dict(BM=BM, BN=BN, BK=BK, G=8), w, st)
for B, H, S, D, BM, BN, causal, w in [(2, 8, 512, 64, 128, 64, 0, 4), (2, 16, 2048, 64, 128, 64, 0, 4), (4, 16, 1024, 64, 128, 64, 1, 4), (2, 16, 2048, 128, 128, 64, 1, 8), (1, 16, 4096, 64, 64, 64, 0, 4), (1, 32, 1024, 128, 64, 32, 0, 4)]:
    n = B * H * S * D
    add(f"t_attn[B={B},H={H},S={S},D={D},BM={BM},BN={BN},causal={causal}]", t_attn, (S // BM, B * H, 1), [("q", h, n), ("k", h, n), ("v", h, n), ("o", h, n)], [("i32", S), ("f32", 0.18033688)], dict(D=D, BM=BM, BN=BN, CAUSAL=causal), w, 3)
for M, N, K, BM, BN, BK, st, w in [(2048, 2048, 1024, 128, 128, 64, 3, 8), (1024, 4096, 1024, 64, 128, 32, 4, 4)]:
    add(f"t_matmul_gelu[M={M},N={N},K={K},BM={BM},BN={BN},BK={BK}]", t_matmul_gelu, (M // BM, N // BN, 1), [("a", b16, M * K), ("b", b16, K * N), ("bias", b16, N), ("c", b16, M * N)], [("i32", M), ("i32", N), ("i32", K)], dict(BM=BM, BN=BN, BK=BK), w, st)
for M, N, K, BM, BN, BK, st, w in [(2048, 2048, 2048, 128, 128, 64, 3, 4), (4096, 4096, 1024, 128, 128, 128, 3, 8)]:
    add(f"t_matmul_f8[M={M},N={N},K={K},BM={BM},BN={BN},BK={BK}]", t_matmul_f8, (M // BM, N // BN, 1), [("a", f8, M * K), ("b", f8, K * N), ("c", h, M * N)], [("i32", M), ("i32", N), ("i32", K)], dict(BM=BM, BN=BN, BK=BK), w, st)
for M, N, K, BM, BN, BK, st, w in [(1024, 1024, 1024, 128, 64, 32, 3, 4)]:
    add(f"t_matmul_tf32[M={M},N={N},K={K},BM={BM},BN={BN},BK={BK}]", t_matmul_tf32, (M // BM, N // BN, 1), [("a", f32, M * K), ("b", f32, K * N), ("c", f32, M * N)], [("i32", M), ("i32", N), ("i32", K)], dict(BM=BM, BN=BN, BK=BK), w, st)
for rows, cols, w in [(2048, 4096, 4), (16384, 512, 4), (4096, 2048, 8)]:
    B = triton.next_power_of_2(cols)
    add(f"t_layernorm[rows={rows},cols={cols},warps={w}]", t_layernorm, (rows, 1, 1), [("x", h, rows * cols), ("w", h, cols), ("b", h, cols), ("o", h, rows * cols)], [("i32", cols)], dict(B=B), w, 3)
for rows, cols, w in [(4096, 4096, 8), (1024, 12288, 8), (32768, 256, 2)]:
    B = triton.next_power_of_2(cols)
    add(f"t_softmax[rows={rows},cols={cols},warps={w}]", t_softmax, (rows, 1, 1), [("x", h, rows * cols), ("o", h, rows * cols)], [("i32", cols)], dict(B=B), w, 3)
for BH, S, D, BN in [(128, 2048, 128, 64), (1024, 1024, 64, 64)]:
    add(f"t_decode[BH={BH},S={S},D={D},BN={BN}]", t_decode, (BH, 1, 1), [("q", h, BH * D), ("k", h, BH * S * D), ("v", h, BH * S * D), ("o", h, BH * D)], [("i32", S), ("f32", 0.088)], dict(D=D, BN=BN), 4, 3)
add("t_add[n=16777216,B=2048]", t_add, (8192, 1, 1), [("x", f32, 1 << 24), ("y", f32, 1 << 24), ("o", f32, 1 << 24)], [("i32", 1 << 24)], dict(B=2048), 8, 3)

DT = {h: ("f16", 2), b16: ("bf16", 2), f8: ("e4m3", 1), f32: ("f32", 4)}
def main(folder, mode):
    root = Path(folder); (root / "ptx").mkdir(parents=True, exist_ok=True); launches = {}
    for name, kernel, grid, tensors, scalars, constants, warps, stages in ALL:
        data = [(torch.rand(n, device="cuda", dtype=torch.float32) - 0.5).to(dt) for _, dt, n in tensors]
        run = lambda: kernel[grid](*data, *[v for _, v in scalars], **constants, num_warps=warps, num_stages=stages)
        try:
            done = run(); torch.cuda.synchronize()
        except Exception as error:
            print(json.dumps({"id": name, "error": str(error)[:200]}), flush=True); continue
        meta = done.metadata
        row = {"id": name, "registers": done.n_regs, "spills": done.n_spills, "shared": meta.shared, "entry": meta.name}
        if mode == "write":
            file = "ptx/" + name.replace("[", "_").replace("]", "") + ".ptx"
            (root / file).write_text(done.asm["ptx"])
            args = []
            for (label, dt, n), tensor in zip(tensors, data):
                kind, size = DT[dt]
                kind = "u8" if kind == "e4m3" else kind
                fill = {"kind": "uniform_int", "low": 0, "high": 96} if kind == "u8" else {"kind": "uniform", "low": -0.5, "high": 0.5}
                args.append({"buffer": label, "dtype": kind, "bytes": n * size, "fill": fill})
            args += [{k: v} for k, v in scalars] + [{"u64": 0}, {"u64": 0}]
            launches[name] = {"ptx": file, "entry": meta.name, "grid": list(grid), "block": [warps * 32, 1, 1], "dynamic_shared_bytes": meta.shared, "registers_per_thread": done.n_regs, "args": args}
            start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            best = 1e30
            for _ in range(6):
                start.record()
                for _ in range(20): run()
                stop.record(); torch.cuda.synchronize(); best = min(best, start.elapsed_time(stop) * 1e3 / 20)
            row["warm_us"] = best
        else:
            spin = torch.rand(2048, 2048, device="cuda"); torch.cuda.synchronize()
            for _ in range(20): spin = spin * 1.0001
            torch.cuda.synchronize(); torch.cuda.cudart().cudaProfilerStart(); run(); torch.cuda.synchronize(); torch.cuda.cudart().cudaProfilerStop()
        print(json.dumps(row), flush=True)
    if mode == "write": (root / "launches.json").write_text(json.dumps(launches, indent=1))
main(*sys.argv[1:])
