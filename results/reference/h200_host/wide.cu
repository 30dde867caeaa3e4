// Graphs by how wide they are, streams full of kernels, streams that wait beside. name,params,value,unit on standard output. Medians.
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
  double begin = now(); auto late = [&](double sec) { return now() - begin > sec * 1e6; };
  CK(cudaSetDevice(0)); const int N = 32; std::vector<cudaStream_t> st(N); for (auto& x : st) CK(cudaStreamCreateWithFlags(&x, cudaStreamNonBlocking)); cudaStream_t s = st[0];
  cudaEvent_t e0 = ev(0), e1 = ev(0); std::vector<cudaEvent_t> evs; for (int i = 0; i < 1200; i++) evs.push_back(ev());
  u64 *at, *back; CK(cudaMalloc(&at, 1 << 16)); CK(cudaMallocHost(&back, 1 << 16));
  for (int i = 0; i < 300; i++) k_null<<<1, 1, 0, s>>>(); for (auto x : st) { k_trace<<<1, 1, 0, x>>>(at, 100); k_spin<<<1, 1, 0, x>>>(100); } CK(cudaDeviceSynchronize());
  // 1. fork, branches, join: when each began, behind a long kernel or not, as streams and as a graph
  auto fork = [&](int wd, int deep, int ns) { k_trace<<<1, 1, 0, s>>>(at, 0); CK(cudaEventRecord(evs[0], s)); for (int i = 1; i < wd; i++) CK(cudaStreamWaitEvent(st[i], evs[0], 0)); for (int i = 0; i < wd; i++) for (int d = 0; d < deep; d++) k_trace<<<1, 1, 0, st[i]>>>(at + 2 * (1 + i * deep + d), ns); for (int i = 1; i < wd; i++) { CK(cudaEventRecord(evs[i], st[i])); CK(cudaStreamWaitEvent(s, evs[i], 0)); } k_trace<<<1, 1, 0, s>>>(at + 2 * (1 + wd * deep), 0); };
  auto report = [&](std::string n, std::string p, int wd, int deep, int reps, auto go) { V total, first, join, span; std::vector<V> each(wd); for (int r = 0; r < reps; r++) { go(); CK(cudaDeviceSynchronize()); CK(cudaMemcpy(back, at, 16 * (2 + wd * deep), cudaMemcpyDeviceToHost)); if (!r) continue; auto b = [&](int i) { return (double)back[2 * i] / 1e3; }; auto e = [&](int i) { return (double)back[2 * i + 1] / 1e3; }; V starts; double last = 0; for (int i = 0; i < wd; i++) { starts.push_back(b(1 + i * deep) - e(0)); each[i].push_back(starts.back()); for (int d = 0; d < deep; d++) last = std::max(last, e(1 + i * deep + d)); } std::sort(starts.begin(), starts.end()); first.push_back(starts[0]); span.push_back(starts.back()); join.push_back(b(1 + wd * deep) - last); total.push_back(e(1 + wd * deep) - b(0)); }
    out(n + "_total", p, med(total)); out(n + "_first_start", p, med(first)); out(n + "_last_start", p, med(span)); out(n + "_join", p, med(join)); if (deep == 1) for (int i = 0; i < wd; i++) out(n + "_branch", p + " branch=" + S(i), med(each[i])); };
  for (int ns : {0, 5000}) for (int wd : {2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 20, 24, 32}) { std::string p = "width=" + S(wd) + " ns=" + S(ns);
    report("fork_behind", p, wd, 1, 12, [&] { k_spin<<<1, 1, 0, s>>>(400000); fork(wd, 1, ns); }); report("fork_live", p, wd, 1, 12, [&] { fork(wd, 1, ns); });
    cudaGraph_t g; cudaGraphExec_t x; CK(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal)); fork(wd, 1, ns); CK(cudaStreamEndCapture(s, &g)); CK(cudaGraphInstantiate(&x, g, 0)); report("fork_graph", p, wd, 1, 12, [&] { CK(cudaGraphLaunch(x, s)); }); report("fork_graph_behind", p, wd, 1, 12, [&] { k_spin<<<1, 1, 0, s>>>(100000); CK(cudaGraphLaunch(x, s)); }); CK(cudaGraphExecDestroy(x)); CK(cudaGraphDestroy(g)); if (late(15)) break; }
  for (int ns : {0, 5000}) for (int wd : {2, 4, 6, 7, 8, 12, 16}) { std::string p = "width=" + S(wd) + " deep=4 ns=" + S(ns); report("lanes_behind", p, wd, 4, 12, [&] { k_spin<<<1, 1, 0, s>>>(500000); fork(wd, 4, ns); });
    cudaGraph_t g; cudaGraphExec_t x; CK(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal)); fork(wd, 4, ns); CK(cudaStreamEndCapture(s, &g)); CK(cudaGraphInstantiate(&x, g, 0)); report("lanes_graph", p, wd, 4, 12, [&] { k_spin<<<1, 1, 0, s>>>(100000); CK(cudaGraphLaunch(x, s)); }); CK(cudaGraphExecDestroy(x)); CK(cudaGraphDestroy(g)); if (late(19)) break; }
  // 2. graphs: several forks one behind the other; roots side by side without a fork; two trees; every node behind every node of the layer before
  auto timed = [&](std::string n, std::string p, auto build) { cudaGraph_t g; cudaGraphExec_t x; CK(cudaGraphCreate(&g, 0)); build(g); CK(cudaGraphInstantiate(&x, g, 0)); V v, w; for (int r = 0; r < 14; r++) { CK(cudaEventRecord(e0, s)); CK(cudaGraphLaunch(x, s)); CK(cudaEventRecord(e1, s)); CK(cudaStreamSynchronize(s)); if (r > 1) v.push_back(el(e0, e1)); k_spin<<<1, 1, 0, s>>>(400000); CK(cudaEventRecord(e0, s)); for (int i = 0; i < 5; i++) CK(cudaGraphLaunch(x, s)); CK(cudaEventRecord(e1, s)); CK(cudaStreamSynchronize(s)); if (r > 1) w.push_back(el(e0, e1) / 5); } out("graph_time_" + n, p, med(v)); out("graph_behind_" + n, p, med(w)); CK(cudaGraphExecDestroy(x)); CK(cudaGraphDestroy(g)); };
  cudaKernelNodeParams kn = {}; kn.func = (void*)k_null; kn.gridDim = dim3(1); kn.blockDim = dim3(1); auto node = [&](cudaGraph_t g, std::vector<cudaGraphNode_t> deps) { cudaGraphNode_t x; CK(cudaGraphAddKernelNode(&x, g, deps.data(), deps.size(), &kn)); return x; };
  for (int wd : {1, 2, 4, 5, 6, 7, 8, 12, 16}) { std::string p = "width=" + S(wd);
    timed("roots", p, [&](cudaGraph_t g) { for (int i = 0; i < wd; i++) node(g, {}); });
    timed("roots_join", p, [&](cudaGraph_t g) { std::vector<cudaGraphNode_t> a; for (int i = 0; i < wd; i++) a.push_back(node(g, {})); node(g, a); });
    timed("fork", p, [&](cudaGraph_t g) { auto f = node(g, {}); for (int i = 0; i < wd; i++) node(g, {f}); });
    timed("fork_join", p, [&](cudaGraph_t g) { auto f = node(g, {}); std::vector<cudaGraphNode_t> a; for (int i = 0; i < wd; i++) a.push_back(node(g, {f})); node(g, a); });
    timed("fork_join_4_times", p, [&](cudaGraph_t g) { auto f = node(g, {}); for (int k = 0; k < 4; k++) { std::vector<cudaGraphNode_t> a; for (int i = 0; i < wd; i++) a.push_back(node(g, {f})); f = node(g, a); } });
    timed("chains_of_10", p, [&](cudaGraph_t g) { for (int i = 0; i < wd; i++) { cudaGraphNode_t f = node(g, {}); for (int k = 1; k < 10; k++) f = node(g, {f}); } });
    timed("layers_4_all_to_all", p, [&](cudaGraph_t g) { std::vector<cudaGraphNode_t> a; for (int k = 0; k < 4; k++) { std::vector<cudaGraphNode_t> b; for (int i = 0; i < wd; i++) b.push_back(node(g, a)); a = b; } });
    timed("two_forks_side_by_side", p, [&](cudaGraph_t g) { for (int k = 0; k < 2; k++) { auto f = node(g, {}); for (int i = 0; i < wd; i++) node(g, {f}); } });
    timed("tree_of_two", p, [&](cudaGraph_t g) { std::vector<cudaGraphNode_t> a{node(g, {})}; while ((int)a.size() < wd) { std::vector<cudaGraphNode_t> b; for (auto x : a) { b.push_back(node(g, {x})); b.push_back(node(g, {x})); } a = b; } }); }
  // 3. long lanes: kernels of some length in k streams, nothing between them but their order
  for (int ns : {2000, 5000, 20000}) for (int k : {2, 3, 4, 8}) { V v; for (int r = 0; r < 7; r++) { k_spin<<<1, 1, 0, s>>>(1500000); CK(cudaEventRecord(e0, s)); CK(cudaEventRecord(evs[0], s)); for (int i = 1; i < k; i++) CK(cudaStreamWaitEvent(st[i], evs[0], 0)); for (int d = 0; d < 20; d++) for (int i = 0; i < k; i++) k_spin<<<1, 1, 0, st[i]>>>(ns); for (int i = 1; i < k; i++) { CK(cudaEventRecord(evs[i], st[i])); CK(cudaStreamWaitEvent(s, evs[i], 0)); } CK(cudaEventRecord(e1, s)); CK(cudaDeviceSynchronize()); if (r) v.push_back(el(e0, e1)); } out("lanes_of_20", "streams=" + S(k) + " ns=" + S(ns), med(v)); }
  // 4. kernels in a row in one stream while m other streams wait
  for (int ns : {0, 2000, 5000, 20000}) for (int m : {1, 2, 3, 4, 6}) { V v; for (int r = 0; r < 7; r++) { k_spin<<<1, 1, 0, s>>>(1200000); CK(cudaEventRecord(e0, s)); k_spin<<<1, 1, 0, st[7]>>>(4000000); CK(cudaEventRecord(evs[1000], st[7])); for (int q = 0; q < m; q++) { CK(cudaStreamWaitEvent(st[1 + q], evs[1000], 0)); k_null<<<1, 1, 0, st[1 + q]>>>(); } for (int i = 0; i < 48; i++) { if (ns) k_spin<<<1, 1, 0, s>>>(ns); else k_null<<<1, 1, 0, s>>>(); } CK(cudaEventRecord(e1, s)); CK(cudaDeviceSynchronize()); if (r) v.push_back(el(e0, e1) / 48 - ns / 1e3); } out("in_a_row_beside_waiting", "waiting=" + S(m) + " ns=" + S(ns), med(v)); }
  return 0;
}
