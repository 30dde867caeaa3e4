// arch: sm_90a
// C = A B^T: A (M x K) and B (N x K) in e4m3 by rows, C (M x N) in f32. A workgroup of 256 makes 128 x 64 of C, 128 of k at a time; each
// group of 128 lanes has the matrix unit read 64 rows of A and all of B from local memory. Rows of 128 bytes, chunks of 16 swizzled by row.
#include "matrix.cuh"
constexpr int STAGES = 3, BM = 128, BN = 64, BK = 128, BYTES = (BM + BN) * BK;

// rows of 128 bytes in groups of 8 (1024 bytes), swizzle of 128 bytes
__device__ __forceinline__ unsigned long long descriptor(unsigned address) {
  return (unsigned long long)(address >> 4 & 0x3fff) | 1ull << 16 | 64ull << 32 | 1ull << 62;
}
__device__ __forceinline__ void multiply_64x64x32(float (&d)[32], unsigned long long a, unsigned long long b) {
  asm volatile(
      "{\n\t.reg .pred add;\n\tsetp.ne.b32 add, 1, 0;\n\twgmma.mma_async.sync.aligned.m64n64k32.f32.e4m3.e4m3 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, "
      "%25, %26, %27, %28, %29, %30, %31}, %32, %33, add, 1, 1;\n\t}"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]),
        "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]),
        "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
      : "l"(a), "l"(b));
}
extern "C" __global__ void __launch_bounds__(256) fp8_gemm_async(const unsigned char* __restrict__ A, const unsigned char* __restrict__ B, float* __restrict__ C, int M, int N, int K) {
  extern __shared__ __align__(1024) unsigned char tiles[];
  const int row = threadIdx.x / 8, chunk = threadIdx.x % 8, half = threadIdx.x / 128, lane = threadIdx.x & 31;
  const unsigned char *a = A + (size_t)(blockIdx.y * BM + row) * K + chunk * 16, *b = B + (size_t)(blockIdx.x * BN + row) * K + chunk * 16;
  unsigned char* own = tiles + row * BK + (chunk ^ row & 7) * 16;  // 32 rows on, the swizzle is the same
  float d[32];
#pragma unroll
  for (int i = 0; i < 32; i++) d[i] = 0.0f;
  pipeline_async<STAGES>(K / BK, [&](int s, int t) {
#pragma unroll
    for (int q = 0; q < BM / 32; q++) copy_async(own + s * BYTES + q * 32 * BK, a + (size_t)q * 32 * K + t * BK);
#pragma unroll
    for (int q = 0; q < BN / 32; q++) copy_async(own + s * BYTES + BM * BK + q * 32 * BK, b + (size_t)q * 32 * K + t * BK);
  }, [&](int s) {
    const unsigned from = local_address(tiles + s * BYTES);
    const unsigned long long da = descriptor(from + half * 64 * BK), db = descriptor(from + BM * BK);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int k = 0; k < BK / 32; k++) multiply_64x64x32(d, da + 2 * k, db + 2 * k);
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  });
  float* c = C + (size_t)(blockIdx.y * BM + threadIdx.x / 32 * 16 + (lane >> 2)) * N + blockIdx.x * BN + (lane & 3) * 2;
#pragma unroll
  for (int j = 0; j < 8; j++) {
    *(float2*)(c + j * 8) = make_float2(d[4 * j], d[4 * j + 1]);
    *(float2*)(c + (size_t)8 * N + j * 8) = make_float2(d[4 * j + 2], d[4 * j + 3]);
  }
}
