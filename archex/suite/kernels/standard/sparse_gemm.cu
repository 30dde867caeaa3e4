// C = A B where two of each four neighbours in a row of A are zero. A is stored without the zeros (M x K/2, f16), beside it the places of
// what is left: a word a lane, [M/16][K/32][8 rows][2], low half for row r and columns 16 t..., high half for row r + 8, 2 bits an element.
// B (K x N) in f16, C (M x N) in f32. A workgroup of 256 makes 128 x 128 of C.
// sparse_gemm_async, sparse_gemm_direct: the matrix unit skips the zeros. sparse_gemm_expanded: they are put back in local memory.
// dense_gemm: the same product with A (M x K) as it is, for comparison.
#include "matrix.cuh"
using Dense = Tile<128, 128, 64, 2, 4>;
using Narrow = Tile<128, 128, 32, 2, 4>;

// 64 of k at a time, of which 32 are stored: tiles of 128 x 32 of A, 64 x 128 of B
struct Sparse {
  static constexpr int BM = 128, BN = 128, BK = 32, STEP_B = 64, THREADS = 256, LA = BK + 8, LB = BN + 8, HALVES = BM * LA + 2 * BK * LB;
  static constexpr int CHUNKS_A = BM * BK / 8 / THREADS, CHUNKS_B = 2 * BK * BN / 8 / THREADS;
  struct Registers { uint4 a[CHUNKS_A], b[CHUNKS_B]; unsigned places[2][4]; };
  Narrow out;  // sums in the same places
  static __device__ __forceinline__ int row_a(int q) { return threadIdx.x / 4 + q * 64; }
  static __device__ __forceinline__ int column_a(int) { return threadIdx.x % 4 * 8; }
  static __device__ __forceinline__ int row_b(int q) { return threadIdx.x / 16 + q * 16; }
  static __device__ __forceinline__ int column_b(int) { return threadIdx.x % 16 * 8; }
  static __device__ __forceinline__ half_t* at_a(half_t* tile, int q) { return tile + row_a(q) * LA + column_a(q); }
  static __device__ __forceinline__ half_t* at_b(half_t* tile, int q) { return tile + BM * LA + row_b(q) * LB + column_b(q); }
  __device__ __forceinline__ void multiply(const half_t* tile, const unsigned (&places)[2][4]) {
    const int lane = threadIdx.x & 31, w = threadIdx.x >> 5;
    const half_t* a = tile + (w / 4 * 64 + (lane & 15)) * LA + (lane >> 4) * 8;
    const half_t* b = tile + BM * LA + lane * LB + w % 4 * 32;
#pragma unroll
    for (int k = 0; k < 2; k++) {
      unsigned fa[4][4], fb[4][4];
#pragma unroll
      for (int i = 0; i < 4; i++) load_fragments(fa[i], a + i * 16 * LA + k * 16);
#pragma unroll
      for (int j = 0; j < 4; j++) load_fragments_transposed(fb[j], b + k * 32 * LB + j * 8);
#pragma unroll
      for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) {
          float(&d)[4] = out.acc[i][j];
          asm volatile("mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9, %10, %11}, {%0, %1, %2, %3}, %12, 0x0;"
                       : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                       : "r"(fa[i][0]), "r"(fa[i][1]), "r"(fa[i][2]), "r"(fa[i][3]), "r"(fb[j][0]), "r"(fb[j][1]), "r"(fb[j][2]), "r"(fb[j][3]), "r"(places[k][i]));
        }
    }
  }
};
// this lane's words of the places, a tile of k after the other: two of each four lanes have one
struct Places {
  const unsigned* own[4];
  __device__ __forceinline__ Places(const unsigned* E, int K) {
    const int lane = threadIdx.x & 31;
#pragma unroll
    for (int i = 0; i < 4; i++) own[i] = E + ((size_t)(blockIdx.y * 8 + (threadIdx.x >> 7) * 4 + i) * (K / 32) * 8 + (lane >> 2)) * 2 + (lane & 1);
  }
  __device__ __forceinline__ void load(unsigned (&places)[2][4]) {
#pragma unroll
    for (int i = 0; i < 4; i++) { places[0][i] = own[i][0]; places[1][i] = own[i][16]; own[i] += 32; }
  }
};
__device__ __forceinline__ void copy_places(unsigned (&to)[2][4], const unsigned (&from)[2][4]) {
#pragma unroll
  for (int i = 0; i < 8; i++) to[i / 4][i % 4] = from[i / 4][i % 4];
}
template <class Out> __device__ __forceinline__ void put_results(Out& tile, float* C, int N) {
  float* c = C + (size_t)blockIdx.y * 128 * N + blockIdx.x * 128;
  tile.results([&](int row) { return c + (size_t)row * N; }, put_floats);
}
#define ARGUMENTS const half_t *__restrict__ A, const unsigned *__restrict__ E, const half_t *__restrict__ B, float *__restrict__ C, int M, int N, int K
extern "C" __global__ void __launch_bounds__(256) sparse_gemm_async(ARGUMENTS) {
  extern __shared__ __align__(128) half_t tiles[];
  Operands<Sparse> from(A, B, blockIdx.y * 128, blockIdx.x * 128, N, K / 2);
  Places places(E, K);
  Sparse tile; tile.out.clear();
  unsigned now[2][4], next[2][4];
  places.load(next);
  int left = K / 64;
  pipeline_async<3>(K / 64, [&](int s, int) { from.copy(tiles + s * Sparse::HALVES); }, [&](int s) {
    copy_places(now, next);
    if (--left) places.load(next);
    tile.multiply(tiles + s * Sparse::HALVES, now);
  });
  put_results(tile.out, C, N);
}
extern "C" __global__ void __launch_bounds__(256) sparse_gemm_direct(ARGUMENTS) {
  extern __shared__ __align__(128) half_t tiles[];
  Operands<Sparse> from(A, B, blockIdx.y * 128, blockIdx.x * 128, N, K / 2);
  Places places(E, K);
  Sparse tile; tile.out.clear();
  unsigned now[2][4];
  pipeline_direct<1, Sparse::Registers>(K / 64, [&](Sparse::Registers& r, int) { from.load(r); places.load(r.places); }, [&](const Sparse::Registers& r, int s) {
    half_t* to = tiles + s * Sparse::HALVES;
#pragma unroll
    for (int q = 0; q < Sparse::CHUNKS_A; q++) *(uint4*)Sparse::at_a(to, q) = r.a[q];
#pragma unroll
    for (int q = 0; q < Sparse::CHUNKS_B; q++) *(uint4*)Sparse::at_b(to, q) = r.b[q];
    copy_places(now, r.places);
  }, [&](int s) { tile.multiply(tiles + s * Sparse::HALVES, now); });
  put_results(tile.out, C, N);
}
// four neighbours from two that are stored and their places
__device__ __forceinline__ unsigned long long four(unsigned two, unsigned places) {
  return ((unsigned long long)(two & 0xffff) << ((places & 3) * 16)) | ((unsigned long long)(two >> 16) << ((places >> 2 & 3) * 16));
}
extern "C" __global__ void __launch_bounds__(256) sparse_gemm_expanded(ARGUMENTS) {
  extern __shared__ __align__(128) half_t tiles[];
  struct Registers { uint4 a, b[2]; unsigned places; };
  const int row = threadIdx.x / 2, t2 = threadIdx.x % 2;  // of A a thread takes 8 stored, 16 of k
  const half_t* a = A + (size_t)(blockIdx.y * 128 + row) * (K / 2) + t2 * 8;
  const half_t* b = B + (size_t)Narrow::row_b(0) * N + blockIdx.x * 128 + Narrow::column_b(0);
  const unsigned* e = E + ((size_t)(blockIdx.y * 8 + row / 16) * (K / 32) * 8 + row % 8) * 2 + t2;
  const int shift = (row & 8) * 2;
  Narrow tile; tile.clear();
  pipeline_direct<1, Registers>(K / 32, [&](Registers& r, int t) {
    r.a = *(const uint4*)(a + t * 16);
#pragma unroll
    for (int q = 0; q < 2; q++) r.b[q] = *(const uint4*)(b + (size_t)(t * 32 + q * 16) * N);
    r.places = e[(size_t)t * 16];
  }, [&](const Registers& r, int s) {
    half_t* to = tiles + s * Narrow::HALVES;
    const unsigned places = r.places >> shift;
    ulonglong2* wide = (ulonglong2*)(to + row * Narrow::LA + t2 * 16);
    wide[0] = make_ulonglong2(four(r.a.x, places), four(r.a.y, places >> 4));
    wide[1] = make_ulonglong2(four(r.a.z, places >> 8), four(r.a.w, places >> 12));
#pragma unroll
    for (int q = 0; q < 2; q++) *(uint4*)Narrow::at_b(to, q) = r.b[q];
  }, [&](int s) { tile.multiply(tiles + s * Narrow::HALVES); });
  put_results(tile, C, N);
}
#define DENSE_ARGUMENTS const half_t *__restrict__ A, const half_t *__restrict__ B, float *__restrict__ C, int M, int N, int K
extern "C" __global__ void __launch_bounds__(256) dense_gemm_async(DENSE_ARGUMENTS) {
  extern __shared__ __align__(128) half_t tiles[];
  Dense tile;
  multiply_async<3>(tile, tiles, Operands<Dense>(A, B, blockIdx.y * 128, blockIdx.x * 128, N, K), K);
  put_results(tile, C, N);
}
extern "C" __global__ void __launch_bounds__(256) dense_gemm_direct(DENSE_ARGUMENTS) {
  extern __shared__ __align__(128) half_t tiles[];
  Narrow tile;
  multiply_direct<1>(tile, tiles, Operands<Narrow>(A, B, blockIdx.y * 128, blockIdx.x * 128, N, K), K);
  put_results(tile, C, N);
}
