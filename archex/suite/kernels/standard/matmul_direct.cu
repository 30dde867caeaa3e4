// The work of triton_matmul for devices without asynchronous copies: f16 in and out, f32 sums, workgroups in groups of 8 rows of tiles.
#include "matrix.cuh"

template <int BM, int BN, int WM, int WN> __device__ __forceinline__ void matmul(const half_t* A, const half_t* B, half_t* C, int M, int N, int K) {
  using Product = Tile<BM, BN, 32, WM, WN>;
  extern __shared__ __align__(128) half_t tiles[];
  const int rows = (M + BM - 1) / BM, columns = (N + BN - 1) / BN, group = blockIdx.x / (8 * columns), left = min(rows - group * 8, 8);
  const int m = group * 8 + blockIdx.x % (8 * columns) % left, n = blockIdx.x % (8 * columns) / left;
  const half_t* a = A + (size_t)(m * BM + Product::row_a(0)) * K + Product::column_a(0);
  const half_t* b = B + (size_t)Product::row_b(0) * N + n * BN + Product::column_b(0);
  Product tile; tile.clear();
  pipeline_direct<1, typename Product::Registers>(K / 32, [&](typename Product::Registers& r, int t) {
#pragma unroll
    for (int q = 0; q < Product::CHUNKS_A; q++) r.a[q] = *(const uint4*)(a + (size_t)q * (BM / Product::CHUNKS_A) * K + t * 32);
#pragma unroll
    for (int q = 0; q < Product::CHUNKS_B; q++) r.b[q] = *(const uint4*)(b + (size_t)(t * 32 + q * (32 / Product::CHUNKS_B)) * N);
  }, [&](const typename Product::Registers& r, int s) { Product::store(tiles + s * Product::HALVES, r); }, [&](int s) { tile.multiply(tiles + s * Product::HALVES); });
  half_t* c = C + (size_t)m * BM * N + n * BN;
  tile.results([&](int row, int column, float x, float y) { *(unsigned*)(c + (size_t)row * N + column) = pack_halves(x, y); });
}
extern "C" __global__ void __launch_bounds__(128) matmul_64(const half_t* __restrict__ A, const half_t* __restrict__ B, half_t* __restrict__ C, int M, int N, int K) { matmul<64, 64, 2, 2>(A, B, C, M, N, K); }
extern "C" __global__ void __launch_bounds__(256) matmul_128(const half_t* __restrict__ A, const half_t* __restrict__ B, half_t* __restrict__ C, int M, int N, int K) { matmul<128, 128, 2, 4>(A, B, C, M, N, K); }
