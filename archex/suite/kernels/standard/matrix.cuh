// What the matrix kernels share: fragments of 16 x 16, copies of 16 bytes, two pipelines. Halves are raw 16-bit words.
#pragma once
typedef unsigned short half_t;

__device__ __forceinline__ unsigned local_address(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }

// --- fragments
__device__ __forceinline__ void load_fragments(unsigned (&r)[4], const void* p) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(local_address(p)) : "memory");
}
__device__ __forceinline__ void load_fragments_transposed(unsigned (&r)[4], const void* p) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(local_address(p)) : "memory");
}
__device__ __forceinline__ void mma_f16(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
__device__ __forceinline__ unsigned pack_halves(float low, float high) {
  unsigned r; asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low)); return r;
}
__device__ __forceinline__ float2 unpack_halves(unsigned v) {
  float2 r; asm("{\n\t.reg .b16 low, high;\n\tmov.b32 {low, high}, %2;\n\tcvt.f32.f16 %0, low;\n\tcvt.f32.f16 %1, high;\n\t}" : "=f"(r.x), "=f"(r.y) : "r"(v)); return r;
}

// --- copies
__device__ __forceinline__ void copy_async(void* to, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(local_address(to)), "l"(from) : "memory");
}
// zeros where `bytes` is 0: nothing is read then
__device__ __forceinline__ void copy_async_some(void* to, const void* from, int bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(local_address(to)), "l"(from), "r"(bytes) : "memory");
}
__device__ __forceinline__ void close_group() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int OPEN> __device__ __forceinline__ void wait_groups() { asm volatile("cp.async.wait_group %0;" ::"n"(OPEN) : "memory"); }

// --- pipelines over the tiles of k
// STAGES tiles in local memory, copied asynchronously
template <int STAGES, class Issue, class Multiply> __device__ __forceinline__ void pipeline_async(int tiles, Issue issue, Multiply multiply) {
#pragma unroll
  for (int s = 0; s < STAGES - 1; s++) { if (s < tiles) issue(s, s); close_group(); }
  int reads = 0, writes = STAGES - 1;
#pragma unroll 1
  for (int t = 0; t < tiles; t++) {
    wait_groups<STAGES - 2>();
    __syncthreads();
    if (t + STAGES - 1 < tiles) issue(writes, t + STAGES - 1);
    close_group();
    multiply(reads);
    reads = reads + 1 == STAGES ? 0 : reads + 1;
    writes = writes + 1 == STAGES ? 0 : writes + 1;
  }
}
// DEPTH tiles on their way in registers, two in local memory
template <int DEPTH, class Registers, class Load, class Store, class Multiply>
__device__ __forceinline__ void pipeline_direct(int tiles, Load load, Store store, Multiply multiply) {
  Registers queue[DEPTH];
#pragma unroll
  for (int d = 0; d < DEPTH; d++) if (d < tiles) load(queue[d], d);
#pragma unroll 1
  for (int t = 0; t < tiles; t += DEPTH)
#pragma unroll
    for (int d = 0; d < DEPTH; d++)
      if (t + d < tiles) {
        store(queue[d], (t + d) & 1);
        if (t + d + DEPTH < tiles) load(queue[d], t + d + DEPTH);
        __syncthreads();
        multiply((t + d) & 1);
      }
}

// --- a workgroup's tile of a product: BM x BN of C, BK of k at a time, in WM x WN sub-tiles of 32 lanes each. A and B by rows.
template <int BM_, int BN_, int BK_, int WM, int WN> struct Tile {
  static constexpr int BM = BM_, BN = BN_, BK = BK_, THREADS = 32 * WM * WN, FM = BM / WM / 16, FN = BN / WN / 8;
  static constexpr int STEP_B = BK, LA = BK + 8, LB = BN + 8, HALVES = BM * LA + BK * LB;  // rows are padded by 16 bytes: no bank conflicts
  static constexpr int CHUNKS_A = BM * BK / 8 / THREADS, CHUNKS_B = BK * BN / 8 / THREADS;
  struct Registers { uint4 a[CHUNKS_A], b[CHUNKS_B]; };
  float acc[FM][FN][4];

  __device__ __forceinline__ void clear() {
#pragma unroll
    for (int i = 0; i < FM; i++)
#pragma unroll
      for (int j = 0; j < FN; j++)
#pragma unroll
        for (int q = 0; q < 4; q++) acc[i][j][q] = 0.0f;
  }
  static __device__ __forceinline__ int row_a(int q) { return (threadIdx.x + q * THREADS) / (BK / 8); }
  static __device__ __forceinline__ int column_a(int q) { return (threadIdx.x + q * THREADS) % (BK / 8) * 8; }
  static __device__ __forceinline__ int row_b(int q) { return (threadIdx.x + q * THREADS) / (BN / 8); }
  static __device__ __forceinline__ int column_b(int q) { return (threadIdx.x + q * THREADS) % (BN / 8) * 8; }
  static __device__ __forceinline__ half_t* at_a(half_t* tile, int q) { return tile + row_a(q) * LA + column_a(q); }
  static __device__ __forceinline__ half_t* at_b(half_t* tile, int q) { return tile + BM * LA + row_b(q) * LB + column_b(q); }
  static __device__ __forceinline__ void store(half_t* tile, const Registers& r) {
#pragma unroll
    for (int q = 0; q < CHUNKS_A; q++) *(uint4*)at_a(tile, q) = r.a[q];
#pragma unroll
    for (int q = 0; q < CHUNKS_B; q++) *(uint4*)at_b(tile, q) = r.b[q];
  }
  // products of one tile of k, f16 in, f32 sums
  __device__ __forceinline__ void multiply(const half_t* tile) {
    const int lane = threadIdx.x & 31, w = threadIdx.x >> 5, wm = w / WN, wn = w % WN;
    const half_t* a = tile + (wm * FM * 16 + (lane & 15)) * LA + (lane >> 4) * 8;
    const half_t* b = tile + BM * LA + (lane & 15) * LB + wn * FN * 8 + (lane >> 4) * 8;
#pragma unroll
    for (int k = 0; k < BK; k += 16) {
      unsigned fa[FM][4], fb[FN / 2][4];
#pragma unroll
      for (int i = 0; i < FM; i++) load_fragments(fa[i], a + i * 16 * LA + k);
#pragma unroll
      for (int j = 0; j < FN / 2; j++) load_fragments_transposed(fb[j], b + k * LB + j * 16);
#pragma unroll
      for (int i = 0; i < FM; i++)
#pragma unroll
        for (int j = 0; j < FN; j++) mma_f16(acc[i][j], fa[i], fb[j / 2][j % 2 * 2], fb[j / 2][j % 2 * 2 + 1]);
    }
  }
  // put(place, two neighbours) for all that this lane holds of the first `rows` rows; at(row) is where a row begins
  template <class At, class Put> __device__ __forceinline__ void results(At at, Put put, int rows = BM) {
    const int lane = threadIdx.x & 31, w = threadIdx.x >> 5, row = w / WN * FM * 16 + (lane >> 2), column = w % WN * FN * 8 + (lane & 3) * 2;
#pragma unroll
    for (int i = 0; i < FM; i++)
#pragma unroll
      for (int h = 0; h < 2; h++) {
        if (rows < BM && row + i * 16 + h * 8 >= rows) continue;
        const auto place = at(row + i * 16 + h * 8) + column;
#pragma unroll
        for (int j = 0; j < FN; j++) put(place + j * 8, acc[i][j][2 * h], acc[i][j][2 * h + 1]);
      }
  }
};
__device__ __forceinline__ void put_floats(float* to, float x, float y) { *(float2*)to = make_float2(x, y); }
__device__ __forceinline__ void put_halves(half_t* to, float x, float y) { *(unsigned*)to = pack_halves(x, y); }

// where a thread's chunks of A and B come from; a tile of k after the other
template <class Product> struct Operands {
  const half_t *a[Product::CHUNKS_A], *b[Product::CHUNKS_B];
  int n;
  __device__ __forceinline__ Operands(const half_t* A, const half_t* B, int row, int column, int N, int K) : n(N) {
#pragma unroll
    for (int q = 0; q < Product::CHUNKS_A; q++) a[q] = A + (size_t)(row + Product::row_a(q)) * K + Product::column_a(q);
#pragma unroll
    for (int q = 0; q < Product::CHUNKS_B; q++) b[q] = B + (size_t)Product::row_b(q) * N + column + Product::column_b(q);
  }
  __device__ __forceinline__ void step() {
#pragma unroll
    for (int q = 0; q < Product::CHUNKS_A; q++) a[q] += Product::BK;
#pragma unroll
    for (int q = 0; q < Product::CHUNKS_B; q++) b[q] += (size_t)Product::STEP_B * n;
  }
  __device__ __forceinline__ void copy(half_t* tile) {
#pragma unroll
    for (int q = 0; q < Product::CHUNKS_A; q++) copy_async(Product::at_a(tile, q), a[q]);
#pragma unroll
    for (int q = 0; q < Product::CHUNKS_B; q++) copy_async(Product::at_b(tile, q), b[q]);
    step();
  }
  __device__ __forceinline__ void load(typename Product::Registers& r) {
#pragma unroll
    for (int q = 0; q < Product::CHUNKS_A; q++) r.a[q] = *(const uint4*)a[q];
#pragma unroll
    for (int q = 0; q < Product::CHUNKS_B; q++) r.b[q] = *(const uint4*)b[q];
    step();
  }
};
// the whole of a workgroup's work: tiles of k through STAGES of local memory, or through DEPTH sets of registers
template <int STAGES, class Product> __device__ __forceinline__ void multiply_async(Product& tile, half_t* tiles, Operands<Product> from, int K) {
  tile.clear();
  pipeline_async<STAGES>(K / Product::BK, [&](int s, int) { from.copy(tiles + s * Product::HALVES); }, [&](int s) { tile.multiply(tiles + s * Product::HALVES); });
}
template <int DEPTH, class Product> __device__ __forceinline__ void multiply_direct(Product& tile, half_t* tiles, Operands<Product> from, int K) {
  tile.clear();
  pipeline_direct<DEPTH, typename Product::Registers>(K / Product::BK, [&](typename Product::Registers& r, int) { from.load(r); },
    [&](const typename Product::Registers& r, int s) { Product::store(tiles + s * Product::HALVES, r); }, [&](int s) { tile.multiply(tiles + s * Product::HALVES); });
}
