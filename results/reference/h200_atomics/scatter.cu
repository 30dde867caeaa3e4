// Random places in a buffer larger than the L2: stores, reductions, loads of chunks of so many bytes, by footprint. Then reductions on one line by how many of its words lanes share.
// CSV: name,op,params,cycles a wave's access of the device at 1.98 GHz
#include <cstdio>
#include <vector>
#include <algorithm>
typedef unsigned u32; typedef unsigned long long u64;
__device__ __forceinline__ u32 mix(u32 x){ x^=x>>16; x*=0x7feb352du; x^=x>>15; x*=0x846ca68bu; x^=x>>16; return x; }
template<int K> __device__ __forceinline__ u32 op(char* p,u32 v){ u32 r=0;
  if(K==0) asm volatile("st.global.u32 [%0],%1;"::"l"(p),"r"(v):"memory");
  if(K==1) asm volatile("red.global.add.u32 [%0],%1;"::"l"(p),"r"(v):"memory");
  if(K==2) asm volatile("ld.global.cg.u32 %0,[%1];":"=r"(r):"l"(p):"memory");
  if(K==3) asm volatile("red.global.add.f32 [%0],%1;"::"l"(p),"f"(1.0f):"memory");
  if(K==4) asm volatile("atom.global.cas.b32 %0,[%1],%2,%3;":"=r"(r):"l"(p),"r"(v),"r"(v+1):"memory");
  if(K==5) asm volatile("red.global.add.u64 [%0],%1;"::"l"((char*)((u64)p&~7ull)),"l"((u64)v):"memory");
  return r; }
// lanes in groups of `per`, each group at a random chunk of per*4 bytes among `chunks` (a power of two)
template<int K> __global__ void __launch_bounds__(1024) scatter(char* buf,int it,int per,u32 chunks,u32 seed,u32* sink){ u32 lane=threadIdx.x&31,w=(blockIdx.x*blockDim.x+threadIdx.x)>>5,h=0; u32 g=lane/per,in=lane%per;
#pragma unroll 1
  for(int i=0;i<it;i+=4){
#pragma unroll
    for(int u=0;u<4;u++){ u64 c=mix((w*32+g)*1000003u+(i+u)*7919u+seed)&(chunks-1); h^=op<K>(buf+c*(u64)(per*4)+in*4,lane+i); } }
  if(h==0x9e3779b9u) sink[0]=h; }
// every wave on one line: lane%words, each `apart` bytes
template<int K> __global__ void __launch_bounds__(1024) line(char* buf,int it,int words,int apart,u32* sink){ u32 lane=threadIdx.x&31,h=0; char* p=buf+(lane%words)*apart;
#pragma unroll 4
  for(int i=0;i<it;i++) h^=op<K>(p,lane+i);
  if(h==0x9e3779b9u) sink[0]=h; }
static char* buf; static u32* sink;
static void check(){ cudaError_t e=cudaDeviceSynchronize(); if(e){ printf("ERR %s\n",cudaGetErrorString(e)); exit(1);} }
template<class F> double ev(F f){ static cudaEvent_t a,b; static bool made=false; if(!made){ cudaEventCreate(&a); cudaEventCreate(&b); made=true; } std::vector<double> v; for(int r=0;r<4;r++){ cudaEventRecord(a); f(r); cudaEventRecord(b); check(); float ms; cudaEventElapsedTime(&ms,a,b); if(r) v.push_back(ms); } std::sort(v.begin(),v.end()); return v[1]; }
static const char* N[]={"st.u32","red.add.u32","ld.cg.u32","red.add.f32","atom.cas.b32","red.add.u64"};
template<int K> void sc(){ for(u32 mb:{16u,64u,128u,256u,1024u}) for(int per:{1,2,4,8,16,32}){ u32 chunks=(u32)(((u64)mb<<20)/(per*4)); int it=16*(per>4?4:per);
  double a=ev([&](int r){ scatter<K><<<132,1024>>>(buf,it,per,chunks,r*77u,sink); }), b=ev([&](int r){ scatter<K><<<132,1024>>>(buf,3*it,per,chunks,r*91u,sink); });
  printf("scatter,%s,megabytes=%u;chunk=%d,%.4f\n",N[K],mb,per*4,(b-a)*1e6*1.98/(2.0*132*32*it)); } fflush(stdout); }
template<int K> void ln(){ for(int words:{1,2,4,8,16,32}) for(int apart:{4,8,32}){ if(apart*words>128&&apart!=4) continue; int it=16; double a=ev([&](int){ line<K><<<132,1024>>>(buf,it,words,apart,sink); }), b=ev([&](int){ line<K><<<132,1024>>>(buf,3*it,words,apart,sink); });
  printf("line,%s,words=%d;apart=%d,%.4f\n",N[K],words,apart,(b-a)*1e6*1.98/(2.0*132*32*it)); } fflush(stdout); }
// rounds of a compare-and-swap loop on random words, and its time; what is read first is read past the vector cache or through it
__global__ void loop(u32* out,u32 words,u64* tries,int n){ int i=blockIdx.x*blockDim.x+threadIdx.x; if(i>=n) return; u32* p=out+(mix(i*2654435761u)&(words-1)); u32 c=0,old=*p,seen; do{ seen=old; old=atomicCAS(p,seen,seen+i+1); c++; }while(old!=seen); atomicAdd(tries,(u64)c); }
int main(){ cudaMalloc(&buf,1ull<<30); cudaMalloc(&sink,4096); cudaMemset(buf,0,1ull<<30); u64* tries; cudaMalloc(&tries,8);
  printf("name,op,params,cycles_a_wave_access_of_the_device\n");
  ln<1>(); ln<3>(); ln<4>(); ln<5>(); sc<0>(); sc<1>(); sc<2>();
  for(u32 words:{256u,4096u,65536u,1u<<20,1u<<22}) for(int n:{32768,131072,270336,1048576}) for(int threads:{64,256,1024}){ cudaMemset(tries,0,8); loop<<<n/threads,threads>>>((u32*)buf,words,tries,n); check(); u64 h; cudaMemcpy(&h,tries,8,cudaMemcpyDeviceToHost); double ms=ev([&](int){ loop<<<n/threads,threads>>>((u32*)buf,words,tries,n); }); printf("cas_loop,atom.cas.b32,words=%u;n=%d;threads=%d;tries=%llu,%.1f\n",words,n,threads,h,ms*1.98e6); } }
