// Another workgroup's local memory under load: loads and atomic additions, lanes to one workgroup or spread over the cluster.
#include <cooperative_groups.h>
#include <cstdio>
#include <algorithm>
#include <vector>
namespace cg = cooperative_groups;
// op 0: load 4 B, 1: atomic without result, 2: atomic with result
// spread 0: own; 1: every lane to the next rank; 2: lanes over all ranks, other than own possible (lane + wave) % n
template <int OP> __global__ void __launch_bounds__(1024) k(long long* out, int spread, int reps, int bins) {
  extern __shared__ int t[];
  cg::cluster_group cl = cg::this_cluster();
  unsigned n = cl.num_blocks(), me = cl.block_rank();
  for (int i = threadIdx.x; i < 4096; i += blockDim.x) t[i] = 0;
  unsigned lane = threadIdx.x & 31, wave = threadIdx.x >> 5;
  unsigned rank = spread == 0 ? me : spread == 1 ? (me + 1) % n : (lane + wave) % n;
  int* p = cl.map_shared_rank(t, rank);
  cl.sync();
  long long a = clock64();
  int s = 0;
  unsigned h = threadIdx.x * 2654435761u + blockIdx.x * 97u;
  for (int r = 0; r < reps; r++) {
    unsigned at = bins == 0 ? lane + 32 * (wave & 31) : (h >> 9) % bins; h = h * 1664525u + 1013904223u;
    if (OP == 0) s += *(volatile int*)(p + at);
    if (OP == 1) atomicAdd(p + at, 1);
    if (OP == 2) s += atomicAdd(p + at, 1);
  }
  cl.sync();
  long long b = clock64();
  if (threadIdx.x == 0) out[blockIdx.x] = b - a;
  if (s == 0x7fffffff) out[0] = s;
}
template <int OP> void go(const char* name) {
  long long* out; cudaMalloc(&out, 8 * 256);
  cudaFuncSetAttribute(k<OP>, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
  for (int n : {1, 2, 4, 8}) for (int waves : {1, 4, 8, 32}) for (int spread = 0; spread < 3; spread++) for (int bins : {0, 256}) {
    if (n == 1 && spread) continue;
    for (int alone = 0; alone < 2; alone++) {
    int reps = 64; std::vector<double> all;
    for (int go = 0; go < 5; go++) {
      cudaLaunchConfig_t c = {}; c.gridDim = dim3(alone ? n : 132 / n * n); c.blockDim = dim3(32 * waves); c.dynamicSmemBytes = 120 * 1024;
      cudaFuncSetAttribute(k<OP>, cudaFuncAttributeMaxDynamicSharedMemorySize, 120 * 1024);
      cudaLaunchAttribute at[1]; at[0].id = cudaLaunchAttributeClusterDimension; at[0].val.clusterDim = {(unsigned)n, 1, 1}; c.attrs = at; c.numAttrs = 1;
      auto e = cudaLaunchKernelEx(&c, k<OP>, out, spread, reps, bins); cudaDeviceSynchronize();
      if (e != cudaSuccess) { printf("%s\n", cudaGetErrorString(e)); return; }
      long long h; cudaMemcpy(&h, out, 8, cudaMemcpyDeviceToHost); all.push_back(double(h) / reps / waves);
    }
    std::sort(all.begin(), all.end());
    printf("%s cluster=%d waves=%d to=%s bins=%d whole=%d %.2f cycles/wave-access\n", name, n, waves, spread == 0 ? "own" : spread == 1 ? "next" : "all", bins, !alone, all[2]);
    }
  }
}
int main() { go<0>("load4"); go<1>("add"); go<2>("add_result"); }
