// Counting, scanning, contended atomics, lanes that part.
// Each workgroup counts into its own bins (a power of two, at most 1024) in local memory, then adds them to all others'.
extern "C" __global__ void histogram(const uint4 *__restrict__ a, unsigned *__restrict__ c, int n, int mask) {
  __shared__ unsigned bins[1024];
  for (int i = threadIdx.x; i <= mask; i += blockDim.x) bins[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    uint4 v = a[i];
    atomicAdd(&bins[v.x & mask], 1);
    atomicAdd(&bins[v.y & mask], 1);
    atomicAdd(&bins[v.z & mask], 1);
    atomicAdd(&bins[v.w & mask], 1);
  }
  __syncthreads();
  for (int i = threadIdx.x; i <= mask; i += blockDim.x) atomicAdd(&c[i], bins[i]);
}

__device__ __forceinline__ float scanned(float v, float *w) {
  int lane = threadIdx.x & 31, group = threadIdx.x >> 5;
#pragma unroll
  for (int o = 1; o < 32; o <<= 1) {
    float u = __shfl_up_sync(~0u, v, o);
    if (lane >= o) v += u;
  }
  if (lane == 31) w[group] = v;
  __syncthreads();
  if (threadIdx.x < 32) {
    float u = lane < blockDim.x / 32 ? w[lane] : 0;
#pragma unroll
    for (int o = 1; o < 32; o <<= 1) {
      float q = __shfl_up_sync(~0u, u, o);
      if (lane >= o) u += q;
    }
    w[lane] = u;
  }
  __syncthreads();
  return group ? v + w[group - 1] : v;
}
// Prefix sums in three steps: of tiles (a workgroup each, 4 elements a thread), of the tiles' totals (one workgroup), and both added.
extern "C" __global__ void scan_tiles(const float4 *__restrict__ a, float4 *__restrict__ c, float *__restrict__ totals, int n) {
  __shared__ float w[32];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float4 v = i < n ? a[i] : make_float4(0, 0, 0, 0);
  v.y += v.x;
  v.z += v.y;
  v.w += v.z;
  float s = scanned(v.w, w), before = s - v.w;
  if (i < n) c[i] = make_float4(v.x + before, v.y + before, v.z + before, s);
  if (threadIdx.x == blockDim.x - 1) totals[blockIdx.x] = s;
}
extern "C" __global__ void scan_totals(float *__restrict__ totals, int n) {
  __shared__ float w[32];
  float s = scanned(threadIdx.x < n ? totals[threadIdx.x] : 0, w);
  if (threadIdx.x < n) totals[threadIdx.x] = s;
}
extern "C" __global__ void scan_add(float4 *__restrict__ c, const float *__restrict__ totals, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n || !blockIdx.x) return;
  float before = totals[blockIdx.x - 1];
  float4 v = c[i];
  c[i] = make_float4(v.x + before, v.y + before, v.z + before, v.w + before);
}

// Neighbouring lanes add to words 33 apart, modulo the number of words (mask + 1).
extern "C" __global__ void atomics(float *__restrict__ c, int n, int mask) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&c[(i * 33) & mask], 1.0f);
}

// Each lane makes its own number of turns: a wave makes as many as its slowest lane.
extern "C" __global__ void divergence(const int *__restrict__ turns, float *__restrict__ c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = 1.0f;
  int some = turns[i];
#pragma unroll 1
  for (int k = 0; k < some; k++) x = x * 0.9990234375f + 0.25f;
  c[i] = x;
}

// 96 live sums where a launch bound leaves 64 registers: the rest lies in private memory. n is a power of two.
extern "C" __global__ void __launch_bounds__(256, 4) spill(const float *__restrict__ a, float *__restrict__ c, int n, int turns) {
  float acc[96];
  int t = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll
  for (int j = 0; j < 96; j++) acc[j] = a[(t + j * 1024) & (n - 1)];
#pragma unroll 1
  for (int i = 0; i < turns; i++) {
    float k = 1.0f + i * 1e-3f;
#pragma unroll
    for (int j = 0; j < 96; j++) acc[j] = fmaf(acc[j], k, acc[(j + 37) % 96]);
  }
  float s = 0;
#pragma unroll
  for (int j = 0; j < 96; j++) s += acc[j];
  c[t & (n - 1)] = s;
}

// One thread follows a random cycle: a load's latency, of the level that holds the cycle.
extern "C" __global__ void chase(const unsigned *__restrict__ a, unsigned *__restrict__ c, int steps) {
  unsigned q = 0;
#pragma unroll 4
  for (int i = 0; i < steps; i++) q = a[q];
  c[0] = q;
}
