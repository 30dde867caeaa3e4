// A stream by bulk copies through local memory without parts of it, and what the engine takes of small copies by how many waves start them.
#include <cstdio>
#include <cstdlib>
#include <algorithm>
#include <vector>
#define CHECK(x) do { cudaError_t e = (x); if (e != cudaSuccess) { fprintf(stderr, "%s line %d\n", cudaGetErrorString(e), __LINE__); exit(1); } } while (0)
constexpr int TURNS = 512;
__device__ unsigned addr(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
// SUM: all threads add what came; SYNC: a barrier of the workgroup before the next copy; BULK: bulk copies (else thread 0 arrives without one); KEPT: addresses stay in registers
template <int CH, int ST, int SUM, int SYNC, int BULK, int KEPT> __global__ void __launch_bounds__(128) k_stream(const float4* a, float* out, unsigned* when, unsigned lines) {
  extern __shared__ __align__(128) float4 buf[]; __shared__ __align__(8) unsigned long long bar[ST]; constexpr int PER = CH / 16; float s = 0;
  if (threadIdx.x == 0) for (int i = 0; i < ST; i++) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(addr(&bar[i])));
  __syncthreads();
  unsigned kb = addr(&bar[0]), kd = addr(buf); if (KEPT) { asm volatile("mov.u32 %0, %0;" : "+r"(kb)); asm volatile("mov.u32 %0, %0;" : "+r"(kd)); }
  auto issue = [&](int st, int c) {
    unsigned b = KEPT ? kb + st * 8 : addr(&bar[st]), d = KEPT ? kd + st * CH : addr(buf + st * PER);
    if (BULK) {
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(b), "r"(CH));
      asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(d), "l"(a + (size_t)(c & lines) * PER), "r"(CH), "r"(b) : "memory");
    } else asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(b));
  };
  unsigned t0 = 0;
  if (threadIdx.x == 0) for (int n = 0; n < ST; n++) issue(n, blockIdx.x + n * gridDim.x);
  int st = 0, ph = 0;
#pragma unroll 1
  for (int k = 0; k < TURNS; k++) {
    if (k == TURNS / 4) t0 = clock();
    unsigned b = KEPT ? kb + st * 8 : addr(&bar[st]);
    asm volatile("{\n.reg .pred p;\nW: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra W;\n}" ::"r"(b), "r"(ph) : "memory");
    if (SUM) { if (KEPT) { for (int i = threadIdx.x; i < PER; i += 128) { float4 v; asm volatile("ld.shared.v4.f32 {%0,%1,%2,%3}, [%4];" : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "r"(kd + (st * PER + i) * 16)); s += v.x + v.y + v.z + v.w; } }
               else for (int i = threadIdx.x; i < PER; i += 128) { float4 v = buf[st * PER + i]; s += v.x + v.y + v.z + v.w; } }
    if (SYNC) __syncthreads(); else __syncwarp();
    if (threadIdx.x == 0 && k + ST < TURNS) issue(st, blockIdx.x + (k + ST) * gridDim.x);
    if (++st == ST) { st = 0; ph ^= 1; }
  }
  unsigned t1 = clock(); if (s == 123.456f) out[0] = s; if (threadIdx.x == 0) when[blockIdx.x] = t1 - t0;
}
template <int CH, int ST, int SUM, int SYNC, int BULK, int KEPT> void stream(const float4* a, float* out, unsigned* when) {
  auto* k = k_stream<CH, ST, SUM, SYNC, BULK, KEPT>; CHECK(cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, CH * ST));
  for (int threads : {32, 128}) for (int grid : {1, 132, 264}) {
    if (threads == 128 && !SYNC) continue;
    std::vector<double> all;
    for (int r = 0; r < 5; r++) {
      k<<<grid, threads, CH * ST>>>(a, out, when, (16u << 20) / CH - 1); CHECK(cudaDeviceSynchronize());
      unsigned h[264]; CHECK(cudaMemcpy(h, when, grid * 4, cudaMemcpyDeviceToHost)); double sum = 0; for (int w = 0; w < grid; w++) sum += h[w]; all.push_back(sum / grid);
    }
    std::sort(all.begin(), all.end());
    printf("stream,chunk=%d stages=%d sum=%d sync=%d bulk=%d kept=%d threads=%d grid=%d,%.2f,cycles a turn\n", CH, ST, SUM, SYNC, BULK, KEPT, threads, grid, all[2] / (TURNS * 3 / 4));
  }
}
// WAVES waves start copies of CH bytes each, N of them in a row, then wait; lane 0 of each
template <int CH> __global__ void k_engine(const char* a, unsigned* when, int many) {
  extern __shared__ __align__(128) char data[]; __shared__ __align__(8) unsigned long long bar[16]; int w = threadIdx.x / 32; unsigned t0 = 0, t1 = 0, t2 = 0;
  unsigned b = addr(&bar[w]), d = addr(data) + w * CH;
  if (threadIdx.x % 32 == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(b));
  __syncthreads();
  for (int round = 0; round < 3; round++) {
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
      const char* p = a + ((size_t)(blockIdx.x * 16 + w) * 8) * CH;
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(b), "r"(CH * many));
      t0 = clock();
#pragma unroll 4
      for (int i = 0; i < many; i++) asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(d), "l"(p + (size_t)(i & 7) * CH), "r"(CH), "r"(b) : "memory");
      t1 = clock();
      asm volatile("{\n.reg .pred p;\nW: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra W;\n}" ::"r"(b), "r"(round & 1) : "memory");
      t2 = clock();
    }
  }
  if (threadIdx.x % 32 == 0) { when[2 * (blockIdx.x * 16 + w)] = t1 - t0; when[2 * (blockIdx.x * 16 + w) + 1] = t2 - t0; }
}
template <int CH> void engine(const char* a, unsigned* when) {
  auto* k = k_engine<CH>; CHECK(cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, 128 * 1024));
  for (int grid : {1, 132}) for (int waves : {1, 2, 4, 8, 16}) for (int many : {1, 16, 64}) {
    if (waves * CH > 64 * 1024) continue;
    std::vector<double> iss, end;
    for (int r = 0; r < 5; r++) {
      k<<<grid, waves * 32, waves * CH>>>(a, when, many); CHECK(cudaDeviceSynchronize());
      static unsigned h[132 * 32]; CHECK(cudaMemcpy(h, when, sizeof h, cudaMemcpyDeviceToHost)); double x = 0, y = 0; for (int g = 0; g < grid; g++) for (int w = 0; w < waves; w++) { x += h[2 * (g * 16 + w)]; y += h[2 * (g * 16 + w) + 1]; }
      iss.push_back(x / (grid * waves)); end.push_back(y / (grid * waves));
    }
    std::sort(iss.begin(), iss.end()); std::sort(end.begin(), end.end());
    printf("engine,chunk=%d grid=%d waves=%d many=%d,%.1f,cycles issued,%.1f,cycles there\n", CH, grid, waves, many, iss[2], end[2]);
  }
}
int main() {
  char* a; float* out; unsigned* when; CHECK(cudaMalloc(&a, 512 << 20)); CHECK(cudaMalloc(&out, 1 << 20)); CHECK(cudaMalloc(&when, 1 << 20)); CHECK(cudaMemset(a, 0, 512 << 20));
  const float4* f = (const float4*)a;
  stream<1024, 8, 1, 1, 1, 0>(f, out, when); stream<1024, 8, 1, 1, 1, 1>(f, out, when); stream<1024, 8, 0, 1, 1, 0>(f, out, when); stream<1024, 8, 0, 1, 1, 1>(f, out, when); stream<1024, 8, 0, 0, 1, 0>(f, out, when); stream<1024, 8, 0, 0, 1, 1>(f, out, when);
  stream<1024, 8, 1, 1, 0, 0>(f, out, when); stream<1024, 8, 1, 1, 0, 1>(f, out, when); stream<1024, 8, 0, 0, 0, 0>(f, out, when); stream<1024, 8, 0, 0, 0, 1>(f, out, when);
  stream<4096, 3, 1, 1, 1, 0>(f, out, when); stream<4096, 3, 0, 1, 1, 1>(f, out, when); stream<128, 8, 0, 1, 1, 1>(f, out, when); stream<2048, 8, 0, 1, 1, 1>(f, out, when);
  engine<64>(a, when); engine<256>(a, when); engine<1024>(a, when); engine<2048>(a, when); engine<4096>(a, when);
}
