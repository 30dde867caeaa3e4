// O = softmax(Q K^T) V by tiles: no scores reach memory. Q, K, V, O: [heads][tokens][64] in f16; scale is by log2(e) larger, for powers of
// two. A workgroup of 128 takes 64 queries of a head, each 32 lanes 16 of them, and passes 64 keys at a time.
// attention_async: two tiles of K and V in local memory, copied asynchronously. attention_direct: one of them on its way in registers.
#include "matrix.cuh"
constexpr int D = 64, ROWS = 64, LD = D + 8, HALVES = 2 * ROWS * LD;
struct Registers { uint4 k[4], v[4]; };

__device__ __forceinline__ float power_of_two(float x) { float y; asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; }
__device__ __forceinline__ float over_four(float x, bool sum) {
#pragma unroll
  for (int o = 1; o <= 2; o <<= 1) { float y = __shfl_xor_sync(~0u, x, o); x = sum ? x + y : fmaxf(x, y); }
  return x;
}
struct Rows {
  float o[8][4], most[2], total[2];
  unsigned q[4][4];
  float scale;

  __device__ __forceinline__ void open(const half_t* own, half_t* tile, float s) {
    const int lane = threadIdx.x & 31, w = threadIdx.x >> 5;
#pragma unroll
    for (int c = 0; c < 4; c++) { int e = threadIdx.x + c * 128; *(uint4*)(tile + e / 8 * LD + e % 8 * 8) = *(const uint4*)(own + e * 8); }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 4; k++) load_fragments(q[k], tile + (w * 16 + (lane & 15)) * LD + k * 16 + (lane >> 4) * 8);
#pragma unroll
    for (int j = 0; j < 8; j++)
#pragma unroll
      for (int c = 0; c < 4; c++) o[j][c] = 0.0f;
    most[0] = most[1] = -1e30f; total[0] = total[1] = 0.0f; scale = s;
  }
  // 64 keys: K of the tile, then V
  __device__ __forceinline__ void pass(const half_t* tile) {
    const int lane = threadIdx.x & 31;
    float s[8][4] = {};
    const half_t* keys = tile + ((lane & 7) + (lane >> 4) * 8) * LD + (lane >> 3 & 1) * 8;
#pragma unroll
    for (int k = 0; k < 4; k++)
#pragma unroll
      for (int j = 0; j < 4; j++) {
        unsigned f[4];
        load_fragments(f, keys + j * 16 * LD + k * 16);
        mma_f16(s[2 * j], q[k], f[0], f[1]);
        mma_f16(s[2 * j + 1], q[k], f[2], f[3]);
      }
#pragma unroll
    for (int r = 0; r < 2; r++) {
      float m = most[r];
#pragma unroll
      for (int j = 0; j < 8; j++) m = fmaxf(m, fmaxf(s[j][2 * r], s[j][2 * r + 1]) * scale);
      m = over_four(m, false);
      const float less = power_of_two(most[r] - m);
      float t = 0.0f;
#pragma unroll
      for (int j = 0; j < 8; j++) {
        s[j][2 * r] = power_of_two(fmaf(s[j][2 * r], scale, -m));
        s[j][2 * r + 1] = power_of_two(fmaf(s[j][2 * r + 1], scale, -m));
        t += s[j][2 * r] + s[j][2 * r + 1];
        o[j][2 * r] *= less; o[j][2 * r + 1] *= less;
      }
      total[r] = total[r] * less + t; most[r] = m;
    }
    const half_t* values = tile + ROWS * LD + (lane & 15) * LD + (lane >> 4) * 8;
#pragma unroll
    for (int k = 0; k < 4; k++) {
      const unsigned p[4] = {pack_halves(s[2 * k][0], s[2 * k][1]), pack_halves(s[2 * k][2], s[2 * k][3]), pack_halves(s[2 * k + 1][0], s[2 * k + 1][1]), pack_halves(s[2 * k + 1][2], s[2 * k + 1][3])};
#pragma unroll
      for (int j = 0; j < 4; j++) {
        unsigned f[4];
        load_fragments_transposed(f, values + k * 16 * LD + j * 16);
        mma_f16(o[2 * j], p, f[0], f[1]);
        mma_f16(o[2 * j + 1], p, f[2], f[3]);
      }
    }
  }
  __device__ __forceinline__ void close(half_t* own) {
    const int lane = threadIdx.x & 31, row = (threadIdx.x >> 5) * 16 + (lane >> 2);
#pragma unroll
    for (int r = 0; r < 2; r++) {
      const float one = 1.0f / over_four(total[r], true);
#pragma unroll
      for (int j = 0; j < 8; j++) *(unsigned*)(own + (row + r * 8) * D + j * 8 + (lane & 3) * 2) = pack_halves(o[j][2 * r] * one, o[j][2 * r + 1] * one);
    }
  }
};
#define ARGUMENTS const half_t *__restrict__ Q, const half_t *__restrict__ K, const half_t *__restrict__ V, half_t *__restrict__ O, int tokens, float scale
extern "C" __global__ void __launch_bounds__(128) attention_async(ARGUMENTS) {
  extern __shared__ __align__(128) half_t tiles[];
  const size_t head = (size_t)blockIdx.y * tokens * D, own = head + (size_t)blockIdx.x * ROWS * D;
  Rows rows; rows.open(Q + own, tiles + 2 * HALVES, scale);
  pipeline_async<2>(tokens / ROWS, [&](int s, int t) {
#pragma unroll
    for (int c = 0; c < 4; c++) {
      const int e = threadIdx.x + c * 128;
      half_t* to = tiles + s * HALVES + e / 8 * LD + e % 8 * 8;
      copy_async(to, K + head + (size_t)t * ROWS * D + e * 8);
      copy_async(to + ROWS * LD, V + head + (size_t)t * ROWS * D + e * 8);
    }
  }, [&](int s) { rows.pass(tiles + s * HALVES); });
  rows.close(O + own);
}
extern "C" __global__ void __launch_bounds__(128) attention_direct(ARGUMENTS) {
  extern __shared__ __align__(128) half_t tiles[];
  const size_t head = (size_t)blockIdx.y * tokens * D, own = head + (size_t)blockIdx.x * ROWS * D;
  Rows rows; rows.open(Q + own, tiles + 2 * HALVES, scale);
  pipeline_direct<1, Registers>(tokens / ROWS, [&](Registers& r, int t) {
#pragma unroll
    for (int c = 0; c < 4; c++) {
      const size_t e = head + (size_t)t * ROWS * D + (threadIdx.x + c * 128) * 8;
      r.k[c] = *(const uint4*)(K + e); r.v[c] = *(const uint4*)(V + e);
    }
  }, [&](const Registers& r, int s) {
#pragma unroll
    for (int c = 0; c < 4; c++) {
      const int e = threadIdx.x + c * 128;
      half_t* to = tiles + s * HALVES + e / 8 * LD + e % 8 * 8;
      *(uint4*)to = r.k[c]; *(uint4*)(to + ROWS * LD) = r.v[c];
    }
  }, [&](int s) { rows.pass(tiles + s * HALVES); });
  rows.close(O + own);
}
