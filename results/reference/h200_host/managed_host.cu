// The host touches managed memory: what lies on the device, what lies nowhere. name,params,value,unit on standard output.
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

int main() {
  double begin = now(); auto over = [&](double sec) { return now() - begin > sec * 1e6; };
  begin_all();
  // 1. who had it how, and how the host touches it
  for (size_t size : {4 * K, 64 * K, 256 * K, M, 2 * M, 8 * M, 32 * M}) for (int dev = 0; dev < 2; dev++) for (int host = 0; host < 2; host++) {
    std::vector<double> v, again; for (int r = 0; r < 5; r++) { char* x = managed(size); if (dev) wr(x, size); else rd(x, size); v.push_back(touch_host(x, size, 4096, host)); if (dev) wr(x, size); else rd(x, size); again.push_back(touch_host(x, size, 4096, host)); CK(cudaFree(x)); }
    std::string p = std::string("device=") + (dev ? "write" : "read") + " host=" + (host ? "write" : "read") + " bytes=" + S(size); out("um_host_back", p, med(v)); out("um_host_back_again", p, med(again)); }
  // 2. touch by touch
  for (size_t stride : {4 * K, 64 * K, 2 * M}) for (int host = 0; host < 2; host++) for (int order = 0; order < 2; order++) {
    int n = stride == 4 * K ? 2048 : stride == 64 * K ? 512 : 64; size_t size = stride * n; std::vector<int> o(n); std::iota(o.begin(), o.end(), 0); if (order) std::shuffle(o.begin(), o.end(), std::mt19937(n));
    char* x = managed(size); wr(x, size); trace("um_host_walk", std::string("stride=") + S(stride) + " touches=" + S(n) + " host=" + (host ? "write" : "read") + " order=" + (order ? "random" : "sequential"), x, stride, n, host, o.data(), 4.0); CK(cudaFree(x)); }
  // 3. memory that lies nowhere: the host first; the same memory beside what malloc gives
  for (size_t stride : {4 * K, 64 * K, 2 * M}) for (int host = 0; host < 2; host++) { int n = stride == 4 * K ? 2048 : stride == 64 * K ? 512 : 64; size_t size = stride * n; char* x = managed(size, false); trace("um_host_first", std::string("stride=") + S(stride) + " touches=" + S(n) + " host=" + (host ? "write" : "read"), x, stride, n, host, nullptr, 0.3); CK(cudaFree(x)); }
  for (size_t size : {4 * K, 64 * K, M, 2 * M, 8 * M, 32 * M, 128 * M}) { std::vector<double> v, u; for (int r = 0; r < 3; r++) { char* x = managed(size, false); v.push_back(touch_host(x, size, 4096, true)); CK(cudaFree(x)); char* y = (char*)aligned_alloc(2 * M, size < 2 * M ? 2 * M : size); u.push_back(touch_host(y, size, 4096, true)); free(y); } out("um_host_first_write", "bytes=" + S(size), med(v)); out("malloc_first_write", "bytes=" + S(size), med(u)); }
  // 4. memory that lies nowhere: the device first, then the host
  for (size_t size : {4 * K, 64 * K, 256 * K, M, 2 * M, 8 * M, 32 * M, 128 * M}) for (int dev = 0; dev < 2; dev++) { std::vector<double> v, u, w; for (int r = 0; r < 3; r++) { char* x = managed(size, false); v.push_back(dev ? wr(x, size) : rd(x, size)); u.push_back(touch_host(x, size, 4096, false)); if (dev) wr(x, size); else rd(x, size); w.push_back(touch_host(x, size, 4096, false)); CK(cudaFree(x)); }
    std::string p = std::string("device=") + (dev ? "write" : "read") + " bytes=" + S(size); out("um_device_first", p, med(v)); out("um_device_first_host_back", p, med(u)); out("um_device_first_host_back_again", p, med(w)); if (over(12)) break; }
  for (size_t stride : {2 * M, 64 * K, 4 * K}) for (int n : {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024}) { if (stride == 2 * M && n > 128) continue; std::vector<double> v, u; for (int r = 0; r < 3; r++) { char* x = managed(std::max(stride * n, 64 * K), false); v.push_back(sc(x, stride, n, 1)); CK(cudaFree(x)); x = managed(std::max(stride * n, 64 * K), false); u.push_back(timed([&] { CK(cudaMemPrefetchAsync(x, stride * n, DEV, 0, s)); })); CK(cudaFree(x)); } out("um_device_first_threads", "stride=" + S(stride) + " pages=" + S(n), med(v)); out("um_prefetch_first_event", "bytes=" + S(stride * n), med(u)); if (over(16)) break; }
  // 5. the host touches while a kernel faults on other pages of the same buffer, and on its own
  { size_t size = 32 * M; std::vector<double> alone, beside, kernel, both; for (int r = 0; r < 3; r++) {
      char *x = managed(size), *y = managed(size); rd(y, size); alone.push_back(touch_host(y, size, 4096, false)); rd(y, size); CK(cudaDeviceSynchronize()); CK(cudaEventRecord(e0, s)); k_read<<<B, T, 0, s>>>((int4*)x, size / 16, sink); CK(cudaEventRecord(e1, s)); double t = now(); beside.push_back(touch_host(y, size, 4096, false)); CK(cudaDeviceSynchronize()); both.push_back(now() - t); kernel.push_back(el(e0, e1)); CK(cudaFree(x)); CK(cudaFree(y)); }
    out("um_host_alone_32MiB", "", med(alone)); out("um_host_beside_kernel_32MiB", "", med(beside)); out("um_kernel_beside_host_32MiB", "", med(kernel)); out("um_host_and_kernel_32MiB", "", med(both)); }
  return 0;
}
