"""Writes launches.json and one PTX file per entry for the held-out kernels.

In: heldout.ptx (the compiler's output for every kernel). Out: launches.json, ptx/.
Register counts come from registers.json beside it (the assembler's report).
"""

import json
import re
import sys
from pathlib import Path
from typing import Any

SIZES = {"u8": 1, "f16": 2, "i32": 4, "u32": 4, "f32": 4, "i64": 8, "f64": 8}
Launch = dict[str, Any]
LAUNCHES: dict[str, Launch] = {}
HALF = {"kind": "uniform", "low": -0.5, "high": 0.5}
ZERO = {"kind": "zero"}


def buffer(name: str, dtype: str, count: int, fill: Launch) -> Launch:
    return {"buffer": name, "dtype": dtype, "bytes": count * SIZES[dtype], "fill": fill}


def real(low: float, high: float) -> Launch:
    return {"kind": "uniform", "low": low, "high": high}


def whole(low: int, high: int) -> Launch:
    return {"kind": "uniform_int", "low": low, "high": high}


def i32(value: int) -> Launch:
    return {"i32": value}


def f32(value: float) -> Launch:
    return {"f32": value}


def out(count: int, dtype: str = "f32") -> Launch:
    return buffer("OUT", dtype, count, ZERO)


def add(family: str, kernel: str, grid: Any, block: Any, args: list[Launch], /, dynamic: int = 0, **parameters: Any) -> None:
    def triple(x: Any) -> list[int]:
        return list(x) + [1] * (3 - len(x)) if isinstance(x, tuple) else [x, 1, 1]

    name = f"{family}[{','.join(f'{k}={v}' for k, v in parameters.items())}]"
    assert name not in LAUNCHES, name
    LAUNCHES[name] = {"kernel": kernel, "grid": triple(grid), "block": triple(block), "dynamic_shared_bytes": dynamic, "args": args}


def blocks(n: int, block: int) -> int:
    return -(-n // block)


def data_dependent() -> None:
    for t, n, b in (("u32", 65536, 256), ("u32", 524288, 96), ("u64", 262144, 128)):
        add(f"collatz_{t}", "k_collatzI" + {"u32": "j", "u64": "y"}[t], blocks(n, b), b, [{"u32": 1}, out(n, "i32"), i32(n)], n=n, block=b)
    for n, b in ((65536, 128), (2097152, 256)):
        add("newton_cbrt", "k_newton_cbrt", blocks(n, b), b, [buffer("A", "f32", n, real(0.1, 1000.0)), out(n), i32(n)], n=n, block=b)
    for n, b in ((131072, 256), (1048576, 64)):
        v = whole(1, 1 << 20)
        add("gcd", "k_gcd", blocks(n, b), b, [buffer("A", "u32", n, v), buffer("B", "u32", n, v), out(n, "u32"), i32(n)], n=n, block=b)
    for m, n, b in ((4096, 1048576, 256), (16777216, 262144, 512)):
        add(
            "binary_search",
            "k_binary_search",
            blocks(n, b),
            b,
            [
                buffer("TABLE", "i32", m, {"kind": "arange", "step": 3}),
                buffer("QUERY", "i32", n, whole(0, 3 * m)),
                out(n, "i32"),
                i32(n),
                i32(m),
            ],
            n=n,
            table=m,
        )
    for m, n, empty in ((1048576, 1048576, 0.5), (16777216, 1048576, 0.1), (16384, 262144, 0.2), (67108864, 8388608, 0.25)):
        top = 1 << 30
        add(
            "hash_probe",
            "k_hash_probe",
            n // 256,
            256,
            [
                buffer("TABLE", "u32", m, whole(0, top)),
                buffer("KEY", "u32", n, whole(0, top)),
                out(n, "i32"),
                i32(n),
                {"u32": m - 1},
                {"u32": int(top * empty)},
            ],
            n=n,
            slots=m,
            empty=empty,
        )
    for rows, length, b in ((65536, 64, 256), (262144, 24, 128)):
        n = 16777216
        head = [
            buffer("START", "i32", rows, whole(0, n - length)),
            buffer("LENGTH", "i32", rows, whole(0, length)),
            buffer("V", "f32", n, HALF),
            out(rows),
            i32(rows),
        ]
        add("rows_thread", "k_rows_thread", blocks(rows, b), b, head, rows=rows, longest=length)
        add("rows_group8", "k_rows_group8", blocks(rows * 8, b), b, head, rows=rows, longest=length)
    for nodes, degree in ((65536, 16), (524288, 8)):
        edges = nodes * degree
        add(
            "graph_relax",
            "k_graph_relax",
            nodes // 256,
            256,
            [
                buffer("START", "i32", nodes, whole(0, edges - degree)),
                buffer("DEGREE", "i32", nodes, whole(0, degree)),
                buffer("DST", "i32", edges, whole(0, nodes)),
                buffer("DIST", "i32", nodes, whole(0, 1000)),
                buffer("NEXT", "i32", nodes, whole(0, 1000)),
                i32(nodes),
            ],
            nodes=nodes,
            degree=degree,
        )
    for grid, b in ((1024, 128), (132, 512)):
        add("random_walk", "k_random_walk", grid, b, [out(grid * b, "i32"), i32(4096), {"u32": 77}], grid=grid, block=b)


def arithmetic() -> None:
    for n, top in ((1048576, 3.0), (524288, 1e7)):
        add("sincos", "k_sincos", n // 256, 256, [buffer("A", "f32", n, real(-top, top)), out(n), i32(n)], n=n, range=int(top))
    for n, b in ((65536, 64), (4194304, 256)):
        add("transcend", "k_transcend", n // b, b, [buffer("A", "f32", n, real(0.01, 4.0)), out(n), i32(n)], n=n, block=b)
    for letter, dtype, n, grid, b in (
        ("f", "f32", 4194304, 528, 256),
        ("f", "f32", 131072, 1024, 128),
        ("d", "f64", 262144, 2048, 128),
        ("d", "f64", 1048576, 264, 256),
    ):
        add(
            f"black_scholes_{dtype}",
            f"k_black_scholesI{letter}",
            grid,
            b,
            [
                buffer("PRICE", dtype, n, real(5.0, 30.0)),
                buffer("STRIKE", dtype, n, real(1.0, 100.0)),
                buffer("YEARS", dtype, n, real(0.25, 10.0)),
                buffer("CALL", dtype, n, ZERO),
                buffer("PUT", dtype, n, ZERO),
                i32(n),
            ],
            n=n,
            grid=grid,
        )
    for n, reps, b in ((65536, 64, 128), (1048576, 8, 1024)):
        add(
            "horner_f64",
            "k_horner_f64",
            n // b,
            b,
            [buffer("A", "f64", n, HALF), out(n, "f64"), i32(n), i32(reps)],
            n=n,
            reps=reps,
            block=b,
        )
    for n, reps, b in ((1048576, 16, 256), (65536, 128, 32)):
        add(
            "splitmix64",
            "k_splitmix64",
            n // b,
            b,
            [buffer("A", "i64", n, whole(0, 1 << 40)), out(n, "i64"), i32(n), i32(reps)],
            n=n,
            reps=reps,
            block=b,
        )
    for what, low, high, low2, high2, n in (("long", 1 << 40, 1 << 60, 1 << 33, 1 << 40, 524288), ("short", 0, 1 << 30, 1, 1000, 1048576)):
        add(
            "div64",
            "k_div64",
            n // 256,
            256,
            [buffer("A", "i64", n, whole(low, high)), buffer("B", "i64", n, whole(low2, high2)), out(n, "i64"), i32(n)],
            n=n,
            operands=what,
        )
    for n, b in ((32768, 64), (262144, 256), (4194304, 256)):
        add(
            "powmod",
            "k_powmod",
            n // b,
            b,
            [buffer("A", "u32", n, whole(1, 1 << 30)), buffer("E", "u32", n, whole(1, 65536)), out(n, "u32"), i32(n), {"u32": 1000003}],
            n=n,
            block=b,
        )
    for n in (262144, 4194304):
        add(
            "rem_variable",
            "k_rem_variable",
            n // 256,
            256,
            [buffer("A", "i32", n, whole(-(1 << 30), 1 << 30)), buffer("D", "i32", n, whole(1, 1000)), out(n, "i32"), i32(n)],
            n=n,
        )
    for n, reps in ((1048576, 8), (131072, 128)):
        add(
            "bits",
            "k_bits",
            n // 256,
            256,
            [buffer("A", "u32", 2 * n, whole(0, 1 << 31)), out(n, "u32"), i32(n), i32(reps)],
            n=n,
            reps=reps,
        )
    for n, reps in ((4194304, 4), (131072, 128)):
        add(
            "half2_poly",
            "k_half2_poly",
            n // 256,
            256,
            [buffer("A", "f16", 2 * n, HALF), out(2 * n, "f16"), i32(n), i32(reps)],
            n=n,
            reps=reps,
        )
    for n, b in ((524288, 128), (16777216, 256)):
        add(
            "swiglu_bf16",
            "k_swiglu_bf16",
            n // b,
            b,
            [buffer("G", "f32", 2 * n, real(-4.0, 4.0)), buffer("U", "f32", 2 * n, HALF), out(n, "u32"), i32(n)],
            n=n,
            block=b,
        )


def patterns() -> None:
    for rows, cols, b in ((16384, 256, 128), (131072, 64, 256), (4096, 33, 32), (262144, 256, 256)):
        for kind in ("rows", "columns"):
            add(
                f"walk_{kind}",
                f"k_walk_{kind}",
                blocks(rows, b),
                b,
                [buffer("A", "f32", rows * cols, HALF), out(rows), i32(rows), i32(cols)],
                rows=rows,
                cols=cols,
            )
    for rows, cols, b in ((8192, 512, 64), (65536, 128, 256), (262144, 256, 128)):
        add(
            "matvec_f64",
            "k_matvec_f64",
            blocks(rows, b),
            b,
            [buffer("A", "f64", rows * cols, HALF), buffer("X", "f64", cols, HALF), out(rows, "f64"), i32(rows), i32(cols)],
            rows=rows,
            cols=cols,
        )
    for kernel, n, grid, b in (
        ("stride", 8388608, 264, 512),
        ("stride", 8388608, 1320, 96),
        ("one", 8388608, 8192, 1024),
        ("one", 4194304, 65536, 64),
        ("one", 262144, 8192, 32),
    ):
        add(
            f"axpy_{kernel}_f64",
            f"k_axpy_{kernel}_f64",
            grid,
            b,
            [buffer("X", "f64", n, HALF), buffer("Y", "f64", n, HALF), {"f64": 0.75}, i32(n)],
            n=n,
            grid=grid,
            block=b,
        )
    for n in (262144, 8388608):
        add("interleave_i64", "k_interleave_i64", n // 256, 256, [buffer("A", "i64", n, whole(0, 1 << 40)), out(2 * n, "i64"), i32(n)], n=n)
    for w, bx, by in ((1024, 16, 16), (4096, 32, 8), (12288, 32, 8)):
        add(
            "bilinear",
            "k_bilinear",
            (w // bx, w // by),
            (bx, by),
            [buffer("IMAGE", "f32", w * w, real(0.0, 1.0)), out(w * w), i32(w), i32(w), f32(0.955), f32(0.296)],
            w=w,
            block=f"{bx}x{by}",
        )
    for w, ow, oh, bx, by in ((2048, 1024, 1024, 16, 16), (1024, 3008, 2000, 32, 4)):
        add(
            "resize_rgba",
            "k_resize_rgba",
            (ow // bx, oh // by),
            (bx, by),
            [
                buffer("IMAGE", "u8", 4 * w * w, whole(0, 256)),
                out(4 * ow * oh, "u8"),
                i32(w),
                i32(w),
                i32(ow),
                i32(oh),
                f32(w / ow),
                f32(w / oh),
            ],
            w=w,
            ow=ow,
            oh=oh,
        )
    for rows, quads, table, bx, by in ((8192, 64, 100000, 32, 8), (131072, 8, 500000, 8, 16), (2048, 256, 16384, 128, 1)):
        add(
            "embed_rows",
            "k_embed_rows",
            rows // by,
            (bx, by),
            [
                buffer("INDEX", "i32", rows, whole(0, table)),
                buffer("TABLE", "u32", table * quads * 4, whole(0, 1 << 30)),
                out(rows * quads * 4, "u32"),
                i32(rows),
                i32(quads),
            ],
            rows=rows,
            quads=quads,
            table=table,
        )
    for bags, bag, table in ((16384, 32, 1000000), (2048, 100, 65536)):
        add(
            "embed_bag",
            "k_embed_bag",
            bags // 4,
            128,
            [
                buffer("INDEX", "i32", bags * bag, whole(0, table)),
                buffer("TABLE", "f16", table * 64, HALF),
                out(bags * 64, "f16"),
                i32(bag),
            ],
            bags=bags,
            bag=bag,
            table=table,
        )
    for nodes, grid, b, iters, spread in (
        (8192, 132, 128, 16, 1),
        (1048576, 264, 256, 16, 32),
        (262144, 33, 32, 32, 1),
        (1024, 132, 64, 32, 32),
    ):
        add(
            "chase_waves",
            "k_chase_waves",
            grid,
            b,
            [
                buffer("CHAIN", "u32", nodes * 32, {"kind": "random_cycle", "stride_bytes": 128}),
                out(grid * b, "u32"),
                i32(nodes),
                i32(iters),
                i32(spread),
            ],
            nodes=nodes,
            grid=grid,
            block=b,
            spread=spread,
        )
    for grid in (4096, 131072):
        add("tiny", "k_tiny", grid, 32, [out(grid * 32, "i32"), i32(5)], grid=grid)
    for grid, b in ((16384, 1024), (65536, 64)):
        add("tiny_leader", "k_tiny_leader", grid, b, [out(grid, "i32"), i32(5)], grid=grid, block=b)
    for n in (65536, 2097152):
        add("constant_lookup", "k_constant_lookup", n // 256, 256, [buffer("A", "i32", n, whole(0, 1024)), out(n), i32(n)], n=n)
    for n, bx, by in ((1024, 16, 16), (4096, 32, 8)):
        add(
            "floyd",
            "k_floyd",
            (n // bx, n // by),
            (bx, by),
            [buffer("D", "f32", n * n, real(0.0, 1.0)), i32(n), i32(17)],
            n=n,
            block=f"{bx}x{by}",
        )


def atomics() -> None:
    for n, mask in ((524288, 7), (2097152, 1023), (8388608, 7)):
        add(
            "atomic_few",
            "k_atomic_few",
            n // 256,
            256,
            [out(mask + 1, "i32"), buffer("V", "i32", n, whole(0, 100)), i32(n), i32(mask)],
            n=n,
            addresses=mask + 1,
        )
    for grid, b, mask in ((1024, 256, 1023), (1024, 64, 15)):
        add(
            "atomic_workgroup",
            "k_atomic_workgroup",
            grid,
            b,
            [out((mask + 1) * 32), buffer("V", "f32", grid * b, HALF), i32(mask)],
            grid=grid,
            block=b,
            addresses=mask + 1,
        )
    for n, stride, words in ((524288, 32, 1 << 24), (1048576, 8, 65536), (1048576, 1, 1 << 20)):
        add(
            "atomic_stride",
            "k_atomic_stride",
            n // 256,
            256,
            [out(words, "u32"), i32(n), i32(stride), i32(words - 1)],
            n=n,
            stride=stride,
            words=words,
        )
    for n, m in ((1048576, 65536), (2097152, 16777216)):
        add(
            "atomic_scatter",
            "k_atomic_scatter",
            n // 256,
            256,
            [out(m), buffer("INDEX", "i32", n, whole(0, m)), buffer("V", "f32", n, HALF), i32(n)],
            n=n,
            addresses=m,
        )
    for n, m in ((524288, 4096), (1048576, 1048576)):
        add("atomic_u64", "k_atomic_u64", n // 256, 256, [out(m, "i64"), buffer("INDEX", "i32", n, whole(0, m)), i32(n)], n=n, addresses=m)
    for n, m in ((1048576, 65536), (131072, 1024)):
        add(
            "atomic_max_return",
            "k_atomic_max_return",
            n // 256,
            256,
            [buffer("BEST", "i32", m, ZERO), buffer("INDEX", "i32", n, whole(0, m)), out(n, "i32"), i32(n)],
            n=n,
            addresses=m,
        )
    for n, m in ((262144, 65536), (1048576, 4194304)):
        add(
            "cas_product",
            "k_cas_product",
            n // 256,
            256,
            [out(m), buffer("INDEX", "i32", n, whole(0, m)), buffer("V", "f32", n, HALF), i32(n)],
            n=n,
            addresses=m,
        )
    for letter, dtype in (("i", "i32"), ("f", "f32")):
        for n, mask, grid, b in ((4194304, 1023, 264, 512), (1048576, 7, 528, 128)):
            add(
                f"atomic_local_{dtype}",
                f"k_atomic_localI{letter}",
                grid,
                b,
                [buffer("A", "u32", n, whole(0, 1 << 32)), out(grid * 1024, dtype), i32(n), i32(mask)],
                n=n,
                bins=mask + 1,
            )
    for n, low, high, grid in ((16777216, 0, 256, 528), (1048576, 96, 100, 132)):
        add(
            "histogram_bytes",
            "k_histogram_bytes",
            grid,
            256,
            [buffer("A", "u8", n, whole(low, high)), out(256, "u32"), i32(n)],
            n=n,
            values=high - low,
        )
    for n, threshold in ((524288, 500), (2097152, 900)):
        add(
            "compact",
            "k_compact",
            n // 256,
            256,
            [buffer("A", "i32", n, whole(0, 1000)), out(n, "i32"), buffer("COUNT", "i32", 1, ZERO), i32(n), i32(threshold), i32(n - 1)],
            n=n,
            threshold=threshold,
        )
    for n, m in ((524288, 16), (1048576, 4096)):
        add(
            "match_histogram",
            "k_match_histogram",
            n // 256,
            256,
            [buffer("A", "i32", n, whole(0, m)), out(m, "i32"), i32(n)],
            n=n,
            values=m,
        )


def cooperation() -> None:
    for rows, cols, b in ((1024, 4096, 128), (132, 65536, 1024), (4096, 512, 64)):
        add(
            "argmax",
            "k_argmax",
            rows,
            b,
            [buffer("A", "f32", rows * cols, HALF), out(rows, "i32"), i32(cols)],
            rows=rows,
            cols=cols,
            block=b,
        )
    for rows, cols, b in ((4096, 1024, 128), (528, 8192, 64)):
        add(
            "topk4",
            "k_topk4",
            rows * 32 // b,
            b,
            [buffer("A", "f32", rows * cols, HALF), out(rows * 4), i32(rows), i32(cols)],
            rows=rows,
            cols=cols,
        )
    for rows, cols, b in ((4096, 1024, 128), (264, 16384, 32), (131072, 1024, 256)):
        add(
            "softmax_online",
            "k_softmax_online",
            rows * 32 // b,
            b,
            [buffer("A", "f32", rows * cols, HALF), out(rows * cols), i32(rows), i32(cols)],
            rows=rows,
            cols=cols,
        )
    for n, b in ((1024, 64), (4096, 128)):
        add(
            "triangle_rows",
            "k_triangle_rows",
            n,
            b,
            [buffer("A", "f32", n * n, HALF), buffer("X", "f32", n, HALF), out(n), i32(n)],
            n=n,
            block=b,
        )
    for n, b in ((4096, 256), (16384, 64)):
        add("triangle_threads", "k_triangle_threads", n // b, b, [buffer("A", "f32", n, HALF), out(n), i32(n)], n=n, block=b)
    for n, b in ((1048576, 1024), (2097152, 256)):
        add("scan_steps", "k_scan_steps", n // b, b, [buffer("A", "f32", n, HALF), out(n), i32(n)], n=n, block=b)
    for grid in (256, 4096):
        add("scan_tree", "k_scan_tree", grid, 512, [buffer("A", "i32", grid * 1024, whole(0, 100)), out(grid * 1024, "i32")], grid=grid)
    for size, grid, b in ((512, 2048, 256), (2048, 1024, 512), (2048, 132, 1024), (2048, 16384, 512)):
        add(f"bitonic{size}", f"k_bitonicILi{size}", grid, b, [buffer("A", "u32", grid * size, whole(0, 1 << 32))], grid=grid, block=b)
    for size, grid in ((256, 8192), (1024, 1024)):
        add(f"fft{size}", f"k_fftILi{size}", grid, size // 2, [buffer("A", "f32", grid * size * 2, HALF), out(grid * size * 2)], grid=grid)
    for grid in (1024, 16384):
        add(
            "batched_f64",
            "k_batched_f64",
            grid,
            (16, 16),
            [buffer("A", "f64", grid * 256, HALF), buffer("B", "f64", grid * 256, HALF), out(grid * 256, "f64")],
            grid=grid,
        )
    for n, b in ((65536, 64), (1048576, 256)):
        add(
            "batched4",
            "k_batched4",
            n // b,
            b,
            [buffer("A", "f32", n * 16, HALF), buffer("B", "f32", n * 16, HALF), out(n * 16), i32(n)],
            n=n,
            block=b,
        )
    for n, steps in ((1024, 2), (1024, 5)):
        g = blocks(n, 16 - 2 * steps)
        add(
            "heat_pyramid",
            "k_heat_pyramid",
            (g, g),
            (16, 16),
            [buffer("A", "f32", n * n, HALF), buffer("POWER", "f32", n * n, HALF), out(n * n), i32(n), i32(steps)],
            n=n,
            steps=steps,
        )
    for nx, ny, nz in ((256, 256, 64), (512, 512, 96)):
        add(
            "stencil3d_planes",
            "k_stencil3d_planes",
            (nx // 32, ny // 8),
            (32, 8),
            [buffer("A", "f32", nx * ny * nz, HALF), out(nx * ny * nz), i32(nx), i32(ny), i32(nz)],
            nx=nx,
            ny=ny,
            nz=nz,
        )
    for w, bx, by in ((1024, 16, 16), (4096, 32, 8)):
        add(
            "life",
            "k_life",
            (w // bx, w // by),
            (bx, by),
            [buffer("A", "u8", w * w, whole(0, 2)), out(w * w, "u8"), i32(w), i32(w)],
            w=w,
            block=f"{bx}x{by}",
        )
    for n in (1024, 8192):
        add(
            "transpose_bytes",
            "k_transpose_bytes",
            (n // 32, n // 32),
            (32, 8),
            [buffer("A", "u8", n * n, whole(0, 256)), out(n * n, "u8"), i32(n)],
            n=n,
        )
    for grid, b, m in ((1056, 128, 128), (132, 256, 512)):
        add(
            "alignment",
            "k_alignment",
            grid,
            b,
            [buffer("A", "u8", grid * b, whole(0, 4)), buffer("B", "u8", grid * m, whole(0, 4)), out(grid, "i32"), i32(m)],
            grid=grid,
            block=b,
            m=m,
        )
    for threads, words, b in ((65536, 16, 256), (16896, 64, 128)):
        add(
            "crc32",
            "k_crc32",
            threads // b,
            b,
            [buffer("A", "u32", threads * words, whole(0, 1 << 32)), out(threads, "u32"), i32(words)],
            threads=threads,
            words=words,
        )
    for words, grid, b, reps in ((2048, 1056, 128, 128), (16384, 396, 256, 256), (32768, 264, 512, 64)):
        add(
            "tile_reuse",
            "k_tile_reuse",
            grid,
            b,
            [buffer("A", "f32", grid * words, HALF), out(grid * b), i32(words), i32(reps)],
            dynamic=words * 4,
            words=words,
            grid=grid,
            reps=reps,
        )
    for n, taps in ((524288, 32), (8388608, 8)):
        add("fir", "k_fir", n // 256, 256, [buffer("A", "f32", n, HALF), out(n), i32(n), i32(taps)], n=n, taps=taps)
    for grid, b, iters in ((1056, 256, 128), (132, 1024, 512)):
        add("monte_carlo", "k_monte_carlo", grid, b, [out(1, "u32"), i32(iters), {"u32": 9}], grid=grid, block=b, iters=iters)
    for n in (131072, 4194304):
        add("philox_normal", "k_philox_normal", n // 256, 256, [out(n * 4), i32(n), {"u32": 99}], n=n)


def private_and_code() -> None:
    for size, n, b in ((16, 131072, 256), (48, 33792, 64)):
        add(
            f"insertion_sort{size}",
            f"k_insertion_sortILi{size}",
            n // b,
            b,
            [buffer("A", "i32", n * size, whole(0, 1 << 20)), out(n * size, "i32"), i32(n)],
            n=n,
            block=b,
        )
    for n, reps, b in ((67584, 64, 128), (262144, 8, 512)):
        add(
            "private_bins",
            "k_private_bins",
            n // b,
            b,
            [buffer("A", "u32", n * reps, whole(0, 1 << 32)), out(n, "u32"), i32(n), i32(reps)],
            n=n,
            reps=reps,
            block=b,
        )
    for size, minimum, n in ((6, 4, 131072), (8, 4, 67584), (8, 10, 67584), (8, 10, 270336), (8, 10, 1351680)):
        add(
            f"inverse{size}",
            f"k_inverseILi{size}ELi{minimum}",
            n // 128,
            128,
            [buffer("A", "f32", n * size * size, HALF), out(n * size * size), i32(n)],
            n=n,
            min_blocks=minimum,
        )
    for rounds, grid, b, reps in ((480, 132, 128, 1), (480, 1056, 256, 4), (1600, 132, 128, 2), (1600, 528, 512, 1)):
        add(
            f"large_code{rounds}",
            f"k_large_codeILi{rounds}",
            grid,
            b,
            [buffer("A", "u32", grid * b, whole(0, 1 << 32)), out(grid * b, "u32"), i32(grid * b), i32(reps)],
            grid=grid,
            block=b,
            reps=reps,
        )


def split(text: str, folder: Path) -> list[str]:
    """One file an entry: the header, the module's variables the entry names, the entry."""
    head, *entries = re.split(r"(?m)^(?=\.visible \.entry |\.entry )", text)
    lines = [line for line in head.splitlines() if not line.startswith(("//", "\t//", ".const", ".global", ".extern"))]
    header = "\n".join(line for line in head.splitlines()[:7]) + "\n" + "\n".join(lines).rstrip() + "\n\n"
    variables = {
        re.search(r"([\w$]+)\[", line).group(1): line for line in head.splitlines() if line.startswith((".const", ".global", ".extern"))
    }  # type: ignore[union-attr]
    names = []
    for entry in entries:
        name = re.match(r"(?:\.visible )?\.entry (\w+)\(", entry).group(1)  # type: ignore[union-attr]
        entry = re.sub(r"(?m)^\t// \.globl.*\n", "", entry)
        entry = re.sub(r"(?m)^//.*\n?", "", entry.rstrip()) + "\n"
        used = "".join(line + "\n" for variable, line in variables.items() if re.search(rf"\b{re.escape(variable)}\b", entry))
        (folder / f"{name}.ptx").write_text(header + used + entry)
        names.append(name)
    return names


def main(ptx: str, target: str) -> None:
    folder = Path(target)
    (folder / "ptx").mkdir(parents=True, exist_ok=True)
    names = split(Path(ptx).read_text(), folder / "ptx")
    for part in (data_dependent, arithmetic, patterns, atomics, cooperation, private_and_code):
        part()
    registers = json.loads((folder / "registers.json").read_text()) if (folder / "registers.json").exists() else {}
    result = {}
    for launch_id, launch in LAUNCHES.items():
        kernel = launch.pop("kernel")
        digits = kernel.split("I")[0] if re.search(r"I(?:Li|[a-z](?:E|$))", kernel) else kernel
        rest = kernel[len(digits) :]
        (entry,) = [n for n in names if n.startswith(f"_Z{len(digits)}{digits}{rest}E" if rest else f"_Z{len(digits)}{digits}")]
        result[launch_id] = {
            "ptx": f"ptx/{entry}.ptx",
            "entry": entry,
            "grid": launch["grid"],
            "block": launch["block"],
            "dynamic_shared_bytes": launch["dynamic_shared_bytes"],
            "registers_per_thread": registers.get(entry, 0),
            "args": launch["args"],
        }
    unused = set(names) - {v["entry"] for v in result.values()}
    assert not unused, unused
    (folder / "launches.json").write_text(json.dumps(result, indent=1) + "\n")
    print(len(names), "entries", len(result), "launches")


if __name__ == "__main__":
    main(*sys.argv[1:])
