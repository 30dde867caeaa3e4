// Straight code of 32 KiB to 512 KiB whose steps depend on one another (a step each 4 cycles), on two chains, or on four: does a line that comes
// from beyond the middle level of instruction caches come while the one before it runs, or only when a wave gets there?
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>
#include <algorithm>
template <int CH, int N> struct S { static __device__ __forceinline__ void go(float* x, float y) {
  S<CH, N / 2>::go(x, y); S<CH, N - N / 2>::go(x, y); } };
template <int CH> struct S<CH, 1> { static __device__ __forceinline__ void go(float* x, float y) {
#pragma unroll
  for (int k = 0; k < 16; k++) asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(x[k % CH]) : "f"(y)); } };
template <int CH, int KB> __global__ void code(long long* t, float* o, float y) {
  float x[CH];
  for (int k = 0; k < CH; k++) x[k] = threadIdx.x + k;
#pragma unroll 1
  for (int r = 0; r < 5; r++) {
    long long a = clock64();
    S<CH, KB * 4>::go(x, y);
    long long b = clock64();
    if (threadIdx.x == 0) t[blockIdx.x * 5 + r] = b - a;
  }
  float s = 0; for (int k = 0; k < CH; k++) s += x[k];
  if (s == 123.25f) o[0] = s;
}
template <int CH, int KB> void one(long long* t, float* o) {
  for (int g : {1, 132}) for (int th : {32, 128, 512}) {
    std::vector<long long> first, later;
    for (int rep = 0; rep < 5; rep++) {
      code<CH, KB><<<g, th>>>(t, o, 1.0f); cudaDeviceSynchronize();
      if (!rep) continue;
      std::vector<long long> h(g * 5); cudaMemcpy(h.data(), t, g * 40, cudaMemcpyDeviceToHost);
      for (int b = 0; b < g; b++) { first.push_back(h[b * 5]); for (int r = 1; r < 5; r++) later.push_back(h[b * 5 + r]); }
    }
    std::sort(first.begin(), first.end()); std::sort(later.begin(), later.end());
    double n = KB * 64.0; 
    printf("%d,%d,%d,%d,%.3f,%.3f\n", CH, KB, g, th, first[first.size() / 2] / n, later[later.size() / 2] / n);
  }
}
int main() {
  long long* t; float* o; cudaMalloc(&t, 132 * 40); cudaMalloc(&o, 4);
  printf("chains,kib,workgroups,threads,first_pass_cycles_a_step,later_cycles_a_step\n");
  one<1, 24>(t, o); one<1, 64>(t, o); one<1, 112>(t, o); one<1, 144>(t, o); one<1, 192>(t, o); one<1, 384>(t, o);
  one<2, 24>(t, o); one<2, 64>(t, o); one<2, 144>(t, o); one<2, 192>(t, o); one<2, 384>(t, o);
  one<4, 64>(t, o); one<4, 192>(t, o);
  return cudaGetLastError() != cudaSuccess;
}
