// Host functions in streams and graphs. name,params,value,unit on standard output.
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

__global__ void k_spin(long long cycles) { long long t = clock64(); while (clock64() - t < cycles) {} }
static void nothing(void*) {}
static void busy(void* p) { double t = now(), n = *(double*)p; while (now() - t < n) {} }
int main() {
  begin_all(); cudaStream_t s2; CK(cudaStreamCreateWithFlags(&s2, cudaStreamNonBlocking));
  cudaEvent_t fork; CK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
  for (int i = 0; i < 50; i++) CK(cudaLaunchHostFunc(s, nothing, nullptr)); CK(cudaDeviceSynchronize());
  // behind a long kernel that covers the calls: each more of them
  auto behind = [&](const char* name, std::string p, auto one) { std::vector<double> v; for (int r = 0; r < 9; r++) { double took[2]; int n[2] = {10, 60}; for (int j = 0; j < 2; j++) { CK(cudaDeviceSynchronize()); k_spin<<<1, 1, 0, s>>>(3000000); CK(cudaEventRecord(e0, s)); for (int i = 0; i < n[j]; i++) one(); CK(cudaEventRecord(e1, s)); CK(cudaDeviceSynchronize()); took[j] = el(e0, e1); } v.push_back((took[1] - took[0]) / 50); } out(name, p, med(v)); };
  behind("behind_function", "us=0", [&] { CK(cudaLaunchHostFunc(s, nothing, nullptr)); });
  for (double us : {5.0, 20.0, 100.0}) { static double d; d = us; behind("behind_function", "us=" + S((long long)us), [&] { CK(cudaLaunchHostFunc(s, busy, &d)); }); behind("behind_kernel_function", "us=" + S((long long)us), [&] { k_null<<<1, 1, 0, s>>>(); CK(cudaLaunchHostFunc(s, busy, &d)); }); }
  behind("behind_kernel_function", "us=0", [&] { k_null<<<1, 1, 0, s>>>(); CK(cudaLaunchHostFunc(s, nothing, nullptr)); });
  behind("behind_two_kernels_function", "us=0", [&] { k_null<<<1, 1, 0, s>>>(); k_null<<<1, 1, 0, s>>>(); CK(cudaLaunchHostFunc(s, nothing, nullptr)); });
  char *hp, *dp; CK(cudaMallocHost(&hp, M)); CK(cudaMalloc(&dp, M));
  behind("behind_d2h_function", "bytes=65536", [&] { CK(cudaMemcpyAsync(hp, dp, 65536, cudaMemcpyDeviceToHost, s)); CK(cudaLaunchHostFunc(s, nothing, nullptr)); });
  behind("behind_d2h", "bytes=65536", [&] { CK(cudaMemcpyAsync(hp, dp, 65536, cudaMemcpyDeviceToHost, s)); });
  // two streams: are functions of both run side by side?
  { std::vector<double> v, u; static double d = 50; for (int r = 0; r < 9; r++) { CK(cudaDeviceSynchronize()); double t = now(); for (int i = 0; i < 20; i++) { CK(cudaLaunchHostFunc(s, busy, &d)); } CK(cudaDeviceSynchronize()); v.push_back((now() - t) / 20); t = now(); for (int i = 0; i < 10; i++) { CK(cudaLaunchHostFunc(s, busy, &d)); CK(cudaLaunchHostFunc(s2, busy, &d)); } CK(cudaDeviceSynchronize()); u.push_back((now() - t) / 20); } out("functions_one_stream_each", "us=50", med(v)); out("functions_two_streams_each", "us=50", med(u)); }
  { std::vector<double> v, u; for (int r = 0; r < 200; r++) { CK(cudaStreamSynchronize(s)); double t = now(); CK(cudaLaunchHostFunc(s, nothing, nullptr)); v.push_back(now() - t); CK(cudaStreamSynchronize(s)); u.push_back(now() - t); } out("function_call", "", med(v)); out("function_round_trip", "", med(u)); }
  { std::vector<double> v; for (int r = 0; r < 200; r++) { CK(cudaStreamSynchronize(s)); double t = now(); k_null<<<1, 1, 0, s>>>(); CK(cudaLaunchHostFunc(s, nothing, nullptr)); CK(cudaStreamSynchronize(s)); v.push_back(now() - t); } out("kernel_function_round_trip", "", med(v)); }
  { std::vector<double> v; for (int r = 0; r < 200; r++) { CK(cudaStreamSynchronize(s)); double t = now(); k_null<<<1, 1, 0, s>>>(); CK(cudaLaunchHostFunc(s, nothing, nullptr)); k_null<<<1, 1, 0, s>>>(); CK(cudaStreamSynchronize(s)); v.push_back(now() - t); } out("kernel_function_kernel_round_trip", "", med(v)); }
  // in graphs: chains of functions, of kernel + function
  for (int kind = 0; kind < 3; kind++) for (int n : {1, 5, 20}) { cudaGraph_t g; cudaGraphExec_t x; CK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal)); for (int i = 0; i < n; i++) { if (kind > 0) k_null<<<1, 1, 0, s>>>(); CK(cudaLaunchHostFunc(s, nothing, nullptr)); if (kind > 1) k_null<<<1, 1, 0, s>>>(); } CK(cudaStreamEndCapture(s, &g)); CK(cudaGraphInstantiate(&x, g, 0)); std::vector<double> v, u, w; for (int r = 0; r < 30; r++) { CK(cudaStreamSynchronize(s)); double t = now(); CK(cudaGraphLaunch(x, s)); v.push_back(now() - t); CK(cudaStreamSynchronize(s)); u.push_back(now() - t); w.push_back(timed([&] { CK(cudaGraphLaunch(x, s)); })); }
    std::string p = std::string("graph=") + (kind == 0 ? "function" : kind == 1 ? "kernel_function" : "kernel_function_kernel") + " groups=" + S(n); out("graph_functions_call", p, med(v)); out("graph_functions_round_trip", p, med(u)); out("graph_functions_event", p, med(w)); CK(cudaGraphExecDestroy(x)); CK(cudaGraphDestroy(g)); }
  return 0;
}
