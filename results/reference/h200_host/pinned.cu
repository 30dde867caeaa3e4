// Kernels in pinned memory of the host ("host") and in the device's own ("local"): loads, stores and atomics. name,params,value,unit. Medians.
#include <cstdio>
#include <cstring>
#include <vector>
#include <algorithm>
#include <chrono>
#include <string>
#include <cuda_runtime.h>
#define CK(x) do { cudaError_t e_ = (x); if (e_ != cudaSuccess) { fprintf(stderr, "%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(e_)); cudaGetLastError(); } } while (0)
using std::string; using std::vector;
static double now() { return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count(); }
static double med(vector<double> v) { std::sort(v.begin(), v.end()); return v[v.size() / 2]; }
static void out(string n, string p, double v, const char* unit) { printf("%s,%s,%.4f,%s\n", n.c_str(), p.c_str(), v, unit); fflush(stdout); }
static string S(long long x) { return std::to_string(x); }
__global__ void k_null() {}
__global__ void k_spin(long long ns) { long long t0, t; asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t0)); do { asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t)); } while (t - t0 < ns); }
template <class T> __device__ unsigned fold(T v);
template <> __device__ unsigned fold(unsigned v) { return v; }
template <> __device__ unsigned fold(uint2 v) { return v.x ^ v.y; }
template <> __device__ unsigned fold(uint4 v) { return v.x ^ v.y ^ v.z ^ v.w; }
template <class T> __device__ T make(unsigned v);
template <> __device__ unsigned make<unsigned>(unsigned v) { return v; }
template <> __device__ uint2 make<uint2>(unsigned v) { return make_uint2(v, v); }
template <> __device__ uint4 make<uint4>(unsigned v) { return make_uint4(v, v, v, v); }
template <class T, int U> __global__ void k_read(const T* p, unsigned* o, long long n) {
  unsigned s = 0; long long step = (long long)gridDim.x * blockDim.x, i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  for (; i + (U - 1) * step < n; i += U * step) { T v[U];
#pragma unroll
    for (int u = 0; u < U; u++) v[u] = __ldcg(p + i + u * step);
#pragma unroll
    for (int u = 0; u < U; u++) s ^= fold<T>(v[u]); }
  if (s == 0x12345) *o = s;
}
template <class T> __global__ void k_write(T* p, long long n) { long long step = (long long)gridDim.x * blockDim.x; for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += step) p[i] = make<T>((unsigned)i); }
template <class T, int U> __global__ void k_copy(const T* p, T* q, long long n) {
  long long step = (long long)gridDim.x * blockDim.x, i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  for (; i + (U - 1) * step < n; i += U * step) { T v[U];
#pragma unroll
    for (int u = 0; u < U; u++) v[u] = __ldcg(p + i + u * step);
#pragma unroll
    for (int u = 0; u < U; u++) q[i + u * step] = v[u]; }
}
__global__ void k_stride(const unsigned* p, unsigned* o, long long n, int stride) { unsigned s = 0; long long step = (long long)gridDim.x * blockDim.x; for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i * stride < n; i += step) s ^= __ldcg(p + i * stride); if (s == 0x12345) *o = s; }
__global__ void k_wstride(unsigned* p, long long n, int stride) { long long step = (long long)gridDim.x * blockDim.x; for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i * stride < n; i += step) p[i * stride] = (unsigned)i; }
__global__ void k_chase(unsigned long long* p, unsigned long long* o, int n, long long* t, int cached) {
  unsigned long long a = (unsigned long long)p; 
  for (int i = 0; i < n / 4; i++) a = cached ? *(unsigned long long*)a : __ldcg((unsigned long long*)a);
  long long t0 = clock64(); for (int i = 0; i < n; i++) a = cached ? *(unsigned long long*)a : __ldcg((unsigned long long*)a); *t = clock64() - t0; *o = a;
}
__global__ void k_fill(unsigned long long* p, int words, int stride) { for (int i = threadIdx.x; i < words; i += blockDim.x) p[(long long)i * stride] = (unsigned long long)(p + (long long)((i + 1) % words) * stride); }
__global__ void k_atom_chain(unsigned* p, unsigned* o, int n, long long* t) { unsigned a = 0; long long t0 = clock64(); for (int i = 0; i < n; i++) a = atomicAdd(p + (a & 0), 1u + (a & 1)); *t = clock64() - t0; *o = a; }
__global__ void k_atom_rate(unsigned* p, int each, int mode) { long long id = blockIdx.x * (long long)blockDim.x + threadIdx.x, all = (long long)gridDim.x * blockDim.x; for (int i = 0; i < each; i++) atomicAdd(mode == 0 ? p : mode == 1 ? p + (threadIdx.x & 31) : p + ((id + i * all) & ((1 << 24) - 1)), 1u); }
__global__ void k_wfence(unsigned* p, int n, long long* t) { long long t0 = clock64(); for (int i = 0; i < n; i++) { *(volatile unsigned*)p = i; __threadfence_system(); } *t = clock64() - t0; }
__global__ void k_fma(float* o, int n) { float a = threadIdx.x, b = 1.0001f; for (int i = 0; i < n; i++) { a = a * b + 1.f; b = b * 0.999f + a * 1e-9f; } if (a == 1.5f) *o = a + b; }
static cudaStream_t s; static cudaEvent_t e0, e1;
template <class F> static double timed(F f, int reps = 5) { vector<double> v; f(); CK(cudaStreamSynchronize(s)); for (int i = 0; i < reps; i++) { CK(cudaEventRecord(e0, s)); f(); CK(cudaEventRecord(e1, s)); CK(cudaStreamSynchronize(s)); float ms; CK(cudaEventElapsedTime(&ms, e0, e1)); v.push_back(ms * 1e3); } return med(v); }
int main() {
  double begin = now(); auto late = [&](double sec) { return now() - begin > sec * 1e6; };
  const long long BIG = 256ll << 20; char *a[2], *b; unsigned* o; long long* t; CK(cudaSetDevice(0)); CK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking)); CK(cudaEventCreate(&e0)); CK(cudaEventCreate(&e1));
  CK(cudaMallocHost(&a[1], BIG)); CK(cudaMalloc(&a[0], BIG)); CK(cudaMalloc(&b, BIG)); CK(cudaMalloc(&o, 256)); CK(cudaMalloc(&t, 64)); CK(cudaMemset(a[0], 1, BIG)); CK(cudaMemset(b, 1, BIG)); memset(a[1], 1, BIG);
  k_spin<<<1, 1, 0, s>>>(200000000); CK(cudaDeviceSynchronize());
  for (int side : {0, 1}) for (int stride : {1, 4, 8, 16, 512}) for (int words : {64, 4096, 65536}) for (int cached : {0, 1}) {
    if ((long long)words * stride * 8 > BIG) continue; k_fill<<<1, 1024, 0, s>>>((unsigned long long*)a[side], words, stride); CK(cudaDeviceSynchronize());
    vector<double> v; for (int i = 0; i < 3; i++) { k_chase<<<1, 1, 0, s>>>((unsigned long long*)a[side], (unsigned long long*)o, 1024, t, cached); long long h; CK(cudaMemcpyAsync(&h, t, 8, cudaMemcpyDeviceToHost, s)); CK(cudaStreamSynchronize(s)); v.push_back(h / 1024.); } out(side ? "chase_host" : "chase_local", "stride=" + S(stride * 8) + " words=" + S(words) + " cached=" + S(cached), med(v), "cycles"); }
  for (int side : {0, 1}) { vector<double> v; for (int i = 0; i < 3; i++) { k_atom_chain<<<1, 1, 0, s>>>((unsigned*)a[side], o, 512, t); long long h; CK(cudaMemcpyAsync(&h, t, 8, cudaMemcpyDeviceToHost, s)); CK(cudaStreamSynchronize(s)); v.push_back(h / 512.); } out(side ? "atomic_chain_host" : "atomic_chain_local", "", med(v), "cycles"); v.clear(); for (int i = 0; i < 3; i++) { k_wfence<<<1, 1, 0, s>>>((unsigned*)a[side], 512, t); long long h; CK(cudaMemcpyAsync(&h, t, 8, cudaMemcpyDeviceToHost, s)); CK(cudaStreamSynchronize(s)); v.push_back(h / 512.); } out(side ? "store_fence_host" : "store_fence_local", "", med(v), "cycles"); }
  auto gb = [&](string n, string p, long long bytes, double us) { out(n, p + " bytes=" + S(bytes), bytes / us / 1e3, "GB/s"); };
  for (int side : {1, 0}) { string w = side ? "host_" : "local_";
    for (int blocks : {1, 2, 4, 8, 16, 33, 66, 132, 264, 528}) for (int th : {256, 1024}) { if (side == 0 && th == 256) continue; if (th == 1024 && blocks > 264) continue; long long n = blocks < 8 ? 4 << 20 : blocks < 66 ? 16 << 20 : 64 << 20; string p = "blocks=" + S(blocks) + " threads=" + S(th) + " width=16";
      gb(w + "read", p, n, timed([&] { k_read<uint4, 4><<<blocks, th, 0, s>>>((uint4*)a[side], o, n / 16); }, 3)); gb(w + "write", p, n, timed([&] { k_write<uint4><<<blocks, th, 0, s>>>((uint4*)a[side], n / 16); }, 3)); if (late(10)) break; }
    for (int blocks : {16, 132, 528}) { long long n = blocks < 66 ? 16 << 20 : 64 << 20; string q = "blocks=" + S(blocks) + " threads=256 width=";
      gb(w + "read_unroll1", q + "16", n, timed([&] { k_read<uint4, 1><<<blocks, 256, 0, s>>>((uint4*)a[side], o, n / 16); }, 3));
      gb(w + "read", q + "8", n, timed([&] { k_read<uint2, 4><<<blocks, 256, 0, s>>>((uint2*)a[side], o, n / 8); }, 3)); gb(w + "read", q + "4", n, timed([&] { k_read<unsigned, 4><<<blocks, 256, 0, s>>>((unsigned*)a[side], o, n / 4); }, 3));
      gb(w + "write", q + "8", n, timed([&] { k_write<uint2><<<blocks, 256, 0, s>>>((uint2*)a[side], n / 8); }, 3)); gb(w + "write", q + "4", n, timed([&] { k_write<unsigned><<<blocks, 256, 0, s>>>((unsigned*)a[side], n / 4); }, 3)); }
    for (int st : {1, 2, 4, 8, 16, 32, 64}) { long long n = 64ll << 20; double us = timed([&] { k_stride<<<528, 256, 0, s>>>((unsigned*)a[side], o, n / 4, st); }, 3); out(w + "read_strided_words", "stride_bytes=" + S(st * 4) + " words=" + S(n / 4 / st), n / 4 / st / us / 1e3, "Gword/s"); us = timed([&] { k_wstride<<<528, 256, 0, s>>>((unsigned*)a[side], n / 4, st); }, 3); out(w + "write_strided_words", "stride_bytes=" + S(st * 4) + " words=" + S(n / 4 / st), n / 4 / st / us / 1e3, "Gword/s"); if (late(16)) break; }
    for (int mode : {0, 1, 2}) { int each = mode == 2 ? 16 : 4; double us = timed([&] { k_atom_rate<<<132, 256, 0, s>>>((unsigned*)a[side], each, mode); }, 3); out(w + "atomics", string("threads=33792 each=") + S(each) + (mode == 0 ? " one address" : mode == 1 ? " one line" : " spread"), 33792. * each / us / 1e3, "G/s"); if (late(18)) break; }
    for (long long n : {4096ll, 65536ll, 1048576ll, 4194304ll, 16777216ll, 67108864ll}) { int bl = (int)std::min<long long>(528, std::max<long long>(1, n / 16 / 256)); out(w + "read_kernel_us", "blocks=" + S(bl) + " bytes=" + S(n), timed([&] { k_read<uint4, 1><<<bl, 256, 0, s>>>((uint4*)a[side], o, n / 16); }, 7), "us"); out(w + "write_kernel_us", "blocks=" + S(bl) + " bytes=" + S(n), timed([&] { k_write<uint4><<<bl, 256, 0, s>>>((uint4*)a[side], n / 16); }, 7), "us"); }
    long long n = 64 << 20; gb(w + "copy_in_kernel", "blocks=528 threads=256", n, timed([&] { k_copy<uint4, 4><<<528, 256, 0, s>>>((uint4*)a[side], (uint4*)b, n / 16); }, 3)); gb(w + "copy_out_kernel", "blocks=528 threads=256", n, timed([&] { k_copy<uint4, 4><<<528, 256, 0, s>>>((uint4*)b, (uint4*)a[side], n / 16); }, 3));
    gb(w + "copy_there_kernel", "blocks=528 threads=256", n, timed([&] { k_copy<uint4, 4><<<528, 256, 0, s>>>((uint4*)a[side], (uint4*)(a[side] + BIG / 2), n / 16); }, 3));
    if (late(21)) break; }
  for (long long n : {1ll << 20, 16ll << 20, 64ll << 20}) { gb("memcpy_h2d", "", n, timed([&] { CK(cudaMemcpyAsync(b, a[1], n, cudaMemcpyHostToDevice, s)); })); gb("memcpy_d2h", "", n, timed([&] { CK(cudaMemcpyAsync(a[1], b, n, cudaMemcpyDeviceToHost, s)); })); }
  fprintf(stderr, "%.1f s\n", (now() - begin) / 1e6);
}
