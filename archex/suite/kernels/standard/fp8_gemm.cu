// arch: compute_89
// C = A B^T: A (M x K) and B (N x K) in e4m3 by rows, C (M x N) in f32. A workgroup of 256 makes 128 x 64 of C.
// fp8_gemm_sync: a matrix unit that takes 8-bit floats from registers. fp8_gemm_f16: one that does not; they become halves on the way.
#include "matrix.cuh"
#define ARGUMENTS const unsigned char *__restrict__ A, const unsigned char *__restrict__ B, float *__restrict__ C, int M, int N, int K

// pairs of e4m3 (S.1234.567) as f16, 2^8 too small until multiplied: exponents and subnormals come right by themselves
__device__ __forceinline__ unsigned two_halves(unsigned spread) {
  unsigned r, bits = (spread & 0x80008000u) | ((spread & 0x7f007f00u) >> 1);
  asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(r) : "r"(bits), "r"(0x5c005c00u)); return r;
}
__device__ __forceinline__ uint4 eight_halves(unsigned low, unsigned high) {
  return make_uint4(two_halves(__byte_perm(low, 0, 0x1404)), two_halves(__byte_perm(low, 0, 0x3424)), two_halves(__byte_perm(high, 0, 0x1404)), two_halves(__byte_perm(high, 0, 0x3424)));
}
struct Product {
  float acc[2][4][4];  // 8 waves of 32 lanes: 4 x 2 of 32 x 32
  __device__ __forceinline__ void clear() {
#pragma unroll
    for (int i = 0; i < 32; i++) (&acc[0][0][0])[i] = 0.0f;
  }
  __device__ __forceinline__ void put(float* C, int N) {
    const int lane = threadIdx.x & 31, w = threadIdx.x >> 5, row = blockIdx.y * 128 + w / 2 * 32 + (lane >> 2), column = blockIdx.x * 64 + w % 2 * 32 + (lane & 3) * 2;
#pragma unroll
    for (int i = 0; i < 2; i++)
#pragma unroll
      for (int j = 0; j < 4; j++)
#pragma unroll
        for (int h = 0; h < 2; h++) *(float2*)(C + (size_t)(row + i * 16 + h * 8) * N + column + j * 8) = make_float2(acc[i][j][2 * h], acc[i][j][2 * h + 1]);
  }
  // fragments of rows of A and rows of B, `step` bytes of k at a time
  template <int LD, class Mma> __device__ __forceinline__ void multiply(const char* tile, Mma mma) {
    const int lane = threadIdx.x & 31, w = threadIdx.x >> 5;
    const char* a = tile + (w / 2 * 32 + (lane & 15)) * LD + (lane >> 4) * 16;
    const char* b = tile + 128 * LD + (w % 2 * 32 + (lane & 7) + (lane >> 4) * 8) * LD + (lane >> 3 & 1) * 16;
#pragma unroll
    for (int k = 0; k < LD - 16; k += 32) {
      unsigned fa[2][4], fb[2][4];
#pragma unroll
      for (int i = 0; i < 2; i++) load_fragments(fa[i], a + i * 16 * LD + k);
#pragma unroll
      for (int j = 0; j < 2; j++) load_fragments(fb[j], b + j * 16 * LD + k);
#pragma unroll
      for (int i = 0; i < 2; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) mma(acc[i][j], fa[i], fb[j / 2][j % 2 * 2], fb[j / 2][j % 2 * 2 + 1]);
    }
  }
};
struct Registers { uint4 a[2], b; };
// 64 of k: a thread copies 16 of each of two rows of A and a row of B
template <int LD, class Put, class Mma> __device__ __forceinline__ void product(ARGUMENTS, Put put, Mma mma) {
  extern __shared__ __align__(128) char tiles[];
  const int row = threadIdx.x / 4, column = threadIdx.x % 4 * 16;
  const unsigned char *a = A + (size_t)(blockIdx.y * 128 + row) * K + column, *b = B + (size_t)(blockIdx.x * 64 + row) * K + column;
  Product tile; tile.clear();
  pipeline_direct<2, Registers>(K / 64, [&](Registers& r, int t) {
    r.a[0] = *(const uint4*)(a + t * 64);
    r.a[1] = *(const uint4*)(a + (size_t)64 * K + t * 64);
    r.b = *(const uint4*)(b + t * 64);
  }, [&](const Registers& r, int s) {
    char* to = tiles + s * 192 * LD + row * LD + column * (LD - 16) / 64;
    put(to, r.a[0]); put(to + 64 * LD, r.a[1]); put(to + 128 * LD, r.b);
  }, [&](int s) { tile.template multiply<LD>(tiles + s * 192 * LD, mma); });
  tile.put(C, N);
}
extern "C" __global__ void __launch_bounds__(256) fp8_gemm_sync(ARGUMENTS) {
  product<64 + 16>(A, B, C, M, N, K, [](char* to, uint4 v) { *(uint4*)to = v; }, [](float(&d)[4], const unsigned(&a)[4], unsigned b0, unsigned b1) {
    asm volatile("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  });
}
extern "C" __global__ void __launch_bounds__(256) fp8_gemm_f16(ARGUMENTS) {
  product<128 + 16>(A, B, C, M, N, K, [](char* to, uint4 v) { ((uint4*)to)[0] = eight_halves(v.x, v.y); ((uint4*)to)[1] = eight_halves(v.z, v.w); },
                    [](float(&d)[4], const unsigned(&a)[4], unsigned b0, unsigned b1) { mma_f16(d, a, b0, b1); });
}
