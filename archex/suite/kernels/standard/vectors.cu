// A matrix times one vector: dense halves, and compressed sparse rows.
#include <cuda_fp16.h>

__device__ __forceinline__ float dot(uint4 a, uint4 b) {
  const __half2 *p = reinterpret_cast<const __half2 *>(&a), *q = reinterpret_cast<const __half2 *>(&b);
  float s = 0;
#pragma unroll
  for (int j = 0; j < 4; j++) {
    float2 f = __half22float2(p[j]), g = __half22float2(q[j]);
    s += f.x * g.x + f.y * g.y;
  }
  return s;
}
__device__ __forceinline__ float added(float s) {
  for (int o = 16; o; o >>= 1) s += __shfl_xor_sync(~0u, s, o);
  return s;
}

// Batch-1 decode: 32 lanes a row of `each` vectors of 8 halves.
extern "C" __global__ void gemv(const uint4 *__restrict__ W, const uint4 *__restrict__ x, float *__restrict__ y, int rows, int each) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31;
  if (row >= rows) return;
  float s = 0;
  for (int k = lane; k < each; k += 32) s += dot(W[(size_t)row * each + k], x[k]);
  s = added(s);
  if (!lane) y[row] = s;
}
// A workgroup of 128 threads a row: fewer turns, and the sum through local memory.
extern "C" __global__ void gemv_workgroup(const uint4 *__restrict__ W, const uint4 *__restrict__ x, float *__restrict__ y, int rows, int each) {
  __shared__ float w[128];
  int row = blockIdx.x, lane = threadIdx.x;
  float s = 0;
  for (int k = lane; k < each; k += 128) s += dot(W[(size_t)row * each + k], x[k]);
  w[lane] = s;
  __syncthreads();
  if (lane < 32) {
    s = added(w[lane] + w[lane + 32] + w[lane + 64] + w[lane + 96]);
    if (!lane) y[row] = s;
  }
}

extern "C" __global__ void spmv_scalar(const int *__restrict__ starts, const int *__restrict__ columns, const float *__restrict__ v,
                                       const float *__restrict__ x, float *__restrict__ y, int rows) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float s = 0;
  for (int k = starts[row]; k < starts[row + 1]; k++) s += v[k] * x[columns[k]];
  y[row] = s;
}
extern "C" __global__ void spmv_vector(const int *__restrict__ starts, const int *__restrict__ columns, const float *__restrict__ v,
                                       const float *__restrict__ x, float *__restrict__ y, int rows) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31;
  if (row >= rows) return;
  float s = 0;
  for (int k = starts[row] + lane; k < starts[row + 1]; k += 32) s += v[k] * x[columns[k]];
  s = added(s);
  if (!lane) y[row] = s;
}
