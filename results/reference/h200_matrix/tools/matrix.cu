#include <cuda_fp16.h>
#include "../../h200/kernels.cuh"
#include "../../h200/kernels2.cuh"
#define KEEP(f) template __global__ void f
template __global__ void k_hgemm_wmma<2>(const __half*, const __half*, float*, int, int, int);
template __global__ void k_hgemm_wmma<3>(const __half*, const __half*, float*, int, int, int);
template __global__ void k_hgemm_wmma<4>(const __half*, const __half*, float*, int, int, int);
template __global__ void k_mma_chain<2>(float*, int);
template __global__ void k_mma_chain<8>(float*, int);
template __global__ void k_mma_tf32_chain<2>(float*, int);
template __global__ void k_mma_sparse_chain<2>(float*, int);
template __global__ void k_mma_s8_chain<2>(int*, int);
template __global__ void k_mma_f8_chain<2>(float*, int);
template __global__ void k_bulk_stream<4096, 3>(const float4*, float*, int);
template __global__ void k_bulk_stream<32768, 2>(const float4*, float*, int);
template __global__ void k_bulk_stream<1024, 8>(const float4*, float*, int);
template __global__ void k_cluster_sum<4>(const float4*, float*, int);
template __global__ void k_cluster_sum<2>(const float4*, float*, int);
// a stream through local memory by small asynchronous copies, one group a stage
template <int ST, int W> __global__ void __launch_bounds__(256) k_copy_stream(const char* a, float* out, int steps) {
  __shared__ __align__(16) char buf[ST][256 * W]; float s = 0; const char* p = a + ((size_t)blockIdx.x * steps * 256 + threadIdx.x) * W;
  unsigned at = (unsigned)__cvta_generic_to_shared(&buf[0][threadIdx.x * W]);
#pragma unroll
  for (int i = 0; i < ST - 1; i++) { asm volatile("cp.async.ca.shared.global [%0], [%1], %2;\ncp.async.commit_group;" ::"r"(at + i * 256 * W), "l"(p + (size_t)i * 256 * W), "n"(W)); }
  for (int i = 0; i < steps; i++) {
    asm volatile("cp.async.wait_group %0;" ::"n"(ST - 2) : "memory"); __syncthreads();
    s += *(float*)&buf[i % ST][(threadIdx.x ^ 1) * W]; int j = i + ST - 1;
    if (j < steps) asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(at + j % ST * 256 * W), "l"(p + (size_t)j * 256 * W), "n"(W));
    asm volatile("cp.async.commit_group;");
  }
  if (s == 123.25f) out[threadIdx.x] = s;
}
template __global__ void k_copy_stream<2, 16>(const char*, float*, int);
template __global__ void k_copy_stream<4, 16>(const char*, float*, int);
template __global__ void k_copy_stream<4, 4>(const char*, float*, int);
// bf16 product, 64x64 tile a workgroup of 128, plain loads, ldmatrix, one buffer
__global__ void __launch_bounds__(128) k_bgemm_plain(const uint4* A, const uint4* B, float* C, int M, int N, int K) {
  __shared__ __align__(16) uint4 sa[64][5], sb[64][5]; int w = threadIdx.x / 32, l = threadIdx.x % 32; float d[8][4] = {};
  const uint4 *pa = A + (size_t)blockIdx.y * 64 * (K / 8), *pb = B + (size_t)blockIdx.x * 64 * (K / 8);
  for (int k = 0; k < K / 8; k += 4) {
    for (int i = threadIdx.x; i < 256; i += 128) { sa[i / 4][i % 4] = pa[(size_t)(i / 4) * (K / 8) + k + i % 4]; sb[i / 4][i % 4] = pb[(size_t)(i / 4) * (K / 8) + k + i % 4]; }
    __syncthreads();
#pragma unroll
    for (int kk = 0; kk < 2; kk++) {
      unsigned a[4], b[2]; unsigned q = (unsigned)__cvta_generic_to_shared(&sa[w * 16 + l % 16][kk * 2 + l / 16]);
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3]) : "r"(q));
#pragma unroll
      for (int j = 0; j < 8; j++) {
        q = (unsigned)__cvta_generic_to_shared(&sb[j * 8 + l % 8][kk * 2 + (l / 8) % 2]);
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];" : "=r"(b[0]), "=r"(b[1]) : "r"(q));
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};" : "+f"(d[j][0]), "+f"(d[j][1]), "+f"(d[j][2]), "+f"(d[j][3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
      }
    }
    __syncthreads();
  }
  for (int j = 0; j < 8; j++) { size_t r = blockIdx.y * 64 + w * 16 + l / 4; int c = blockIdx.x * 64 + j * 8 + l % 4 * 2; *(float2*)&C[r * N + c] = make_float2(d[j][0], d[j][1]); *(float2*)&C[(r + 8) * N + c] = make_float2(d[j][2], d[j][3]); }
}
// 8-bit integers, register tiles straight from global memory
__global__ void __launch_bounds__(256) k_igemm_direct(const unsigned* A, const unsigned* B, int* C, int M, int N, int K) {
  int w = threadIdx.x / 32, l = threadIdx.x % 32, d[4][4] = {}; size_t r = blockIdx.y * 128 + w * 16 + l / 4; int n0 = blockIdx.x * 32;
  const unsigned *pa = A + r * (K / 4) + l % 4, *pb = B + (size_t)(n0 + l / 4) * (K / 4) + l % 4; size_t e = (size_t)8 * (K / 4);
  for (int k = 0; k < K / 4; k += 8) {
    unsigned a0 = pa[k], a1 = pa[k + e], a2 = pa[k + 4], a3 = pa[k + e + 4];
#pragma unroll
    for (int j = 0; j < 4; j++) { unsigned b0 = pb[k + j * e], b1 = pb[k + j * e + 4];
      asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};" : "+r"(d[j][0]), "+r"(d[j][1]), "+r"(d[j][2]), "+r"(d[j][3]) : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1)); }
  }
  for (int j = 0; j < 4; j++) { int c = n0 + j * 8 + l % 4 * 2; *(int2*)&C[r * N + c] = make_int2(d[j][0], d[j][1]); *(int2*)&C[(r + 8) * N + c] = make_int2(d[j][2], d[j][3]); }
}
// double precision, a tile of 8x8 a wave, four of them
__global__ void __launch_bounds__(128) k_dgemm_mma(const double* A, const double* B, double* C, int M, int N, int K) {
  int w = threadIdx.x / 32, l = threadIdx.x % 32; double d[4][2] = {}; size_t r = blockIdx.y * 32 + w * 8 + l / 4; int n0 = blockIdx.x * 32;
  const double *pa = A + r * K + l % 4, *pb = B + (size_t)(n0 + l / 4) * K + l % 4;
  for (int k = 0; k < K; k += 4) { double a = pa[k];
#pragma unroll
    for (int j = 0; j < 4; j++) { double b = pb[(size_t)j * 8 * K + k]; asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1},{%2},{%3},{%0,%1};" : "+d"(d[j][0]), "+d"(d[j][1]) : "d"(a), "d"(b)); } }
  for (int j = 0; j < 4; j++) { int c = n0 + j * 8 + l % 4 * 2; C[r * N + c] = d[j][0]; C[r * N + c + 1] = d[j][1]; }
}
// a histogram over a cluster's local memories
__global__ void __launch_bounds__(256) k_cluster_histogram(const unsigned* a, int* out, int n) {
  __shared__ int bins[256]; cg::cluster_group cl = cg::this_cluster(); bins[threadIdx.x] = 0; cl.sync();
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) { unsigned v = a[i] & 1023; atomicAdd(cl.map_shared_rank(bins, (v >> 8) % cl.num_blocks()) + (v & 255), 1); }
  cl.sync(); if (bins[threadIdx.x]) atomicAdd(&out[cl.block_rank() * 256 + threadIdx.x], bins[threadIdx.x]);
}
// every workgroup of a cluster reads one tile that its first one brought in
__global__ void __launch_bounds__(256) k_cluster_share(const float4* a, float* out, int tiles) {
  __shared__ float4 t[1024]; cg::cluster_group cl = cg::this_cluster(); float s = 0; unsigned n = cl.num_blocks();
  for (int k = 0; k < tiles; k++) {
    const float4* p = a + ((size_t)(blockIdx.x / n) * tiles + k) * 1024; unsigned part = 1024 / n;
    for (unsigned i = threadIdx.x; i < part; i += 256) t[cl.block_rank() * part + i] = p[cl.block_rank() * part + i];
    cl.sync(); for (int i = threadIdx.x; i < 1024; i += 256) { float4 v = cl.map_shared_rank(t, i / part)[i]; s += v.x + v.y + v.z + v.w; } cl.sync();
  }
  if (s == 123.25f) out[threadIdx.x] = s;
}
