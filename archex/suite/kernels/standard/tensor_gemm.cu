// C = A B: A (M x K) and B (K x N) in f16 by rows, C (M x N) in f32. A workgroup of 256 makes 128 x 128 of C, 32 of k at a time.
// tensor_gemm_async_S: S tiles in local memory, copied asynchronously. tensor_gemm_direct_S: S - 1 tiles on their way in registers.
#include "matrix.cuh"
using Gemm = Tile<128, 128, 32, 2, 4>;

__device__ __forceinline__ void put_results(Gemm& tile, float* C, int N) {
  float* c = C + (size_t)blockIdx.y * Gemm::BM * N + blockIdx.x * Gemm::BN;
  tile.results([&](int row) { return c + (size_t)row * N; }, put_floats);
}
#define ARGUMENTS const half_t *__restrict__ A, const half_t *__restrict__ B, float *__restrict__ C, int M, int N, int K
#define KERNELS(S)                                                                                       \
  extern "C" __global__ void __launch_bounds__(256) tensor_gemm_async_##S(ARGUMENTS) {                   \
    extern __shared__ __align__(128) half_t tiles[];                                                     \
    Gemm tile;                                                                                           \
    multiply_async<S>(tile, tiles, Operands<Gemm>(A, B, blockIdx.y * 128, blockIdx.x * 128, N, K), K);   \
    put_results(tile, C, N);                                                                             \
  }                                                                                                      \
  extern "C" __global__ void __launch_bounds__(256) tensor_gemm_direct_##S(ARGUMENTS) {                  \
    extern __shared__ __align__(128) half_t tiles[];                                                     \
    Gemm tile;                                                                                           \
    multiply_direct<S - 1>(tile, tiles, Operands<Gemm>(A, B, blockIdx.y * 128, blockIdx.x * 128, N, K), K); \
    put_results(tile, C, N);                                                                             \
  }
KERNELS(2)
KERNELS(3)
KERNELS(4)
