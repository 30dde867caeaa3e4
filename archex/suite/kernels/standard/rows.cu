// Reductions: of all elements, and of rows, one workgroup of 256 threads a row (any length that is a multiple of 8).
#include <cuda_fp16.h>

__device__ __forceinline__ float added(float s) {
  for (int o = 16; o; o >>= 1) s += __shfl_xor_sync(~0u, s, o);
  return s;
}
__device__ __forceinline__ float block_sum(float s, float *w) {
  s = added(s);
  __syncthreads();
  if ((threadIdx.x & 31) == 0) w[threadIdx.x >> 5] = s;
  __syncthreads();
  return added((threadIdx.x & 31) < blockDim.x / 32 ? w[threadIdx.x & 31] : 0);
}
__device__ __forceinline__ float block_max(float s, float *w) {
  for (int o = 16; o; o >>= 1) s = fmaxf(s, __shfl_xor_sync(~0u, s, o));
  __syncthreads();
  if ((threadIdx.x & 31) == 0) w[threadIdx.x >> 5] = s;
  __syncthreads();
  s = (threadIdx.x & 31) < blockDim.x / 32 ? w[threadIdx.x & 31] : -1e30f;
  for (int o = 16; o; o >>= 1) s = fmaxf(s, __shfl_xor_sync(~0u, s, o));
  return s;
}
__device__ __forceinline__ float total(const float4 *__restrict__ a, int n) {
  float s = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    float4 v = a[i];
    s += v.x + v.y + v.z + v.w;
  }
  return s;
}

// Lanes exchange registers within 32, groups of 32 through local memory.
extern "C" __global__ void reduce(const float4 *__restrict__ a, float *__restrict__ c, int n) {
  __shared__ float w[32];
  float s = block_sum(total(a, n), w);
  if (threadIdx.x == 0) atomicAdd(c, s);
}

// The same without exchanges between lanes: a tree in local memory, as deep as the workgroup.
extern "C" __global__ void reduce_tree(const float4 *__restrict__ a, float *__restrict__ c, int n) {
  __shared__ float w[1024];
  w[threadIdx.x] = total(a, n);
  for (int o = blockDim.x / 2; o; o >>= 1) {
    __syncthreads();
    if (threadIdx.x < o) w[threadIdx.x] += w[threadIdx.x + o];
  }
  if (threadIdx.x == 0) atomicAdd(c, w[0]);
}

__device__ __forceinline__ void unpack(uint4 q, float *x) {
  const __half2 *h = reinterpret_cast<const __half2 *>(&q);
#pragma unroll
  for (int j = 0; j < 4; j++) {
    float2 f = __half22float2(h[j]);
    x[2 * j] = f.x;
    x[2 * j + 1] = f.y;
  }
}
__device__ __forceinline__ uint4 pack(const float *x) {
  uint4 q;
  __half2 *h = reinterpret_cast<__half2 *>(&q);
#pragma unroll
  for (int j = 0; j < 4; j++) h[j] = __floats2half2_rn(x[2 * j], x[2 * j + 1]);
  return q;
}

// Rows of `each` vectors of 8 halves. The maximum and the sum in one pass; the second pass finds the row in a cache.
extern "C" __global__ void softmax(const uint4 *__restrict__ a, uint4 *__restrict__ c, int each) {
  __shared__ float w[32];
  size_t base = (size_t)blockIdx.x * each;
  float m = -1e30f, s = 0, x[8];
  for (int i = threadIdx.x; i < each; i += blockDim.x) {
    unpack(a[base + i], x);
    float top = m;
#pragma unroll
    for (int j = 0; j < 8; j++) top = fmaxf(top, x[j]);
    s *= __expf(m - top);
    m = top;
#pragma unroll
    for (int j = 0; j < 8; j++) s += __expf(x[j] - m);
  }
  float top = block_max(m, w);
  s = 1.0f / block_sum(s * __expf(m - top), w);
  for (int i = threadIdx.x; i < each; i += blockDim.x) {
    unpack(a[base + i], x);
#pragma unroll
    for (int j = 0; j < 8; j++) x[j] = __expf(x[j] - top) * s;
    c[base + i] = pack(x);
  }
}

extern "C" __global__ void rmsnorm(const uint4 *__restrict__ a, const uint4 *__restrict__ g, uint4 *__restrict__ c, int each) {
  __shared__ float w[32];
  size_t base = (size_t)blockIdx.x * each;
  float s = 0, x[8], y[8];
  for (int i = threadIdx.x; i < each; i += blockDim.x) {
    unpack(a[base + i], x);
#pragma unroll
    for (int j = 0; j < 8; j++) s += x[j] * x[j];
  }
  s = rsqrtf(block_sum(s, w) / (each * 8) + 1e-6f);
  for (int i = threadIdx.x; i < each; i += blockDim.x) {
    unpack(a[base + i], x);
    unpack(g[i], y);
#pragma unroll
    for (int j = 0; j < 8; j++) x[j] *= s * y[j];
    c[base + i] = pack(x);
  }
}

// Dropout keeps nine of ten by a hash of the element's number.
__device__ __forceinline__ float keep(unsigned i) {
  i ^= i >> 16;
  i *= 0x7feb352d;
  i ^= i >> 15;
  i *= 0x846ca68b;
  i ^= i >> 16;
  return i > 429496729u ? 1.1111111f : 0.0f;
}
// Rows of `each` vectors of 4 floats.
template <bool DROP>
__device__ __forceinline__ void normalize(const float4 *__restrict__ a, const float4 *__restrict__ g, float4 *__restrict__ c, int each) {
  __shared__ float w[32];
  size_t base = (size_t)blockIdx.x * each;
  float s = 0, q = 0;
  for (int i = threadIdx.x; i < each; i += blockDim.x) {
    float4 v = a[base + i];
    s += v.x + v.y + v.z + v.w;
    q += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
  }
  float mean = block_sum(s, w) / (each * 4);
  float scale = rsqrtf(block_sum(q, w) / (each * 4) - mean * mean + 1e-5f);
  for (int i = threadIdx.x; i < each; i += blockDim.x) {
    float4 v = a[base + i], h = g[i];
    v = make_float4((v.x - mean) * scale * h.x, (v.y - mean) * scale * h.y, (v.z - mean) * scale * h.z, (v.w - mean) * scale * h.w);
    unsigned k = (unsigned)(base + i) * 4;
    if (DROP) v = make_float4(v.x * keep(k), v.y * keep(k + 1), v.z * keep(k + 2), v.w * keep(k + 3));
    c[base + i] = v;
  }
}
extern "C" __global__ void layernorm_dropout(const float4 *__restrict__ a, const float4 *__restrict__ g, float4 *__restrict__ c, int each) {
  normalize<true>(a, g, c, each);
}
extern "C" __global__ void layernorm(const float4 *__restrict__ a, const float4 *__restrict__ g, float4 *__restrict__ c, int each) {
  normalize<false>(a, g, c, each);
}
extern "C" __global__ void dropout(const float4 *__restrict__ a, float4 *__restrict__ c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float4 v = a[i];
  c[i] = make_float4(v.x * keep(4 * i), v.y * keep(4 * i + 1), v.z * keep(4 * i + 2), v.w * keep(4 * i + 3));
}
