// Convolution 3 x 3, padded by one, in f32: in [C][H][W], weights [K][C][3][3], out [K][H][W]. Direct: a thread makes 4 channels of one
// pixel from 9 neighbours in the vector cache; the weights of the workgroup's 4 channels lie in local memory.
extern "C" __global__ void __launch_bounds__(256) convolution_nchw(const float* __restrict__ in, const float* __restrict__ weights, float* __restrict__ out, int C, int H, int W) {
  extern __shared__ float4 w4[];  // [C][9], four channels side by side
  const int t = threadIdx.y * 32 + threadIdx.x, x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y, first = blockIdx.z * 4;
  for (int i = t; i < C * 9; i += 256) {
    const float* w = weights + (size_t)first * C * 9 + i;
    w4[i] = make_float4(w[0], w[C * 9], w[2 * C * 9], w[3 * C * 9]);
  }
  __syncthreads();
  if (x >= W || y >= H) return;
  float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#pragma unroll 1
  for (int c = 0; c < C; c++) {
    const float* p = in + ((size_t)c * H + y) * W + x;
    float v[9];
#pragma unroll
    for (int i = 0; i < 9; i++) {
      const int dy = i / 3 - 1, dx = i % 3 - 1;
      v[i] = (unsigned)(y + dy) < (unsigned)H && (unsigned)(x + dx) < (unsigned)W ? p[dy * W + dx] : 0.0f;
    }
#pragma unroll
    for (int i = 0; i < 9; i++) {
      const float4 w = w4[c * 9 + i];
      sum.x = fmaf(v[i], w.x, sum.x); sum.y = fmaf(v[i], w.y, sum.y); sum.z = fmaf(v[i], w.z, sum.z); sum.w = fmaf(v[i], w.w, sum.w);
    }
  }
  const size_t plane = (size_t)H * W;
  float* o = out + first * plane + (size_t)y * W + x;
  o[0] = sum.x; o[plane] = sum.y; o[2 * plane] = sum.z; o[3 * plane] = sum.w;
}
