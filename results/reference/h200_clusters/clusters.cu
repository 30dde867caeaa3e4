// What clusters, barriers in shared memory, bulk copies and the rarer matrix products cost. One row a line: name,params,value,unit.
#include <cooperative_groups.h>
#include <cstdio>
#include <cstdint>
#include <vector>
#include <algorithm>
#include <functional>
#include <cuda_runtime.h>
namespace cg = cooperative_groups;
#define CK(x) do { cudaError_t e_ = (x); if (e_ != cudaSuccess) { printf("error,%s,%s,%d\n", #x, cudaGetErrorString(e_), __LINE__); } } while (0)
__device__ inline unsigned long long clk() { unsigned long long t; asm volatile("mov.u64 %0, %%clock64;" : "=l"(t)::"memory"); return t; }
__device__ inline uint32_t sa(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }

__global__ void k_dsmem_chase(long long *out, int rank_of, int steps) {
    extern __shared__ uint32_t buf[];
    cg::cluster_group c = cg::this_cluster();
    for (int i = threadIdx.x; i < 4096; i += blockDim.x) buf[i] = ((i + 33) & 4095);
    c.sync();
    uint32_t base; asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(base) : "r"(sa(buf)), "r"(rank_of));
    if (c.block_rank() == 0 && threadIdx.x == 0) {
        uint32_t i = 0; unsigned long long t0 = clk();
        for (int k = 0; k < steps; k++) asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(i) : "r"(base + i * 4));
        unsigned long long t1 = clk();
        out[blockIdx.x] = t1 - t0; out[1000] = i;
    }
    c.sync();
}
// every block reads its neighbour's memory, 16 bytes a thread
__global__ void k_dsmem_read(long long *out, float *sink, int reps, int far) {
    extern __shared__ float4 b4[];
    cg::cluster_group c = cg::this_cluster();
    for (int i = threadIdx.x; i < 2048; i += blockDim.x) b4[i] = make_float4(i, 1, 2, 3);
    c.sync();
    unsigned n = c.num_blocks(), r = c.block_rank();
    float4 *p = c.map_shared_rank(b4, far ? (r + 1) % n : r);
    uint32_t a; asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(a) : "r"(sa(b4)), "r"(far ? (r + 1) % n : r));
    float4 s[4] = {};
    unsigned long long t0 = clk();
    for (int k = 0; k < reps; k++) {
#pragma unroll
        for (int u = 0; u < 4; u++) {
            float4 v;
            asm volatile("ld.shared::cluster.v4.f32 {%0,%1,%2,%3}, [%4];" : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "r"(a + 16 * ((threadIdx.x + u * blockDim.x + k * 32) & 2047)));
            s[u].x += v.x; s[u].y += v.y; s[u].z += v.z; s[u].w += v.w;
        }
    }
    __syncthreads();
    unsigned long long t1 = clk();
    if (threadIdx.x == 0) out[blockIdx.x] = t1 - t0;
    sink[blockIdx.x * blockDim.x + threadIdx.x] = s[0].x + s[1].y + s[2].z + s[3].w + s[0].y + s[0].z + s[0].w + s[1].x + s[1].z + s[1].w + s[2].x + s[2].y + s[2].w + s[3].x + s[3].y + s[3].z;
    c.sync();
    (void)p;
}
__global__ void k_dsmem_write(long long *out, int reps) {
    extern __shared__ float4 b4[];
    cg::cluster_group c = cg::this_cluster();
    unsigned n = c.num_blocks(), r = c.block_rank();
    uint32_t a; asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(a) : "r"(sa(b4)), "r"((r + 1) % n));
    c.sync();
    unsigned long long t0 = clk();
    for (int k = 0; k < reps; k++)
        asm volatile("st.shared::cluster.v4.f32 [%0], {%1,%1,%1,%1};" ::"r"(a + 16 * ((threadIdx.x + k * blockDim.x) & 2047)), "f"(1.0f) : "memory");
    c.sync();
    unsigned long long t1 = clk();
    if (threadIdx.x == 0) out[blockIdx.x] = t1 - t0;
}
__global__ void k_cluster_sync(long long *out, int reps) {
    cg::cluster_group c = cg::this_cluster();
    c.sync(); c.sync();
    unsigned long long t0 = clk();
    for (int k = 0; k < reps; k++) {
        asm volatile("barrier.cluster.arrive.aligned;" ::: "memory");
        asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
    }
    unsigned long long t1 = clk();
    if (threadIdx.x == 0) out[blockIdx.x] = t1 - t0;
}
__global__ void k_mbar(long long *out, int reps) {  // one thread arrives and waits
    __shared__ alignas(8) uint64_t bar;
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(sa(&bar)));
    __syncthreads();
    if (threadIdx.x == 0) {
        unsigned long long t0 = clk();
        for (int k = 0; k < reps; k++) {
            asm volatile("{ .reg .b64 s; mbarrier.arrive.shared::cta.b64 s, [%0]; }" ::"r"(sa(&bar)) : "memory");
            asm volatile("{ .reg .pred p; L: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @!p bra L; }" ::"r"(sa(&bar)), "r"(k & 1) : "memory");
        }
        out[0] = clk() - t0;
    }
}
__global__ void k_mbar_all(long long *out, int reps) {  // all threads arrive and wait
    __shared__ alignas(8) uint64_t bar;
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(sa(&bar)), "r"(blockDim.x));
    __syncthreads();
    unsigned long long t0 = clk();
    for (int k = 0; k < reps; k++) {
        asm volatile("{ .reg .b64 s; mbarrier.arrive.shared::cta.b64 s, [%0]; }" ::"r"(sa(&bar)) : "memory");
        asm volatile("{ .reg .pred p; L: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @!p bra L; }" ::"r"(sa(&bar)), "r"(k & 1) : "memory");
    }
    if (threadIdx.x == 0) out[0] = clk() - t0;
}
// bulk copies: `rank 0 multicasts to all` or `each loads its own`
__global__ void k_bulk(long long *out, const char *src, int bytes, int reps, int multicast) {
    extern __shared__ uint32_t buf[];
    __shared__ alignas(8) uint64_t bar;
    cg::cluster_group c = cg::this_cluster();
    unsigned n = c.num_blocks(), r = c.block_rank();
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(sa(&bar)));
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    c.sync();
    const char *from = src + (size_t)(blockIdx.x / n) * bytes * reps;
    unsigned long long t0 = clk();
    for (int k = 0; k < reps; k++) {
        if (threadIdx.x == 0) {
            asm volatile("{ .reg .b64 s; mbarrier.arrive.expect_tx.shared::cta.b64 s, [%0], %1; }" ::"r"(sa(&bar)), "r"(bytes) : "memory");
            if (multicast) {
                unsigned part = bytes / n;
                asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, [%3], %4;"
                             ::"r"(sa(buf) + r * part), "l"(from + (size_t)k * bytes + r * part), "r"(part), "r"(sa(&bar)), "h"((uint16_t)((1 << n) - 1)) : "memory");
            } else
                asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                             ::"r"(sa(buf)), "l"(from + (size_t)k * bytes), "r"(bytes), "r"(sa(&bar)) : "memory");
            asm volatile("{ .reg .pred p; L: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @!p bra L; }" ::"r"(sa(&bar)), "r"(k & 1) : "memory");
        }
        c.sync();
    }
    unsigned long long t1 = clk();
    if (threadIdx.x == 0) out[blockIdx.x] = t1 - t0;
    c.sync();
}
__global__ void k_empty(int *p) { if (p) *p = 1; }

// matrix products: CH chains a wave
#define MMA_KERNEL(NAME, DECL, OP)                                                     \
    template <int CH> __global__ void NAME(long long *out, float *sink, int reps) {    \
        DECL;                                                                          \
        __syncthreads();                                                               \
        unsigned long long t0 = clk();                                                 \
        for (int k = 0; k < reps; k++) {                                               \
            _Pragma("unroll") for (int u = 0; u < 4; u++)                              \
            _Pragma("unroll") for (int c = 0; c < CH; c++) { OP; }                     \
        }                                                                              \
        unsigned long long t1 = clk();                                                 \
        __syncthreads();                                                               \
        unsigned long long t2 = clk();                                                 \
        if (threadIdx.x == 0) { out[0] = t1 - t0; out[1] = t2 - t0; }                  \
        float s = 0; for (int c = 0; c < CH; c++) s += (float)d[c][0] + (float)d[c][1]; \
        sink[threadIdx.x] = s;                                                         \
    }
#define F4 float d[CH][4] = {}; uint32_t a = threadIdx.x * 0x3c003c00u, b = 0x3c003c00u
#define I4 int d[CH][4] = {}; uint32_t a = threadIdx.x, b = 0x01010101u
#define R4(c) "+f"(d[c][0]), "+f"(d[c][1]), "+f"(d[c][2]), "+f"(d[c][3])
#define Q4(c) "+r"(d[c][0]), "+r"(d[c][1]), "+r"(d[c][2]), "+r"(d[c][3])
MMA_KERNEL(m_f16k16, F4, asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3},{%4,%4,%4,%4},{%5,%5},{%0,%1,%2,%3};" : R4(c) : "r"(a), "r"(b)))
MMA_KERNEL(m_bf16k8, F4, asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3},{%4,%4},{%5},{%0,%1,%2,%3};" : R4(c) : "r"(a), "r"(b)))
MMA_KERNEL(m_sp_k32, F4, asm volatile("mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%0,%1,%2,%3},{%4,%4,%4,%4},{%5,%5,%5,%5},{%0,%1,%2,%3},%6,0x0;" : R4(c) : "r"(a), "r"(b), "r"(0x44444444)))
MMA_KERNEL(m_sp_k16, F4, asm volatile("mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3},{%4,%4},{%5,%5},{%0,%1,%2,%3},%6,0x0;" : R4(c) : "r"(a), "r"(b), "r"(0x44444444)))
MMA_KERNEL(m_sp_s8k64, I4, asm volatile("mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.s32.s8.s8.s32 {%0,%1,%2,%3},{%4,%4,%4,%4},{%5,%5,%5,%5},{%0,%1,%2,%3},%6,0x0;" : Q4(c) : "r"(a), "r"(b), "r"(0x44444444)))
MMA_KERNEL(m_s8k32, I4, asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3},{%4,%4,%4,%4},{%5,%5},{%0,%1,%2,%3};" : Q4(c) : "r"(a), "r"(b)))
MMA_KERNEL(m_s8k16, I4, asm volatile("mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32 {%0,%1,%2,%3},{%4,%4},{%5},{%0,%1,%2,%3};" : Q4(c) : "r"(a), "r"(b)))
MMA_KERNEL(m_tf32k4, F4, asm volatile("mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3},{%4,%4},{%5},{%0,%1,%2,%3};" : R4(c) : "r"(a), "r"(b)))
MMA_KERNEL(m_tf32k8, F4, asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3},{%4,%4,%4,%4},{%5,%5},{%0,%1,%2,%3};" : R4(c) : "r"(a), "r"(b)))
#define D2 double d[CH][2] = {}; double a = threadIdx.x, b = 1.0
MMA_KERNEL(m_f64k4, D2, asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1},{%2},{%3},{%0,%1};" : "+d"(d[c][0]), "+d"(d[c][1]) : "d"(a), "d"(b)))
#define D4 double d[CH][4] = {}; double a = threadIdx.x, b = 1.0
MMA_KERNEL(m_f64k16, D4, asm volatile("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0,%1,%2,%3},{%4,%4,%4,%4,%4,%4,%4,%4},{%5,%5,%5,%5},{%0,%1,%2,%3};" : "+d"(d[c][0]), "+d"(d[c][1]), "+d"(d[c][2]), "+d"(d[c][3]) : "d"(a), "d"(b)))
MMA_KERNEL(m_movm, I4, asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %0;" : "+r"(d[c][0])))

long long *out; float *sink; char *mem;
long long got[2048];
template <class K> void launch(K k, int grid, int block, int shared, int cluster, std::vector<void *> args) {
    cudaLaunchConfig_t cfg = {}; cfg.gridDim = grid; cfg.blockDim = block; cfg.dynamicSmemBytes = shared;
    cudaLaunchAttribute at[1]; at[0].id = cudaLaunchAttributeClusterDimension; at[0].val.clusterDim.x = cluster; at[0].val.clusterDim.y = 1; at[0].val.clusterDim.z = 1;
    cfg.attrs = at; cfg.numAttrs = 1;
    CK(cudaFuncSetAttribute((const void *)k, cudaFuncAttributeMaxDynamicSharedMemorySize, shared > 49152 ? shared : 49152));
    if (cluster > 8) CK(cudaFuncSetAttribute((const void *)k, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    CK(cudaLaunchKernelExC(&cfg, (const void *)k, args.data()));
    CK(cudaDeviceSynchronize());
    CK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
}
double med(std::vector<double> v) { std::sort(v.begin(), v.end()); return v[v.size() / 2]; }
template <class F> double five(F f) { std::vector<double> v; f(); for (int i = 0; i < 5; i++) v.push_back(f()); return med(v); }
template <class K1, class K4> void mma(const char *name, K1 k1, K4 k4, double macs) {
    int reps = 256;
    auto go = [&](auto k, int block, int which) { return five([&] { k<<<1, block>>>(out, sink, reps); CK(cudaDeviceSynchronize()); CK(cudaMemcpy(got, out, 16, cudaMemcpyDeviceToHost)); return (double)got[which] / (reps * 4); }); };
    printf("%s_latency,waves=1,%.2f,cycles\n", name, go(k1, 32, 0));
    double i4 = go(k4, 256, 1) / 8;  // two waves a scheduler, four chains each
    printf("%s_interval,waves=8 chains=4,%.2f,cycles,%.0f MAC/cycle\n", name, i4, macs * 4 / i4);
}
int main() { setvbuf(stdout, 0, _IOLBF, 0);
    CK(cudaMalloc(&out, sizeof got)); CK(cudaMalloc(&sink, 1 << 24)); CK(cudaMalloc(&mem, 1 << 28)); CK(cudaMemset(mem, 0, 1 << 28));
    mma("f16_16x8x16", m_f16k16<1>, m_f16k16<4>, 2048); mma("bf16_16x8x8", m_bf16k8<1>, m_bf16k8<4>, 1024);
    mma("f16_sparse_16x8x32", m_sp_k32<1>, m_sp_k32<4>, 4096); mma("f16_sparse_16x8x16", m_sp_k16<1>, m_sp_k16<4>, 2048); mma("s8_sparse_16x8x64", m_sp_s8k64<1>, m_sp_s8k64<4>, 8192);
    mma("s8_16x8x32", m_s8k32<1>, m_s8k32<4>, 4096); mma("s8_16x8x16", m_s8k16<1>, m_s8k16<4>, 2048);
    mma("tf32_16x8x4", m_tf32k4<1>, m_tf32k4<4>, 512); mma("tf32_16x8x8", m_tf32k8<1>, m_tf32k8<4>, 1024);
    mma("f64_8x8x4", m_f64k4<1>, m_f64k4<4>, 256); mma("f64_16x8x16", m_f64k16<1>, m_f64k16<4>, 2048);
    mma("transpose_8x8", m_movm<1>, m_movm<4>, 0);
    int steps = 256, reps;
    for (int n : {1, 2, 4, 8, 16}) for (int r : {0, 1, 3, 7, 15}) if (r < n) {
        double v = five([&] { launch(k_dsmem_chase, n, 128, 65536, n, {&out, &r, &steps}); return (double)got[0] / steps; });
        printf("cluster_load_latency,size=%d rank=%d,%.2f,cycles\n", n, r, v);
    }
    reps = 64;
    for (int full : {0, 1}) for (int n : {1, 2, 4, 8, 16}) for (int far : {0, 1}) if (n > 1 || !far) {
        int grid = full ? 128 / n * n : n;
        if (full && n == 16) continue;
        double v = five([&] { launch(k_dsmem_read, grid, 1024, 200 * 1024, n, {&out, &sink, &reps, &far}); double m = 0; for (int i = 0; i < grid; i++) m += got[i]; return 1024.0 * 16 * 4 * reps / (m / grid); });
        printf("cluster_read_rate,size=%d far=%d grid=%d,%.2f,B/cycle an SM\n", n, far, grid, v);
    }
    for (int n : {2, 4, 8}) {
        double v = five([&] { launch(k_dsmem_write, 128 / n * n, 1024, 200 * 1024, n, {&out, &reps}); double m = 0; int g = 128 / n * n; for (int i = 0; i < g; i++) m += got[i]; return 1024.0 * 16 * reps / (m / g); });
        printf("cluster_write_rate,size=%d,%.2f,B/cycle an SM\n", n, v);
    }
    reps = 64;
    for (int n : {1, 2, 4, 8, 16}) for (int w : {1, 4, 8, 32}) {
        double v = five([&] { launch(k_cluster_sync, n, w * 32, 0, n, {&out, &reps}); return (double)got[0] / reps; });
        printf("cluster_barrier,size=%d waves=%d,%.2f,cycles\n", n, w, v);
    }
    double v = five([&] { launch(k_mbar, 1, 32, 0, 1, {&out, &reps}); return (double)got[0] / reps; });
    printf("signal_arrive_wait,threads=1,%.2f,cycles\n", v);
    for (int w : {1, 2, 4, 8, 16, 32}) { v = five([&] { launch(k_mbar_all, 1, 32 * w, 0, 1, {&out, &reps}); return (double)got[0] / reps; }); printf("signal_arrive_wait_all,waves=%d,%.2f,cycles\n", w, v); }
    reps = 16;
    for (int bytes : {2048, 8192, 32768}) for (int n : {1, 2, 4, 8}) for (int mc : {0, 1}) for (int grid : {n, 128}) {
        if (mc && n == 1) continue;
        v = five([&] { launch(k_bulk, grid, 128, 65536, n, {&out, &mem, &bytes, &reps, &mc}); double m = 0; for (int i = 0; i < grid; i++) m = std::max(m, (double)got[i]); return m / reps; });
        printf("bulk_copy,bytes=%d size=%d multicast=%d grid=%d,%.1f,cycles a copy and cluster barrier (from L2)\n", bytes, n, mc, grid, v);
    }
    for (int n : {1, 2, 4, 8, 16}) for (int threads : {32, 256}) {
        cudaEvent_t e0, e1; cudaEventCreate(&e0); cudaEventCreate(&e1); int *null = nullptr; int grid = 1 << 17;
        v = five([&] { cudaEventRecord(e0); launch(k_empty, grid, threads, 0, n, {&null}); cudaEventRecord(e1); cudaEventSynchronize(e1); return 0.0; });
        std::vector<double> t; for (int g : {1 << 16, 1 << 18}) t.push_back(five([&] {
            cudaLaunchConfig_t cfg = {}; cfg.gridDim = g; cfg.blockDim = threads; cudaLaunchAttribute at[1]; at[0].id = cudaLaunchAttributeClusterDimension; at[0].val.clusterDim.x = n; at[0].val.clusterDim.y = 1; at[0].val.clusterDim.z = 1; cfg.attrs = at; cfg.numAttrs = 1;
            void *args[] = {&null}; cudaEventRecord(e0); CK(cudaLaunchKernelExC(&cfg, (const void *)k_empty, args)); cudaEventRecord(e1); cudaEventSynchronize(e1); float ms; cudaEventElapsedTime(&ms, e0, e1); return (double)ms; }));
        printf("cluster_launch_rate,size=%d threads=%d,%.3f,workgroups a ns\n", n, threads, ((1 << 18) - (1 << 16)) / ((t[1] - t[0]) * 1e6));
    }
    CK(cudaGetLastError());
}
