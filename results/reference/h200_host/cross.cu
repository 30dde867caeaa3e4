// What follows a copy, or what a copy follows, by its size. name,params,value,unit on standard output. Medians.
#include <cstdio>
#include <vector>
#include <algorithm>
#include <string>
#include <cuda_runtime.h>
#define CK(x) do { cudaError_t err_ = (x); if (err_ != cudaSuccess) { fprintf(stderr, "%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(err_)); cudaGetLastError(); } } while (0)
static double med(std::vector<double> v) { std::sort(v.begin(), v.end()); return v[v.size() / 2]; }
__global__ void k_null() {}
__global__ void k_spin(long long ns) { long long t0, t; asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t0)); do { asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t)); } while (t - t0 < ns); }
int main() {
  CK(cudaSetDevice(0)); cudaStream_t s; CK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking)); cudaEvent_t a, b; CK(cudaEventCreate(&a)); CK(cudaEventCreate(&b));
  char *d, *p, *q; CK(cudaMalloc(&d, 1 << 22)); CK(cudaMallocHost(&p, 1 << 22)); CK(cudaMallocHost(&q, 1 << 22)); for (int i = 0; i < 100; i++) k_null<<<1, 1, 0, s>>>(); CK(cudaDeviceSynchronize());
  auto behind = [&](const char* n, size_t size, int ns, int count, auto f) { std::vector<double> v; for (int r = 0; r < 9; r++) { k_spin<<<1, 1, 0, s>>>(1500000); CK(cudaEventRecord(a, s)); for (int i = 0; i < count; i++) f(); CK(cudaEventRecord(b, s)); CK(cudaDeviceSynchronize()); float ms; CK(cudaEventElapsedTime(&ms, a, b)); v.push_back(ms * 1e3 / count); } printf("cross_%s,bytes=%zu ns=%d,%.4f,us\n", n, size, ns, med(v)); fflush(stdout); };
  for (int ns : {0, 10000}) for (size_t n : {(size_t)4, (size_t)64, (size_t)256, (size_t)512, (size_t)1024, (size_t)2048, (size_t)4096, (size_t)8192, (size_t)16384, (size_t)32768, (size_t)65536, (size_t)131072, (size_t)262144}) {
    auto k = [&] { if (ns) k_spin<<<1, 1, 0, s>>>(ns); else k_null<<<1, 1, 0, s>>>(); }; auto in = [&] { CK(cudaMemcpyAsync(d, p, n, cudaMemcpyHostToDevice, s)); }; auto out = [&] { CK(cudaMemcpyAsync(q, d, n, cudaMemcpyDeviceToHost, s)); };
    if (!ns) { behind("h2d", n, ns, 60, [&] { in(); }); behind("d2h", n, ns, 60, [&] { out(); }); behind("h2d_d2h", n, ns, 50, [&] { in(); out(); }); }
    behind("h2d_kernel", n, ns, 50, [&] { in(); k(); }); behind("kernel_d2h", n, ns, 50, [&] { k(); out(); }); behind("h2d_kernel_d2h", n, ns, 40, [&] { in(); k(); out(); }); behind("h2d_h2d_kernel", n, ns, 40, [&] { in(); in(); k(); });
    behind("h2d_4_kernels", n, ns, 30, [&] { in(); k(); k(); k(); k(); }); }
  return 0;
}
