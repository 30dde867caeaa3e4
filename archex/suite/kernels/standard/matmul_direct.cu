// The work of triton_matmul for devices without asynchronous copies: f16 in and out, f32 sums, workgroups in groups of 8 rows of tiles.
#include "matrix.cuh"

template <int BM, int BN, int WM, int WN> __device__ __forceinline__ void matmul(const half_t* A, const half_t* B, half_t* C, int M, int N, int K) {
  using Product = Tile<BM, BN, 32, WM, WN>;
  extern __shared__ __align__(128) half_t tiles[];
  const int rows = (M + BM - 1) / BM, columns = (N + BN - 1) / BN, group = blockIdx.x / (8 * columns), left = min(rows - group * 8, 8);
  const int m = group * 8 + blockIdx.x % (8 * columns) % left, n = blockIdx.x % (8 * columns) / left;
  Product tile;
  multiply_direct<1>(tile, tiles, Operands<Product>(A, B, m * BM, n * BN, N, K), K);
  half_t* c = C + (size_t)m * BM * N + n * BN;
  tile.results([&](int row) { return c + (size_t)row * N; }, put_halves);
}
#define ARGUMENTS const half_t *__restrict__ A, const half_t *__restrict__ B, half_t *__restrict__ C, int M, int N, int K
extern "C" __global__ void __launch_bounds__(128) matmul_64(ARGUMENTS) { matmul<64, 64, 2, 2>(A, B, C, M, N, K); }
extern "C" __global__ void __launch_bounds__(256) matmul_128(ARGUMENTS) { matmul<128, 128, 2, 4>(A, B, C, M, N, K); }
