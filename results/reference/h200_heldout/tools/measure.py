"""Runs the launches of a folder on a GPU through the driver interface: `warm` times them back to back, `once` marks each for a profiler.

In: launches.json, cubin/<entry>.cubin beside it. Out: one line of JSON per launch.
Buffers are plain allocations of exactly the stated sizes, filled as stated.
"""

import ctypes
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
cuda = ctypes.CDLL("libcuda.so.1")
repeat = ctypes.CDLL(str(HERE / "loop.so")).repeat
SIZES = {"u8": 1, "i8": 1, "f16": 2, "bf16": 2, "i32": 4, "u32": 4, "f32": 4, "i64": 8, "f64": 8}
SCALARS = {
    "i32": ctypes.c_int32,
    "u32": ctypes.c_uint32,
    "i64": ctypes.c_int64,
    "u64": ctypes.c_uint64,
    "f32": ctypes.c_float,
    "f64": ctypes.c_double,
}


def check(code: int, what: str) -> None:
    if code:
        raise RuntimeError(f"{what}: driver error {code}")


def function(path: Path, name: str) -> tuple[ctypes.c_void_p, ctypes.c_void_p]:
    module, handle = ctypes.c_void_p(), ctypes.c_void_p()
    check(cuda.cuModuleLoadData(ctypes.byref(module), path.read_bytes()), f"load {path.name}")
    check(cuda.cuModuleGetFunction(ctypes.byref(handle), module, name.encode()), name)
    return module, handle


def attribute(handle: ctypes.c_void_p, which: int) -> int:
    value = ctypes.c_int()
    check(cuda.cuFuncGetAttribute(ctypes.byref(value), which, handle), "attribute")
    return value.value


def launch(
    handle: ctypes.c_void_p, grid: list[int], block: list[int], shared: int, values: list[Any], count: int = 1, cluster: Any = (0, 0, 0)
) -> None:
    parameters = (ctypes.c_void_p * len(values))(*[ctypes.cast(ctypes.byref(v), ctypes.c_void_p) for v in values])
    extents = [(ctypes.c_uint * 3)(*extent) for extent in (grid, block, cluster)]
    check(repeat(ctypes.cast(cuda.cuLaunchKernelEx, ctypes.c_void_p), handle, *extents, shared, parameters, count), "launch")


class Filler:
    def __init__(self) -> None:
        self.kernels = {
            n: function(HERE / "fill.cubin", n)[1]
            for n in (
                "uniform_f32",
                "uniform_f64",
                "uniform_f16",
                "uniform_int_u8",
                "uniform_int_32",
                "uniform_int_64",
                "arange_32",
                "spin",
            )
        }

    def spin(self) -> None:
        launch(self.kernels["spin"], [132, 1, 1], [256, 1, 1], 0, [ctypes.c_uint64(0), ctypes.c_int(1000000)])
        check(cuda.cuCtxSynchronize(), "spin")

    def fill(self, pointer: int, argument: dict[str, Any], seed: int) -> None:
        fill, dtype, size = argument["fill"], argument["dtype"], argument["bytes"]
        count, address = size // SIZES[dtype], ctypes.c_uint64(pointer)
        width = {1: "u8", 4: "32", 8: "64"}.get(SIZES[dtype], "")
        seed = seed * 0x2545F491
        match fill["kind"]:
            case "zero":
                check(cuda.cuMemsetD8_v2(address, 0, ctypes.c_size_t(size)), "zero")
            case "uniform":
                launch(
                    self.kernels[f"uniform_{dtype.removeprefix('b')}"],
                    [1056, 1, 1],
                    [256, 1, 1],
                    0,
                    [address, ctypes.c_uint64(count), ctypes.c_double(fill["low"]), ctypes.c_double(fill["high"]), ctypes.c_uint64(seed)],
                )
            case "uniform_int":
                launch(
                    self.kernels[f"uniform_int_{width}"],
                    [1056, 1, 1],
                    [256, 1, 1],
                    0,
                    [address, ctypes.c_uint64(count), ctypes.c_int64(fill["low"]), ctypes.c_int64(fill["high"]), ctypes.c_uint64(seed)],
                )
            case "arange":
                launch(
                    self.kernels["arange_32"],
                    [1056, 1, 1],
                    [256, 1, 1],
                    0,
                    [address, ctypes.c_uint64(count), ctypes.c_double(fill["step"])],
                )
            case "random_cycle":
                step = fill["stride_bytes"] // 4
                nodes = count // step
                order = np.random.default_rng(1).permutation(nodes).astype(np.uint32)
                chain = np.zeros(count, np.uint32)
                chain[order.astype(np.int64) * step] = np.roll(order, -1) * step
                check(cuda.cuMemcpyHtoD_v2(address, chain.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(size)), "copy")
            case other:
                raise ValueError(other)
        check(cuda.cuCtxSynchronize(), "fill")


def prepared(item: dict[str, Any], filler: Filler, seed: int, pool: dict[str, int]) -> list[Any]:
    values: list[Any] = []
    for k, argument in enumerate(item["args"]):
        if "buffer" in argument:
            name = argument["buffer"]
            if name not in pool:
                address = ctypes.c_uint64()
                check(cuda.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(argument["bytes"])), "allocate")
                pool[name] = address.value
            filler.fill(pool[name], argument, seed * 16 + k + 1)
            values.append(ctypes.c_uint64(pool[name]))
        else:
            ((kind, value),) = argument.items()
            values.append(SCALARS[kind](value))
    return values


def timed(handle: ctypes.c_void_p, item: dict[str, Any], values: list[Any]) -> float:
    start, stop, ms = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_float()
    check(cuda.cuEventCreate(ctypes.byref(start), 0) or cuda.cuEventCreate(ctypes.byref(stop), 0), "event")
    shape = (item["grid"], item["block"], item["dynamic_shared_bytes"], values)
    cluster = item.get("cluster", (0, 0, 0))
    launch(handle, *shape, count=3, cluster=cluster)
    best, count = 1e30, 10
    for _ in range(6):
        check(cuda.cuEventRecord(start, None), "record")
        launch(handle, *shape, count=count, cluster=cluster)
        check(cuda.cuEventRecord(stop, None) or cuda.cuEventSynchronize(stop), "record")
        check(
            cuda.cuEventElapsedTime_v2(ctypes.byref(ms), start, stop)
            if hasattr(cuda, "cuEventElapsedTime_v2")
            else cuda.cuEventElapsedTime(ctypes.byref(ms), start, stop),
            "elapsed",
        )
        best, count = min(best, ms.value * 1e3 / count), max(10, min(200, int(5e3 / (ms.value * 1e3 / count))))
    return best


def main(mode: str, folder: str, *wanted: str) -> None:
    root = Path(folder)
    launches = json.loads((root / "launches.json").read_text())
    ids = [i for i in launches if not wanted or i in wanted or i.split("[")[0] in wanted]
    device, context = ctypes.c_int(), ctypes.c_void_p()
    check(
        cuda.cuInit(0)
        or cuda.cuDeviceGet(ctypes.byref(device), 0)
        or cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device)
        or cuda.cuCtxSetCurrent(context),
        "context",
    )
    filler = Filler()
    for seed, launch_id in enumerate(ids):
        item, pool, began = launches[launch_id], {}, time.time()
        module, handle = function(root / "cubin" / f"{Path(item['ptx']).stem}.cubin", item["entry"])
        row = {"id": launch_id, "registers": attribute(handle, 4), "static_shared": attribute(handle, 1), "stack": attribute(handle, 3)}
        if item["dynamic_shared_bytes"] > 48 << 10:
            check(cuda.cuFuncSetAttribute(handle, 8, item["dynamic_shared_bytes"]), "shared")
        try:
            values = prepared(item, filler, seed, pool)
            if mode == "warm":
                row["warm_us"] = timed(handle, item, values)
            else:
                filler.spin()
                check(cuda.cuProfilerStart(), "profiler")
                launch(handle, item["grid"], item["block"], item["dynamic_shared_bytes"], values, cluster=item.get("cluster", (0, 0, 0)))
                check(cuda.cuCtxSynchronize(), "run")
                check(cuda.cuProfilerStop(), "profiler")
        except RuntimeError as error:
            row["error"] = str(error)
        row["seconds"] = round(time.time() - began, 3)
        print(json.dumps(row), flush=True)
        for address in pool.values():
            cuda.cuMemFree_v2(ctypes.c_uint64(address))
        cuda.cuModuleUnload(module)
        if "error" in row and "driver error 7" in row["error"]:
            break


if __name__ == "__main__":
    main(*sys.argv[1:])
