// C = A B in 32-bit floats, row-major; M, N, K are multiples of the tile.
extern "C" __global__ void sgemm_naive(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C, int M, int N, int K) {
  int c = blockIdx.x * 16 + threadIdx.x, r = blockIdx.y * 16 + threadIdx.y;
  float s = 0;
  for (int k = 0; k < K; k++) s += A[(size_t)r * K + k] * B[(size_t)k * N + c];
  C[(size_t)r * N + c] = s;
}

// T x T tiles of A and B in local memory, one element a thread.
template <int T>
__device__ __forceinline__ void tiled(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C, int N, int K) {
  __shared__ float a[T][T], b[T][T];
  int tx = threadIdx.x, ty = threadIdx.y, c = blockIdx.x * T + tx, r = blockIdx.y * T + ty;
  float s = 0;
  for (int k0 = 0; k0 < K; k0 += T) {
    a[ty][tx] = A[(size_t)r * K + k0 + tx];
    b[ty][tx] = B[(size_t)(k0 + ty) * N + c];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < T; k++) s += a[ty][k] * b[k][tx];
    __syncthreads();
  }
  C[(size_t)r * N + c] = s;
}
extern "C" __global__ void sgemm_tiled(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C, int M, int N, int K) {
  tiled<32>(A, B, C, N, K);
}

// T x T x 8 tiles, 256 threads; each holds a square of W x W accumulators as pieces of 4 x 4. A's tile is stored transposed.
template <int T>
__device__ __forceinline__ void blocked(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C, int N, int K) {
  constexpr int W = T / 16, PIECES = W / 4, LOADERS = T * 2;
  __shared__ __align__(16) float a[8][T + 4], b[8][T];
  int t = threadIdx.x, tx = t % 16, ty = t / 16;
  float acc[W][W] = {};
  const float *rows = A + (size_t)blockIdx.y * T * K, *columns = B + blockIdx.x * T;
  int ar = t / 2, ac = (t % 2) * 4, br = t / (T / 4), bc = (t % (T / 4)) * 4;
  for (int k0 = 0; k0 < K; k0 += 8) {
    if (LOADERS == 256 || t < LOADERS) {
      float4 va = *(const float4 *)&rows[(size_t)ar * K + k0 + ac], vb = *(const float4 *)&columns[(size_t)(k0 + br) * N + bc];
      a[ac][ar] = va.x;
      a[ac + 1][ar] = va.y;
      a[ac + 2][ar] = va.z;
      a[ac + 3][ar] = va.w;
      *(float4 *)&b[br][bc] = vb;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 8; k++) {
      float x[W], y[W];
#pragma unroll
      for (int p = 0; p < PIECES; p++) {
        *(float4 *)&x[4 * p] = *(float4 *)&a[k][64 * p + ty * 4];
        *(float4 *)&y[4 * p] = *(float4 *)&b[k][64 * p + tx * 4];
      }
#pragma unroll
      for (int i = 0; i < W; i++)
#pragma unroll
        for (int j = 0; j < W; j++) acc[i][j] += x[i] * y[j];
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < W; i++) {
    float *p = &C[(size_t)(blockIdx.y * T + i / 4 * 64 + ty * 4 + i % 4) * N + blockIdx.x * T];
#pragma unroll
    for (int q = 0; q < PIECES; q++)
      *(float4 *)&p[64 * q + tx * 4] = make_float4(acc[i][4 * q], acc[i][4 * q + 1], acc[i][4 * q + 2], acc[i][4 * q + 3]);
  }
}
extern "C" __global__ void __launch_bounds__(256)
    sgemm_register(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C, int M, int N, int K) {
  blocked<128>(A, B, C, N, K);
}
extern "C" __global__ void __launch_bounds__(256)
    sgemm_register_64(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C, int M, int N, int K) {
  blocked<64>(A, B, C, N, K);
}
