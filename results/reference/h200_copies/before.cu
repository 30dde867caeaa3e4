// Local reads that the assembler puts in front of copies by lane, all lanes off: what they take.
#include <cstdio>
#include <cstdlib>
#include <algorithm>
#include <vector>
#define CHECK(x) do { cudaError_t e = (x); if (e != cudaSuccess) { fprintf(stderr, "%s line %d\n", cudaGetErrorString(e), __LINE__); exit(1); } } while (0)
constexpr int U = 8, TURNS = 64;
// ORDER 0: copies only; 1: a read before each copy; 2: the reads, then the copies; 3: reads only. LIVE: whether copies move anything
template <int ORDER, int W> __global__ void __launch_bounds__(1024) k_guard(const char* a, float* out, unsigned* when, int live) {
  __shared__ __align__(128) char buf[1024 * 16];
  unsigned at = (unsigned)__cvta_generic_to_shared(buf) + threadIdx.x * W; const char* p = a + threadIdx.x * W; float s[U]; unsigned q = (unsigned)__cvta_generic_to_shared(buf) + (threadIdx.x ^ 1) * 4;
  for (int i = 0; i < U; i++) s[i] = 0;
  unsigned t0 = 0, t1 = 0;
  for (int round = 0; round < 2; round++) {
    __syncthreads(); t0 = clock();
#pragma unroll 1
    for (int k = 0; k < TURNS; k++) {
      if (ORDER == 1) {
#pragma unroll
        for (int u = 0; u < U; u++) {
          asm volatile("ld.volatile.shared.f32 %0, [%1];" : "=f"(s[u]) : "r"(q) : "memory");
          asm volatile("{.reg .pred p; setp.ne.s32 p, %2, 0; @p cp.async.ca.shared.global [%0], [%1], %3;}" ::"r"(at), "l"(p), "r"(live), "n"(W) : "memory");
        }
      } else {
        if (ORDER >= 2)
#pragma unroll
          for (int u = 0; u < U; u++) asm volatile("ld.volatile.shared.f32 %0, [%1];" : "=f"(s[u]) : "r"(q) : "memory");
        if (ORDER != 3)
#pragma unroll
          for (int u = 0; u < U; u++) asm volatile("{.reg .pred p; setp.ne.s32 p, %2, 0; @p cp.async.ca.shared.global [%0], [%1], %3;}" ::"r"(at), "l"(p), "r"(live), "n"(W) : "memory");
      }
    }
    t1 = clock();
    asm volatile("cp.async.wait_all;"); __syncthreads();
  }
  float x = 0; for (int i = 0; i < U; i++) x += s[i];
  if (x == 123.25f) out[threadIdx.x] = x;
  if (threadIdx.x % 32 == 0) when[threadIdx.x / 32] = t1 - t0;
}
template <int ORDER, int W> void one(const char* a, float* out, unsigned* when, int live) {
  for (int waves : {1, 2, 4, 8, 16, 32}) {
    std::vector<double> all;
    for (int r = 0; r < 5; r++) {
      k_guard<ORDER, W><<<1, waves * 32>>>(a, out, when, live); CHECK(cudaDeviceSynchronize());
      unsigned h[32]; CHECK(cudaMemcpy(h, when, sizeof h, cudaMemcpyDeviceToHost)); double worst = 0; for (int w = 0; w < waves; w++) worst = std::max(worst, (double)h[w]); all.push_back(worst);
    }
    std::sort(all.begin(), all.end());
    printf("guard,order=%d width=%d live=%d waves=%d,%.3f,cycles a step of one wave,%.3f,cycles a step of the unit\n", ORDER, W, live, waves, all[2] / (U * TURNS), all[2] / (U * TURNS * (double)waves));
  }
}
// WHAT under a predicate that is false (or true, live) in all lanes: 0 loads, 1 stores of local memory, 2 loads, 3 stores of global memory, 4 exchanges, 5 atomics of local memory
template <int WHAT> __global__ void __launch_bounds__(1024) k_off(char* a, float* out, unsigned* when, int live) {
  __shared__ __align__(128) char buf[1024 * 16]; unsigned q = (unsigned)__cvta_generic_to_shared(buf) + threadIdx.x * 4; char* p = a + threadIdx.x * 4; unsigned s[U]; for (int i = 0; i < U; i++) s[i] = i;
  unsigned t0 = 0, t1 = 0;
  for (int round = 0; round < 2; round++) {
    __syncthreads(); t0 = clock();
#pragma unroll 1
    for (int k = 0; k < TURNS; k++) {
#pragma unroll
      for (int u = 0; u < U; u++) {
        if (WHAT == 0) asm volatile("{.reg .pred p; setp.ne.s32 p, %2, 0; @p ld.volatile.shared.u32 %0, [%1];}" : "+r"(s[u]) : "r"(q), "r"(live) : "memory");
        if (WHAT == 1) asm volatile("{.reg .pred p; setp.ne.s32 p, %2, 0; @p st.volatile.shared.u32 [%1], %0;}" :: "r"(s[u]), "r"(q), "r"(live) : "memory");
        if (WHAT == 2) asm volatile("{.reg .pred p; setp.ne.s32 p, %2, 0; @p ld.weak.global.u32 %0, [%1];}" : "+r"(s[u]) : "l"(p), "r"(live) : "memory");
        if (WHAT == 3) asm volatile("{.reg .pred p; setp.ne.s32 p, %2, 0; @p st.weak.global.u32 [%1], %0;}" :: "r"(s[u]), "l"(p), "r"(live) : "memory");
        if (WHAT == 5) asm volatile("{.reg .pred p; setp.ne.s32 p, %2, 0; @p red.shared.add.u32 [%1], %0;}" :: "r"(s[u]), "r"(q), "r"(live) : "memory");
      }
    }
    t1 = clock(); __syncthreads();
  }
  unsigned x = 0; for (int i = 0; i < U; i++) x += s[i];
  if (x == 12325) out[threadIdx.x] = x;
  if (threadIdx.x % 32 == 0) when[threadIdx.x / 32] = t1 - t0;
}
template <int WHAT> void off(char* a, float* out, unsigned* when) {
  for (int live = 0; live < 2; live++) for (int waves : {1, 2, 4, 8, 16, 32}) {
    std::vector<double> all;
    for (int r = 0; r < 5; r++) {
      k_off<WHAT><<<1, waves * 32>>>(a, out, when, live); CHECK(cudaDeviceSynchronize());
      unsigned h[32]; CHECK(cudaMemcpy(h, when, sizeof h, cudaMemcpyDeviceToHost)); double worst = 0; for (int w = 0; w < waves; w++) worst = std::max(worst, (double)h[w]); all.push_back(worst);
    }
    std::sort(all.begin(), all.end());
    printf("off,what=%d live=%d waves=%d,%.3f,cycles a step of one wave,%.3f,cycles a step of the unit\n", WHAT, live, waves, all[2] / (U * TURNS), all[2] / (U * TURNS * (double)waves));
  }
}
int main() {
  char* a; float* out; unsigned* when; CHECK(cudaMalloc(&a, 1 << 20)); CHECK(cudaMalloc(&out, 1 << 20)); CHECK(cudaMalloc(&when, 4096)); CHECK(cudaMemset(a, 0, 1 << 20));
  for (int live = 0; live < 2; live++) {
    one<0, 4>(a, out, when, live); one<1, 4>(a, out, when, live); one<2, 4>(a, out, when, live); one<3, 4>(a, out, when, live);
    one<0, 16>(a, out, when, live); one<1, 16>(a, out, when, live); one<2, 16>(a, out, when, live);
  }
  off<0>(a, out, when); off<1>(a, out, when); off<2>(a, out, when); off<3>(a, out, when);
}
