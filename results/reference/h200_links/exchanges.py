"""Exchanges between two devices: PyTorch and NCCL, a process each, no multicast. name,params,value,unit on standard output; medians.

back to back: 20 calls between two events, the median of 7 such (the longer of the ranks); device: the same behind a spin, so that the
processor is ahead; call: the processor's time for one of 20 calls.
"""
import os, socket, sys, time
os.environ["NCCL_NVLS_ENABLE"] = "0"; os.environ["TORCH_SYMM_MEM_DISABLE_MULTICAST"] = "1"; os.environ["NVSHMEM_DISABLE_NVLS"] = "1"
import torch, torch.distributed as dist, torch.multiprocessing as mp

K, M = 1 << 10, 1 << 20
SIZES = [64, 2 * K, 12 * K, 48 * K, 96 * K, 192 * K, 384 * K, 768 * K, int(1.5 * M), 3 * M, 6 * M, 8 * M, 12 * M, 24 * M, 48 * M, 96 * M, 192 * M, 600 * M]

def work(rank, port):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", rank=rank, world_size=2, device_id=torch.device("cuda", rank))
    begin = time.time()
    if rank == 0:
        print(f"nccl,version,{'.'.join(map(str, torch.cuda.nccl.version()))},"); print(f"torch,version,{torch.__version__},")
    n = 640 * M
    src = torch.ones(n // 4, device="cuda", dtype=torch.float32); dst = torch.zeros(2 * n // 4, device="cuda", dtype=torch.float32)
    a, b = torch.cuda.Event(True), torch.cuda.Event(True)
    gather = torch.zeros(2, device="cuda", dtype=torch.float64)
    def worst(x):
        gather.fill_(x); dist.all_reduce(gather, op=dist.ReduceOp.MAX); return float(gather[0])
    def out(name, params, value, unit="us"):
        if rank == 0: print(f"{name},{params},{value:.3f},{unit}", flush=True)
    def measure(name, params, f, size, modes=("back", "device", "call")):
        loops = 20 if size <= 64 * M else 5
        rounds = 7 if size <= 64 * M else 3
        for _ in range(3): f()
        for mode in modes:
            found = []
            for _ in range(rounds):
                torch.cuda.synchronize(); dist.barrier(); torch.cuda.synchronize()
                if mode == "device": torch.cuda._sleep(6_000_000)
                a.record(); t = time.perf_counter()
                for _ in range(loops): f()
                t = time.perf_counter() - t
                b.record(); torch.cuda.synchronize()
                found.append(t / loops * 1e6 if mode == "call" else a.elapsed_time(b) / loops * 1e3)
            found.sort()
            out(f"{name}_{mode}", params, worst(found[len(found) // 2]))
    def half(x): return x.view(torch.float16)
    for size in SIZES:
        for dtype in ("fp32", "fp16") if size in (2 * K, 48 * K, 768 * K, 3 * M, 12 * M, 48 * M, 192 * M) else ("fp32",):
            cut = (lambda x, s: x[: s // 4]) if dtype == "fp32" else (lambda x, s: half(x)[: s // 2])
            s, d, e = cut(src, size), cut(dst, size), cut(dst, 2 * size)
            h = cut(dst, size // 2)
            ops = {
                "all_reduce": lambda: dist.all_reduce(d), "all_gather": lambda: dist.all_gather_into_tensor(e, s), "reduce_scatter": lambda: dist.reduce_scatter_tensor(h, s),
                "all_to_all": lambda: dist.all_to_all_single(d, s), "broadcast": lambda: dist.broadcast(d, 0), "reduce": lambda: dist.reduce(d, 0),
                "send_recv": lambda: dist.send(s, 1) if rank == 0 else dist.recv(d, 0),
            }
            if dtype == "fp16": ops = {k: ops[k] for k in ("all_reduce", "reduce_scatter", "reduce")}
            for name, f in ops.items():
                bytes_ = 2 * size if name == "all_gather" else size
                measure(name, f"bytes={bytes_} dtype={dtype}", f, size, ("back", "device", "call") if dtype == "fp32" else ("back", "device"))
                dst.zero_() if size >= 192 * M else None
        if time.time() - begin > 32: out("stopped", "late", size, "bytes"); break
    # both ways at once: send and receive in one group; several in flight; barriers
    for size in (48 * K, 768 * K, 12 * M, 192 * M):
        s, d = src[: size // 4], dst[: size // 4]
        def swap():
            for w in dist.batch_isend_irecv([dist.P2POp(dist.isend, s, 1 - rank), dist.P2POp(dist.irecv, d, 1 - rank)]): w.wait()
        measure("swap", f"bytes={size}", swap, size)
    # a compute kernel beside an all-reduce
    m = torch.ones(8192, 8192, device="cuda", dtype=torch.float16); c = torch.empty_like(m); other = torch.cuda.Stream()
    big = src[: 256 * M // 4]; x, y = torch.ones(256 * M // 4, device="cuda"), torch.empty(256 * M // 4, device="cuda")
    kernels = {"gemm_8192": lambda: torch.mm(m, m, out=c), "memory_copy": lambda: [torch.add(x, 1.0, out=y) for _ in range(8)]}
    def timed(f, g):
        found = []
        for _ in range(5):
            torch.cuda.synchronize(); dist.barrier(); torch.cuda.synchronize(); torch.cuda._sleep(2_000_000)
            a.record(); other.wait_event(a); e = torch.cuda.Event(True); h = torch.cuda.Event(True)
            with torch.cuda.stream(other):
                if g: g()
                h.record()
            if f: f()
            e.record(); torch.cuda.synchronize()
            found.append((max(a.elapsed_time(e), a.elapsed_time(h)) * 1e3, a.elapsed_time(e) * 1e3, a.elapsed_time(h) * 1e3))
        found.sort(); return found[len(found) // 2]
    for name, g in kernels.items():
        g(); reduce = lambda: dist.all_reduce(big)
        out("beside_alone", name, worst(timed(None, g)[0])); out("beside_alone", "all_reduce 256 MiB", worst(timed(reduce, None)[0]))
        both = timed(reduce, g)
        for what, v in zip(("both", "all_reduce", "kernel"), both): out("beside", f"{name} {what}", worst(v))
    if rank == 0: print(f"seconds,,{time.time() - begin:.1f},s", flush=True)
    dist.destroy_process_group()

if __name__ == "__main__":
    with socket.socket() as sk: sk.bind(("127.0.0.1", 0)); port = sk.getsockname()[1]
    mp.spawn(work, args=(port,), nprocs=2)
