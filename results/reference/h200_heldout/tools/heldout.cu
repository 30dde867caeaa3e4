#include "../heldout.cuh"
// every template instance that is measured
template __global__ void k_collatz<unsigned>(unsigned, int*, int);
template __global__ void k_collatz<unsigned long long>(unsigned, int*, int);
template __global__ void k_black_scholes<float>(const float*, const float*, const float*, float*, float*, int);
template __global__ void k_black_scholes<double>(const double*, const double*, const double*, double*, double*, int);
template __global__ void k_atomic_local<int>(const unsigned*, int*, int, int);
template __global__ void k_atomic_local<float>(const unsigned*, float*, int, int);
template __global__ void k_bitonic<512>(unsigned*);
template __global__ void k_bitonic<2048>(unsigned*);
template __global__ void k_fft<256>(const float2*, float2*);
template __global__ void k_fft<1024>(const float2*, float2*);
template __global__ void k_insertion_sort<16>(const int*, int*, int);
template __global__ void k_insertion_sort<48>(const int*, int*, int);
template __global__ void k_inverse<6, 4>(const float*, float*, int);
template __global__ void k_inverse<8, 4>(const float*, float*, int);
template __global__ void k_inverse<8, 10>(const float*, float*, int);
template __global__ void k_large_code<480>(const unsigned*, unsigned*, int, int);
template __global__ void k_large_code<1600>(const unsigned*, unsigned*, int, int);
