// Copies by lane (cp.async) as matrix products through local memory use them: until they are issued, until their address registers are
// free again, until they are there, by how many lines each touches and how it lies in local memory; beside ldmatrix; and such a product
// with parts of it left out. CSV: name,params,value,unit
// nvcc -O3 -std=c++17 -gencode=arch=compute_90a,code=sm_90a -o copies hgemm_copies.cu
#include <cstdio>
#include <cstdint>
#include <algorithm>
#include <cuda_runtime.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <mma.h>
typedef long long ll; typedef uint32_t u32; typedef uint64_t u64;
#define CK(x) do { cudaError_t e_ = (x); if (e_ != cudaSuccess) { printf("error,%s,0,%s\n", #x, cudaGetErrorString(e_)); exit(1); } } while (0)
__device__ __forceinline__ u32 clk() { u32 t; asm volatile("mov.u32 %0,%%clock;" : "=r"(t)::"memory"); return t; }
__device__ __forceinline__ u32 clk_after(u32 x) { u32 t; asm volatile("{.reg .pred p; setp.ne.u32 p,%1,0x9e3779b9; mov.u32 %0,0; @p mov.u32 %0,%%clock;}" : "=r"(t) : "r"(x) : "memory"); return t; }
__device__ __forceinline__ u32 sbase(const void* p) { return (u32)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void ldm4(u32* r, u32 a) { asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3},[%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(a) : "memory"); }
template <int KIND> __device__ __forceinline__ void cpa(u32 s, const char* g) {
  if (KIND == 0) asm volatile("cp.async.cg.shared.global [%0],[%1],16;" ::"r"(s), "l"(g) : "memory");
  if (KIND == 1) asm volatile("cp.async.ca.shared.global [%0],[%1],16;" ::"r"(s), "l"(g) : "memory");
  if (KIND == 2) asm volatile("cp.async.ca.shared.global [%0],[%1],4;" ::"r"(s), "l"(g) : "memory");
}
u32* dT; u32 hT[1 << 16]; char* dBuf; u32* dSink;

// ---- 1: n copies of each of `waves` waves at one time: (a) issued (b) address registers free to write (c) there.
// A copy's 32 lanes lie in rows: `row` bytes each, `pitch` bytes apart in global and `spitch` in local memory.
struct Shape { int row, pitch, spitch; };
template <int N, int KIND> __global__ void __launch_bounds__(512) k_release(u32* T, const char* g, Shape sh, int iters, u64 zero, u64 gap) {
  extern __shared__ __align__(1024) unsigned char sm8[]; u32 w = threadIdx.x >> 5, lane = threadIdx.x & 31, at = lane * 16, r = at / sh.row, c = at % sh.row;
  u32 s[N]; const char* q[N]; u32 per = (512 / sh.row) * sh.spitch; 
#pragma unroll
  for (int u = 0; u < N; u++) { s[u] = sbase(sm8) + (w * N + u) * per + r * sh.spitch + c; q[u] = g + ((size_t)w * N + u) * gap + (size_t)r * sh.pitch + c; }
#pragma unroll
  for (int u = 0; u < N; u++) { asm volatile("" : "+r"(s[u])); asm volatile("" : "+l"(q[u])); }
  u32 a = 0, b = 0, d = 0, e = 0;
#pragma unroll 1
  for (int k = 0; k < iters; k++) {
    __syncthreads(); u32 h = threadIdx.x; u32 t0 = clk();
#pragma unroll
    for (int u = 0; u < N; u++) cpa<KIND>(s[u], q[u]);
    u32 t1 = clk();
#pragma unroll
    for (int u = 0; u < N; u++) { s[u] += (u32)zero; h ^= s[u]; }
    u32 t2 = clk_after(h);
    asm volatile("cp.async.commit_group;\ncp.async.wait_group 0;" ::: "memory"); u32 t3 = clk();
    a += t1 - t0; b += t2 - t0; d += t3 - t0; e += h;
    if (k == 7) a = b = d = 0;
  }
  if (lane == 0) { T[w * 4] = a; T[w * 4 + 1] = b; T[w * 4 + 2] = d; T[w * 4 + 3] = e; }
}
template <int N, int KIND> static void release(const char* kind, int waves, Shape sh, u64 gap) {
  int iters = 40; CK(cudaFuncSetAttribute(k_release<N, KIND>, cudaFuncAttributeMaxDynamicSharedMemorySize, 220 * 1024));
  for (int k = 0; k < 2; k++) { k_release<N, KIND><<<1, waves * 32, 220 * 1024>>>(dT, dBuf, sh, iters, 0, gap); CK(cudaDeviceSynchronize()); }
  CK(cudaMemcpy(hT, dT, waves * 16, cudaMemcpyDeviceToHost)); double m[3] = {0, 0, 0}, x[3] = {0, 0, 0};
  for (int w = 0; w < waves; w++) for (int j = 0; j < 3; j++) { double v = hT[w * 4 + j] / 32.0; m[j] += v / waves; x[j] = std::max(x[j], v); }
  const char* what[3] = {"issued", "free", "there"};
  for (int j = 0; j < 3; j++) printf("copies_%s,kind=%s n=%d waves=%d row=%d pitch=%d spitch=%d,%.1f,cycles mean of waves; the slowest %.1f\n", what[j], kind, N, waves, sh.row, sh.pitch, sh.spitch, m[j], x[j]);
}
// ---- 2: `nl` waves of ldmatrix, `nc` waves of copies at `gapc` cycles of additions between batches of 4
template <int KIND> __global__ void __launch_bounds__(768) k_beside(u32* T, const char* g, Shape sh, int nl, int iters, int step, u64 gap) {
  extern __shared__ __align__(1024) unsigned char sm8[]; __shared__ volatile int stop;
  u32 w = threadIdx.x >> 5, lane = threadIdx.x & 31; if (threadIdx.x == 0) stop = 0; __syncthreads(); u32 n = 0, t0 = clk(), t1;
  if ((int)w < nl) {
    u32 x[32], h = 0; for (int i = 0; i < 32; i++) x[i] = 0; u32 p = sbase(sm8) + lane * 16;
#pragma unroll 1
    for (int k = 0; k < iters; k++) {
#pragma unroll
      for (int u = 0; u < 8; u++) ldm4(x + u * 4, p + u * 512);
      n += 8;
    }
    for (int i = 0; i < 32; i++) h ^= x[i];
    t1 = clk(); stop = 1; if (h == 0x9e3779b9u) T[4000] = h;
  } else {
    u32 at = lane * 16, r = at / sh.row, c = at % sh.row, per = (512 / sh.row) * sh.spitch; u32 s = sbase(sm8) + 8192 + (w - nl) * 4 * per + r * sh.spitch + c;
    const char* q = g + ((size_t)(w - nl) * 4) * gap + (size_t)r * sh.pitch + c; u32 x = w;
    while (!stop) {
#pragma unroll
      for (int u = 0; u < 4; u++) cpa<KIND>(s + u * per, q + u * gap);
      asm volatile("cp.async.commit_group;\ncp.async.wait_group 3;" ::: "memory");
      for (int i = 0; i < step; i++) asm volatile("mul.lo.u32 %0,%0,%0;" : "+r"(x));
      n += 4;
    }
    asm volatile("cp.async.wait_all;" ::: "memory"); t1 = clk(); if (x == 0x9e3779b9u) T[4001] = x;
  }
  if (lane == 0) { T[3 * w] = t0; T[3 * w + 1] = t1; T[3 * w + 2] = n; }
}
template <int KIND> static void beside(const char* kind, int nl, int nc, Shape sh, int step, u64 gap) {
  int waves = nl + nc; CK(cudaFuncSetAttribute(k_beside<KIND>, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 * 1024));
  for (int k = 0; k < 2; k++) { k_beside<KIND><<<1, waves * 32, 200 * 1024>>>(dT, dBuf, sh, nl, 512, step, gap); CK(cudaDeviceSynchronize()); }
  CK(cudaMemcpy(hT, dT, waves * 12, cudaMemcpyDeviceToHost)); double l = 0, c = 0;
  for (int w = 0; w < waves; w++) (w < nl ? l : c) += hT[3 * w + 2] / double(hT[3 * w + 1] - hT[3 * w]);
  printf("beside_loads,kind=%s loads=%d copies=%d row=%d pitch=%d spitch=%d step=%d,%.3f,cycles a load; a copy each %.2f; lost to a copy %.2f\n", kind, nl, nc, sh.row, sh.pitch, sh.spitch, step, 1 / l, nc ? 1 / c : 0.0, nc ? (1 - 4.0 * l) / c : 0.0);
}
// ---- 3: the product of ../h200 (three stages), whole and without parts. All workgroups take the same tiles.
enum { NO_COPY = 1, NO_WAIT = 2, NO_BARRIER = 4, NO_PRODUCT = 8, NO_LOAD = 16, PLAIN = 32, HALF = 64 };
template <int OFF> __global__ void __launch_bounds__(256, 2) k_product(const __half* __restrict__ A, const __half* __restrict__ B, float* __restrict__ C, int N, int K, u32* T) {
  using namespace nvcuda; extern __shared__ __align__(128) __half sm[]; constexpr int STAGES = 3, LA = 32 + 8, LB = 128 + 8; __half* sa = sm; __half* sb = sm + STAGES * 128 * LA;
  int t = threadIdx.x, w = t / 32, wr = w / 4, wc = w % 4; wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc[4][2];
  for (int i = t; i < STAGES * (128 * LA + 32 * LB); i += 256) sm[i] = __float2half(0.f);
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 4; i++) for (int j = 0; j < 2; j++) wmma::fill_fragment(acc[i][j], 0.0f);
  const __half* Ab = A; const __half* Bb = B; int KT = K / 32;
  auto load = [&](int s, int kt) {
#pragma unroll
    for (int q = 0; q < ((OFF & HALF) ? 1 : 2); q++) { int e = (t + q * 256) * 8; int r = e / 32, c = e % 32;
      if (OFF & PLAIN) { __pipeline_memcpy_async(&sa[s * 128 * LA + e], &Ab[(size_t)kt * 4096 + e], 16); __pipeline_memcpy_async(&sb[s * 32 * LB + e], &Bb[(size_t)kt * 4096 + e], 16); }
      else { __pipeline_memcpy_async(&sa[s * 128 * LA + r * LA + c], &Ab[(size_t)r * K + kt * 32 + c], 16);
      r = e / 128; c = e % 128; __pipeline_memcpy_async(&sb[s * 32 * LB + r * LB + c], &Bb[(size_t)(kt * 32 + r) * N + c], 16); } } };
  if (!(OFF & NO_COPY)) for (int s = 0; s < STAGES - 1; s++) { if (s < KT) load(s, s); __pipeline_commit(); }
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa[4]; wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> fb[2];
  if (OFF & NO_LOAD) { for (int i = 0; i < 4; i++) wmma::load_matrix_sync(fa[i], sa + i * 16 * LA, LA); for (int j = 0; j < 2; j++) wmma::load_matrix_sync(fb[j], sb + j * 16, LB); }
  u32 t0 = clk();
  for (int kt = 0; kt < KT; kt++) {
    if (!(OFF & NO_WAIT)) __pipeline_wait_prior(STAGES - 2);
    if (!(OFF & NO_BARRIER)) __syncthreads();
    int nk = kt + STAGES - 1; if (!(OFF & NO_COPY)) { if (nk < KT) load(nk % STAGES, nk); __pipeline_commit(); }
    const __half* pa = &sa[(kt % STAGES) * 128 * LA + wr * 64 * LA]; const __half* pb = &sb[(kt % STAGES) * 32 * LB + wc * 32];
#pragma unroll
    for (int kk = 0; kk < 32; kk += 16) {
      if (!(OFF & NO_LOAD)) {
#pragma unroll
      for (int i = 0; i < 4; i++) wmma::load_matrix_sync(fa[i], pa + i * 16 * LA + kk, LA);
#pragma unroll
      for (int j = 0; j < 2; j++) wmma::load_matrix_sync(fb[j], pb + kk * LB + j * 16, LB);
      }
#pragma unroll
      for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 2; j++) { if (!(OFF & NO_PRODUCT)) wmma::mma_sync(acc[i][j], fa[i], fb[j], acc[i][j]);
          else { u32* p = (u32*)&fa[i].x[0]; u32* z = (u32*)&fb[j].x[0]; acc[i][j].x[0] += __uint_as_float((p[0] ^ p[1] ^ p[2] ^ p[3] ^ z[0] ^ z[1] ^ z[2] ^ z[3]) & 0xffff); } } }
  }
  u32 t1 = clk();
  if ((t & 31) == 0) { T[(blockIdx.x * 8 + w) * 2] = t0; T[(blockIdx.x * 8 + w) * 2 + 1] = t1; }
#pragma unroll
  for (int i = 0; i < 4; i++)
#pragma unroll
    for (int j = 0; j < 2; j++) wmma::store_matrix_sync(C + (size_t)(wr * 64 + i * 16) * N + wc * 32 + j * 16, acc[i][j], N, wmma::mem_row_major);
}
template <int OFF> static void product(const char* what) {
  int K = 4096, N = 128, bytes = 3 * (128 * 40 + 32 * 136) * 2; CK(cudaFuncSetAttribute(k_product<OFF>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  __half* A = (__half*)dBuf; __half* B = A + (1 << 20); float* C = (float*)(dBuf + (4 << 20));
  for (int grid : {1, 264}) {
    for (int k = 0; k < 3; k++) { k_product<OFF><<<grid, 256, bytes>>>(A, B, C, N, K, dT); CK(cudaDeviceSynchronize()); }
    CK(cudaMemcpy(hT, dT, grid * 64, cudaMemcpyDeviceToHost)); double sum = 0;
    for (int w = 0; w < grid * 8; w++) sum += (hT[2 * w + 1] - hT[2 * w]) / double(K / 32) / (grid * 8);
    printf("product_iteration,%s workgroups_a_unit=%d,%.1f,cycles\n", what, grid == 1 ? 1 : 2, sum);
  }
}
int main() {
  CK(cudaMalloc(&dT, sizeof hT)); CK(cudaMalloc(&dSink, 64)); CK(cudaMalloc(&dBuf, 64 << 20)); CK(cudaMemset(dBuf, 0, 64 << 20)); CK(cudaMemset(dT, 0, sizeof hT));
  product<0>("whole"); product<0>("whole"); product<PLAIN>("copies in a row"); product<HALF>("half the copies"); product<NO_COPY>("no copies"); product<NO_WAIT>("no wait"); product<NO_WAIT | NO_BARRIER>("no wait no barrier");
  product<NO_COPY | NO_WAIT | NO_BARRIER>("no copies no wait no barrier"); product<NO_PRODUCT>("no products"); product<NO_LOAD>("no loads"); product<NO_LOAD | NO_COPY>("no loads no copies"); product<NO_LOAD | NO_PRODUCT>("no loads no products");
  Shape plain{512, 512, 512}, two{256, 4096, 272}, eight{64, 4096, 80}, eight_plain{64, 4096, 64}, sixteen{32, 4096, 48}, all{16, 4096, 16}, half{128, 4096, 144}, packed{64, 64, 80}, conflict{16, 16, 128};
  for (Shape s : {plain, two, half, eight, eight_plain, sixteen, all, packed}) for (int waves : {1, 2, 4, 8, 16}) { u64 gap = s.pitch > 512 ? 132096 : 512; release<1, 0>("past", waves, s, gap); release<4, 0>("past", waves, s, gap); if (waves <= 8) release<8, 0>("past", waves, s, gap); }
  for (Shape s : {plain, eight, all}) for (int waves : {1, 8}) { u64 gap = s.pitch > 512 ? 132096 : 512; release<4, 1>("through", waves, s, gap); release<4, 2>("through4", waves, s, gap); }
  for (int waves : {1, 8}) release<4, 0>("past", waves, conflict, 512);
  for (int n : {4, 8, 12}) beside<0>("past", n, 0, plain, 0, 512);
  for (Shape s : {plain, two, half, eight, eight_plain, sixteen, all, packed}) for (int nl : {8, 12}) for (int nc : {4, 8}) for (int step : {0, 40}) beside<0>("past", nl, nc, s, step, s.pitch > 512 ? 132096 : 512);
  for (int nl : {8}) for (int nc : {4, 8}) { beside<1>("through", nl, nc, plain, 0, 512); beside<1>("through", nl, nc, eight, 0, 132096); }
  return 0;
}
