// Many waves that write each piece of memory that is mostly read. name,params,value,unit on standard output.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
#include <algorithm>
#include <chrono>
#include <string>
#include <numeric>
#include <random>
#include <cuda_runtime.h>
#define CK(x) do { cudaError_t err_ = (x); if (err_ != cudaSuccess) { fprintf(stderr, "%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(err_)); cudaGetLastError(); } } while (0)
static double now() { return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count(); }
static double med(std::vector<double> v) { if (v.empty()) return 0; std::sort(v.begin(), v.end()); return v[v.size() / 2]; }
static void out(const char* n, std::string p, double v, const char* u = "us") { printf("%s,%s,%.4f,%s\n", n, p.c_str(), v, u); fflush(stdout); }
static std::string S(long long x) { return std::to_string(x); }
static double el(cudaEvent_t a, cudaEvent_t b) { float ms = 0; CK(cudaEventElapsedTime(&ms, a, b)); return ms * 1e3; }
// All of it, 16 bytes a thread, grid stride.
__global__ void k_read(const int4* p, size_t n, int* sink) { int s = 0; for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) { int4 v = p[i]; s ^= v.x ^ v.y ^ v.z ^ v.w; } if (s == 0x7fffffff) *sink = s; }
__global__ void k_write(int4* p, size_t n) { for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) p[i] = make_int4(1, 2, 3, 4); }
// Each block of one thread one access: page order[w] of `stride` bytes.
__global__ void k_scatter(volatile int* p, size_t stride, const int* order, int n, int* sink, int write) { int w = blockIdx.x * blockDim.x + threadIdx.x; if (w < n) { size_t at = (size_t)(order ? order[w] : w) * stride / 4; if (write) p[at] = w; else if (p[at] == 0x7fffffff) *sink = 1; } }
__global__ void k_null() {}
static int* sink; static cudaEvent_t e0, e1; static cudaStream_t s;
static cudaMemLocation DEV, HST;
static const int B = 132 * 4, T = 512; static const size_t K = 1024, M = K * K;
template <class F> static double timed(F f) { CK(cudaDeviceSynchronize()); CK(cudaEventRecord(e0, s)); f(); CK(cudaEventRecord(e1, s)); CK(cudaDeviceSynchronize()); return el(e0, e1); }
static char* managed(size_t n, bool host = true) { char* p; CK(cudaMallocManaged(&p, n)); if (host) memset(p, 1, n); return p; }
static double touch_host(volatile char* p, size_t n, size_t step, bool write) { double t = now(); unsigned x = 0; for (size_t i = 0; i < n; i += step) { if (write) p[i] = 2; else x += p[i]; } if (x == 123456789) printf("\n"); return now() - t; }
static double rd(char* x, size_t n) { return timed([&] { k_read<<<B, T, 0, s>>>((int4*)x, n / 16, sink); }); }
static double wr(char* x, size_t n) { return timed([&] { k_write<<<B, T, 0, s>>>((int4*)x, n / 16); }); }
static double sc(char* x, size_t stride, int n, int write, const int* order = nullptr) { return timed([&] { k_scatter<<<n, 1, 0, s>>>((int*)x, stride, order, n, sink, write); }); }
static void begin_all() {
  CK(cudaSetDevice(0)); CK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking)); CK(cudaEventCreate(&e0)); CK(cudaEventCreate(&e1)); CK(cudaMalloc(&sink, 4));
  DEV.type = cudaMemLocationTypeDevice; DEV.id = 0; HST.type = cudaMemLocationTypeHost; HST.id = 0;
  for (int i = 0; i < 20; i++) k_null<<<1, 1, 0, s>>>();
  char* w = managed(64 * M); rd(w, 64 * M); wr(w, 64 * M); sc(w, 4, 1, 0); touch_host(w, 64 * M, 4096, true); CK(cudaDeviceSynchronize()); CK(cudaFree(w));
}
// Every touch by itself: how many took longer than `limit` us, which (the first 40), their median, the whole.
static void trace(const char* name, std::string what, char* p, size_t stride, int n, bool write, const int* order, double limit) {
  std::vector<double> took(n); volatile char* q = p; unsigned x = 0; double t0 = now();
  for (int i = 0; i < n; i++) { size_t at = (size_t)(order ? order[i] : i) * stride; double a = now(); if (write) q[at] = 2; else x += q[at]; took[i] = now() - a; }
  double whole = now() - t0; if (x == 123456789) printf("\n");
  std::vector<double> slow; std::string where; for (int i = 0; i < n; i++) if (took[i] > limit) { slow.push_back(took[i]); if (slow.size() <= 40) where += S(i) + ":" + S((long long)(took[i] + 0.5)) + " "; }
  out((std::string(name) + "_total").c_str(), what, whole); out((std::string(name) + "_faults").c_str(), what, slow.size(), "count"); out((std::string(name) + "_each").c_str(), what, med(slow));
  printf("%s_where,%s,%s,index:us\n", name, what.c_str(), where.c_str()); fflush(stdout);
}

static void advise(char* x, size_t n, cudaMemoryAdvise what, cudaMemLocation where) { CK(cudaMemAdvise(x, n, what, where)); }

// n pieces of 4 KiB, m waves of each; `near`: those of a piece follow each other, else they lie n apart.
__global__ void k_many(volatile int* p, int n, int m, int near, int* sink) { int w = blockIdx.x, piece = near ? w / m : w % n, part = near ? w % m : w / n; p[(size_t)piece * 1024 + part * (1024 / m)] = w; }
int main() {
  double begin = now(); auto over = [&](double sec) { return now() - begin > sec * 1e6; };
  begin_all();
  for (size_t size : {M, 2 * M, 8 * M}) for (int m : {1, 2, 4, 8}) for (int near = 0; near < 2; near++) for (int kind = 0; kind < 3; kind++) {
    if (over(16)) break; int n = size / 4096; std::vector<double> v, u; for (int r = 0; r < 3; r++) { char* x = managed(size); if (kind) advise(x, size, cudaMemAdviseSetReadMostly, DEV); if (kind == 1) { CK(cudaMemPrefetchAsync(x, size, DEV, 0, s)); } if (kind == 2) rd(x, size);
      v.push_back(timed([&] { k_many<<<n * m, 1, 0, s>>>((int*)x, n, m, near, sink); })); u.push_back(timed([&] { k_many<<<n * m, 1, 0, s>>>((int*)x, n, m, near, sink); })); CK(cudaFree(x)); }
    std::string p = "bytes=" + S(size) + " waves_of_each=" + S(m) + " near=" + S(near) + " was=" + (kind == 0 ? "host" : kind == 1 ? "prefetched" : "read"); out("um_many_write", p, med(v)); out("um_many_write_again", p, med(u)); }
  for (size_t size : {256 * K, M, 2 * M, 8 * M}) for (int kind = 0; kind < 4; kind++) { if (over(20)) break; std::vector<double> v, u; for (int r = 0; r < 3; r++) { char* x = managed(size, kind != 3); if (kind == 3) wr(x, size); advise(x, size, cudaMemAdviseSetReadMostly, DEV); if (kind == 0) { CK(cudaMemPrefetchAsync(x, size, DEV, 0, s)); } if (kind == 1) rd(x, size); if (kind == 3) touch_host(x, size, 4096, false);
      v.push_back(wr(x, size)); u.push_back(wr(x, size)); CK(cudaFree(x)); } const char* names[] = {"prefetched", "read", "host", "device_and_host"}; std::string p = "bytes=" + S(size) + " was=" + names[kind]; out("um_mostly_write_all", p, med(v)); out("um_mostly_write_all_again", p, med(u)); }
  return 0;
}
