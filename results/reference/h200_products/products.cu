// Matrix products, copies by lane and ldmatrix that share local memory; fairness of waves at one unit. CSV: name,params,value,unit
// nvcc -O3 -std=c++17 -gencode=arch=compute_90a,code=sm_90a -o products products.cu
#include <cstdio>
#include <cstdint>
#include <algorithm>
#include <vector>
#include <cuda_runtime.h>
typedef long long ll; typedef uint32_t u32; typedef uint64_t u64;
#define CK(x) do { cudaError_t e_ = (x); if (e_ != cudaSuccess) { printf("error,%s,0,%s\n", #x, cudaGetErrorString(e_)); exit(1); } } while (0)
__device__ __forceinline__ ll clk() { ll t; asm volatile("mov.u64 %0,%%clock64;" : "=l"(t)::"memory"); return t; }
__device__ __forceinline__ u32 sbase(const void* p) { return (u32)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void ldm4(u32* r, u32 a) { asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3},[%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(a) : "memory"); }
__device__ __forceinline__ void lds4(u32* r, u32 a) { asm volatile("ld.volatile.shared.v4.u32 {%0,%1,%2,%3},[%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(a) : "memory"); }
__device__ __forceinline__ void cpa16(u32 s, const char* g) { asm volatile("cp.async.cg.shared.global [%0],[%1],16;" ::"r"(s), "l"(g) : "memory"); }
__device__ __forceinline__ void wg128(float* d, u64 a, u64 b) { asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63},%64,%65,1,1,1,0,0;" : "+f"(d[0]),"+f"(d[1]),"+f"(d[2]),"+f"(d[3]),"+f"(d[4]),"+f"(d[5]),"+f"(d[6]),"+f"(d[7]),"+f"(d[8]),"+f"(d[9]),"+f"(d[10]),"+f"(d[11]),"+f"(d[12]),"+f"(d[13]),"+f"(d[14]),"+f"(d[15]),"+f"(d[16]),"+f"(d[17]),"+f"(d[18]),"+f"(d[19]),"+f"(d[20]),"+f"(d[21]),"+f"(d[22]),"+f"(d[23]),"+f"(d[24]),"+f"(d[25]),"+f"(d[26]),"+f"(d[27]),"+f"(d[28]),"+f"(d[29]),"+f"(d[30]),"+f"(d[31]),"+f"(d[32]),"+f"(d[33]),"+f"(d[34]),"+f"(d[35]),"+f"(d[36]),"+f"(d[37]),"+f"(d[38]),"+f"(d[39]),"+f"(d[40]),"+f"(d[41]),"+f"(d[42]),"+f"(d[43]),"+f"(d[44]),"+f"(d[45]),"+f"(d[46]),"+f"(d[47]),"+f"(d[48]),"+f"(d[49]),"+f"(d[50]),"+f"(d[51]),"+f"(d[52]),"+f"(d[53]),"+f"(d[54]),"+f"(d[55]),"+f"(d[56]),"+f"(d[57]),"+f"(d[58]),"+f"(d[59]),"+f"(d[60]),"+f"(d[61]),"+f"(d[62]),"+f"(d[63]) : "l"(a), "l"(b)); }
__device__ __forceinline__ void hmma(float* d, const u32* a, const u32* b) { asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1])); }
ll* dT; ll hT[4096]; char* dBuf; u32* dSink;

// ---- 1: streams that share local memory. Roles by wave: first `nw` warpgroups of products, then `nl` waves of ldmatrix or wide loads, then `nc` waves of copies by lane from L2.
// Each role runs until the first role to have work (products, else loads, else copies) has done `iters`, so that all overlap; every wave reports how many it did and how long.
struct Role { int products, loads, wide, copies; };
__global__ void __launch_bounds__(640) k_share(ll* T, const char* g, Role r, int iters, u32* sink) {
  extern __shared__ __align__(1024) unsigned char sm8[];
  __shared__ volatile int stop;
  u32 base = (sbase(sm8) + 1023) & ~1023u;
  for (u32 i = threadIdx.x; i < 24576; i += blockDim.x) { u32 h = (i * 2654435761u & 0x83ff83ffu) | 0x38003800u; asm volatile("st.shared.u32 [%0],%1;" ::"r"(base + i * 4), "r"(h)); }
  if (threadIdx.x == 0) stop = 0;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  int w = threadIdx.x >> 5, lane = threadIdx.x & 31; ll n = 0; ll t0 = clk(), t1;
  int leads = r.products ? w < r.products * 4 : r.loads ? w < r.loads : 1;
  if (w < r.products * 4) {
    u32 wg = w >> 2; u64 dsc = (1ull << 62) | ((u64)(1024 >> 4) << 32) | ((u64)1 << 16);
    u64 da = dsc | (((base + 32768 + wg * 8192) & 0x3ffff) >> 4), db = dsc | ((base & 0x3ffff) >> 4);
    float d[64];
#pragma unroll
    for (int i = 0; i < 64; i++) d[i] = 0;
    for (int k = 0; k < iters; k++) {
      asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
      for (int u = 0; u < 8; u++) wg128(d, da, db);
      asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
      asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
      n += 8;
    }
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    t1 = clk(); stop = 1;
    float s = 0;
#pragma unroll
    for (int i = 0; i < 64; i++) s += d[i];
    if (s == 123.456f) sink[0] = 1;
  } else if (w < r.products * 4 + r.loads) {
    u32 x[32]; u32 p = base + 57344 + (w & 7) * 512 + lane * 16; u32 h = 0;
#pragma unroll
    for (int i = 0; i < 32; i++) x[i] = 0;
    for (int k = 0; leads ? k < iters : !stop; k++) {
      if (r.wide) {
#pragma unroll
        for (int u = 0; u < 8; u++) lds4(x + 4 * u, p + u * 4096);
      } else {
#pragma unroll
        for (int u = 0; u < 8; u++) ldm4(x + 4 * u, p + u * 4096);
      }
      n += 8;
    }
#pragma unroll
    for (int i = 0; i < 32; i++) h ^= x[i];
    t1 = clk(); if (leads) stop = 1;
    if (h == 0x9e3779b9u) sink[1] = h;
  } else {
    u32 s = base + 98304 + (w & 3) * 8192 + lane * 16; const char* q = g + (size_t)w * 65536 + lane * 16; int at = 0;
    for (int k = 0; leads ? k < iters : !stop; k++) {
#pragma unroll
      for (int u = 0; u < 4; u++) cpa16(s + ((k & 3) * 4 + u) * 512, q + at + u * 512);
      asm volatile("cp.async.commit_group;\ncp.async.wait_group 3;" ::: "memory");
      at = (at + 2048) & 65535; n += 4;
    }
    asm volatile("cp.async.wait_all;" ::: "memory");
    t1 = clk();
  }
  if (lane == 0) { T[3 * w] = t0; T[3 * w + 1] = t1; T[3 * w + 2] = n; }
}
static void share(const char* what, Role r, int iters) {
  int waves = r.products * 4 + r.loads + r.copies; int bytes = 140 * 1024;
  CK(cudaFuncSetAttribute(k_share, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  for (int k = 0; k < 3; k++) { k_share<<<1, waves * 32, bytes>>>(dT, dBuf, r, iters, dSink); CK(cudaDeviceSynchronize()); }
  CK(cudaMemcpy(hT, dT, waves * 24, cudaMemcpyDeviceToHost));
  auto rate = [&](int from, int to, const char* unit, double scale) { if (to <= from) return; double sum = 0; for (int w = from; w < to; w++) sum += hT[3 * w + 2] / double(hT[3 * w + 1] - hT[3 * w]);
    printf("share_%s,products=%d loads=%d wide=%d copies=%d,%.3f,%s\n", unit, r.products, r.loads, r.wide, r.copies, scale / sum, what); };
  int a = r.products * 4, b = a + r.loads;
  rate(0, a, "product_interval", 4.0); rate(a, b, "load_interval", 1.0); rate(b, waves, "copy_interval", 1.0);
}

// ---- 2: two warpgroups that take turns between products and other work: batches of 8 products, wait_group 1, then `gap` cycles of a chain of additions.
__global__ void __launch_bounds__(256) k_turns(ll* T, int gap, int iters, u32* sink) {
  extern __shared__ __align__(1024) unsigned char sm8[]; u32 base = (sbase(sm8) + 1023) & ~1023u;
  for (u32 i = threadIdx.x; i < 12288; i += blockDim.x) { u32 h = (i * 2654435761u & 0x83ff83ffu) | 0x38003800u; asm volatile("st.shared.u32 [%0],%1;" ::"r"(base + i * 4), "r"(h)); }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  u32 wg = threadIdx.x >> 7; u64 dsc = (1ull << 62) | ((u64)(1024 >> 4) << 32) | ((u64)1 << 16);
  u64 da = dsc | (((base + 32768 + wg * 8192) & 0x3ffff) >> 4), db = dsc | ((base & 0x3ffff) >> 4);
  float d[64], e[64];
#pragma unroll
  for (int i = 0; i < 64; i++) d[i] = e[i] = 0;
  u32 x = threadIdx.x; ll t0 = clk(); int w = threadIdx.x >> 5;
  for (int k = 0; k < iters; k++) {
    ll a = clk();
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int u = 0; u < 4; u++) wg128(d, da, db);
#pragma unroll
    for (int u = 0; u < 4; u++) wg128(e, da, db);
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    ll b = clk();
    asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
    ll c = clk();
    for (int i = 0; i < gap; i += 32) {
#pragma unroll
      for (int u = 0; u < 8; u++) asm volatile("add.u32 %0,%0,%1;" : "+r"(x) : "r"(i));
    }
    asm volatile("bar.sync %0,128;" ::"r"(wg + 1));
    if ((threadIdx.x & 31) == 0 && k >= iters - 8) { ll* q = T + 1024 + (w * 8 + k - iters + 8) * 3; q[0] = a - t0; q[1] = b - t0; q[2] = c - t0; }
  }
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  ll t1 = clk(); float s = 0;
#pragma unroll
  for (int i = 0; i < 64; i++) s += d[i] + e[i];
  if (s == 123.456f || x == 77) sink[0] = 1;
  if ((threadIdx.x & 31) == 0) { T[2 * w] = t0; T[2 * w + 1] = t1; }
}
static void turns() {
  int bytes = 60 * 1024, iters = 64; CK(cudaFuncSetAttribute(k_turns, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  for (int groups : {1, 2}) for (int gap : {0, 64, 128, 256, 384, 512, 768}) {
    for (int k = 0; k < 3; k++) { k_turns<<<1, groups * 128, bytes>>>(dT, gap, iters, dSink); CK(cudaDeviceSynchronize()); }
    CK(cudaMemcpy(hT, dT, sizeof hT, cudaMemcpyDeviceToHost));
    for (int g = 0; g < groups; g++) printf("turns_period,groups=%d gap=%d group=%d,%.1f,cycles a batch of 8 products of 64 cycles and a gap\n", groups, gap, g, (hT[8 * g + 1] - hT[8 * g]) / double(iters));
    if (gap == 256) for (int w = 0; w < groups * 4; w += 2) for (int k = 0; k < 8; k++) { ll* q = hT + 1024 + (w * 8 + k) * 3; printf("turns_moments,groups=%d gap=%d wave=%d batch=%d,%lld,issue from %lld to %lld waited to %lld\n", groups, gap, w, k, q[1] - q[0], q[0], q[1], q[2]); }
  }
}

// ---- 3: fairness at one unit. 16 or 32 waves, each a loop of 32 operations (chains: independent ones); when does each wave end?
enum { HMMA, MUFU, IMAD, FFMA, LDS };
template <int OP, int CH> __global__ void __launch_bounds__(1024) k_fair(ll* T, int iters, u32 seed, u32* sink) {
  __shared__ u32 sm[1024]; sm[threadIdx.x & 1023] = sbase(sm); float d[CH][4]; u32 a[4] = {seed, seed * 3, seed * 5, seed * 7}, b[2] = {seed + 1, seed}; float f[CH]; u32 x[CH];
#pragma unroll
  for (int j = 0; j < CH; j++) { f[j] = threadIdx.x; x[j] = sbase(sm); for (int i = 0; i < 4; i++) d[j][i] = 0; }
  __syncthreads(); ll t0 = clk();
#pragma unroll 1
  for (int k = 0; k < iters; k++) {
#pragma unroll
    for (int u = 0; u < 32 / CH; u++)
#pragma unroll
      for (int j = 0; j < CH; j++) {
        if (OP == HMMA) hmma(d[j], a, b);
        if (OP == MUFU) asm volatile("ex2.approx.ftz.f32 %0,%0;" : "+f"(f[j]));
        if (OP == IMAD) asm volatile("mad.lo.u32 %0,%0,%1,%1;" : "+r"(x[j]) : "r"(seed));
        if (OP == FFMA) asm volatile("fma.rn.f32 %0,%0,%1,%1;" : "+f"(f[j]) : "f"(__int_as_float(seed)));
        if (OP == LDS) asm volatile("ld.volatile.shared.u32 %0,[%0];" : "+r"(x[j]));
      }
  }
  ll t1 = clk(); float s = 0;
#pragma unroll
  for (int j = 0; j < CH; j++) { s += f[j] + x[j]; for (int i = 0; i < 4; i++) s += d[j][i]; }
  if (s == 123.456f) sink[0] = 1;
  if ((threadIdx.x & 31) == 0) { T[2 * (threadIdx.x >> 5)] = t0; T[2 * (threadIdx.x >> 5) + 1] = t1; }
}
template <int OP, int CH> static void fair(const char* name) {
  const int iters = 256;
  for (int waves : {1, 4, 8, 12, 16, 20, 24, 32}) {
    for (int k = 0; k < 3; k++) { k_fair<OP, CH><<<1, waves * 32>>>(dT, iters, 0x3c01u, dSink); CK(cudaDeviceSynchronize()); }
    CK(cudaMemcpy(hT, dT, waves * 16, cudaMemcpyDeviceToHost));
    ll first = hT[0], least = 1ll << 62, most = 0; for (int w = 0; w < waves; w++) first = std::min(first, hT[2 * w]);
    for (int w = 0; w < waves; w++) { least = std::min(least, hT[2 * w + 1] - first); most = std::max(most, hT[2 * w + 1] - first); }
    printf("fair_%s,chains=%d waves=%d,%.2f,cycles a loop of 32; first wave ends at %.3f of the last\n", name, CH, waves, most / double(iters), least / double(most));
    if (waves == 16) { printf("fair_%s_ends,chains=%d waves=%d,0,", name, CH, waves); for (int w = 0; w < waves; w++) printf(" %.3f", (hT[2 * w + 1] - first) / double(most)); printf("\n"); }
  }
}

// ---- 4: what a wait for copies costs where they are there already; issue of 16 copies in a row.
__global__ void k_wait(ll* T, const char* g, int mode, int iters, u32* sink) {
  extern __shared__ __align__(1024) unsigned char sm8[]; u32 s = sbase(sm8) + threadIdx.x * 16; const char* q = g + threadIdx.x * 16; ll sum = 0, wait = 0;
  for (int k = 0; k < iters; k++) {
    __syncthreads(); ll a = clk();
    if (mode == 1) { cpa16(s, q); }
    if (mode >= 2) {
#pragma unroll
      for (int u = 0; u < 16; u++) cpa16(s + u * 2048, q + u * 2048);
    }
    asm volatile("cp.async.commit_group;" ::: "memory"); ll b = clk();
    if (mode == 3) { ll c = clk(); while (clk() - c < 2000); }
    ll c = clk(); asm volatile("cp.async.wait_group 0;" ::: "memory"); ll d = clk();
    if (k >= 4) { sum += b - a; wait += d - c; }
  }
  if ((threadIdx.x & 31) == 0) { T[2 * (threadIdx.x >> 5)] = sum / (iters - 4); T[2 * (threadIdx.x >> 5) + 1] = wait / (iters - 4); }
}
static void waits() {
  for (int waves : {1, 4}) for (int mode : {0, 1, 2, 3}) {
    CK(cudaFuncSetAttribute(k_wait, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 * 1024)); k_wait<<<1, waves * 32, 64 * 1024>>>(dT, dBuf, mode, 36, dSink); CK(cudaDeviceSynchronize());
    CK(cudaMemcpy(hT, dT, waves * 16, cudaMemcpyDeviceToHost));
    printf("copies_issue,mode=%d waves=%d,%lld,cycles until issued; waited %lld (mode 0 none 1 one 2 sixteen 3 sixteen long ago)\n", mode, waves, hT[0], hT[1]);
  }
}
int main() {
  CK(cudaMalloc(&dT, sizeof hT)); CK(cudaMalloc(&dSink, 64)); CK(cudaMalloc(&dBuf, 8 << 20)); CK(cudaMemset(dBuf, 0, 8 << 20));
  for (int n : {1, 2, 4, 8, 16}) { share("alone", {0, n, 0, 0}, 4096); share("alone", {0, n, 1, 0}, 4096); share("alone", {0, 0, 0, n}, 4096); }
  for (int n : {4, 8, 12}) { share("with copies", {0, n, 0, 4}, 4096); share("with copies", {0, n, 0, 8}, 4096); share("with copies", {0, n, 1, 8}, 4096); }
  share("alone", {1, 0, 0, 0}, 1024); share("alone", {2, 0, 0, 0}, 1024);
  for (int p : {1, 2}) for (int n : {4, 8}) { share("with products", {p, 0, 0, n}, 1024); share("with products", {p, n, 0, 0}, 1024); share("with products", {p, n, 1, 0}, 1024); share("with products", {p, 4, 0, n}, 1024); }
  turns();
  fair<HMMA, 1>("hmma"); fair<HMMA, 2>("hmma"); fair<HMMA, 4>("hmma"); fair<MUFU, 4>("mufu"); fair<IMAD, 4>("imad"); fair<FFMA, 1>("ffma"); fair<FFMA, 4>("ffma"); fair<LDS, 4>("lds");
  waits();
  return 0;
}
