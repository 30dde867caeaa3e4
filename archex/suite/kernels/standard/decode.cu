// Attention of one query a head over a cache of keys and values, 128 wide, in f16: the step that makes one token. A workgroup of 128 takes a
// share of a head's tokens (16 lanes a token, 4 tokens at a time each) and leaves sums that the last kernel puts together.
// decode_split: K and V are [heads][tokens][128]. decode_paged: they lie in pages of 16 tokens, [pages][heads][16][128]; a table by
// sequence says which. decode_combine: sums of `splits` shares -> O [queries][128] in f32. scale is by log2(e) larger, for powers of two.
#include "matrix.cuh"
constexpr int D = 128, AT_ONCE = 4, GROUPS = 8, PAGE = 16;

__device__ __forceinline__ float power_of_two(float x) { float y; asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; }
__device__ __forceinline__ void widen(float (&f)[8], uint4 v) {
  const unsigned w[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
  for (int i = 0; i < 4; i++) { const float2 two = unpack_halves(w[i]); f[2 * i] = two.x; f[2 * i + 1] = two.y; }
}
// tokens first ... last - 1 of one query; place(token) is where the token's row begins, in halves. partial: 128 sums, then the largest
// score and the total
template <class Place> __device__ __forceinline__ void attend(const half_t* query, const half_t* K, const half_t* V, float* partial, int first, int last, float scale, Place place) {
  __shared__ float sums[GROUPS][D], most_of[GROUPS], total_of[GROUPS];
  const int group = threadIdx.x / 16, lane = threadIdx.x % 16;
  float q[8], o[8] = {}, most = -1e30f, total = 0.0f;
  widen(q, ((const uint4*)query)[lane]);
#pragma unroll
  for (int i = 0; i < 8; i++) q[i] *= scale;
#pragma unroll 1
  for (int t = first + group; t - group < last; t += GROUPS * AT_ONCE) {
    uint4 k[AT_ONCE], v[AT_ONCE];
    float s[AT_ONCE], m = most;
#pragma unroll
    for (int i = 0; i < AT_ONCE; i++) {
      const size_t from = place(min(t + i * GROUPS, last - 1)) + lane * 8;
      k[i] = *(const uint4*)(K + from); v[i] = *(const uint4*)(V + from);
    }
#pragma unroll
    for (int i = 0; i < AT_ONCE; i++) {
      float f[8];
      widen(f, k[i]);
      s[i] = 0.0f;
#pragma unroll
      for (int j = 0; j < 8; j++) s[i] = fmaf(f[j], q[j], s[i]);
#pragma unroll
      for (int d = 8; d; d >>= 1) s[i] += __shfl_xor_sync(~0u, s[i], d);
      if (t + i * GROUPS >= last) s[i] = -1e30f;
      m = fmaxf(m, s[i]);
    }
    const float less = power_of_two(most - m);
    total *= less; most = m;
#pragma unroll
    for (int j = 0; j < 8; j++) o[j] *= less;
#pragma unroll
    for (int i = 0; i < AT_ONCE; i++) {
      float f[8];
      widen(f, v[i]);
      const float p = power_of_two(s[i] - m);
      total += p;
#pragma unroll
      for (int j = 0; j < 8; j++) o[j] = fmaf(p, f[j], o[j]);
    }
  }
#pragma unroll
  for (int j = 0; j < 8; j++) sums[group][lane * 8 + j] = o[j];
  if (!lane) { most_of[group] = most; total_of[group] = total; }
  __syncthreads();
  float m = most_of[0], sum = 0.0f, all = 0.0f;
#pragma unroll
  for (int g = 1; g < GROUPS; g++) m = fmaxf(m, most_of[g]);
#pragma unroll
  for (int g = 0; g < GROUPS; g++) { const float w = power_of_two(most_of[g] - m); sum = fmaf(w, sums[g][threadIdx.x], sum); all = fmaf(w, total_of[g], all); }
  partial[threadIdx.x] = sum;
  if (!threadIdx.x) { partial[D] = m; partial[D + 1] = all; }
}
// partial: [queries][splits][132]
__device__ __forceinline__ float* own_partial(float* partial) { return partial + ((size_t)blockIdx.y * gridDim.x + blockIdx.x) * (D + 4); }
extern "C" __global__ void __launch_bounds__(128) decode_split(const half_t* __restrict__ Q, const half_t* __restrict__ K, const half_t* __restrict__ V, float* __restrict__ partial, int tokens, float scale) {
  const int share = (tokens + gridDim.x - 1) / gridDim.x, first = blockIdx.x * share;
  const size_t head = (size_t)blockIdx.y * tokens * D;
  attend(Q + (size_t)blockIdx.y * D, K + head, V + head, own_partial(partial), first, min(first + share, tokens), scale, [](int t) { return (size_t)t * D; });
}
extern "C" __global__ void __launch_bounds__(128) decode_paged(const half_t* __restrict__ Q, const half_t* __restrict__ K, const half_t* __restrict__ V, const int* __restrict__ table, const int* __restrict__ lengths, float* __restrict__ partial, int heads, int pages, float scale) {
  const int sequence = blockIdx.y / heads, head = blockIdx.y % heads, tokens = lengths[sequence];
  const int share = (tokens + gridDim.x - 1) / gridDim.x, first = blockIdx.x * share;
  const int* own = table + (size_t)sequence * pages;
  attend(Q + (size_t)blockIdx.y * D, K, V, own_partial(partial), first, min(first + share, tokens), scale,
         [&](int t) { return (((size_t)own[t / PAGE] * heads + head) * PAGE + t % PAGE) * D; });
}
extern "C" __global__ void __launch_bounds__(128) decode_combine(const float* __restrict__ partial, float* __restrict__ O, int splits) {
  const float* own = partial + (size_t)blockIdx.x * splits * (D + 4);
  float m = -1e30f, sum = 0.0f, all = 0.0f;
#pragma unroll 1
  for (int s = 0; s < splits; s++) m = fmaxf(m, own[s * (D + 4) + D]);
#pragma unroll 1
  for (int s = 0; s < splits; s++) {
    const float w = power_of_two(own[s * (D + 4) + D] - m);
    sum = fmaf(w, own[s * (D + 4) + threadIdx.x], sum); all = fmaf(w, own[s * (D + 4) + D + 1], all);
  }
  O[(size_t)blockIdx.x * D + threadIdx.x] = sum / all;
}
