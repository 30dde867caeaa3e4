// Reads of the same lines by compute units of one group, apart in time. One cluster of 16 workgroups fills a group; a cluster barrier
// releases all within a few cycles, then each rank waits its own delay by its own clock and reads. Counters of the second level, read by the vendor's profiler where it is allowed to:
// this program starts it on itself. Lines: config,MODE,NUMBER,NAME and ncu,MODE,a row of the profiler's table.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>
#include <vector>
#include <string>
#include <algorithm>
#include <cuda_runtime.h>
#define CK(x) do { cudaError_t e_ = (x); if (e_ != cudaSuccess) { fprintf(stderr, "%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(e_)); exit(1); } } while (0)
typedef long long ll; typedef unsigned u32;
__device__ __forceinline__ ll clk() { ll t; asm volatile("mov.u64 %0,%%clock64;" : "=l"(t) :: "memory"); return t; }
__device__ __forceinline__ u32 smid() { u32 s; asm volatile("mov.u32 %0,%%smid;" : "=r"(s)); return s; }
__device__ __forceinline__ u32 rank_() { u32 s; asm volatile("mov.u32 %0,%%cluster_ctarank;" : "=r"(s)); return s; }
__device__ __forceinline__ void cbar() { asm volatile("barrier.cluster.arrive;\nbarrier.cluster.wait;" ::: "memory"); }
__device__ __forceinline__ u32 ldg(const char* p) { u32 a; asm volatile("ld.global.cg.u32 %0,[%1];" : "=r"(a) : "l"(p) : "memory"); return a; }
__device__ __forceinline__ u32 ldv(const char* p) { u32 a, b, c, d; asm volatile("ld.global.cg.v4.u32 {%0,%1,%2,%3},[%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "l"(p) : "memory"); return a ^ b ^ c ^ d; }
__device__ u32 sink;

// A batch of `threads` x 16 bytes x K a rank. Ranks share lines in sets: set[r]; delay[r]. out[(t*16+r)*2]: first thread's end, last's end, from release.
template <int K> __global__ void k_batch(const char* buf, size_t step, int trials, const int* set, const int* delay, int* out) {
    int r = rank_(); u32 h = 0; __shared__ int last;
    int mine = set[r], wait = delay[r];
    for (int t = 0; t < trials; t++) {
        const char* p = buf + ((size_t)t * 16 + mine) * step + threadIdx.x * 16;
        if (threadIdx.x == 0) last = 0;
        cbar();
        ll t0 = clk();
        ll start = t0 + 400 + wait;
        if (mine >= 0) {
            while (clk() < start) {}
            u32 x[K];
#pragma unroll
            for (int k = 0; k < K; k++) x[k] = ldv(p + (size_t)k * blockDim.x * 16);
#pragma unroll
            for (int k = 0; k < K; k++) h ^= x[k];
            if (h == 0x9e3779b9u) sink = h;
            int e = (int)(clk() - start);
            if ((threadIdx.x & 31) == 0) atomicMax(&last, e);
        }
        __syncthreads();
        if (threadIdx.x == 0) out[t * 16 + r] = mine >= 0 ? last : -1;
    }
    if (h == 0x9e3779b9u) sink = h;
}
__global__ void k_touch(const char* p, size_t n, u32 v) { u32 h = 0; for (size_t i = (blockIdx.x * (size_t)blockDim.x + threadIdx.x) * 16; i < n; i += (size_t)gridDim.x * blockDim.x * 16) h ^= ldv(p + i); if (h == v) sink = h; }
template <class F, class... A> void cluster(F f, int blocks, int size, int threads, int smem, A... a) {
    cudaLaunchConfig_t c = {}; c.gridDim = dim3(blocks); c.blockDim = dim3(threads); c.dynamicSmemBytes = smem;
    cudaLaunchAttribute at[1]; at[0].id = cudaLaunchAttributeClusterDimension; at[0].val.clusterDim.x = size; at[0].val.clusterDim.y = 1; at[0].val.clusterDim.z = 1;
    c.attrs = at; c.numAttrs = 1;
    CK(cudaFuncSetAttribute(f, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    CK(cudaFuncSetAttribute(f, cudaFuncAttributeMaxDynamicSharedMemorySize, smem));
    CK(cudaLaunchKernelEx(&c, f, a...));
}

static void one(int mode, int& n, const std::string& name, std::vector<int> set, std::vector<int> del, int threads, int K, int trials, char* buf, size_t& at, int* out, FILE* names) {
    int *ds, *dd; CK(cudaMalloc(&ds, 64)); CK(cudaMalloc(&dd, 64)); CK(cudaMemcpy(ds, set.data(), 64, cudaMemcpyHostToDevice)); CK(cudaMemcpy(dd, del.data(), 64, cudaMemcpyHostToDevice));
    size_t step = (size_t)threads * 16 * K; const char* p = mode ? buf + at : buf; if (mode) at += step * 16 * trials;
    if (!mode) { k_touch<<<132, 256>>>(p, step * 16 * trials, 1); k_touch<<<132, 256>>>(p, step * 16 * trials, 1); }
    if (K == 1) cluster(k_batch<1>, 16, 16, threads, 120 * 1024, p, step, trials, (const int*)ds, (const int*)dd, out);
    else cluster(k_batch<4>, 16, 16, threads, 120 * 1024, p, step, trials, (const int*)ds, (const int*)dd, out);
    CK(cudaDeviceSynchronize()); int ranks = 0; for (int x : set) ranks += x >= 0;
    fprintf(names, "config,%d,%d,%s;bytes=%zu;ranks=%d;sectors_asked=%zu\n", mode, n++, name.c_str(), step, ranks, step / 32 * ranks * trials); fflush(names);
    cudaFree(ds); cudaFree(dd);
}
int main(int argc, char** argv) {
    if (argc < 3) {
        setvbuf(stdout, nullptr, _IOLBF, 0);
        for (int mode : {0, 1}) {
            char cmd[4096], file[64]; snprintf(file, 64, "counts_%d.txt", mode); remove(file);
            snprintf(cmd, 4096, "timeout 60 ncu --clock-control none --cache-control %s -k regex:k_batch --csv --page raw --print-units base --metrics "
                "lts__t_sectors_srcunit_tex_op_read.sum,lts__t_requests_srcunit_tex_op_read.sum,lts__t_sectors_op_read.sum,lts__t_sectors_srcunit_ltcfabric.sum,"
                "l1tex__m_xbar2l1tex_read_sectors.sum,sm__cycles_elapsed.max /proc/%d/exe %d %s 2>&1", mode ? "all" : "none", (int)getpid(), mode, file);
            FILE* f = popen(cmd, "r"); char line[8192]; while (f && fgets(line, sizeof line, f)) printf("ncu,%d,%s", mode, line); if (f) pclose(f);
            FILE* g = fopen(file, "r"); while (g && fgets(line, sizeof line, g)) printf("%s", line); if (g) fclose(g);
        }
        FILE* f = popen("timeout 30 ncu --query-metrics --chip gh100 2>/dev/null | grep -i -E '^(lrc|l1tex__m_xbar|l1tex__m_l1tex2xbar|gpc__|lts__t_requests)' | head -80", "r"); char line[4096]; while (f && fgets(line, sizeof line, f)) printf("# %s", line); if (f) pclose(f);
        return 0;
    }
    int mode = atoi(argv[1]); FILE* names = fopen(argv[2], "w"); char* buf; int* out; CK(cudaMalloc(&buf, (size_t)2 << 30)); CK(cudaMemset(buf, 0, (size_t)2 << 30)); CK(cudaMalloc(&out, 1 << 20));
    size_t at = 0; int n = 0; auto S = [](const char* f, int a, int b) { char q[100]; snprintf(q, 100, f, a, b); return std::string(q); };
    auto two = [&](int b, int d, int threads, int K) { std::vector<int> s(16, -1), w(16, 0); s[0] = s[b] = 0; w[b] = d; one(mode, n, S("two;b=%d;delay=%d", b, d), s, w, threads, K, 32, buf, at, out, names); };
    auto all = [&](int each, int threads, int K) { std::vector<int> s(16, 0), w(16); for (int r = 0; r < 16; r++) w[r] = r * each; one(mode, n, S("all;each=%d%.0d", each, 0), s, w, threads, K, K == 1 ? 32 : 8, buf, at, out, names); };
    auto part = [&](int who, int d) { std::vector<int> s(16), w(16); for (int r = 0; r < 16; r++) { bool late = who == 0 ? (r & 1) : r >= 8; s[r] = who == 0 ? r / 2 : r % 8; w[r] = late ? d : 0; } one(mode, n, S(who ? "halves;delay=%d%.0d" : "mates;delay=%d%.0d", d, 0), s, w, 1024, 4, 8, buf, at, out, names); };
    if (mode == 0) for (int b = 1; b < 16; b++) two(b, 0, 256, 1);
    for (int d : {20, 40, 60, 80, 100, 150, 200, 250, 300, 400, 600, 800}) { if (mode == 0 && d > 400) continue; two(1, d, 256, 1); two(6, d, 256, 1); }
    for (int d : {0, 10, 20, 40, 80, 160}) all(d, 256, 1);
    for (int d : {0, 40, 160}) all(d, 1024, 4);
    for (int d : {0, 100, 200, 400, 800}) { part(0, d); part(1, d); }
    fclose(names);
    return 0;
}
