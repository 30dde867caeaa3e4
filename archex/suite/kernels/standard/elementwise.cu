// A bias and an activation, in one pass and in two.
// x * sigmoid(2u) is 0.5 x (1 + tanh u).
__device__ __forceinline__ float gelu_of(float x) {
  float u = 0.79788456f * (x + 0.044715f * x * x * x);
  return __fdividef(x, 1.0f + __expf(-2.0f * u));
}
__device__ __forceinline__ float4 gelu_of(float4 v) { return make_float4(gelu_of(v.x), gelu_of(v.y), gelu_of(v.z), gelu_of(v.w)); }
__device__ __forceinline__ float4 plus(float4 v, float4 w) { return make_float4(v.x + w.x, v.y + w.y, v.z + w.z, v.w + w.w); }

// A row of blocks a row of the matrix: `each` vectors of 4 floats, one bias for each column.
extern "C" __global__ void bias_gelu(const float4 *__restrict__ a, const float4 *__restrict__ b, float4 *__restrict__ c, int each) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  size_t at = (size_t)blockIdx.y * each + i;
  if (i < each) c[at] = gelu_of(plus(a[at], b[i]));
}
extern "C" __global__ void bias(const float4 *__restrict__ a, const float4 *__restrict__ b, float4 *__restrict__ c, int each) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  size_t at = (size_t)blockIdx.y * each + i;
  if (i < each) c[at] = plus(a[at], b[i]);
}
extern "C" __global__ void gelu(const float4 *__restrict__ a, float4 *__restrict__ c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = gelu_of(a[i]);
}
