// Another workgroup's local memory while so many clusters are at it: cycles a wave's access by number of clusters, and where they ran.
#include <cooperative_groups.h>
#include <cstdio>
#include <algorithm>
#include <vector>
#include <string>
namespace cg = cooperative_groups;
typedef long long ll;
// op 0: load 4 B, 1: load 16 B, 2: store 4 B, 3: store 16 B, 4: atomic without result, 5: with; spread 1: next rank, 2: lanes over the ranks, 3: wave over the ranks (lanes together), 4: rank 0 only
template <int OP> __global__ void __launch_bounds__(1024) k(ll* out, int spread, int reps, int bins) {
  extern __shared__ int t[]; cg::cluster_group cl = cg::this_cluster(); unsigned n = cl.num_blocks(), me = cl.block_rank();
  for (int i = threadIdx.x; i < 16384; i += blockDim.x) t[i] = 0;
  unsigned lane = threadIdx.x & 31, wave = threadIdx.x >> 5, rank = spread == 0 ? me : spread == 1 ? (me + 1) % n : spread == 2 ? (lane + wave) % n : spread == 3 ? (me + wave + 1) % n : 0;
  int* p = cl.map_shared_rank(t, rank); cl.sync(); ll a = clock64(); int s = 0; unsigned h = threadIdx.x * 2654435761u + blockIdx.x * 97u;
  for (int r = 0; r < reps; r++) { unsigned at = bins == 0 ? (OP == 1 || OP == 3 ? 4 : 1) * (lane + 32 * (wave & 31)) : (h >> 9) % bins * (OP == 1 || OP == 3 ? 4 : 1); h = h * 1664525u + 1013904223u;
    if (OP == 0) s += *(volatile int*)(p + at); if (OP == 1) { int4 v; asm volatile("ld.v4.u32 {%0,%1,%2,%3},[%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p + at) : "memory"); s += v.x + v.y + v.z + v.w; }
    if (OP == 2) *(volatile int*)(p + at) = r; if (OP == 3) asm volatile("st.v4.u32 [%0],{%1,%1,%1,%1};" :: "l"(p + at), "r"(r) : "memory");
    if (OP == 4) atomicAdd(p + at, 1); if (OP == 5) s += atomicAdd(p + at, 1); }
  ll m = clock64(); cl.sync(); ll b = clock64(); unsigned sm; asm volatile("mov.u32 %0,%%smid;" : "=r"(sm)); if (threadIdx.x == 0) { out[3 * blockIdx.x] = b - a; out[3 * blockIdx.x + 1] = sm; out[3 * blockIdx.x + 2] = m - a; } if (s == 0x7fffffff) out[0] = s; }
static ll* out; static std::vector<ll> h(3 * 256);
template <int OP> void go(const char* name) { cudaFuncSetAttribute(k<OP>, cudaFuncAttributeNonPortableClusterSizeAllowed, 1); cudaFuncSetAttribute(k<OP>, cudaFuncAttributeMaxDynamicSharedMemorySize, 120 * 1024);
  for (int n : {2, 4, 8, 16}) for (int waves : {4, 32}) for (int spread = 1; spread < 5; spread++) for (int bins : {0, 256, 4096}) {
    if (bins == 4096 && (waves == 4 || OP == 2 || OP == 3)) continue;
    int most = 132 / n; std::vector<int> counts{1, 2, 4, 7, 8, 12, 16, 33, 66}; if (n == 16) most = 7; if (n == 8) most = 16;
    for (int c : counts) { if (c > most) { if (c / 2 >= most) continue; c = most; } if (waves == 4 && c != 1 && c != most) continue; int reps = 64; std::vector<double> all; std::string where;
      for (int go = 0; go < 4; go++) { cudaLaunchConfig_t q = {}; q.gridDim = dim3(c * n); q.blockDim = dim3(32 * waves); q.dynamicSmemBytes = 120 * 1024; cudaLaunchAttribute at[1]; at[0].id = cudaLaunchAttributeClusterDimension; at[0].val.clusterDim = {(unsigned)n, 1, 1}; q.attrs = at; q.numAttrs = 1;
        auto e = cudaLaunchKernelEx(&q, k<OP>, out, spread, reps, bins); if (e == cudaSuccess) e = cudaDeviceSynchronize(); if (e != cudaSuccess) { printf("ERR,%s\n", cudaGetErrorString(e)); cudaGetLastError(); return; }
        cudaMemcpy(h.data(), out, 24 * c * n, cudaMemcpyDeviceToHost); double s = 0; for (int i = 0; i < c; i++) s += h[3 * i * n]; all.push_back(s / c / reps / waves); where = ""; for (int i = 0; i < c; i++) where += (i ? " " : "") + std::to_string(h[3 * i * n + 1]); }
      std::sort(all.begin(), all.end()); printf("%s,cluster=%d;waves=%d;to=%s;bins=%d;clusters=%d,%.3f,%s\n", name, n, waves, spread == 1 ? "next" : spread == 2 ? "lanes" : spread == 3 ? "waves" : "first", bins, c, all[1], where.c_str()); } }
  fflush(stdout); }
int main() { cudaMalloc(&out, 1 << 16); printf("name,params,cycles_a_wave_access,compute_unit_of_each_cluster\n"); go<0>("load4"); go<1>("load16"); go<2>("store4"); go<3>("store16"); go<4>("add"); go<5>("add_result"); }
