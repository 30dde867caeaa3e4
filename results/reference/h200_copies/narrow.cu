// Copies by lane of 4, 8 and 16 bytes whose lanes lie apart in local and in global memory: cycles a copy of eight waves. A lane's place: run lanes of one row, then the next row.
#include <cstdio>
#include <cstdlib>
#include <algorithm>
#include <vector>
#define CHECK(x) do { cudaError_t e = (x); if (e != cudaSuccess) { fprintf(stderr, "%s line %d\n", cudaGetErrorString(e), __LINE__); exit(1); } } while (0)
struct Shape { int run, gstep, gpitch, sstep, spitch; };
template <int W> __global__ void __launch_bounds__(256) k_small(const char* a, unsigned* when, Shape s, int turns) {
  extern __shared__ __align__(1024) char buf[]; int l = threadIdx.x % 32, w = threadIdx.x / 32;
  unsigned to = (unsigned)__cvta_generic_to_shared(buf) + (l % s.run) * s.sstep + (l / s.run) * s.spitch; const char* p = a + w * 131072 + (l % s.run) * s.gstep + (l / s.run) * s.gpitch;
  unsigned t0 = 0, t1 = 0;
  for (int round = 0; round < 3; round++) {
    __syncthreads(); t0 = clock();
#pragma unroll 1
    for (int k = 0; k < turns; k++) {
#pragma unroll
      for (int u = 0; u < 8; u++)
        if (W == 16) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(p) : "memory"); else asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(p), "n"(W) : "memory");
    }
    asm volatile("cp.async.wait_all;"); t1 = clock(); __syncthreads();
  }
  if (l == 0) when[w] = t1 - t0;
}
template <int W> void one(const char* a, unsigned* when, Shape s) {
  CHECK(cudaFuncSetAttribute(k_small<W>, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 * 1024)); double got[2][2];
  for (int many = 0; many < 2; many++) for (int waves : {1, 8}) {
    std::vector<double> all;
    for (int r = 0; r < 5; r++) {
      k_small<W><<<1, waves * 32, 64 * 1024>>>(a, when, s, many ? 8 : 4); CHECK(cudaDeviceSynchronize());
      unsigned h[8]; CHECK(cudaMemcpy(h, when, sizeof h, cudaMemcpyDeviceToHost)); double worst = 0; for (int w = 0; w < waves; w++) worst = std::max(worst, (double)h[w]); all.push_back(worst);
    }
    std::sort(all.begin(), all.end()); got[many][waves > 1] = all[2];
  }
  printf("small,width=%d run=%d gstep=%d gpitch=%d sstep=%d spitch=%d,%.2f,cycles a copy of one wave,%.2f,cycles a copy of eight waves\n", W, s.run, s.gstep, s.gpitch, s.sstep, s.spitch, (got[1][0] - got[0][0]) / 32, (got[1][1] - got[0][1]) / 256);
}
int main() {
  char* a; unsigned* when; CHECK(cudaMalloc(&a, 4 << 20)); CHECK(cudaMalloc(&when, 4096)); CHECK(cudaMemset(a, 0, 4 << 20));
  Shape four[] = {{32, 4, 0, 4, 0}, {32, 4, 0, 8, 0}, {32, 4, 0, 16, 0}, {32, 4, 0, 32, 0}, {32, 4, 0, 64, 0}, {32, 4, 0, 128, 0}, {32, 4, 0, 132, 0}, {32, 4, 0, 144, 0}, {32, 4, 0, 160, 0}, {32, 4, 0, 192, 0}, {32, 4, 0, 256, 0}, {32, 4, 0, 260, 0},
    {32, 8, 0, 4, 0}, {32, 16, 0, 4, 0}, {32, 32, 0, 4, 0}, {32, 64, 0, 4, 0}, {32, 128, 0, 4, 0}, {32, 16, 0, 132, 0}, {32, 32, 0, 132, 0}, {32, 128, 0, 132, 0}, {32, 128, 0, 128, 0},
    {16, 16, 4096, 512, 4}, {16, 16, 4096, 512, 16}, {16, 16, 4096, 516, 4}, {16, 16, 4096, 528, 4}, {8, 16, 4096, 512, 4}, {8, 4, 4096, 128, 4}, {8, 4, 4096, 144, 4}, {8, 4, 4096, 4, 128}, {8, 4, 4096, 4, 160}, {16, 4, 4096, 4, 64}, {16, 4, 4096, 4, 128}, {4, 4, 4096, 4, 16}, {4, 4, 4096, 4, 132}};
  for (auto& s : four) one<4>(a, when, s);
  Shape eight[] = {{32, 8, 0, 8, 0}, {32, 8, 0, 16, 0}, {32, 8, 0, 32, 0}, {32, 8, 0, 64, 0}, {32, 8, 0, 128, 0}, {32, 8, 0, 136, 0}, {32, 16, 0, 8, 0}, {32, 32, 0, 8, 0}, {16, 8, 4096, 8, 144}, {4, 8, 4096, 8, 40}};
  for (auto& s : eight) one<8>(a, when, s);
  Shape sixteen[] = {{32, 16, 0, 16, 0}, {32, 16, 0, 32, 0}, {32, 16, 0, 64, 0}, {32, 16, 0, 128, 0}, {32, 16, 0, 144, 0}, {32, 32, 0, 16, 0}, {8, 16, 4096, 16, 128}, {4, 16, 4096, 16, 64}, {8, 16, 4096, 16, 144}};
  for (auto& s : sixteen) one<16>(a, when, s);
}
