// Unified memory: what a fault costs, what comes with it, how fast pages go either way. name,params,value,unit on standard output.
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
static double med(std::vector<double> v) { std::sort(v.begin(), v.end()); return v[v.size() / 2]; }
static void out(const char* n, std::string p, double v, const char* u = "us") { printf("%s,%s,%.4f,%s\n", n, p.c_str(), v, u); fflush(stdout); }
static std::string S(long long x) { return std::to_string(x); }
static double el(cudaEvent_t a, cudaEvent_t b) { float ms = 0; CK(cudaEventElapsedTime(&ms, a, b)); return ms * 1e3; }
typedef unsigned long long u64;
__device__ u64 ticks() { u64 t; asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t)); return t; }
// One thread, one page after another: how long each access took (clock cycles).
__global__ void k_trace(volatile int* p, size_t stride, int n, long long* took, int write) { for (int i = 0; i < n; i++) { long long a = clock64(); int v; if (write) { p[i * stride / 4] = i; __threadfence_system(); v = i; } else v = p[i * stride / 4]; long long b = clock64() + (v == 0x7fffffff); took[i] = b - a; } }
// Each warp one access: page order[w] of `stride` bytes.
__global__ void k_scatter(volatile int* p, size_t stride, const int* order, int n, int* sink, int write) { int w = (blockIdx.x * blockDim.x + threadIdx.x); if (w < n) { size_t at = (size_t)(order ? order[w] : w) * stride / 4; if (write) p[at] = w; else if (p[at] == 0x7fffffff) *sink = 1; } }
// All of it, 16 bytes a thread, grid stride.
__global__ void k_read(const int4* p, size_t n, int* sink) { int s = 0; for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) { int4 v = p[i]; s ^= v.x ^ v.y ^ v.z ^ v.w; } if (s == 0x7fffffff) *sink = s; }
__global__ void k_write(int4* p, size_t n) { for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) p[i] = make_int4(1, 2, 3, 4); }
// Each block a contiguous part of it.
__global__ void k_read_parts(const int4* p, size_t n, int* sink) { size_t per = (n + gridDim.x - 1) / gridDim.x, b = blockIdx.x * per, e = b + per < n ? b + per : n; int s = 0; for (size_t i = b + threadIdx.x; i < e; i += blockDim.x) { int4 v = p[i]; s ^= v.x ^ v.y ^ v.z ^ v.w; } if (s == 0x7fffffff) *sink = s; }
__global__ void k_spin(long long ns) { u64 t = ticks(); while ((long long)(ticks() - t) < ns) {} }
__global__ void k_null() {}
static int* sink; static cudaEvent_t e0, e1; static cudaStream_t s;
static cudaMemLocation DEV, HST;
template <class F> static double timed(F f) { CK(cudaDeviceSynchronize()); CK(cudaEventRecord(e0, s)); f(); CK(cudaEventRecord(e1, s)); CK(cudaDeviceSynchronize()); return el(e0, e1); }
static char* managed(size_t n, bool host = true) { char* p; CK(cudaMallocManaged(&p, n)); if (host) memset(p, 1, n); return p; }
static double touch_host(volatile char* p, size_t n, size_t step, bool write) { double t = now(); unsigned x = 0; for (size_t i = 0; i < n; i += step) { if (write) p[i] = 2; else x += p[i]; } if (x == 123456789) printf("\n"); return now() - t; }

int main() {
  double begin = now(); auto over = [&](double sec) { return now() - begin > sec * 1e6; };
  CK(cudaSetDevice(0)); CK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking)); CK(cudaEventCreate(&e0)); CK(cudaEventCreate(&e1)); CK(cudaMalloc(&sink, 4));
  DEV.type = cudaMemLocationTypeDevice; DEV.id = 0; HST.type = cudaMemLocationTypeHost; HST.id = 0;
  int pageable = -1, hostpt = -1, conc = -1, clk = 0; cudaDeviceGetAttribute(&pageable, cudaDevAttrPageableMemoryAccess, 0); cudaDeviceGetAttribute(&hostpt, cudaDevAttrPageableMemoryAccessUsesHostPageTables, 0); cudaDeviceGetAttribute(&conc, cudaDevAttrConcurrentManagedAccess, 0); cudaDeviceGetAttribute(&clk, cudaDevAttrClockRate, 0);
  out("attribute", "pageable_memory_access", pageable, "flag"); out("attribute", "uses_host_page_tables", hostpt, "flag"); out("attribute", "concurrent_managed_access", conc, "flag"); out("attribute", "clock_khz", clk, "kHz");
  const int B = 132 * 4, T = 512; const size_t K = 1024, M = K * K;
  for (int i = 0; i < 20; i++) k_null<<<1, 1, 0, s>>>();
  { char* w = managed(64 * M); k_read<<<B, T, 0, s>>>((int4*)w, 64 * M / 16, sink); k_write<<<B, T, 0, s>>>((int4*)w, 64 * M / 16); k_read_parts<<<B, T, 0, s>>>((int4*)w, 64 * M / 16, sink); k_scatter<<<1, 32, 0, s>>>((int*)w, 4, nullptr, 1, sink, 0); CK(cudaDeviceSynchronize()); CK(cudaFree(w)); }
  // 1. one thread, page after page
  long long* took; CK(cudaMallocHost(&took, 8192 * 8));
  struct { const char* n; size_t size, stride; int write, host; } walks[] = {{"4KiB_in_4MiB", 4 * M, 4 * K, 0, 1}, {"4KiB_in_4MiB_write", 4 * M, 4 * K, 1, 1}, {"64KiB_in_8MiB", 8 * M, 64 * K, 0, 1}, {"128KiB_in_8MiB", 8 * M, 128 * K, 0, 1}, {"512KiB_in_32MiB", 32 * M, 512 * K, 0, 1}, {"2MiB_in_128MiB", 128 * M, 2 * M, 0, 1}, {"2MiB_in_128MiB_never_touched", 128 * M, 2 * M, 0, 0}, {"64KiB_in_8MiB_never_touched", 8 * M, 64 * K, 1, 0}};
  for (auto& w : walks) {
    std::vector<double> faults, cost, total; std::string which;
    for (int r = 0; r < 3; r++) { char* p = managed(w.size, w.host); int n = w.size / w.stride; CK(cudaDeviceSynchronize()); double t = timed([&] { k_trace<<<1, 1, 0, s>>>((int*)p, w.stride, n, took, w.write); }); std::vector<double> hit; which = ""; for (int i = 0; i < n; i++) if (took[i] > 10000) { hit.push_back(took[i] / 1980.0); if (hit.size() <= 40) which += S(i) + " "; } faults.push_back(hit.size()); cost.push_back(hit.empty() ? 0 : med(hit)); total.push_back(t); CK(cudaFree(p)); }
    out("um_walk_total", std::string("walk=") + w.n, med(total)); out("um_walk_faults", std::string("walk=") + w.n, med(faults), "count"); out("um_walk_each", std::string("walk=") + w.n, med(cost)); printf("um_walk_where,walk=%s,%s,index\n", w.n, which.c_str());
  }
  // 2. many threads at once, each a page: of one block each, of 64 KiB each, of 4 KiB each; in order and scattered
  for (size_t stride : {(size_t)2 * M, (size_t)64 * K, (size_t)4 * K}) for (int order = 0; order < 2; order++) for (int n : {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096}) {
    if (stride == 2 * M && n > 512) continue; if (stride == 64 * K && n > 4096) continue; if (order && n < 32) continue;
    size_t size = stride * n; std::vector<int> o(n); std::iota(o.begin(), o.end(), 0); std::shuffle(o.begin(), o.end(), std::mt19937(n)); int* od; CK(cudaMalloc(&od, n * 4)); CK(cudaMemcpy(od, o.data(), n * 4, cudaMemcpyHostToDevice)); std::vector<double> v;
    for (int r = 0; r < 3; r++) { char* p = managed(size < 64 * K ? 64 * K : size, size <= 512 * M || r == 0); v.push_back(timed([&] { k_scatter<<<(n + 31) / 32 * 32, 1, 0, s>>>((int*)p, stride, order ? od : nullptr, n, sink, 0); })); CK(cudaFree(p)); if (size > 512 * M) break; }
    out("um_threads", "stride=" + S(stride) + " pages=" + S(n) + (order ? " order=random" : " order=sequential"), med(v)); CK(cudaFree(od)); if (over(8)) break; }
  // 3. all of a buffer
  for (size_t size : {(size_t)4 * K, (size_t)64 * K, (size_t)256 * K, (size_t)M, (size_t)2 * M, (size_t)8 * M, (size_t)32 * M, (size_t)64 * M, (size_t)256 * M, (size_t)1024 * M}) {
    int reps = size > 64 * M ? 1 : 3; std::vector<double> v[16]; size_t n = size / 16; std::string p = "bytes=" + S(size);
    for (int r = 0; r < reps; r++) {
      char* x = managed(size); double t;
      v[0].push_back(timed([&] { k_read<<<B, T, 0, s>>>((int4*)x, n, sink); })); v[1].push_back(timed([&] { k_read<<<B, T, 0, s>>>((int4*)x, n, sink); }));
      v[2].push_back(touch_host(x, size, 4096, false)); v[3].push_back(touch_host(x, size, 4096, false));
      v[4].push_back(timed([&] { k_write<<<B, T, 0, s>>>((int4*)x, n); })); v[5].push_back(touch_host(x, size, 4096, true));
      v[6].push_back(timed([&] { k_read_parts<<<B, T, 0, s>>>((int4*)x, n, sink); }));
      t = now(); CK(cudaMemPrefetchAsync(x, size, HST, 0, s)); v[7].push_back(now() - t); CK(cudaStreamSynchronize(s)); v[8].push_back(now() - t);
      t = now(); CK(cudaMemPrefetchAsync(x, size, DEV, 0, s)); v[9].push_back(now() - t); CK(cudaStreamSynchronize(s)); v[10].push_back(now() - t);
      v[11].push_back(timed([&] { k_read<<<B, T, 0, s>>>((int4*)x, n, sink); }));
      v[12].push_back(timed([&] { CK(cudaMemPrefetchAsync(x, size, HST, 0, s)); })); v[13].push_back(timed([&] { CK(cudaMemPrefetchAsync(x, size, DEV, 0, s)); }));
      CK(cudaFree(x)); x = managed(size, false); v[14].push_back(timed([&] { k_write<<<B, T, 0, s>>>((int4*)x, n); })); CK(cudaFree(x)); }
    const char* names[] = {"um_read_from_host", "um_read_resident", "um_host_read_back", "um_host_read_resident", "um_write_from_host", "um_host_write_back", "um_read_parts_from_host", "um_prefetch_to_host_call", "um_prefetch_to_host_wall", "um_prefetch_to_device_call", "um_prefetch_to_device_wall", "um_read_prefetched", "um_prefetch_to_host_event", "um_prefetch_to_device_event", "um_write_never_touched"};
    for (int i = 0; i < 15; i++) out(names[i], p, med(v[i])); if (over(13)) break; }
  // 4. random pages of 64 MiB, a part of them
  for (int share : {100, 50, 25, 5}) { size_t size = 64 * M, stride = 4 * K; int n = size / stride, m = n * share / 100; std::vector<int> o(n); std::iota(o.begin(), o.end(), 0); std::shuffle(o.begin(), o.end(), std::mt19937(share)); int* od; CK(cudaMalloc(&od, n * 4)); CK(cudaMemcpy(od, o.data(), n * 4, cudaMemcpyHostToDevice)); std::vector<double> v, u; for (int r = 0; r < 3; r++) { char* x = managed(size); v.push_back(timed([&] { k_scatter<<<(m + 127) / 128, 128, 0, s>>>((int*)x, stride, od, m, sink, 0); })); u.push_back(timed([&] { k_read<<<B, T, 0, s>>>((int4*)x, size / 16, sink); })); CK(cudaFree(x)); } out("um_random_4KiB_of_64MiB", "share=" + S(share), med(v)); out("um_then_read_all", "share=" + S(share), med(u)); CK(cudaFree(od)); }
  // 5. a kernel that works while its pages come: spin first, then read (does a fault overlap other warps' work?)
  // 6. advice
  for (size_t size : {(size_t)2 * M, (size_t)64 * M}) { std::string p = "bytes=" + S(size); char* x = managed(size); size_t n = size / 16;
    CK(cudaMemAdvise(x, size, cudaMemAdviseSetReadMostly, DEV)); out("um_read_mostly_first_read", p, timed([&] { k_read<<<B, T, 0, s>>>((int4*)x, n, sink); })); out("um_read_mostly_second_read", p, timed([&] { k_read<<<B, T, 0, s>>>((int4*)x, n, sink); })); out("um_read_mostly_host_read", p, touch_host(x, size, 4096, false)); out("um_read_mostly_third_read", p, timed([&] { k_read<<<B, T, 0, s>>>((int4*)x, n, sink); })); out("um_read_mostly_device_write", p, timed([&] { k_write<<<B, T, 0, s>>>((int4*)x, n); })); CK(cudaFree(x));
    x = managed(size); CK(cudaMemAdvise(x, size, cudaMemAdviseSetPreferredLocation, HST)); CK(cudaMemAdvise(x, size, cudaMemAdviseSetAccessedBy, DEV)); out("um_accessed_by_read", p, timed([&] { k_read<<<B, T, 0, s>>>((int4*)x, n, sink); })); out("um_accessed_by_read_again", p, timed([&] { k_read<<<B, T, 0, s>>>((int4*)x, n, sink); })); out("um_accessed_by_write", p, timed([&] { k_write<<<B, T, 0, s>>>((int4*)x, n); })); CK(cudaFree(x));
    x = managed(size); CK(cudaMemAdvise(x, size, cudaMemAdviseSetPreferredLocation, HST)); out("um_preferred_host_read", p, timed([&] { k_read<<<B, T, 0, s>>>((int4*)x, n, sink); })); out("um_preferred_host_read_again", p, timed([&] { k_read<<<B, T, 0, s>>>((int4*)x, n, sink); })); CK(cudaFree(x));
    char* pin; CK(cudaMallocHost(&pin, size)); memset(pin, 1, size); out("mapped_read", p, timed([&] { k_read<<<B, T, 0, s>>>((int4*)pin, n, sink); })); out("mapped_read_again", p, timed([&] { k_read<<<B, T, 0, s>>>((int4*)pin, n, sink); })); out("mapped_write", p, timed([&] { k_write<<<B, T, 0, s>>>((int4*)pin, n); })); CK(cudaFreeHost(pin)); }
  // 7. two kernels in two streams fault at once; prefetch beside a kernel
  { cudaStream_t s2; CK(cudaStreamCreateWithFlags(&s2, cudaStreamNonBlocking)); size_t size = 32 * M; char *x = managed(size), *y = managed(size); CK(cudaDeviceSynchronize()); double t = now(); k_read<<<B, T, 0, s>>>((int4*)x, size / 16, sink); k_read<<<B, T, 0, s2>>>((int4*)y, size / 16, sink); CK(cudaDeviceSynchronize()); out("um_two_streams_32MiB_each", "", now() - t); CK(cudaFree(x)); CK(cudaFree(y));
    x = managed(size); CK(cudaDeviceSynchronize()); t = now(); CK(cudaMemPrefetchAsync(x, size, DEV, 0, s2)); k_read<<<B, T, 0, s>>>((int4*)x, size / 16, sink); CK(cudaDeviceSynchronize()); out("um_prefetch_beside_its_kernel_32MiB", "", now() - t); CK(cudaFree(x)); }
  // 8. more than there is room for: 2.5 GiB beside a filler that leaves about 2 GiB
  if (!over(14)) { size_t fr, tot; CK(cudaMemGetInfo(&fr, &tot)); char* fill = nullptr; if (cudaMalloc(&fill, fr - 2048 * M) == cudaSuccess) { CK(cudaMemGetInfo(&fr, &tot)); out("um_over_room", "", fr / (double)M, "MiB"); for (size_t size : {(size_t)1024 * M, (size_t)2560 * M}) { char* x = managed(size, false); std::string p = "bytes=" + S(size); k_write<<<B, T, 0, s>>>((int4*)x, size / 16); CK(cudaDeviceSynchronize()); for (int r = 0; r < 2 && !over(19); r++) out("um_over_pass", p + " pass=" + S(r), timed([&] { k_read<<<B, T, 0, s>>>((int4*)x, size / 16, sink); })); CK(cudaFree(x)); if (over(17)) break; } CK(cudaFree(fill)); } cudaGetLastError(); }
  return 0;
}
