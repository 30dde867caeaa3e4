// Convolution 3 x 3, padded by one, as a product: in [H][W][C] and weights [3][3][C][K] in f16, out [H][W][K] in f32, sums in f32. Rows of
// the left matrix are pixels; its columns, 32 at a time, are channels of one of the nine neighbours, zeros outside. C in 32s, K in 64s.
// convolution_nhwc_async: three tiles in local memory, copied asynchronously. convolution_nhwc_direct: two on their way in registers.
#include "matrix.cuh"
using Product = Tile<64, 64, 32, 2, 2>;

// where a thread's chunks come from: neighbours of two pixels (a bit says which of the nine lie inside), 32 channels after the other
struct Pixels {
  const half_t *a[2], *b[2];
  int inside[2], tap = 0, column = 0, c = 0, shift, C, W, K;
  __device__ __forceinline__ Pixels(const half_t* in, const half_t* weights, int C_, int H, int W_, int K_) : shift(-(W_ + 1) * C_), C(C_), W(W_), K(K_) {
#pragma unroll
    for (int q = 0; q < 2; q++) {
      const int pixel = blockIdx.y * 64 + Product::row_a(q), y = pixel / W, x = pixel % W;
      const int columns = (x > 0 ? 1 : 0) | 2 | (x < W - 1 ? 4 : 0);
      inside[q] = y >= H ? 0 : (y > 0 ? columns : 0) | columns << 3 | (y < H - 1 ? columns << 6 : 0);
      a[q] = in + (size_t)(y < H ? pixel : 0) * C + Product::column_a(q);
      b[q] = weights + (size_t)Product::row_b(q) * K + blockIdx.x * 64 + Product::column_b(q);
    }
  }
  __device__ __forceinline__ bool there(int q) const { return inside[q] >> tap & 1; }
  __device__ __forceinline__ void step() {
#pragma unroll
    for (int q = 0; q < 2; q++) b[q] += (size_t)32 * K;
    c += 32; shift += 32;
    if (c == C) {
      c = 0; tap++; column++;
      if (column == 3) { column = 0; shift += (W - 3) * C; }
    }
  }
  __device__ __forceinline__ void copy(half_t* tile) {
#pragma unroll
    for (int q = 0; q < 2; q++) {
      copy_async_some(Product::at_a(tile, q), a[q] + (there(q) ? shift : 0), there(q) ? 16 : 0);
      copy_async(Product::at_b(tile, q), b[q]);
    }
    step();
  }
  __device__ __forceinline__ void load(Product::Registers& r) {
#pragma unroll
    for (int q = 0; q < 2; q++) {
      r.a[q] = make_uint4(0, 0, 0, 0);
      if (there(q)) r.a[q] = *(const uint4*)(a[q] + shift);
      r.b[q] = *(const uint4*)b[q];
    }
    step();
  }
};
__device__ __forceinline__ void put_results(Product& tile, float* out, int pixels, int K) {
  const int first = blockIdx.y * 64;
  tile.results([&](int row) { return out + (size_t)(first + row) * K + blockIdx.x * 64; }, put_floats, pixels - first);
}
#define ARGUMENTS const half_t *__restrict__ in, const half_t *__restrict__ weights, float *__restrict__ out, int C, int H, int W, int K
extern "C" __global__ void __launch_bounds__(128) convolution_nhwc_async(ARGUMENTS) {
  extern __shared__ __align__(128) half_t tiles[];
  Pixels from(in, weights, C, H, W, K);
  Product tile; tile.clear();
  pipeline_async<3>(9 * C / 32, [&](int s, int) { from.copy(tiles + s * Product::HALVES); }, [&](int s) { tile.multiply(tiles + s * Product::HALVES); });
  put_results(tile, out, H * W, K);
}
extern "C" __global__ void __launch_bounds__(128) convolution_nhwc_direct(ARGUMENTS) {
  extern __shared__ __align__(128) half_t tiles[];
  Pixels from(in, weights, C, H, W, K);
  Product tile; tile.clear();
  pipeline_direct<2, Product::Registers>(9 * C / 32, [&](Product::Registers& r, int) { from.load(r); },
    [&](const Product::Registers& r, int s) { Product::store(tiles + s * Product::HALVES, r); }, [&](int s) { tile.multiply(tiles + s * Product::HALVES); });
  put_results(tile, out, H * W, K);
}
