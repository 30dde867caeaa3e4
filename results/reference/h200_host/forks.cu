// Streams that fork, join, go round, and wait: what order between queues costs. name,params,value,unit on standard output. Medians.
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
static std::string S(long long x) { return std::to_string(x); }
static void out(std::string n, std::string p, double v) { printf("%s,%s,%.4f,us\n", n.c_str(), p.c_str(), v); fflush(stdout); }
__device__ u64 ticks() { u64 t; asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t)); return t; }
__global__ void k_null() {}
__global__ void k_spin(long long ns) { u64 t = ticks(); while ((long long)(ticks() - t) < ns) {} }
// Begins, lasts, ends: both times written at the end.
__global__ void k_trace(u64* at, long long ns) { u64 t = ticks(); if (ns) while ((long long)(ticks() - t) < ns) {} at[0] = t; at[1] = ticks(); }
static cudaEvent_t ev(unsigned f = cudaEventDisableTiming) { cudaEvent_t e; CK(cudaEventCreateWithFlags(&e, f)); return e; }
static double el(cudaEvent_t a, cudaEvent_t b) { float ms = 0; CK(cudaEventElapsedTime(&ms, a, b)); return ms * 1e3; }
int main() {
#ifdef CONNECTIONS  // streams that share no connection; without sections 2 to 4
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 1);
#endif
  double begin = now(); auto late = [&](double sec) { return now() - begin > sec * 1e6; };
  CK(cudaSetDevice(0)); const int N = 32; std::vector<cudaStream_t> st(N); for (auto& x : st) CK(cudaStreamCreateWithFlags(&x, cudaStreamNonBlocking)); cudaStream_t s = st[0];
  cudaEvent_t e0 = ev(0), e1 = ev(0); std::vector<cudaEvent_t> evs; for (int i = 0; i < 1200; i++) evs.push_back(ev());
  u64 *at, *back; CK(cudaMalloc(&at, 1 << 16)); CK(cudaMallocHost(&back, 1 << 16));
  for (int i = 0; i < 300; i++) k_null<<<1, 1, 0, s>>>(); for (auto x : st) { k_trace<<<1, 1, 0, x>>>(at, 100); k_spin<<<1, 1, 0, x>>>(100); } CK(cudaDeviceSynchronize());
  auto work = [&](cudaStream_t q, int ns) { if (ns) k_spin<<<1, 1, 0, q>>>(ns); else k_null<<<1, 1, 0, q>>>(); };
  auto behind = [&](std::string n, std::string p, int count, double each, auto f) { V v; for (int r = 0; r < 7; r++) { k_spin<<<1, 1, 0, s>>>(2000000); CK(cudaEventRecord(e0, s)); f(); CK(cudaEventRecord(e1, s)); CK(cudaDeviceSynchronize()); if (r) v.push_back(el(e0, e1) / count - each); } out(n, p, med(v)); };
  // 1. kernels that go round k streams
  for (int ns : {0, 2000, 10000}) for (int k : {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 24, 32}) behind("ring", "streams=" + S(k) + " ns=" + S(ns), 96, ns / 1e3, [&] { for (int i = 0; i < 96; i++) { int j = i % k, m = (i + 1) % k; work(st[j], ns); if (k > 1) { CK(cudaEventRecord(evs[i], st[j])); CK(cudaStreamWaitEvent(st[i == 95 ? 0 : m], evs[i], 0)); } } });
  // 2. round 2 streams, while m others wait for an event that comes last
  for (int k : {1, 2}) for (int m : {0, 1, 2, 3, 4, 5, 6}) behind("ring_beside_waiting", "streams=" + S(k) + " waiting=" + S(m), 96, 0, [&] { CK(cudaEventRecord(evs[1000], s)); for (int q = 0; q < m; q++) CK(cudaStreamWaitEvent(st[k + q], evs[1000], 0)); for (int i = 0; i < 96; i++) { int j = i % k, n = (i + 1) % k; work(st[j], 0); if (i == 95) CK(cudaEventRecord(evs[1001], st[j])); if (k > 1) { CK(cudaEventRecord(evs[i], st[j])); CK(cudaStreamWaitEvent(st[i == 95 ? 0 : n], evs[i], 0)); } } for (int q = 0; q < m; q++) work(st[k + q], 0); });
  for (int k : {1, 2}) for (int m : {1, 2, 3, 4, 5, 6}) behind("ring_beside_held", "streams=" + S(k) + " waiting=" + S(m), 96, 0, [&] { k_spin<<<1, 1, 0, st[20]>>>(4000000); CK(cudaEventRecord(evs[1000], st[20])); for (int q = 0; q < m; q++) { CK(cudaStreamWaitEvent(st[k + q], evs[1000], 0)); work(st[k + q], 0); } for (int i = 0; i < 96; i++) { int j = i % k, n = (i + 1) % k; work(st[j], 0); if (k > 1) { CK(cudaEventRecord(evs[i], st[j])); CK(cudaStreamWaitEvent(st[i == 95 ? 0 : n], evs[i], 0)); } } });
  for (int m : {1, 2, 4, 6}) behind("ring_beside_running", "streams=2 running=" + S(m), 96, 0, [&] { for (int q = 0; q < m; q++) k_spin<<<1, 1, 0, st[2 + q]>>>(4000000); for (int i = 0; i < 96; i++) { int j = i % 2, n = (i + 1) % 2; work(st[j], 0); CK(cudaEventRecord(evs[i], st[j])); CK(cudaStreamWaitEvent(st[i == 95 ? 0 : n], evs[i], 0)); } });
  // 3. star: stream 0, another, stream 0, the next
  for (int k : {2, 3, 5, 8}) behind("star", "streams=" + S(k), 96, 0, [&] { int o = 0; for (int i = 0; i < 96; i++) { int n; if (i % 2 == 0) { o = 1 + (i / 2) % (k - 1); n = o; work(s, 0); CK(cudaEventRecord(evs[i], s)); } else { n = 0; work(st[o], 0); CK(cudaEventRecord(evs[i], st[o])); } CK(cudaStreamWaitEvent(st[n], evs[i], 0)); } });
  // 4. only events
  for (int k : {2, 3, 4, 8}) behind("only_events", "streams=" + S(k), 96, 0, [&] { for (int i = 0; i < 96; i++) { int j = i % k, n = (i + 1) % k; CK(cudaEventRecord(evs[i], st[j])); CK(cudaStreamWaitEvent(st[i == 95 ? 0 : n], evs[i], 0)); } });
  // 5. fork, branches, join: when each began, behind a long kernel or not, as streams and as a graph
  auto fork = [&](int wd, int deep, int ns) { k_trace<<<1, 1, 0, s>>>(at, 0); CK(cudaEventRecord(evs[0], s)); for (int i = 1; i < wd; i++) CK(cudaStreamWaitEvent(st[i], evs[0], 0)); for (int i = 0; i < wd; i++) for (int d = 0; d < deep; d++) k_trace<<<1, 1, 0, st[i]>>>(at + 2 * (1 + i * deep + d), ns); for (int i = 1; i < wd; i++) { CK(cudaEventRecord(evs[i], st[i])); CK(cudaStreamWaitEvent(s, evs[i], 0)); } k_trace<<<1, 1, 0, s>>>(at + 2 * (1 + wd * deep), 0); };
  auto report = [&](std::string n, std::string p, int wd, int deep, int reps, auto go) { V total, first, join, span; std::vector<V> each(wd); for (int r = 0; r < reps; r++) { go(); CK(cudaDeviceSynchronize()); CK(cudaMemcpy(back, at, 16 * (2 + wd * deep), cudaMemcpyDeviceToHost)); if (!r) continue; auto b = [&](int i) { return (double)back[2 * i] / 1e3; }; auto e = [&](int i) { return (double)back[2 * i + 1] / 1e3; }; V starts; double last = 0; for (int i = 0; i < wd; i++) { starts.push_back(b(1 + i * deep) - e(0)); each[i].push_back(starts.back()); for (int d = 0; d < deep; d++) last = std::max(last, e(1 + i * deep + d)); } std::sort(starts.begin(), starts.end()); first.push_back(starts[0]); span.push_back(starts.back()); join.push_back(b(1 + wd * deep) - last); total.push_back(e(1 + wd * deep) - b(0)); }
    out(n + "_total", p, med(total)); out(n + "_first_start", p, med(first)); out(n + "_last_start", p, med(span)); out(n + "_join", p, med(join)); if (deep == 1) for (int i = 0; i < wd; i++) out(n + "_branch", p + " branch=" + S(i), med(each[i])); };
  for (int ns : {0, 1000, 5000, 20000, 50000}) for (int wd : {2, 3, 4, 5, 6, 8, 10, 12, 16}) { std::string p = "width=" + S(wd) + " ns=" + S(ns);
    report("fork_behind", p, wd, 1, 12, [&] { k_spin<<<1, 1, 0, s>>>(400000); fork(wd, 1, ns); }); report("fork_live", p, wd, 1, 12, [&] { fork(wd, 1, ns); });
    cudaGraph_t g; cudaGraphExec_t x; CK(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal)); fork(wd, 1, ns); CK(cudaStreamEndCapture(s, &g)); CK(cudaGraphInstantiate(&x, g, 0)); report("fork_graph", p, wd, 1, 12, [&] { CK(cudaGraphLaunch(x, s)); }); report("fork_graph_behind", p, wd, 1, 12, [&] { k_spin<<<1, 1, 0, s>>>(100000); CK(cudaGraphLaunch(x, s)); }); CK(cudaGraphExecDestroy(x)); CK(cudaGraphDestroy(g)); if (late(15)) break; }
  for (int ns : {0, 5000}) for (int wd : {2, 4, 8}) { std::string p = "width=" + S(wd) + " deep=4 ns=" + S(ns); report("lanes_behind", p, wd, 4, 12, [&] { k_spin<<<1, 1, 0, s>>>(500000); fork(wd, 4, ns); });
    cudaGraph_t g; cudaGraphExec_t x; CK(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal)); fork(wd, 4, ns); CK(cudaStreamEndCapture(s, &g)); CK(cudaGraphInstantiate(&x, g, 0)); report("lanes_graph", p, wd, 4, 12, [&] { k_spin<<<1, 1, 0, s>>>(100000); CK(cudaGraphLaunch(x, s)); }); CK(cudaGraphExecDestroy(x)); CK(cudaGraphDestroy(g)); if (late(19)) break; }
  // 6. k streams wait for one event, then each has 30 empty kernels
  for (int k : {1, 2, 3, 4, 6, 8, 12, 16}) { V v; for (int r = 0; r < 7; r++) { k_spin<<<1, 1, 0, s>>>(2500000); CK(cudaEventRecord(e0, s)); CK(cudaEventRecord(evs[0], s)); for (int i = 1; i < k; i++) CK(cudaStreamWaitEvent(st[i], evs[0], 0)); for (int d = 0; d < 30; d++) for (int i = 0; i < k; i++) k_null<<<1, 1, 0, st[i]>>>(); for (int i = 1; i < k; i++) { CK(cudaEventRecord(evs[i], st[i])); CK(cudaStreamWaitEvent(s, evs[i], 0)); } CK(cudaEventRecord(e1, s)); CK(cudaDeviceSynchronize()); if (r) v.push_back(el(e0, e1)); } out("lanes_of_30_empty", "streams=" + S(k), med(v)); if (late(22)) break; }
  return 0;
}
