// Fills of buffers and a kernel that keeps the clock up; not measured.
#include <cuda_fp16.h>
#include <cstdint>
__device__ __forceinline__ unsigned long long aux_hash(unsigned long long z) { z += 0x9e3779b97f4a7c15ull; z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull; z = (z ^ (z >> 27)) * 0x94d049bb133111ebull; return z ^ (z >> 31); }
template <class T> __device__ void aux_uniform(T* p, size_t n, double low, double high, unsigned long long seed) { for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) p[i] = (T)(float)(low + (high - low) * ((aux_hash(i + seed) >> 11) * 0x1p-53)); }
template <class T> __device__ void aux_whole(T* p, size_t n, long long low, long long high, unsigned long long seed) { for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) p[i] = (T)(low + (long long)__umul64hi(aux_hash(i + seed), (unsigned long long)(high - low))); }
template <class T> __device__ void aux_steps(T* p, size_t n, double step) { for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) p[i] = (T)(i * step); }
extern "C" {
__global__ void uniform_f32(float* p, size_t n, double l, double h, unsigned long long s) { aux_uniform(p, n, l, h, s); }
__global__ void uniform_f64(double* p, size_t n, double l, double h, unsigned long long s) { aux_uniform(p, n, l, h, s); }
__global__ void uniform_f16(__half* p, size_t n, double l, double h, unsigned long long s) { aux_uniform(p, n, l, h, s); }
__global__ void uniform_int_u8(uint8_t* p, size_t n, long long l, long long h, unsigned long long s) { aux_whole(p, n, l, h, s); }
__global__ void uniform_int_32(uint32_t* p, size_t n, long long l, long long h, unsigned long long s) { aux_whole(p, n, l, h, s); }
__global__ void uniform_int_64(uint64_t* p, size_t n, long long l, long long h, unsigned long long s) { aux_whole(p, n, l, h, s); }
__global__ void arange_32(uint32_t* p, size_t n, double step) { aux_steps(p, n, step); }
__global__ void spin(float* p, int iters) { float x = threadIdx.x; for (int i = 0; i < iters; i++) x = x * 0.999f + 0.5f; if (x == 1e30f) *p = x; }
}
