// Two devices of one host: copies by engines, loads, stores and atomics of kernels over the links. name,params,value,unit. Medians.
#include <cstdio>
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
static cudaStream_t s[2], r[2]; static cudaEvent_t e0[2], e1[2];
static void dev(int d) { CK(cudaSetDevice(d)); }
template <class F> static double timed(F f, int reps = 7) { vector<double> v; dev(0); f(); CK(cudaStreamSynchronize(s[0])); for (int i = 0; i < reps; i++) { CK(cudaEventRecord(e0[0], s[0])); f(); CK(cudaEventRecord(e1[0], s[0])); CK(cudaStreamSynchronize(s[0])); float ms; CK(cudaEventElapsedTime(&ms, e0[0], e1[0])); v.push_back(ms * 1e3); } return med(v); }
template <class F, class G> static double both(F f, G g, int reps = 7) { vector<double> v; for (int i = -1; i < reps; i++) { for (int d : {0, 1}) { dev(d); CK(cudaDeviceSynchronize()); } for (int d : {0, 1}) { dev(d); k_spin<<<1, 1, 0, s[d]>>>(1200000); CK(cudaEventRecord(e0[d], s[d])); } for (int d : {0, 1}) { dev(d); d ? g() : f(); CK(cudaEventRecord(e1[d], s[d])); } double worst = 0; for (int d : {0, 1}) { dev(d); CK(cudaStreamSynchronize(s[d])); float ms; CK(cudaEventElapsedTime(&ms, e0[d], e1[d])); worst = std::max(worst, ms * 1e3); } if (i >= 0) v.push_back(worst); } dev(0); return med(v); }

int main() {
  double begin = now(); auto late = [&](double sec) { return now() - begin > sec * 1e6; };
  const long long BIG = 1ll << 30; char *a[2], *b[2]; unsigned *o[2]; long long* t;
  for (int d : {0, 1}) { dev(d); int can = 0; CK(cudaDeviceCanAccessPeer(&can, d, 1 - d)); if (!can) { fprintf(stderr, "no peer access\n"); return 1; } CK(cudaDeviceEnablePeerAccess(1 - d, 0)); CK(cudaMalloc(&a[d], BIG)); CK(cudaMalloc(&b[d], BIG)); CK(cudaMalloc(&o[d], 256)); CK(cudaMemset(a[d], d, BIG)); CK(cudaMemset(b[d], d, BIG)); for (auto x : {&s[d], &r[d]}) CK(cudaStreamCreateWithFlags(x, cudaStreamNonBlocking)); CK(cudaEventCreate(&e0[d])); CK(cudaEventCreate(&e1[d])); k_spin<<<1, 1, 0, s[d]>>>(200000000); CK(cudaDeviceSynchronize()); }
  dev(0); CK(cudaMalloc(&t, 64));
  // copies, one after the other, as p2p.csv has them: 20 between two events; behind a spin: what the devices take; wall with wait
  for (long long n : {4ll, 64ll, 512ll, 2048ll, 8192ll, 32768ll, 65536ll, 98304ll, 131072ll, 393216ll, 524288ll, 1572864ll, 2097152ll, 3145728ll, 6291456ll, 8388608ll, 12582912ll, 25165824ll, 50331648ll, 100663296ll, 402653184ll, 629145600ll, 1073741824ll}) {
    int k = n > 1 << 26 ? 5 : 20; string p = "bytes=" + S(n);
    auto one = [&](int d, int rev) { if (rev) CK(cudaMemcpyPeerAsync(a[d], d, b[1 - d], 1 - d, n, s[d])); else CK(cudaMemcpyPeerAsync(a[1 - d], 1 - d, b[d], d, n, s[d])); };
    out("copy", p, timed([&] { for (int i = 0; i < k; i++) one(0, 0); }, 5) / k, "us");
    out("copy_pull", p, timed([&] { for (int i = 0; i < k; i++) one(0, 1); }, 5) / k, "us");
    { vector<double> v; for (int i = 0; i < 5; i++) { k_spin<<<1, 1, 0, s[0]>>>(600000); CK(cudaEventRecord(e0[0], s[0])); for (int j = 0; j < k; j++) one(0, 0); CK(cudaEventRecord(e1[0], s[0])); CK(cudaStreamSynchronize(s[0])); float ms; CK(cudaEventElapsedTime(&ms, e0[0], e1[0])); v.push_back(ms * 1e3 / k); } out("copy_queued", p, med(v), "us"); }
    { vector<double> v, c; for (int i = 0; i < 15; i++) { CK(cudaStreamSynchronize(s[0])); double x = now(); one(0, 0); c.push_back(now() - x); CK(cudaStreamSynchronize(s[0])); v.push_back(now() - x); } out("copy_wall", p, med(v), "us"); out("copy_call", p, med(c), "us"); }
    out("copy_both_ways", p, both([&] { for (int i = 0; i < k; i++) one(0, 0); }, [&] { for (int i = 0; i < k; i++) one(1, 0); }, 5) / k, "us");
    if (n >= 1 << 20) { vector<double> v; for (int i = 0; i < 5; i++) { CK(cudaEventRecord(e0[0], s[0])); CK(cudaStreamWaitEvent(r[0], e0[0], 0)); for (int j = 0; j < 4; j++) { one(0, 0); CK(cudaMemcpyPeerAsync(a[1] + BIG / 2, 1, b[0] + BIG / 2, 0, std::min(n, BIG / 2), r[0])); } cudaEvent_t q; CK(cudaEventCreate(&q)); CK(cudaEventRecord(q, r[0])); CK(cudaStreamWaitEvent(s[0], q, 0)); CK(cudaEventRecord(e1[0], s[0])); CK(cudaStreamSynchronize(s[0])); CK(cudaEventDestroy(q)); float ms; CK(cudaEventElapsedTime(&ms, e0[0], e1[0])); v.push_back(ms * 1e3 / 8); } if (n <= BIG / 2) out("copy_two_streams_each", p, med(v), "us"); }
    if (late(6)) break;
  }
  // latency: chase over the link, by footprint, and of one's own
  for (int side : {0, 1}) for (int stride : {1, 16, 512}) for (int words : {64, 4096, 65536}) for (int cached : {0, 1}) {
    if ((long long)words * stride * 8 > BIG) continue; dev(side); k_fill<<<1, 1024>>>((unsigned long long*)a[side], words, stride); CK(cudaDeviceSynchronize()); dev(0);
    vector<double> v; for (int i = 0; i < 3; i++) { k_chase<<<1, 1, 0, s[0]>>>((unsigned long long*)a[side], (unsigned long long*)o[0], 1024, t, cached); long long h; CK(cudaMemcpyAsync(&h, t, 8, cudaMemcpyDeviceToHost, s[0])); CK(cudaStreamSynchronize(s[0])); v.push_back(h / 1024.); } out(side ? "chase_peer" : "chase_local", "stride=" + S(stride * 8) + " words=" + S(words) + " cached=" + S(cached), med(v), "cycles"); }
  { vector<double> v; for (int side : {0, 1}) { for (int i = 0; i < 3; i++) { k_atom_chain<<<1, 1, 0, s[0]>>>((unsigned*)a[side], o[0], 512, t); long long h; CK(cudaMemcpyAsync(&h, t, 8, cudaMemcpyDeviceToHost, s[0])); CK(cudaStreamSynchronize(s[0])); v.push_back(h / 512.); } out(side ? "atomic_chain_peer" : "atomic_chain_local", "", med(v), "cycles"); v.clear(); for (int i = 0; i < 3; i++) { k_wfence<<<1, 1, 0, s[0]>>>((unsigned*)a[side], 512, t); long long h; CK(cudaMemcpyAsync(&h, t, 8, cudaMemcpyDeviceToHost, s[0])); CK(cudaStreamSynchronize(s[0])); v.push_back(h / 512.); } out(side ? "store_fence_peer" : "store_fence_local", "", med(v), "cycles"); v.clear(); } }
  // rates of loads and stores by blocks, width, loads on their way
  auto gb = [&](string n, string p, long long bytes, double us) { out(n, p + " bytes=" + S(bytes), bytes / us / 1e3, "GB/s"); };
  for (int side : {1, 0}) { string w = side ? "peer_" : "local_";
    for (int blocks : {1, 2, 4, 8, 16, 33, 66, 132, 264, 528}) for (int th : {256, 1024}) { if (side == 0 && th == 256) continue; if (th == 1024 && blocks > 264) continue; long long n = blocks < 8 ? 4 << 20 : blocks < 66 ? 32 << 20 : 256 << 20; string p = "blocks=" + S(blocks) + " threads=" + S(th) + " width=16";
      gb(w + "read", p, n, timed([&] { k_read<uint4, 4><<<blocks, th, 0, s[0]>>>((uint4*)a[side], o[0], n / 16); }, 3)); gb(w + "write", p, n, timed([&] { k_write<uint4><<<blocks, th, 0, s[0]>>>((uint4*)a[side], n / 16); }, 3)); if (late(10)) break; }
    for (int blocks : {16, 132, 528}) { long long n = blocks < 66 ? 32 << 20 : 256 << 20; string q = "blocks=" + S(blocks) + " threads=256 width=";
      gb(w + "read_unroll1", q + "16", n, timed([&] { k_read<uint4, 1><<<blocks, 256, 0, s[0]>>>((uint4*)a[side], o[0], n / 16); }, 3)); gb(w + "read_unroll8", q + "16", n, timed([&] { k_read<uint4, 8><<<blocks, 256, 0, s[0]>>>((uint4*)a[side], o[0], n / 16); }, 3));
      gb(w + "read", q + "8", n, timed([&] { k_read<uint2, 4><<<blocks, 256, 0, s[0]>>>((uint2*)a[side], o[0], n / 8); }, 3)); gb(w + "read", q + "4", n, timed([&] { k_read<unsigned, 4><<<blocks, 256, 0, s[0]>>>((unsigned*)a[side], o[0], n / 4); }, 3));
      gb(w + "write", q + "8", n, timed([&] { k_write<uint2><<<blocks, 256, 0, s[0]>>>((uint2*)a[side], n / 8); }, 3)); gb(w + "write", q + "4", n, timed([&] { k_write<unsigned><<<blocks, 256, 0, s[0]>>>((unsigned*)a[side], n / 4); }, 3)); }
    for (int st : {1, 2, 4, 8, 16, 32, 64}) { long long n = 256ll << 20; double us = timed([&] { k_stride<<<528, 256, 0, s[0]>>>((unsigned*)a[side], o[0], n / 4, st); }, 3); out(w + "read_strided_words", "stride_bytes=" + S(st * 4) + " words=" + S(n / 4 / st), n / 4 / st / us / 1e3, "Gword/s"); us = timed([&] { k_wstride<<<528, 256, 0, s[0]>>>((unsigned*)a[side], n / 4, st); }, 3); out(w + "write_strided_words", "stride_bytes=" + S(st * 4) + " words=" + S(n / 4 / st), n / 4 / st / us / 1e3, "Gword/s"); }
    for (int mode : {0, 1, 2}) { int each = mode == 2 ? 16 : 4; double us = timed([&] { k_atom_rate<<<132, 256, 0, s[0]>>>((unsigned*)a[side], each, mode); }, 3); out(w + "atomics", string("threads=33792 each=") + S(each) + (mode == 0 ? " one address" : mode == 1 ? " one line" : " spread"), 33792. * each / us / 1e3, "G/s"); }
    for (long long n : {4096ll, 65536ll, 1048576ll, 4194304ll, 16777216ll, 67108864ll}) { int bl = (int)std::min<long long>(528, std::max<long long>(1, n / 16 / 256)); out(w + "read_kernel_us", "blocks=" + S(bl) + " bytes=" + S(n), timed([&] { k_read<uint4, 1><<<bl, 256, 0, s[0]>>>((uint4*)a[side], o[0], n / 16); }, 7), "us"); out(w + "write_kernel_us", "blocks=" + S(bl) + " bytes=" + S(n), timed([&] { k_write<uint4><<<bl, 256, 0, s[0]>>>((uint4*)a[side], n / 16); }, 7), "us"); }
    // a copy kernel: from there to here, and from here to there
    long long n = 256 << 20; gb(w + "copy_in_kernel", "blocks=528 threads=256", n, timed([&] { k_copy<uint4, 4><<<528, 256, 0, s[0]>>>((uint4*)a[side], (uint4*)b[0], n / 16); }, 3)); gb(w + "copy_out_kernel", "blocks=528 threads=256", n, timed([&] { k_copy<uint4, 4><<<528, 256, 0, s[0]>>>((uint4*)b[0], (uint4*)a[side], n / 16); }, 3));
    gb(w + "copy_there_kernel", "blocks=528 threads=256", n, timed([&] { k_copy<uint4, 4><<<528, 256, 0, s[0]>>>((uint4*)a[side], (uint4*)(a[side] + BIG / 2), n / 16); }, 3));
    if (late(12)) break; }
  { long long n = 256 << 20, m = n / 16; auto R = [&](int d) { k_read<uint4, 4><<<528, 256, 0, s[d]>>>((uint4*)a[1 - d], o[d], m); }; auto W = [&](int d) { k_write<uint4><<<528, 256, 0, s[d]>>>((uint4*)a[1 - d], m); };
    gb("both_read", "each", n, both([&] { R(0); }, [&] { R(1); }, 3)); gb("both_write", "each", n, both([&] { W(0); }, [&] { W(1); }, 3)); gb("read_against_write", "each", n, both([&] { R(0); }, [&] { W(1); }, 3)); }
  // beside each other: own work and copies to and from the other device
  { long long n = 512 << 20; auto cp = [&](cudaStream_t q, int rev) { if (rev) CK(cudaMemcpyPeerAsync(a[0], 0, b[1], 1, n, q)); else CK(cudaMemcpyPeerAsync(a[1], 1, b[0], 0, n, q)); };
    auto streamer = [&] { for (int i = 0; i < 4; i++) k_copy<uint4, 4><<<1056, 256, 0, s[0]>>>((uint4*)b[0], (uint4*)(b[0] + BIG / 2), BIG / 32); }; auto fma = [&] { k_fma<<<1056, 256, 0, s[0]>>>((float*)o[0], 60000); };
    out("own_copy_alone", "4 kernels of 512 MiB", timed(streamer, 3), "us"); out("own_fma_alone", "", timed(fma, 3), "us");
    for (int rev : {0, 1}) for (int what : {0, 1}) { vector<double> v, c; for (int i = 0; i < 3; i++) { CK(cudaDeviceSynchronize()); cudaEvent_t q0, q1; CK(cudaEventCreate(&q0)); CK(cudaEventCreate(&q1)); CK(cudaEventRecord(q0, r[0])); cp(r[0], rev); CK(cudaEventRecord(q1, r[0])); CK(cudaEventRecord(e0[0], s[0])); what ? fma() : streamer(); CK(cudaEventRecord(e1[0], s[0])); CK(cudaDeviceSynchronize()); float x, y; CK(cudaEventElapsedTime(&x, e0[0], e1[0])); CK(cudaEventElapsedTime(&y, q0, q1)); v.push_back(x * 1e3); c.push_back(y * 1e3); CK(cudaEventDestroy(q0)); CK(cudaEventDestroy(q1)); } string p = string(what ? "fma" : "own copy") + (rev ? " beside a copy in" : " beside a copy out"); out("beside_kernel", p, med(v), "us"); out("beside_copy", p + " of 512 MiB", med(c), "us"); } }
  fprintf(stderr, "%.1f s\n", (now() - begin) / 1e6);
}
