// From engine to engine and from queue to queue, by how long the kernels between take: is there a rhythm in which waiting ends? name,params,value,unit. Medians.
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <algorithm>
#include <chrono>
#include <string>
#include <cuda_runtime.h>
#define CK(x) do { cudaError_t err_ = (x); if (err_ != cudaSuccess) { fprintf(stderr, "%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(err_)); cudaGetLastError(); } } while (0)
typedef unsigned long long u64; typedef std::vector<double> V;
static double now() { return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count(); }
static double med(V v) { if (v.empty()) return -1; std::sort(v.begin(), v.end()); return v[v.size() / 2]; }
static double quant(V v, double q) { if (v.empty()) return -1; std::sort(v.begin(), v.end()); return v[(size_t)(q * (v.size() - 1))]; }
static std::string S(long long x) { return std::to_string(x); }
static void out(std::string n, std::string p, double v) { printf("%s,%s,%.4f,us\n", n.c_str(), p.c_str(), v); fflush(stdout); }
__device__ u64 ticks() { u64 t; asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t)); return t; }
__global__ void k_null() {}
__global__ void k_spin(long long ns) { u64 t = ticks(); while ((long long)(ticks() - t) < ns) {} }
__global__ void k_cycles(long long c) { long long t = clock64(); while (clock64() - t < c) {} }
__global__ void k_trace(u64* at, long long ns) { u64 t = ticks(); if (ns) while ((long long)(ticks() - t) < ns) {} at[0] = t; at[1] = ticks(); }
static cudaEvent_t ev(unsigned f = cudaEventDisableTiming) { cudaEvent_t e; CK(cudaEventCreateWithFlags(&e, f)); return e; }
static double el(cudaEvent_t a, cudaEvent_t b) { float ms = 0; CK(cudaEventElapsedTime(&ms, a, b)); return ms * 1e3; }
int main() {
  double begin = now(); auto late = [&](double sec) { return now() - begin > sec * 1e6; };
  CK(cudaSetDevice(0)); std::vector<cudaStream_t> st(4); for (auto& x : st) CK(cudaStreamCreateWithFlags(&x, cudaStreamNonBlocking)); cudaStream_t s = st[0];
  cudaEvent_t e0 = ev(0), e1 = ev(0); std::vector<cudaEvent_t> evs; for (int i = 0; i < 300; i++) evs.push_back(ev());
  char *d, *p, *q; u64 *at, *back; CK(cudaMalloc(&d, 1 << 22)); CK(cudaMallocHost(&p, 1 << 22)); CK(cudaMallocHost(&q, 1 << 22)); CK(cudaMalloc(&at, 1 << 16)); CK(cudaMallocHost(&back, 1 << 16));
  for (int i = 0; i < 200; i++) k_null<<<1, 1, 0, s>>>(); for (auto x : st) { k_cycles<<<1, 1, 0, x>>>(10); k_trace<<<1, 1, 0, x>>>(at, 10); k_spin<<<1, 1, 0, x>>>(10); CK(cudaMemcpyAsync(d, p, 4096, cudaMemcpyHostToDevice, x)); CK(cudaMemcpyAsync(q, d, 4096, cudaMemcpyDeviceToHost, x)); } CK(cudaDeviceSynchronize());
  auto behind = [&](std::string n, std::string par, int count, auto f) { V v; for (int r = 0; r < 6; r++) { k_spin<<<1, 1, 0, s>>>(900000); CK(cudaEventRecord(e0, s)); for (int i = 0; i < count; i++) f(i, count); CK(cudaEventRecord(e1, s)); CK(cudaDeviceSynchronize()); if (r) v.push_back(el(e0, e1) / count); } out(n, par, med(v)); };
  auto in = [&](size_t n, cudaStream_t x) { CK(cudaMemcpyAsync(d, p, n, cudaMemcpyHostToDevice, x)); }; auto back_ = [&](size_t n, cudaStream_t x) { CK(cudaMemcpyAsync(q, d, n, cudaMemcpyDeviceToHost, x)); };
  // 1. by the length of the kernel: whole loop
  for (int ns = 0; ns <= 14000; ns += 350) { long long c = (long long)(ns * 1.98); auto k = [&](cudaStream_t x) { if (c) k_cycles<<<1, 1, 0, x>>>(c); else k_null<<<1, 1, 0, x>>>(); }; std::string par = "ns=" + S(ns);
    behind("step_kernel", par, 40, [&](int, int) { k(s); }); behind("step_h2d_kernel", par, 40, [&](int, int) { in(4096, s); k(s); }); behind("step_kernel_d2h", par, 40, [&](int, int) { k(s); back_(4096, s); }); behind("step_h2d_kernel_d2h", par, 30, [&](int, int) { in(4096, s); k(s); back_(4096, s); });
    for (int w : {2, 4}) behind("step_ring", par + " streams=" + S(w), 48, [&](int i, int n) { int j = i % w, m = i == n - 1 ? 0 : (i + 1) % w; k(st[j]); CK(cudaEventRecord(evs[i], st[j])); CK(cudaStreamWaitEvent(st[m], evs[i], 0)); }); if (late(9)) break; }
  // 2. by the size of the copy
  for (size_t n : {(size_t)2048, (size_t)4096, (size_t)8192, (size_t)12288, (size_t)16384, (size_t)24576, (size_t)32768, (size_t)49152, (size_t)65536, (size_t)98304, (size_t)131072, (size_t)196608, (size_t)262144, (size_t)524288}) { std::string par = "bytes=" + S(n); behind("size_h2d", par, 40, [&](int, int) { in(n, s); }); behind("size_d2h", par, 40, [&](int, int) { back_(n, s); }); behind("size_h2d_kernel", par, 40, [&](int, int) { in(n, s); k_null<<<1, 1, 0, s>>>(); }); behind("size_kernel_d2h", par, 40, [&](int, int) { k_null<<<1, 1, 0, s>>>(); back_(n, s); }); behind("size_h2d_d2h", par, 40, [&](int, int) { in(n, s); back_(n, s); }); }
  // 3. one by one: kernels that say when they ran, copies between them; gap from the end of a kernel to the begin of the next
  for (size_t n : {(size_t)4096, (size_t)65536, (size_t)1 << 20}) for (int ns : {0, 3000, 10000}) for (int way : {0, 1, 2, 3}) { V g; for (int r = 0; r < 4; r++) { k_spin<<<1, 1, 0, s>>>(900000); for (int i = 0; i < 60; i++) { k_trace<<<1, 1, 0, s>>>(at + 2 * i, ns); if (way == 0) in(n, s); if (way == 1) back_(n, s); if (way == 2) { in(n, s); in(n, s); } if (way == 3) { back_(n, s); in(n, s); } } CK(cudaDeviceSynchronize()); CK(cudaMemcpy(back, at, 16 * 60, cudaMemcpyDeviceToHost)); if (r) for (int i = 1; i < 60; i++) g.push_back((back[2 * i] - back[2 * i - 1]) / 1e3); } const char* names[] = {"h2d", "d2h", "h2d_h2d", "d2h_h2d"}; std::string par = "bytes=" + S(n) + " ns=" + S(ns); for (double u : {0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0}) out(std::string("gap_with_") + names[way], par + " percentile=" + S((int)(100 * u)), quant(g, u)); if (late(14)) break; }
  // 4. streams and graphs of copies and kernels, alone and behind a long kernel
  auto graph = [&](std::string n, std::string par, int kernels, auto build) { V sc, sr, sg; std::vector<V> gs(kernels); for (int r = 0; r < 10; r++) { CK(cudaStreamSynchronize(s)); double t = now(); build(); double u = now(); CK(cudaStreamSynchronize(s)); double y = now(); sc.push_back(u - t); sr.push_back(y - t); CK(cudaMemcpy(back, at, 16 * kernels, cudaMemcpyDeviceToHost)); for (int i = 1; i < kernels; i++) gs[i].push_back((back[2 * i] - back[2 * i - 1]) / 1e3); CK(cudaEventRecord(e0, s)); build(); CK(cudaEventRecord(e1, s)); CK(cudaStreamSynchronize(s)); sg.push_back(el(e0, e1)); } out("stream_cpu_" + n, par, med(sc)); out("stream_round_trip_" + n, par, med(sr)); out("stream_gpu_time_" + n, par, med(sg)); for (int i = 1; i < kernels; i++) out("stream_gap_" + n, par + " kernel=" + S(i), med(gs[i]));
    cudaGraph_t g; cudaGraphExec_t x; CK(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal)); build(); CK(cudaStreamEndCapture(s, &g)); CK(cudaGraphInstantiate(&x, g, 0)); V cv, rv, gv, bb; std::vector<V> ga(kernels), gb(kernels); for (int r = 0; r < 12; r++) { CK(cudaStreamSynchronize(s)); double t = now(); CK(cudaGraphLaunch(x, s)); double u = now(); CK(cudaStreamSynchronize(s)); double y = now(); if (r > 1) cv.push_back(u - t), rv.push_back(y - t); CK(cudaMemcpy(back, at, 16 * kernels, cudaMemcpyDeviceToHost)); if (r > 1) for (int i = 1; i < kernels; i++) ga[i].push_back((back[2 * i] - back[2 * i - 1]) / 1e3); CK(cudaEventRecord(e0, s)); CK(cudaGraphLaunch(x, s)); CK(cudaEventRecord(e1, s)); CK(cudaStreamSynchronize(s)); if (r > 1) gv.push_back(el(e0, e1)); k_spin<<<1, 1, 0, s>>>(300000); CK(cudaEventRecord(e0, s)); CK(cudaGraphLaunch(x, s)); CK(cudaEventRecord(e1, s)); CK(cudaStreamSynchronize(s)); CK(cudaMemcpy(back, at, 16 * kernels, cudaMemcpyDeviceToHost)); if (r > 1) { bb.push_back(el(e0, e1)); for (int i = 1; i < kernels; i++) gb[i].push_back((back[2 * i] - back[2 * i - 1]) / 1e3); } }
    out("graph_launch_cpu_" + n, par, med(cv)); out("graph_round_trip_" + n, par, med(rv)); out("graph_gpu_time_" + n, par, med(gv)); out("graph_behind_" + n, par, med(bb)); for (int i = 1; i < kernels; i++) { out("graph_gap_" + n, par + " kernel=" + S(i), med(ga[i])); out("graph_behind_gap_" + n, par + " kernel=" + S(i), med(gb[i])); } CK(cudaGraphExecDestroy(x)); CK(cudaGraphDestroy(g)); };
  for (size_t n : {(size_t)4096, (size_t)32768, (size_t)262144}) for (int ns : {0, 5000, 15000}) for (int m : {1, 2, 4, 8}) { std::string par = "bytes=" + S(n) + " ns=" + S(ns) + " times=" + S(m); int k = 0; auto t = [&] { k_trace<<<1, 1, 0, s>>>(at + 2 * k++, ns); };
    graph("h2d_kernel", par, m, [&] { k = 0; for (int i = 0; i < m; i++) { in(n, s); t(); } }); graph("kernel_d2h", par, m, [&] { k = 0; for (int i = 0; i < m; i++) { t(); back_(n, s); } }); graph("h2d_kernel_d2h", par, m, [&] { k = 0; for (int i = 0; i < m; i++) { in(n, s); t(); back_(n, s); } });
    if (m < 8) graph("kernel_beside_d2h", par, 1 + 2 * m, [&] { k = 0; t(); for (int i = 0; i < m; i++) { CK(cudaEventRecord(evs[2 * i], s)); CK(cudaStreamWaitEvent(st[1], evs[2 * i], 0)); back_(n, st[1]); CK(cudaEventRecord(evs[2 * i + 1], st[1])); t(); CK(cudaStreamWaitEvent(s, evs[2 * i + 1], 0)); t(); } }); if (late(22)) break; }
  return 0;
}
