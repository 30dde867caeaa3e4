// Streams through global memory: whole lines, strides, gathers, two layouts of the same fields, bytes in flight.
extern "C" __global__ void copy(const float4 *__restrict__ a, float4 *__restrict__ c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i];
}

extern "C" __global__ void triad(const float4 *__restrict__ a, const float4 *__restrict__ b, float4 *__restrict__ c, int n, float s) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float4 x = a[i], y = b[i];
  c[i] = make_float4(x.x + s * y.x, x.y + s * y.y, x.z + s * y.z, x.w + s * y.w);
}

extern "C" __global__ void strided(const float *__restrict__ a, float *__restrict__ c, int n, int stride) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[(size_t)i * stride];
}

extern "C" __global__ void gather(const float *__restrict__ a, const int *__restrict__ index, float *__restrict__ c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[index[i]];
}

// Three of eight fields are read: of structs that lie behind each other, ...
extern "C" __global__ void array_of_structs(const float *__restrict__ a, float *__restrict__ c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float *p = a + (size_t)i * 8;
  c[i] = p[0] + p[3] + p[5];
}

// ... and of one array a field.
extern "C" __global__ void struct_of_arrays(const float *__restrict__ a, float *__restrict__ c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  c[i] = a[i] + a[(size_t)3 * n + i] + a[(size_t)5 * n + i];
}

// N independent 16-byte loads a thread; how many workgroups are resident is set by the local memory given at launch.
template <int N> __device__ __forceinline__ void sum(const float4 *__restrict__ a, float *__restrict__ c, int n) {
  int thread = blockIdx.x * blockDim.x + threadIdx.x, stride = gridDim.x * blockDim.x;
  float s = 0;
#pragma unroll 1
  for (int i = thread; i + (N - 1) * stride < n; i += N * stride) {
    float4 v[N];
#pragma unroll
    for (int j = 0; j < N; j++) v[j] = a[i + j * stride];
#pragma unroll
    for (int j = 0; j < N; j++) s += v[j].x + v[j].y + v[j].z + v[j].w;
  }
  c[thread] = s;
}
extern "C" __global__ void in_flight_1(const float4 *__restrict__ a, float *__restrict__ c, int n) { sum<1>(a, c, n); }
extern "C" __global__ void in_flight_4(const float4 *__restrict__ a, float *__restrict__ c, int n) { sum<4>(a, c, n); }
