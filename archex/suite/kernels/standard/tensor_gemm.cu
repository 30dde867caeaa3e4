// C = A B: A (M x K) and B (K x N) in f16 by rows, C (M x N) in f32. A workgroup of 256 makes 128 x 128 of C, 32 of k at a time.
// tensor_gemm_async_S: S tiles in local memory, copied asynchronously. tensor_gemm_direct_S: S - 1 tiles on their way in registers.
#include "matrix.cuh"
using Gemm = Tile<128, 128, 32, 2, 4>;

struct Operands {
  const half_t *a, *b;
  int n, k;
  __device__ __forceinline__ Operands(const half_t* A, const half_t* B, int N, int K)
      : a(A + (size_t)(blockIdx.y * Gemm::BM + Gemm::row_a(0)) * K + Gemm::column_a(0)), b(B + (size_t)Gemm::row_b(0) * N + blockIdx.x * Gemm::BN + Gemm::column_b(0)), n(N), k(K) {}
  // chunk q of a thread lies a fixed number of rows under its first
  __device__ __forceinline__ const half_t* from_a(int q, int t) const { return a + (size_t)q * (Gemm::BM / Gemm::CHUNKS_A) * k + t * Gemm::BK; }
  __device__ __forceinline__ const half_t* from_b(int q, int t) const { return b + (size_t)(t * Gemm::BK + q * (Gemm::BK / Gemm::CHUNKS_B)) * n; }
};
__device__ __forceinline__ void put_results(Gemm& tile, float* C, int N) {
  float* c = C + (size_t)blockIdx.y * Gemm::BM * N + blockIdx.x * Gemm::BN;
  tile.results([&](int row, int column, float x, float y) { *(float2*)(c + (size_t)row * N + column) = make_float2(x, y); });
}
template <int STAGES> __device__ __forceinline__ void gemm_async(const half_t* A, const half_t* B, float* C, int N, int K) {
  extern __shared__ __align__(128) half_t tiles[];
  const Operands from(A, B, N, K);
  Gemm tile; tile.clear();
  pipeline_async<STAGES>(K / Gemm::BK, [&](int s, int t) {
    half_t* to = tiles + s * Gemm::HALVES;
#pragma unroll
    for (int q = 0; q < Gemm::CHUNKS_A; q++) copy_async(Gemm::at_a(to, q), from.from_a(q, t));
#pragma unroll
    for (int q = 0; q < Gemm::CHUNKS_B; q++) copy_async(Gemm::at_b(to, q), from.from_b(q, t));
  }, [&](int s) { tile.multiply(tiles + s * Gemm::HALVES); });
  put_results(tile, C, N);
}
template <int DEPTH> __device__ __forceinline__ void gemm_direct(const half_t* A, const half_t* B, float* C, int N, int K) {
  extern __shared__ __align__(128) half_t tiles[];
  const Operands from(A, B, N, K);
  Gemm tile; tile.clear();
  pipeline_direct<DEPTH, Gemm::Registers>(K / Gemm::BK, [&](Gemm::Registers& r, int t) {
#pragma unroll
    for (int q = 0; q < Gemm::CHUNKS_A; q++) r.a[q] = *(const uint4*)from.from_a(q, t);
#pragma unroll
    for (int q = 0; q < Gemm::CHUNKS_B; q++) r.b[q] = *(const uint4*)from.from_b(q, t);
  }, [&](const Gemm::Registers& r, int s) { Gemm::store(tiles + s * Gemm::HALVES, r); }, [&](int s) { tile.multiply(tiles + s * Gemm::HALVES); });
  put_results(tile, C, N);
}
#define KERNELS(S) \
  extern "C" __global__ void __launch_bounds__(256) tensor_gemm_async_##S(const half_t* __restrict__ A, const half_t* __restrict__ B, float* __restrict__ C, int M, int N, int K) { gemm_async<S>(A, B, C, N, K); } \
  extern "C" __global__ void __launch_bounds__(256) tensor_gemm_direct_##S(const half_t* __restrict__ A, const half_t* __restrict__ B, float* __restrict__ C, int M, int N, int K) { gemm_direct<S - 1>(A, B, C, N, K); }
KERNELS(2)
KERNELS(3)
KERNELS(4)
