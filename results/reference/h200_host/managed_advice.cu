// Advice on managed memory: read mostly, a preferred place. name,params,value,unit on standard output.
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
int main() {
  double begin = now(); auto over = [&](double sec) { return now() - begin > sec * 1e6; };
  begin_all();
  for (size_t size : {64 * K, 2 * M, 64 * M}) { std::vector<double> v, u, w; for (int r = 0; r < 5; r++) { char* x = managed(size); double t = now(); advise(x, size, cudaMemAdviseSetReadMostly, DEV); v.push_back(now() - t); CK(cudaFree(x)); x = managed(size); t = now(); advise(x, size, cudaMemAdviseSetPreferredLocation, HST); u.push_back(now() - t); t = now(); advise(x, size, cudaMemAdviseSetAccessedBy, DEV); w.push_back(now() - t); CK(cudaFree(x)); } out("um_advise_read_mostly_call", "bytes=" + S(size), med(v)); out("um_advise_preferred_call", "bytes=" + S(size), med(u)); out("um_advise_accessed_by_call", "bytes=" + S(size), med(w)); }
  // 1. read mostly
  for (size_t size : {4 * K, 64 * K, 256 * K, M, 2 * M, 8 * M}) { std::vector<double> v[12]; std::string p = "bytes=" + S(size); for (int r = 0; r < 3; r++) {
      char* x = managed(size); advise(x, size, cudaMemAdviseSetReadMostly, DEV);
      v[0].push_back(rd(x, size)); v[1].push_back(rd(x, size)); v[2].push_back(touch_host(x, size, 4096, false)); v[3].push_back(touch_host(x, size, 4096, true)); v[4].push_back(touch_host(x, size, 4096, true)); v[5].push_back(rd(x, size));
      v[6].push_back(wr(x, size)); v[7].push_back(wr(x, size)); v[8].push_back(touch_host(x, size, 4096, false)); v[9].push_back(rd(x, size)); v[10].push_back(touch_host(x, size, 4096, false)); CK(cudaFree(x));
      x = managed(size); advise(x, size, cudaMemAdviseSetReadMostly, DEV); v[11].push_back(timed([&] { CK(cudaMemPrefetchAsync(x, size, DEV, 0, s)); })); CK(cudaFree(x)); }
    const char* names[] = {"first_read", "second_read", "host_read", "host_write", "host_write_again", "read_after_host_write", "device_write", "device_write_again", "host_read_after_device_write", "read_after_host_read", "host_read_again", "prefetch_event"};
    for (int i = 0; i < 12; i++) out((std::string("um_mostly_") + names[i]).c_str(), p, med(v[i])); if (over(8)) break; }
  // writes to pages with copies: one a page of 4 KiB, of 64 KiB, of 2 MiB
  for (size_t stride : {4 * K, 64 * K, 2 * M}) for (int n : {1, 4, 16, 64, 256}) { size_t size = std::max(stride * n, 64 * K); if (stride == 2 * M && n > 64) continue; std::vector<double> v, u; for (int r = 0; r < 3; r++) { char* x = managed(size); advise(x, size, cudaMemAdviseSetReadMostly, DEV); CK(cudaMemPrefetchAsync(x, size, DEV, 0, s)); v.push_back(sc(x, stride, n, 1)); CK(cudaFree(x)); x = managed(size); advise(x, size, cudaMemAdviseSetReadMostly, DEV); CK(cudaMemPrefetchAsync(x, size, DEV, 0, s)); CK(cudaDeviceSynchronize()); u.push_back(touch_host(x, stride * n, stride, true)); CK(cudaFree(x)); } std::string p = "stride=" + S(stride) + " pages=" + S(n); out("um_mostly_write_threads", p, med(v)); out("um_mostly_host_write_touches", p, med(u)); if (over(12)) break; }
  { char* x = managed(4 * M); advise(x, 4 * M, cudaMemAdviseSetReadMostly, DEV); CK(cudaMemPrefetchAsync(x, 4 * M, DEV, 0, s)); CK(cudaDeviceSynchronize()); trace("um_mostly_host_write_walk", "stride=4096 touches=1024", x, 4096, 1024, true, nullptr, 1.0); CK(cudaFree(x)); }
  // 2. preferred on the host, without being mapped before: faults map
  for (size_t stride : {4 * K, 64 * K, 2 * M}) for (int n : {1, 4, 16, 64, 256, 1024}) { size_t size = std::max(stride * n, 64 * K); if (stride == 2 * M && n > 64) continue; std::vector<double> v, u; for (int r = 0; r < 3; r++) { char* x = managed(size); advise(x, size, cudaMemAdviseSetPreferredLocation, HST); v.push_back(sc(x, stride, n, 0)); u.push_back(sc(x, stride, n, 0)); CK(cudaFree(x)); } std::string p = "stride=" + S(stride) + " pages=" + S(n); out("um_host_preferred_threads", p, med(v)); out("um_host_preferred_threads_again", p, med(u)); if (over(15)) break; }
  for (size_t size : {64 * K, 256 * K, M, 2 * M, 8 * M, 32 * M}) { std::vector<double> v, u, w, t; for (int r = 0; r < 3; r++) { char* x = managed(size); advise(x, size, cudaMemAdviseSetPreferredLocation, HST); v.push_back(rd(x, size)); u.push_back(rd(x, size)); w.push_back(wr(x, size)); t.push_back(touch_host(x, size, 4096, true)); CK(cudaFree(x)); } std::string p = "bytes=" + S(size); out("um_host_preferred_read", p, med(v)); out("um_host_preferred_read_again", p, med(u)); out("um_host_preferred_write", p, med(w)); out("um_host_preferred_host_write", p, med(t)); if (over(18)) break; }
  // 3. preferred on the device: the host touches, the device touches again
  for (size_t size : {64 * K, 2 * M, 8 * M}) { std::vector<double> v, u, w, t; for (int r = 0; r < 3; r++) { char* x = managed(size); advise(x, size, cudaMemAdviseSetPreferredLocation, DEV); v.push_back(rd(x, size)); u.push_back(touch_host(x, size, 4096, false)); w.push_back(rd(x, size)); t.push_back(touch_host(x, size, 4096, true)); CK(cudaFree(x)); } std::string p = "bytes=" + S(size); out("um_device_preferred_read", p, med(v)); out("um_device_preferred_host_read", p, med(u)); out("um_device_preferred_read_again", p, med(w)); out("um_device_preferred_host_write", p, med(t)); if (over(20)) break; }
  // 4. mapped beforehand by the device (accessed by), pages go to the device by a prefetch and come back with a touch of the host
  for (size_t size : {2 * M, 8 * M}) { std::vector<double> v, u, w; for (int r = 0; r < 3; r++) { char* x = managed(size); advise(x, size, cudaMemAdviseSetAccessedBy, DEV); v.push_back(rd(x, size)); CK(cudaMemPrefetchAsync(x, size, DEV, 0, s)); u.push_back(touch_host(x, size, 4096, false)); w.push_back(rd(x, size)); CK(cudaFree(x)); } std::string p = "bytes=" + S(size); out("um_accessed_by_read", p, med(v)); out("um_accessed_by_host_back", p, med(u)); out("um_accessed_by_read_after", p, med(w)); }
  return 0;
}
