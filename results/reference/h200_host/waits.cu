// Threads that sleep, host functions, prefetches in a busy stream. name,params,value,unit on standard output. Medians.
#include <cstdio>
#include <cstdlib>
#include <cstring>
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
__global__ void k_trace(u64* at, long long ns) { u64 t = ticks(); if (ns) while ((long long)(ticks() - t) < ns) {} at[0] = t; at[1] = ticks(); }
__global__ void k_read(const int4* p, size_t n, int* sink) { int s = 0; for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) { int4 v = p[i]; s ^= v.x ^ v.y ^ v.z ^ v.w; } if (s == 0x7fffffff) *sink = s; }
static cudaEvent_t ev(unsigned f = cudaEventDisableTiming) { cudaEvent_t e; CK(cudaEventCreateWithFlags(&e, f)); return e; }
static double el(cudaEvent_t a, cudaEvent_t b) { float ms = 0; CK(cudaEventElapsedTime(&ms, a, b)); return ms * 1e3; }
static double host_at; static void CUDART_CB host_nothing(void*) { host_at = now(); }
int main() {
  double begin = now(); auto late = [&](double sec) { return now() - begin > sec * 1e6; };
  CK(cudaSetDevice(0)); cudaStream_t s, s2; CK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking)); CK(cudaStreamCreateWithFlags(&s2, cudaStreamNonBlocking));
  cudaEvent_t e0 = ev(0), e1 = ev(0), poll = ev(), block = ev(cudaEventDisableTiming | cudaEventBlockingSync); u64 *at, *back; int* sink; CK(cudaMalloc(&sink, 4)); CK(cudaMalloc(&at, 1 << 16)); CK(cudaMallocHost(&back, 1 << 16));
  for (int i = 0; i < 200; i++) k_null<<<1, 1, 0, s>>>(); k_trace<<<1, 1, 0, s>>>(at, 10); k_spin<<<1, 1, 0, s>>>(10); k_read<<<1, 32, 0, s>>>((int4*)at, 32, sink); CK(cudaDeviceSynchronize());
  // 1. a thread that polls or sleeps for an event, by how long it waits
  for (int ns : {0, 2000, 5000, 10000, 20000, 50000, 100000, 300000, 1000000, 5000000}) for (int w : {0, 1}) { V v, c; for (int r = 0; r < (ns > 500000 ? 12 : 60); r++) { CK(cudaStreamSynchronize(s)); double t = now(); k_spin<<<1, 1, 0, s>>>(ns); double u = now(); CK(cudaEventRecord(w ? block : poll, s)); c.push_back(now() - u); CK(cudaEventSynchronize(w ? block : poll)); v.push_back(now() - t - ns / 1e3); } out("launch_record_eventsync", "ns=" + S(ns) + (w ? " sleep" : " poll"), med(v)); out("record_call", "ns=" + S(ns) + (w ? " sleep" : " poll"), med(c)); }
  // two events waited for one after the other, both long past or close together
  for (int gap : {0, 5000, 20000, 100000}) for (int w : {0, 1}) { cudaEvent_t b2 = w ? ev(cudaEventDisableTiming | cudaEventBlockingSync) : ev(); V v; for (int r = 0; r < 40; r++) { CK(cudaStreamSynchronize(s)); double t = now(); k_spin<<<1, 1, 0, s>>>(50000); CK(cudaEventRecord(w ? block : poll, s)); k_spin<<<1, 1, 0, s>>>(gap); CK(cudaEventRecord(b2, s)); CK(cudaEventSynchronize(w ? block : poll)); CK(cudaEventSynchronize(b2)); v.push_back(now() - t - 50 - gap / 1e3); } out("two_events", "gap=" + S(gap) + (w ? " sleep" : " poll"), med(v)); }
  // what an event that interrupts costs the device
  for (int w : {0, 1}) { V v; for (int r = 0; r < 8; r++) { k_spin<<<1, 1, 0, s>>>(1000000); CK(cudaEventRecord(e0, s)); for (int i = 0; i < 60; i++) { k_null<<<1, 1, 0, s>>>(); CK(cudaEventRecord(w ? block : poll, s)); } CK(cudaEventRecord(e1, s)); CK(cudaDeviceSynchronize()); v.push_back(el(e0, e1) / 60); } out("behind_null_and_record", w ? "sleep" : "poll", med(v)); }
  // 2. host functions: from the end of a kernel to the next one's begin with one between; how long a call takes
  for (int ns : {0, 10000, 100000}) for (int m : {1, 2, 4}) { V g, c; for (int r = 0; r < 25; r++) { CK(cudaDeviceSynchronize()); k_trace<<<1, 1, 0, s>>>(at, ns); double u = now(); for (int i = 0; i < m; i++) CK(cudaLaunchHostFunc(s, host_nothing, nullptr)); c.push_back((now() - u) / m); k_trace<<<1, 1, 0, s>>>(at + 2, 0); CK(cudaDeviceSynchronize()); CK(cudaMemcpy(back, at, 32, cudaMemcpyDeviceToHost)); if (r) g.push_back((back[2] - back[1]) / 1e3); } out("host_functions_between_kernels", "ns=" + S(ns) + " functions=" + S(m), med(g)); out("host_function_call", "ns=" + S(ns) + " functions=" + S(m), med(c)); }
  // 3. prefetches: stream idle; an event recorded just before; a kernel still running. Call, wall, between kernels that say when they ran.
  cudaMemLocation DEV = {}, HST = {}; DEV.type = cudaMemLocationTypeDevice; DEV.id = 0; HST.type = cudaMemLocationTypeHost; HST.id = 0; const size_t K = 1024, M = K * K;
  for (size_t size : {64 * K, 256 * K, M, 2 * M, 4 * M, 8 * M, 16 * M, 32 * M, 64 * M, 128 * M, 256 * M}) { char* x; CK(cudaMallocManaged(&x, size)); memset(x, 1, size); std::string p = "bytes=" + S(size); int reps = size > 64 * M ? 3 : 6;
    // there and back once before
    CK(cudaMemPrefetchAsync(x, size, DEV, 0, s)); CK(cudaStreamSynchronize(s)); CK(cudaMemPrefetchAsync(x, size, HST, 0, s)); CK(cudaStreamSynchronize(s));
    for (int how = 0; how < 4; how++) { V call[2], wall[2], gap[2], evt[2]; for (int r = 0; r < reps; r++) for (int to = 0; to < 2; to++) { cudaMemLocation L = to ? HST : DEV; CK(cudaDeviceSynchronize()); double t0 = now(); if (how == 1) CK(cudaEventRecord(e0, s)); if (how == 2) k_trace<<<1, 1, 0, s>>>(at, 300000); if (how == 3) { CK(cudaEventRecord(e0, s)); CK(cudaStreamSynchronize(s)); } double t = now(); CK(cudaMemPrefetchAsync(x, size, L, 0, s)); double u = now(); if (how == 1 || how == 3) CK(cudaEventRecord(e1, s)); if (how == 2) k_trace<<<1, 1, 0, s>>>(at + 2, 0); CK(cudaStreamSynchronize(s)); double z = now(); call[to].push_back(u - t); wall[to].push_back(z - t); if (how == 1 || how == 3) evt[to].push_back(el(e0, e1)); if (how == 2) { CK(cudaMemcpy(back, at, 32, cudaMemcpyDeviceToHost)); gap[to].push_back((back[2] - back[1]) / 1e3); } (void)t0; }
      const char* hows[] = {"idle", "event_before", "kernel_before", "event_done"}; for (int to = 0; to < 2; to++) { std::string n = std::string("prefetch_to_") + (to ? "host" : "device"), q = p + " stream=" + hows[how]; out(n + "_call", q, med(call[to])); out(n + "_wall", q, med(wall[to])); if (how == 2) out(n + "_gap", q, med(gap[to])); if (how == 1 || how == 3) out(n + "_event", q, med(evt[to])); } }
    CK(cudaFree(x)); if (late(20)) break; }
  return 0;
}
