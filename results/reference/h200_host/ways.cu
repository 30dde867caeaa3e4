// The way to a device: calls, queues, copies, graphs. name,params,value,unit on standard output. Medians.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
#include <algorithm>
#include <chrono>
#include <string>
#include <cuda_runtime.h>
#define CK(x) do { cudaError_t err_ = (x); if (err_ != cudaSuccess) { fprintf(stderr, "%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(err_)); cudaGetLastError(); } } while (0)
static double now() { return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count(); }
static double med(std::vector<double> v) { std::sort(v.begin(), v.end()); return v[v.size() / 2]; }
static void out(const char* n, std::string p, double v) { printf("%s,%s,%.4f,us\n", n, p.c_str(), v); fflush(stdout); }
__global__ void k_null() {}
__global__ void k_spin(long long ns) { long long t0, t; asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t0)); do { asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t)); } while (t - t0 < ns); }
__global__ void k_spin_clock(long long c) { long long t0 = clock64(); while (clock64() - t0 < c) {} }
static std::string S(long long x) { return std::to_string(x); }
static cudaEvent_t ev(unsigned f = 0) { cudaEvent_t e; CK(cudaEventCreateWithFlags(&e, f)); return e; }
static double el(cudaEvent_t a, cudaEvent_t b) { float ms = 0; CK(cudaEventElapsedTime(&ms, a, b)); return ms * 1e3; }

int main() {
  CK(cudaSetDevice(0));
  cudaStream_t s, s2; CK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking)); CK(cudaStreamCreateWithFlags(&s2, cudaStreamNonBlocking));
  for (int i = 0; i < 200; i++) k_null<<<1, 1, 0, s>>>(); CK(cudaStreamSynchronize(s));
  cudaEvent_t e0 = ev(), e1 = ev(), e2 = ev(cudaEventDisableTiming), eb = ev(cudaEventDisableTiming | cudaEventBlockingSync);
  std::vector<double> a, b, c;
  // calls
  for (int i = 0; i < 200; i++) { CK(cudaStreamSynchronize(s)); double t = now(); k_null<<<1, 1, 0, s>>>(); double u = now(); CK(cudaStreamSynchronize(s)); double w = now(); a.push_back(u - t); b.push_back(w - t); }
  out("launch_cpu_idle_stream", "", med(a)); out("launch_sync_round_trip", "", med(b));
  a.clear(); k_spin<<<1, 1, 0, s>>>(3000000); for (int i = 0; i < 200; i++) { double t = now(); k_null<<<1, 1, 0, s>>>(); a.push_back(now() - t); } CK(cudaStreamSynchronize(s));
  out("launch_cpu_busy_stream", "", med(a));
  a.clear(); for (int i = 0; i < 200; i++) { double t = now(); CK(cudaEventRecord(e2, s)); a.push_back(now() - t); } out("record_cpu_no_timing", "", med(a)); CK(cudaStreamSynchronize(s));
  a.clear(); for (int i = 0; i < 200; i++) { double t = now(); CK(cudaEventRecord(e0, s)); a.push_back(now() - t); } out("record_cpu_timing", "", med(a)); CK(cudaStreamSynchronize(s));
  a.clear(); for (int i = 0; i < 200; i++) { double t = now(); CK(cudaStreamWaitEvent(s2, e2, 0)); a.push_back(now() - t); } out("wait_cpu_done_event", "", med(a));
  a.clear(); b.clear(); for (int i = 0; i < 100; i++) { k_spin<<<1, 1, 0, s>>>(30000); CK(cudaEventRecord(e2, s)); double t = now(); CK(cudaStreamWaitEvent(s2, e2, 0)); double u = now(); cudaEventQuery(e2); double w = now(); a.push_back(u - t); b.push_back(w - u); CK(cudaStreamSynchronize(s2)); }
  out("wait_cpu_open_event", "", med(a)); out("query_cpu_not_ready", "", med(b));
  a.clear(); for (int i = 0; i < 100; i++) { double t = now(); CK(cudaDeviceSynchronize()); a.push_back(now() - t); } out("device_sync_idle", "", med(a));
  a.clear(); for (int i = 0; i < 100; i++) { double t = now(); CK(cudaEventSynchronize(e2)); a.push_back(now() - t); } out("event_sync_idle", "", med(a));
  a.clear(); b.clear(); for (int i = 0; i < 100; i++) { double t = now(); k_null<<<1, 1, 0, s>>>(); CK(cudaEventRecord(e2, s)); CK(cudaEventSynchronize(e2)); a.push_back(now() - t); t = now(); k_null<<<1, 1, 0, s>>>(); CK(cudaEventRecord(eb, s)); CK(cudaEventSynchronize(eb)); b.push_back(now() - t); }
  out("launch_record_eventsync", "polling", med(a)); out("launch_record_eventsync", "blocking", med(b));
  a.clear(); for (int i = 0; i < 100; i++) { CK(cudaEventRecord(e0, s)); CK(cudaEventRecord(e1, s)); CK(cudaStreamSynchronize(s)); a.push_back(el(e0, e1)); } out("event_to_event", "", med(a));
  a.clear(); for (int i = 0; i < 100; i++) { CK(cudaEventRecord(e0, s)); k_null<<<1, 1, 0, s>>>(); CK(cudaEventRecord(e1, s)); CK(cudaStreamSynchronize(s)); a.push_back(el(e0, e1)); } out("event_null_event", "", med(a));
  // behind a long kernel: what the device itself takes. A spin of 4 ms covers the host's calls.
  auto behind = [&](const char* n, int count, auto f) { std::vector<double> v; for (int r = 0; r < 5; r++) { k_spin<<<1, 1, 0, s>>>(2500000); CK(cudaEventRecord(e0, s)); for (int i = 0; i < count; i++) f(i); CK(cudaEventRecord(e1, s)); CK(cudaDeviceSynchronize()); v.push_back(el(e0, e1) / count); } out(n, "count=" + S(count), med(v)); };
  behind("gpu_null_same_stream", 200, [&](int) { k_null<<<1, 1, 0, s>>>(); });
  behind("gpu_null_132_blocks_same_stream", 200, [&](int) { k_null<<<132, 256, 0, s>>>(); });
  behind("gpu_record_same_stream", 200, [&](int) { CK(cudaEventRecord(e2, s)); });
  behind("gpu_record_timing_same_stream", 200, [&](int) { static cudaEvent_t x = ev(); CK(cudaEventRecord(x, s)); });
  behind("gpu_null_and_record", 200, [&](int) { k_null<<<1, 1, 0, s>>>(); CK(cudaEventRecord(e2, s)); });
  std::vector<cudaEvent_t> hops; for (int i = 0; i < 400; i++) hops.push_back(ev(cudaEventDisableTiming));
  behind("gpu_hop_null", 100, [&](int i) { CK(cudaEventRecord(hops[2 * i], s)); CK(cudaStreamWaitEvent(s2, hops[2 * i], 0)); k_null<<<1, 1, 0, s2>>>(); CK(cudaEventRecord(hops[2 * i + 1], s2)); CK(cudaStreamWaitEvent(s, hops[2 * i + 1], 0)); k_null<<<1, 1, 0, s>>>(); });
  // ring depth: calls that take long while the device is busy
  { k_spin<<<1, 1, 0, s>>>(60000000); double t0 = now(); int n = 0; double worst = 0; for (; n < 8192; n++) { double t = now(); k_null<<<1, 1, 0, s>>>(); double d = now() - t; worst = std::max(worst, d); if (d > 1500) break; if (now() - t0 > 55000) break; } CK(cudaStreamSynchronize(s)); printf("ring_depth_launches,until_call_over_1500us worst=%.1f,%d,count\n", worst, n); }
  // concurrency of one-block kernels in many streams
  { std::vector<cudaStream_t> st(192); for (auto& x : st) CK(cudaStreamCreateWithFlags(&x, cudaStreamNonBlocking)); for (int n : {1, 8, 16, 32, 64, 96, 128, 160, 192}) { std::vector<double> v; for (int r = 0; r < 3; r++) { CK(cudaDeviceSynchronize()); double t = now(); for (int i = 0; i < n; i++) k_spin<<<1, 32, 0, st[i]>>>(2000000); CK(cudaDeviceSynchronize()); v.push_back(now() - t); } out("concurrent_streams_spin_2ms", "streams=" + S(n), med(v)); } for (auto& x : st) CK(cudaStreamDestroy(x)); }
  // copies
  size_t big = 128u << 20; char *d, *d2, *pin, *pin2; CK(cudaMalloc(&d, big)); CK(cudaMalloc(&d2, big)); CK(cudaMallocHost(&pin, big)); CK(cudaMallocHost(&pin2, big)); char* page = (char*)malloc(big); memset(page, 1, big); memset(pin, 1, big); memset(pin2, 1, big);
  for (size_t n : {(size_t)4, (size_t)1024, (size_t)8192, (size_t)16384, (size_t)24576, (size_t)32768, (size_t)49152, (size_t)65535, (size_t)65536, (size_t)65540, (size_t)98304, (size_t)131072, (size_t)196608, (size_t)524288, (size_t)1 << 20, (size_t)2 << 20, (size_t)8 << 20, (size_t)32 << 20, (size_t)128 << 20}) {
    struct { const char* n; char* to; char* from; cudaMemcpyKind k; } ways[] = {{"h2d_pinned", d, pin, cudaMemcpyHostToDevice}, {"d2h_pinned", pin, d, cudaMemcpyDeviceToHost}, {"h2d_pageable", d, page, cudaMemcpyHostToDevice}, {"d2h_pageable", page, d, cudaMemcpyDeviceToHost}, {"d2d", d2, d, cudaMemcpyDeviceToDevice}};
    for (auto& w : ways) { a.clear(); b.clear(); c.clear(); int reps = n > (4u << 20) ? 5 : 15; for (int r = 0; r < reps + 2; r++) { double t = now(); CK(cudaEventRecord(e0, s)); double u = now(); CK(cudaMemcpyAsync(w.to, w.from, n, w.k, s)); double x = now(); CK(cudaEventRecord(e1, s)); CK(cudaStreamSynchronize(s)); double y = now(); if (r > 1) { a.push_back(el(e0, e1)); b.push_back(y - t); c.push_back(x - u); } }
      out((std::string(w.n) + "_event").c_str(), "bytes=" + S(n), med(a)); out((std::string(w.n) + "_wall").c_str(), "bytes=" + S(n), med(b)); out((std::string(w.n) + "_call").c_str(), "bytes=" + S(n), med(c)); }
    a.clear(); for (int r = 0; r < 7; r++) { CK(cudaEventRecord(e0, s)); CK(cudaMemsetAsync(d, 0, n, s)); CK(cudaEventRecord(e1, s)); CK(cudaStreamSynchronize(s)); if (r > 1) a.push_back(el(e0, e1)); } out("memset_event", "bytes=" + S(n), med(a));
  }
  behind("gpu_h2d_4B_same_stream", 100, [&](int) { CK(cudaMemcpyAsync(d, pin, 4, cudaMemcpyHostToDevice, s)); });
  behind("gpu_d2h_4B_same_stream", 100, [&](int) { CK(cudaMemcpyAsync(pin, d, 4, cudaMemcpyDeviceToHost, s)); });
  behind("gpu_d2d_4B_same_stream", 100, [&](int) { CK(cudaMemcpyAsync(d2, d, 4, cudaMemcpyDeviceToDevice, s)); });
  behind("gpu_h2d_4B_then_null", 100, [&](int) { CK(cudaMemcpyAsync(d, pin, 4, cudaMemcpyHostToDevice, s)); k_null<<<1, 1, 0, s>>>(); });
  auto wall = [&](const char* n, const char* p, auto f) { std::vector<double> v; for (int r = 0; r < 5; r++) { CK(cudaDeviceSynchronize()); double t = now(); f(); CK(cudaDeviceSynchronize()); v.push_back(now() - t); } out(n, p, med(v)); };
  size_t m = 64u << 20;
  wall("overlap", "h2d+d2h 64MiB two streams", [&] { CK(cudaMemcpyAsync(d, pin, m, cudaMemcpyHostToDevice, s)); CK(cudaMemcpyAsync(pin2, d2, m, cudaMemcpyDeviceToHost, s2)); });
  wall("overlap", "h2d+h2d 64MiB two streams", [&] { CK(cudaMemcpyAsync(d, pin, m, cudaMemcpyHostToDevice, s)); CK(cudaMemcpyAsync(d2, pin2, m, cudaMemcpyHostToDevice, s2)); });
  wall("overlap", "h2d 64MiB + spin 1ms two streams", [&] { CK(cudaMemcpyAsync(d, pin, m, cudaMemcpyHostToDevice, s)); k_spin<<<132, 32, 0, s2>>>(1000000); });
  wall("overlap", "h2d 64MiB + spin 1ms one stream", [&] { CK(cudaMemcpyAsync(d, pin, m, cudaMemcpyHostToDevice, s)); k_spin<<<132, 32, 0, s>>>(1000000); });
  // graphs
  auto graph = [&](const char* n, std::string p, auto build) { cudaGraph_t g; cudaGraphExec_t x; CK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal)); build(); double t = now(); CK(cudaStreamEndCapture(s, &g)); t = now(); CK(cudaGraphInstantiate(&x, g, 0)); double inst = now() - t; std::vector<double> gv, rv, cv; for (int r = 0; r < 20; r++) { CK(cudaStreamSynchronize(s)); t = now(); CK(cudaGraphLaunch(x, s)); double u = now(); CK(cudaStreamSynchronize(s)); double y = now(); cv.push_back(u - t); rv.push_back(y - t); CK(cudaEventRecord(e0, s)); CK(cudaGraphLaunch(x, s)); CK(cudaEventRecord(e1, s)); CK(cudaStreamSynchronize(s)); gv.push_back(el(e0, e1)); }
    out("graph_instantiate", std::string(n) + " " + p, inst); out("graph_launch_cpu", std::string(n) + " " + p, med(cv)); out("graph_round_trip", std::string(n) + " " + p, med(rv)); out("graph_gpu_time", std::string(n) + " " + p, med(gv));
    std::vector<double> bb; for (int r = 0; r < 5; r++) { CK(cudaStreamSynchronize(s)); k_spin<<<1, 1, 0, s>>>(2000000); CK(cudaEventRecord(e0, s)); for (int i = 0; i < 20; i++) CK(cudaGraphLaunch(x, s)); CK(cudaEventRecord(e1, s)); CK(cudaStreamSynchronize(s)); bb.push_back(el(e0, e1) / 20); } out("graph_behind_busy_each", std::string(n) + " " + p, med(bb));
    size_t nn = 0; CK(cudaGraphGetNodes(g, nullptr, &nn)); std::vector<cudaGraphNode_t> nodes(nn); CK(cudaGraphGetNodes(g, nodes.data(), &nn)); cudaKernelNodeParams kp; if (nn && cudaGraphKernelNodeGetParams(nodes[0], &kp) == cudaSuccess) { std::vector<double> u; for (int r = 0; r < 50; r++) { double q = now(); CK(cudaGraphExecKernelNodeSetParams(x, nodes[0], &kp)); u.push_back(now() - q); } out("graph_update_node", std::string(n) + " " + p, med(u)); } cudaGetLastError(); CK(cudaGraphExecDestroy(x)); CK(cudaGraphDestroy(g)); };
  for (int n : {1, 3, 10, 30, 100}) graph("chain", "nodes=" + S(n), [&] { for (int i = 0; i < n; i++) k_null<<<1, 1, 0, s>>>(); });
  { std::vector<cudaStream_t> st(32); for (auto& x : st) CK(cudaStreamCreateWithFlags(&x, cudaStreamNonBlocking)); for (int wd : {2, 4, 8, 16, 32}) graph("fork_join", "width=" + S(wd), [&] { k_null<<<1, 1, 0, s>>>(); CK(cudaEventRecord(hops[0], s)); for (int i = 1; i < wd; i++) CK(cudaStreamWaitEvent(st[i], hops[0], 0)); for (int i = 0; i < wd; i++) k_null<<<1, 1, 0, i ? st[i] : s>>>(); for (int i = 1; i < wd; i++) { CK(cudaEventRecord(hops[i], st[i])); CK(cudaStreamWaitEvent(s, hops[i], 0)); } k_null<<<1, 1, 0, s>>>(); }); for (auto& x : st) CK(cudaStreamDestroy(x)); }
  for (int n : {1, 5, 20}) graph("copies_h2d_4096", "nodes=" + S(n), [&] { for (int i = 0; i < n; i++) CK(cudaMemcpyAsync(d, pin, 4096, cudaMemcpyHostToDevice, s)); });
  for (int n : {1, 5, 20}) graph("copies_d2d_1M", "nodes=" + S(n), [&] { for (int i = 0; i < n; i++) CK(cudaMemcpyAsync(d2, d, 1 << 20, cudaMemcpyDeviceToDevice, s)); });
  graph("copy_then_kernel", "pairs=10", [&] { for (int i = 0; i < 10; i++) { CK(cudaMemcpyAsync(d, pin, 4096, cudaMemcpyHostToDevice, s)); k_null<<<1, 1, 0, s>>>(); } });
  return 0;
}
