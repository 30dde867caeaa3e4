// Reads of the same lines by compute units of one group, apart in time. One cluster of 16 workgroups fills a group; a cluster barrier
// releases all within a few cycles, then each rank waits its own delay by its own clock and reads. CSV: name,parameters,value,unit.
#include <cstdio>
#include <cstdlib>
#include <cstring>
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

// One line a trial. Rank a at 0, rank b at its delay, ranks of `mask` at delay 0 too; out[trial] = b's latency.
__global__ void k_latency(const char* buf, size_t step, int trials, int a, int b, int delay, int other, int* out, int* sms) {
    int r = rank_(); u32 h = 0;
    if (threadIdx.x == 0) sms[r] = smid();
    for (int t = 0; t < trials; t++) {
        const char* p = buf + (size_t)t * step;
        cbar();
        ll t0 = clk();
        if (threadIdx.x == 0 && (r == a || r == b)) {
            ll start = t0 + 400 + (r == b ? delay : 0);
            const char* q = (r == a && other) ? p + 64 * 1024 * 1024 : p;
            while (clk() < start) {}
            ll s = clk();
            u32 x = ldg(q);
            h ^= x;
            asm volatile("" :: "r"(x) : "memory");
            if (x == 0x12345) sink = x;
            ll e = clk();
            if (r == b) out[t] = (int)(e - s);
        }
        __syncthreads();
    }
    if (h == 0x9e3779b9u) sink = h;
}
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
// Every unit of the device (or those with part[smid] >= 0) streams `bytes` again and again, from offset part[smid]; bytes a cycle over its own time.
template <int K> __global__ void __launch_bounds__(1024) k_stream(const char* buf, size_t bytes, const ll* part, int sweeps, ll* out) {
    extern __shared__ char pad[]; ll off = part[smid()]; u32 h = 0;
    if (off < 0) { ll q = clk(); while (clk() - q < 8000) {} if (threadIdx.x == 0) out[smid()] = 0; return; }
    ll t0 = 0;
    for (int s = -1; s < sweeps; s++) {
        if (s == 0) { __syncthreads(); t0 = clk(); }
        for (size_t i = 0; i < bytes; i += (size_t)blockDim.x * 16 * K) {
            u32 x[K];
#pragma unroll
            for (int k = 0; k < K; k++) { size_t at = i + off + (size_t)k * blockDim.x * 16; if (at >= bytes) at -= bytes; x[k] = ldv(buf + at + threadIdx.x * 16); }
#pragma unroll
            for (int k = 0; k < K; k++) h ^= x[k];
        }
    }
    __syncthreads();
    ll t1 = clk();
    if (h == 0x9e3779b9u) sink = h;
    if (threadIdx.x == 0) out[smid()] = t1 - t0;
}
__global__ void k_touch(const char* p, size_t n, u32 v) { u32 h = 0; for (size_t i = (blockIdx.x * (size_t)blockDim.x + threadIdx.x) * 16; i < n; i += (size_t)gridDim.x * blockDim.x * 16) h ^= ldv(p + i); if (h == v) sink = h; }
__global__ void k_members(int* out) { if (threadIdx.x == 0) { u32 id; asm volatile("mov.u32 %0,%%clusterid.x;" : "=r"(id)); out[2 * blockIdx.x] = id; out[2 * blockIdx.x + 1] = smid(); } }
template <class F, class... A> void cluster(F f, int blocks, int size, int threads, int smem, A... a) {
    cudaLaunchConfig_t c = {}; c.gridDim = dim3(blocks); c.blockDim = dim3(threads); c.dynamicSmemBytes = smem;
    cudaLaunchAttribute at[1]; at[0].id = cudaLaunchAttributeClusterDimension; at[0].val.clusterDim.x = size; at[0].val.clusterDim.y = 1; at[0].val.clusterDim.z = 1;
    c.attrs = at; c.numAttrs = 1;
    CK(cudaFuncSetAttribute(f, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    CK(cudaFuncSetAttribute(f, cudaFuncAttributeMaxDynamicSharedMemorySize, smem));
    CK(cudaLaunchKernelEx(&c, f, a...));
}
static double med(std::vector<double> v) { if (v.empty()) return -1; std::sort(v.begin(), v.end()); return v[v.size() / 2]; }
static const int T = 64;
int main() {
    const size_t BIG = (size_t)6 << 30;
    char* buf; CK(cudaMalloc(&buf, BIG)); CK(cudaMemset(buf, 0, BIG));
    int *out, *sms, *dset, *ddel; CK(cudaMalloc(&out, 1 << 22)); CK(cudaMalloc(&sms, 64 * 4)); CK(cudaMalloc(&dset, 64)); CK(cudaMalloc(&ddel, 64));
    std::vector<int> h(1 << 20), hs(16);
    // which units make a group
    std::vector<int> par(132); for (int i = 0; i < 132; i++) par[i] = i;
    auto root = [&](int x) { while (par[x] != x) x = par[x]; return x; };
    for (int size : {16, 8, 2}) for (int rep = 0; rep < 4; rep++) {
        int n = size * (132 / size); cluster(k_members, n, size, 32, 180 * 1024, out); CK(cudaDeviceSynchronize());
        CK(cudaMemcpy(h.data(), out, 8 * n, cudaMemcpyDeviceToHost)); std::vector<int> first(n, -1);
        for (int i = 0; i < n; i++) { int id = h[2 * i], s = h[2 * i + 1]; if (first[id] < 0) first[id] = s; else par[root(s)] = root(first[id]); }
    }
    std::vector<std::vector<int>> groups; { std::vector<std::vector<int>> g(132); for (int i = 0; i < 132; i++) g[root(i)].push_back(i); for (auto& v : g) if (!v.empty()) groups.push_back(v); }
    for (size_t i = 0; i < groups.size(); i++) { printf("group,%zu:", i); for (int s : groups[i]) printf(" %d", s); printf(",%zu,units\n", groups[i].size()); }
    auto latency = [&](int a, int b, int delay, int other, bool warm, size_t base, int trials = T) {
        const char* p = buf + base;
        if (warm) { k_touch<<<132, 256>>>(p, (size_t)trials * 4224, 1); k_touch<<<132, 256>>>(p + 64 * 1024 * 1024, (size_t)trials * 4224, 1);
                    for (int w = 0; w < 2; w++) { cluster(k_latency, 16, 16, 32, 180 * 1024, p, (size_t)4224, trials, b, b, 0, 0, out, sms); cluster(k_latency, 16, 16, 32, 180 * 1024, p, (size_t)4224, trials, a, a, 0, other, out, sms); } }
        cluster(k_latency, 16, 16, 32, 180 * 1024, p, (size_t)4224, trials, a, b, delay, other, out, sms); CK(cudaDeviceSynchronize());
        CK(cudaMemcpy(h.data(), out, 4 * trials, cudaMemcpyDeviceToHost)); CK(cudaMemcpy(hs.data(), sms, 64, cudaMemcpyDeviceToHost));
        std::vector<double> v(h.begin(), h.begin() + trials); double s = 0; for (double x : v) s += x; return std::make_pair(s / trials, med(v));
    };
    latency(0, 1, 0, 0, true, 0);
    printf("ranks,"); for (int r = 0; r < 16; r++) printf(" %d", hs[r]); printf(",16,smid\n");
    // second level, by delay: the pair's mate, units further on, control: the other reads another line
    for (int b : {1, 2, 3, 6, 8, 15}) for (int other : {0, 1})
        for (int d : {-200, -100, -50, -20, 0, 10, 20, 30, 40, 60, 80, 100, 120, 150, 180, 210, 240, 270, 300, 350, 400}) {
            auto r = latency(0, b, d, other, true, 0);
            printf("latency_after,level=l2;a=0;b=%d;other=%d;delay=%d,%.1f,cycles\nlatency_after_median,level=l2;a=0;b=%d;other=%d;delay=%d,%.1f,cycles\n", b, other, d, r.first, b, other, d, r.second);
        }
    for (int b = 1; b < 16; b++) { auto r = latency(0, b, 60, 0, true, 0), q = latency(0, b, 60, 1, true, 0); printf("latency_pairs,a=0;b=%d;delay=60,%.1f,cycles\nlatency_pairs_apart,a=0;b=%d;delay=60,%.1f,cycles\n", b, r.first, b, q.first); }
    // memory: new lines each time
    size_t at = (size_t)1 << 28;
    for (int b : {1, 6, 15}) for (int d : {0, 50, 100, 200, 300, 400, 500, 600, 700, 800, 1000}) { auto r = latency(0, b, d, 0, false, at); at += (size_t)T * 4224; at = (at + 4095) / 4096 * 4096;
        printf("latency_after,level=memory;a=0;b=%d;other=0;delay=%d,%.1f,cycles\n", b, d, r.first); }
    // batches
    auto batch = [&](const char* name, std::vector<int> set, std::vector<int> del, int threads, int K, bool warm, const std::string& par_) {
        size_t step = (size_t)threads * 16 * K; int trials = 24; size_t whole = step * 16 * trials;
        if (!warm && at + whole > BIG) at = (size_t)1 << 28;
        const char* p = warm ? buf : buf + at; if (!warm) at += whole;
        CK(cudaMemcpy(dset, set.data(), 64, cudaMemcpyHostToDevice)); CK(cudaMemcpy(ddel, del.data(), 64, cudaMemcpyHostToDevice));
        for (int w = 0; w < (warm ? 3 : 1); w++) {
            if (K == 1) cluster(k_batch<1>, 16, 16, threads, 120 * 1024, p, step, trials, (const int*)dset, (const int*)ddel, out);
            else cluster(k_batch<4>, 16, 16, threads, 120 * 1024, p, step, trials, (const int*)dset, (const int*)ddel, out);
        }
        CK(cudaDeviceSynchronize()); CK(cudaMemcpy(h.data(), out, 4 * 16 * trials, cudaMemcpyDeviceToHost));
        std::vector<double> early, late, worst;
        for (int t = 4; t < trials; t++) { double w = 0; for (int r = 0; r < 16; r++) { int v = h[t * 16 + r]; if (v < 0) continue; (del[r] ? late : early).push_back(v); w = std::max(w, (double)v + del[r]); } worst.push_back(w); }
        printf("%s,%s;part=early,%.0f,cycles\n", name, par_.c_str(), med(early)); if (!late.empty()) printf("%s,%s;part=late,%.0f,cycles\n", name, par_.c_str(), med(late));
        printf("%s,%s;part=all,%.0f,cycles\n", name, par_.c_str(), med(worst));
    };
    char q[200];
    for (int warm : {1, 0}) for (int K : {1, 4}) for (int threads : {256, 1024}) {
        for (int n : {1, 2, 4, 8, 16}) for (int far : {0, 1}) { // n ranks read the same; neighbours, or as far apart as can be
            if (far && (n == 1 || n == 16)) continue;
            std::vector<int> s(16), d(16, 0); for (int r = 0; r < 16; r++) s[r] = far ? r % (16 / n) : r / n;
            snprintf(q, 200, "level=%s;bytes=%d;sharing=%d;apart=%d", warm ? "l2" : "memory", threads * 16 * K, n, far); batch("batch_sharing", s, d, threads, K, warm, q); }
        for (int who : {0, 1, 2}) // late: every second unit (mates), ranks of the upper half, those with other lines (control)
            for (int d0 : {0, 20, 40, 80, 120, 160, 200, 250, 300, 400, 600, 1000}) {
                std::vector<int> s(16), d(16); for (int r = 0; r < 16; r++) { bool late = who == 0 ? (r & 1) : (r >= 8); s[r] = who == 0 ? r / 2 : who == 1 ? r % 8 : r; d[r] = late ? d0 : 0; }
                snprintf(q, 200, "level=%s;bytes=%d;who=%s;delay=%d", warm ? "l2" : "memory", threads * 16 * K, who == 0 ? "mates" : who == 1 ? "halves" : "apart", d0); batch("batch_delay", s, d, threads, K, warm, q); }
        for (int d0 : {0, 5, 10, 20, 40, 80, 160}) { // all the same lines, each rank so much later than the one before
            std::vector<int> s(16, 0), d(16); for (int r = 0; r < 16; r++) d[r] = r * d0;
            snprintf(q, 200, "level=%s;bytes=%d;each=%d", warm ? "l2" : "memory", threads * 16 * K, d0); batch("batch_steps", s, d, threads, K, warm, q); }
    }
    // streams of the whole device
    ll* part; ll* ticks; CK(cudaMalloc(&part, 132 * 8)); CK(cudaMalloc(&ticks, 132 * 8)); std::vector<ll> hp(132), ht(132);
    std::vector<int> place(132), group(132); for (size_t g = 0; g < groups.size(); g++) for (size_t i = 0; i < groups[g].size(); i++) { place[groups[g][i]] = (int)i; group[groups[g][i]] = (int)g; }
    CK(cudaFuncSetAttribute(k_stream<1>, cudaFuncAttributeMaxDynamicSharedMemorySize, 120 * 1024)); CK(cudaFuncSetAttribute(k_stream<4>, cudaFuncAttributeMaxDynamicSharedMemorySize, 120 * 1024));
    const size_t S = (size_t)8 << 20;
    for (int K : {1, 4}) for (int threads : {256, 1024}) for (int how : {0, 1, 2, 3}) for (ll lag : {0LL, 1024LL, 4096LL, 16384LL, 65536LL, 262144LL}) {
        // how 0: every unit of a group one lag behind the one before; 1: mates together, pairs a lag apart; 2: mates a lag apart, pairs far apart; 3: one group alone
        if (how == 3 && threads == 256) continue;
        for (int s = 0; s < 132; s++) { ll o = how == 0 || how == 3 ? place[s] * lag : how == 1 ? (place[s] / 2) * lag : (place[s] / 2) * (ll)(S / 16) + (place[s] & 1) * lag;
            hp[s] = o % (ll)S; if (how == 3 && group[s] != group[2]) hp[s] = -1; }
        CK(cudaMemcpy(part, hp.data(), 132 * 8, cudaMemcpyHostToDevice)); double best = 0;
        for (int rep = 0; rep < 2; rep++) {
            if (K == 1) k_stream<1><<<132, threads, 120 * 1024>>>(buf, S, part, 2, ticks); else k_stream<4><<<132, threads, 120 * 1024>>>(buf, S, part, 2, ticks);
            CK(cudaGetLastError()); CK(cudaDeviceSynchronize()); CK(cudaMemcpy(ht.data(), ticks, 132 * 8, cudaMemcpyDeviceToHost)); double sum = 0; for (int s = 0; s < 132; s++) if (ht[s] > 0) sum += 2.0 * S / ht[s]; best = sum; }
        printf("stream,in_flight=%d;how=%d;lag=%lld,%.0f,bytes/cycle\n", threads * 16 * K, how, lag, best);
    }
    return 0;
}
