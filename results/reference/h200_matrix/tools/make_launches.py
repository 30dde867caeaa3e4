"""In: matrix.ptx (the compiler's output for matrix.cu). Out: cuda/launches.json, cuda/ptx, cuda/cubin."""
import json, re, subprocess, sys, shutil
from pathlib import Path
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "h200_heldout/tools"))
from make_launches import split
HALF = {"kind": "uniform", "low": -0.5, "high": 0.5}; ZERO = {"kind": "zero"}
SZ = {"f16": 2, "bf16": 2, "f32": 4, "f64": 8, "u8": 1, "i32": 4, "u32": 4}
def buf(n, d, c, f=HALF): return {"buffer": n, "dtype": d, "bytes": c * SZ[d], "fill": f}
L = {}
def add(name, entry, grid, block, args, dyn=0, cluster=None):
    L[name] = {"entry": entry, "grid": grid, "block": block, "dynamic_shared_bytes": dyn, "args": args} | ({"cluster": cluster} if cluster else {})
i = lambda v: {"i32": v}
for st, M, N, K in [(2, 768, 1536, 1024), (3, 3072, 1024, 256), (4, 1024, 4096, 2048), (3, 256, 256, 8192), (2, 2048, 2048, 512), (4, 512, 512, 512)]:
    add(f"hgemm_wmma[stages={st},M={M},N={N},K={K}]", f"k_hgemm_wmmaILi{st}E", [N // 128, M // 128, 1], [256, 1, 1], [buf("HA", "f16", M * K), buf("HB", "f16", K * N), buf("C", "f32", M * N, ZERO), i(M), i(N), i(K)], dyn=st * 18944)
for fam, ilps in [("mma", (2, 8)), ("mma_tf32", (2,)), ("mma_sparse", (2,)), ("mma_s8", (2,)), ("mma_f8", (2,))]:
    for ilp in ilps:
        for w in (2, 8):
            add(f"{fam}_chain[ilp={ilp},warps={w}]", f"k_{fam}_chainILi{ilp}E", [132, 1, 1], [32 * w, 1, 1], [buf("C", "f32", 1 << 18, ZERO), i(256)])
for ch, st in [(4096, 3), (32768, 2), (1024, 8)]:
    add(f"bulk_stream[chunk={ch},stages={st}]", f"k_bulk_streamILi{ch}ELi{st}E", [264, 1, 1], [128, 1, 1], [buf("A", "f32", 1 << 28), buf("C", "f32", 1 << 18, ZERO), i((1 << 30) // ch)], dyn=ch * st)
for cs, rows in [(4, 512), (2, 1024)]:
    add(f"cluster_sum[cluster={cs},rows={rows}]", f"k_cluster_sumILi{cs}E", [rows * cs, 1, 1], [256, 1, 1], [buf("A", "f32", rows * cs * 4096 * 4), buf("C", "f32", 1 << 18, ZERO), i(4096)], cluster=[cs, 1, 1])
for st, w, steps, g in [(2, 16, 64, 1056), (4, 16, 64, 1056), (4, 4, 64, 1056), (4, 16, 512, 132)]:
    add(f"copy_stream[stages={st},width={w},steps={steps},grid={g}]", f"k_copy_streamILi{st}ELi{w}E", [g, 1, 1], [256, 1, 1], [buf("A", "f32", g * steps * 256 * w // 4), buf("C", "f32", 1 << 18, ZERO), i(steps)])
for M, N, K in [(1024, 1024, 1024), (2048, 4096, 512)]:
    add(f"bgemm_plain[M={M},N={N},K={K}]", "k_bgemm_plain", [N // 64, M // 64, 1], [128, 1, 1], [buf("HA", "bf16", M * K), buf("HB", "bf16", K * N), buf("C", "f32", M * N, ZERO), i(M), i(N), i(K)])
for M, N, K in [(1024, 1024, 1024), (4096, 2048, 512)]:
    add(f"igemm_direct[M={M},N={N},K={K}]", "k_igemm_direct", [N // 32, M // 128, 1], [256, 1, 1], [buf("IA", "i32", M * K // 4, {"kind": "uniform_int", "low": 0, "high": 127}), buf("IB", "i32", N * K // 4, {"kind": "uniform_int", "low": 0, "high": 127}), buf("C", "i32", M * N, ZERO), i(M), i(N), i(K)])
add("dgemm_mma[M=512,N=512,K=512]", "k_dgemm_mma", [16, 16, 1], [128, 1, 1], [buf("DA", "f64", 1 << 18), buf("DB", "f64", 1 << 18), buf("C", "f64", 1 << 18, ZERO), i(512), i(512), i(512)])
for cs, n in [(2, 1 << 22), (8, 1 << 22)]:
    add(f"cluster_histogram[cluster={cs},n={n}]", "k_cluster_histogram", [528 // cs * cs, 1, 1], [256, 1, 1], [buf("IA", "u32", n, {"kind": "uniform_int", "low": 0, "high": 1 << 20}), buf("C", "i32", 4096, ZERO), i(n)], cluster=[cs, 1, 1])
for cs, tiles, g in [(1, 32, 528), (2, 32, 528), (8, 32, 528)]:
    add(f"cluster_share[cluster={cs},tiles={tiles}]", "k_cluster_share", [g, 1, 1], [256, 1, 1], [buf("A", "f32", g // cs * tiles * 4096), buf("C", "f32", 1 << 18, ZERO), i(tiles)], cluster=[cs, 1, 1])
def assemble(ptx, cubin):
    r = subprocess.run(["ptxas", "-v", "-arch=sm_90a", "-O3", str(ptx), "-o", str(cubin)], capture_output=True, text=True)
    assert r.returncode == 0, r.stderr
    return {m[0]: int(m[1]) for m in re.findall(r"Function properties for (\w+)[\s\S]*?Used (\d+) registers", r.stderr)}
shutil.rmtree("cuda", ignore_errors=True); Path("cuda/ptx").mkdir(parents=True); Path("cuda/cubin").mkdir()
names = split(Path("matrix.ptx").read_text(), Path("cuda/ptx")); used = set(); out = {}
for k, v in L.items():
    e = v["entry"]; entry = next(n for n in names if e in n and re.match(r"_Z\d+" + re.escape(e), n)); used.add(entry)
    out[k] = {"ptx": f"ptx/{entry}.ptx"} | v | {"entry": entry}
for n in names:
    if n not in used: Path(f"cuda/ptx/{n}.ptx").unlink()
regs = {}
for n in used: regs |= assemble(f"cuda/ptx/{n}.ptx", f"cuda/cubin/{n}.cubin")
for v in out.values(): v["registers_per_thread"] = regs[v["entry"]]
Path("cuda/launches.json").write_text(json.dumps(out, indent=1) + "\n"); print(len(out), "launches", len(used), "entries")
