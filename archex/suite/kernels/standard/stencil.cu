// Nearest neighbours on a square of n x n and on a cube of n x n x n points; the border is left alone.
extern "C" __global__ void stencil2d(const float *__restrict__ a, float *__restrict__ c, int n) {
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1) return;
  size_t i = (size_t)y * n + x;
  c[i] = 0.2f * (a[i] + a[i - 1] + a[i + 1] + a[i - n] + a[i + n]);
}
extern "C" __global__ void stencil3d(const float *__restrict__ a, float *__restrict__ c, int n) {
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y, z = blockIdx.z;
  if (x < 1 || y < 1 || z < 1 || x >= n - 1 || y >= n - 1 || z >= n - 1) return;
  size_t plane = (size_t)n * n, i = z * plane + (size_t)y * n + x;
  c[i] = 0.125f * (a[i] + a[i - 1] + a[i + 1] + a[i - n] + a[i + n] + a[i - plane] + a[i + plane]);
}
