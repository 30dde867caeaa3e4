// Convolution 3 x 3, padded by one, as a product: in [H][W][C] and weights [3][3][C][K] in f16, out [H][W][K] in f32, sums in f32. Rows of
// the left matrix are pixels; its columns, 32 at a time, are channels of one of the nine neighbours, zeros outside. C in 32s, K in 64s.
// convolution_nhwc_async: three tiles in local memory, copied asynchronously. convolution_nhwc_direct: two on their way in registers.
#include "matrix.cuh"
using Product = Tile<64, 64, 32, 2, 2>;

struct Pixels {
  const half_t *in, *b;
  int x[2], y[2], C, H, W, K;
  __device__ __forceinline__ Pixels(const half_t* in_, const half_t* weights, int C_, int H_, int W_, int K_) : in(in_ + Product::column_a(0)), C(C_), H(H_), W(W_), K(K_) {
    b = weights + (size_t)Product::row_b(0) * K + blockIdx.x * 64 + Product::column_b(0);
#pragma unroll
    for (int q = 0; q < 2; q++) {
      const int pixel = blockIdx.y * 64 + Product::row_a(q);
      y[q] = pixel < H * W ? pixel / W : -2; x[q] = pixel % W;
    }
  }
  __device__ __forceinline__ bool inside(int q, int dy, int dx) const { return (unsigned)(y[q] + dy) < (unsigned)H && (unsigned)(x[q] + dx) < (unsigned)W; }
  __device__ __forceinline__ const half_t* from_a(int q, int dy, int dx, int c) const { return in + ((size_t)(y[q] + dy) * W + x[q] + dx) * C + c; }
  __device__ __forceinline__ const half_t* from_b(int q, int t) const { return b + (size_t)(t * 32 + q * 16) * K; }
};
__device__ __forceinline__ void put_results(Product& tile, float* out, int pixels, int K) {
  tile.results([&](int row, int column, float x, float y) {
    if (blockIdx.y * 64 + row < pixels) *(float2*)(out + (size_t)(blockIdx.y * 64 + row) * K + blockIdx.x * 64 + column) = make_float2(x, y);
  });
}
// which neighbour and channels a tile of k is about; tiles come in order
struct Walk {
  int dy = -1, dx = -1, c = 0;
  __device__ __forceinline__ void step(int C) { c += 32; if (c == C) { c = 0; if (++dx == 2) { dx = -1; dy++; } } }
};
#define ARGUMENTS const half_t *__restrict__ in, const half_t *__restrict__ weights, float *__restrict__ out, int C, int H, int W, int K
extern "C" __global__ void __launch_bounds__(128) convolution_nhwc_async(ARGUMENTS) {
  extern __shared__ __align__(128) half_t tiles[];
  const Pixels from(in, weights, C, H, W, K);
  Walk walk;
  Product tile; tile.clear();
  pipeline_async<3>(9 * C / 32, [&](int s, int t) {
    half_t* to = tiles + s * Product::HALVES;
#pragma unroll
    for (int q = 0; q < 2; q++) {
      const bool there = from.inside(q, walk.dy, walk.dx);
      copy_async_some(Product::at_a(to, q), there ? from.from_a(q, walk.dy, walk.dx, walk.c) : in, there ? 16 : 0);
      copy_async(Product::at_b(to, q), from.from_b(q, t));
    }
    walk.step(C);
  }, [&](int s) { tile.multiply(tiles + s * Product::HALVES); });
  put_results(tile, out, H * W, K);
}
extern "C" __global__ void __launch_bounds__(128) convolution_nhwc_direct(ARGUMENTS) {
  extern __shared__ __align__(128) half_t tiles[];
  const Pixels from(in, weights, C, H, W, K);
  Walk walk;
  Product tile; tile.clear();
  pipeline_direct<2, Product::Registers>(9 * C / 32, [&](Product::Registers& r, int t) {
#pragma unroll
    for (int q = 0; q < 2; q++) {
      r.a[q] = from.inside(q, walk.dy, walk.dx) ? *(const uint4*)from.from_a(q, walk.dy, walk.dx, walk.c) : make_uint4(0, 0, 0, 0);
      r.b[q] = *(const uint4*)from.from_b(q, t);
    }
    walk.step(C);
  }, [&](const Product::Registers& r, int s) { Product::store(tiles + s * Product::HALVES, r); }, [&](int s) { tile.multiply(tiles + s * Product::HALVES); });
  put_results(tile, out, H * W, K);
}
