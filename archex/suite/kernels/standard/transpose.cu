// A square matrix transposed: T x T tiles, T x 256/T threads; n is a multiple of T.
extern "C" __global__ void transpose_naive(const float *__restrict__ a, float *__restrict__ c, int n) {
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
#pragma unroll
  for (int j = 0; j < 32; j += 8) c[(size_t)x * n + y + j] = a[(size_t)(y + j) * n + x];
}

// Through local memory. A column of a tile would lie in one bank: rows are one word longer, or the columns of each row are permuted.
template <int T, bool SWIZZLED> __device__ __forceinline__ void tiled(const float *__restrict__ a, float *__restrict__ c, int n) {
  constexpr int ROW = SWIZZLED ? T : T + 1, STEP = 256 / T;
  __shared__ float t[T * ROW];
  auto at = [](int row, int column) { return row * ROW + (SWIZZLED ? column ^ row : column); };
  int x = blockIdx.x * T + threadIdx.x, y = blockIdx.y * T + threadIdx.y;
#pragma unroll
  for (int j = 0; j < T; j += STEP) t[at(threadIdx.y + j, threadIdx.x)] = a[(size_t)(y + j) * n + x];
  __syncthreads();
  x = blockIdx.y * T + threadIdx.x;
  y = blockIdx.x * T + threadIdx.y;
#pragma unroll
  for (int j = 0; j < T; j += STEP) c[(size_t)(y + j) * n + x] = t[at(threadIdx.x, threadIdx.y + j)];
}
extern "C" __global__ void transpose_padded(const float *__restrict__ a, float *__restrict__ c, int n) { tiled<32, false>(a, c, n); }
extern "C" __global__ void transpose_padded_64(const float *__restrict__ a, float *__restrict__ c, int n) { tiled<64, false>(a, c, n); }
extern "C" __global__ void transpose_swizzled(const float *__restrict__ a, float *__restrict__ c, int n) { tiled<32, true>(a, c, n); }
extern "C" __global__ void transpose_swizzled_64(const float *__restrict__ a, float *__restrict__ c, int n) { tiled<64, true>(a, c, n); }
