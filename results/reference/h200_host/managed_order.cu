// Pages in any order: what a fault group costs by how its faults lie. name,params,value,unit on standard output.
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
  // pages of one touch each, launched so that `open` touches at a time can be on their way: blocks of one thread, `resident` beside one another by dynamic shared memory
  CK(cudaFuncSetAttribute(k_scatter, cudaFuncAttributeMaxDynamicSharedMemorySize, 220 * 1024));
  for (size_t stride : {64 * K, 2 * M, 4 * K}) for (int order = 0; order < 2; order++) for (int n : {256, 512, 1024, 2048, 4096}) for (int shared : {0, 24, 100, 220}) {
    if (stride == 2 * M && n > 512) continue; size_t size = stride * n; if (size > 1024 * M || over(14)) continue;
    std::vector<int> o(n); std::iota(o.begin(), o.end(), 0); if (order) std::shuffle(o.begin(), o.end(), std::mt19937(n)); int* od; CK(cudaMalloc(&od, n * 4)); CK(cudaMemcpy(od, o.data(), n * 4, cudaMemcpyHostToDevice)); std::vector<double> v;
    for (int r = 0; r < 3; r++) { char* x = managed(size, false); if (size <= 256 * M) touch_host(x, size, 4096, true); else touch_host(x, size, stride, true); v.push_back(timed([&] { k_scatter<<<n, 1, shared * 1024, s>>>((int*)x, stride, od, n, sink, 0); })); CK(cudaFree(x)); if (size >= 512 * M) break; }
    out("um_open", "stride=" + S(stride) + " pages=" + S(n) + " order=" + (order ? "random" : "sequential") + " shared_KiB=" + S(shared), med(v)); CK(cudaFree(od)); }
  // a fixed number of pages of each of so many blocks, all at once: cost of a batch by blocks and pages
  for (int blocks : {1, 2, 4, 8, 16, 32, 64, 128}) for (int per : {1, 2, 4, 8, 16, 32}) { int n = blocks * per; if (n > 256 || over(20)) continue; size_t size = 2 * M * blocks; std::vector<int> o; for (int b = 0; b < blocks; b++) for (int k = 0; k < per; k++) o.push_back(b * 32 + k * (32 / per)); int* od; CK(cudaMalloc(&od, n * 4)); CK(cudaMemcpy(od, o.data(), n * 4, cudaMemcpyHostToDevice)); std::vector<double> v; for (int r = 0; r < 3; r++) { char* x = managed(size, false); touch_host(x, size, 64 * K, true); v.push_back(sc(x, 64 * K, n, 0, od)); CK(cudaFree(x)); } out("um_batch", "blocks=" + S(blocks) + " pages_of_each=" + S(per), med(v)); CK(cudaFree(od)); }
  return 0;
}
