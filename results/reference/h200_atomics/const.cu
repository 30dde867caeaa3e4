// Constants read by lane: how many addresses, how far apart, latency, interval, first access. Then atomics on local memory.
#include <cstdio>
#include <vector>
#include <algorithm>
typedef long long ll; typedef unsigned u32;
__device__ __forceinline__ ll clk(){ ll t; asm volatile("mov.u64 %0,%%clock64;":"=l"(t)::"memory"); return t; }
__constant__ u32 table[16000];
__device__ __forceinline__ u32 ldc(u32 index){ return table[index]; }
__device__ __forceinline__ u32 mix(u32 x){ x^=x>>16; x*=0x7feb352du; x^=x>>15; x*=0x846ca68bu; x^=x>>16; return x; }
// table[i]==i: a chain stays where it is. mode 0: lane % d addresses s words apart; 1: random among d words
__global__ void chain(ll* T, int it, int d, int s, int mode, u32* sink){ u32 lane=threadIdx.x&31; u32 x=mode?mix(threadIdx.x*77+5)%d*s:(lane%d)*s; x=ldc(x); __syncthreads(); ll t0=clk();
#pragma unroll 1
  for(int i=0;i<it;i++) x=ldc(x);
  __syncthreads(); ll t1=clk(); if(threadIdx.x==0){ T[2*blockIdx.x]=t0; T[2*blockIdx.x+1]=t1; } sink[threadIdx.x]=x; }
// eight loads a step that depend on the step before, not on each other
__global__ void rate(ll* T, int it, int d, int s, int mode, u32* sink){ u32 lane=threadIdx.x&31; u32 x[8];
#pragma unroll
  for(int u=0;u<8;u++) x[u]=mode?mix(threadIdx.x*77+u*13+5)%d*s:((lane+u)%d)*s;
  u32 y=ldc(x[0]); __syncthreads(); ll t0=clk();
#pragma unroll 1
  for(int i=0;i<it;i++){
#pragma unroll
    for(int u=0;u<8;u++) x[u]=ldc(x[u]); }
  __syncthreads(); ll t1=clk(); if(threadIdx.x==0){ T[2*blockIdx.x]=t0; T[2*blockIdx.x+1]=t1; } for(int u=0;u<8;u++) y+=x[u]; sink[threadIdx.x]=y; }
// the first access of a launch, the second, one of another line
#define WAIT(x) if((x)==0x7fffffffu) sink[1]=(x)
__global__ void first(ll* T, u32 zero, u32* sink){ u32 x=zero; ll t0=clk(); x=ldc(x); WAIT(x); ll t1=clk(); x=ldc(x&zero); WAIT(x); ll t2=clk(); x=ldc(16+(x&zero)); WAIT(x); ll t3=clk(); x=ldc(256+(x&zero)); WAIT(x); ll t4=clk(); x=ldc(257+(x&zero)); WAIT(x); ll t5=clk(); x=ldc(8192+(x&zero)); WAIT(x); ll t6=clk();
  if(threadIdx.x==0){ ll* t=T+8*blockIdx.x; t[0]=t1-t0; t[1]=t2-t1; t[2]=t3-t2; t[3]=t4-t3; t[4]=t5-t4; t[5]=t6-t5; } sink[threadIdx.x]=x; }
enum { A_COUNT, A_ADD, A_ADDR, A_EXCH, A_MAX, A_CAS, A_F32, A_F32R, A_U64, NA };
static const char* AN[]={"red.add.one","red.add.u32","atom.add.u32","atom.exch.b32","atom.max.s32","atom.cas.b32","red.add.f32","atom.add.f32","red.add.u64"};
template<int K> __global__ void __launch_bounds__(1024) local(ll* T,int it,int lm,int ls,u32 random,u32* sink){ extern __shared__ u32 t[]; for(int i=threadIdx.x;i<16384;i+=blockDim.x) t[i]=0; u32 lane=threadIdx.x&31,w=threadIdx.x>>5,h=0; u32 r=threadIdx.x*2654435761u+blockIdx.x*97u; __syncthreads(); ll t0=clk();
#pragma unroll 1
  for(int i=0;i<it;i++){ u32 at=random?(r>>9)%random:(lane%lm)*ls; r=r*1664525u+1013904223u; (void)w;
    if(K==A_COUNT) atomicAdd(t+at,1u); if(K==A_ADD) atomicAdd(t+at,r); if(K==A_ADDR) h+=atomicAdd(t+at,r); if(K==A_EXCH) h+=atomicExch(t+at,r); if(K==A_MAX) h+=atomicMax((int*)t+at,(int)r); if(K==A_CAS) h+=atomicCAS(t+at,lane,r);
    if(K==A_F32) atomicAdd((float*)t+at,1.0f); if(K==A_F32R) h+=__float_as_uint(atomicAdd((float*)t+at,1.0f)); if(K==A_U64) atomicAdd((unsigned long long*)(t+(at&~1u)),(unsigned long long)r); }
  __syncthreads(); ll t1=clk(); if(threadIdx.x==0){ T[2*blockIdx.x]=t0; T[2*blockIdx.x+1]=t1; } if(h==0x9e3779b9u) sink[0]=h; }
static ll* dT; static u32* sink; static ll hT[8*4096];
static void check(){ cudaError_t e=cudaDeviceSynchronize(); if(e){ printf("ERR %s\n",cudaGetErrorString(e)); exit(1);} }
template<class F> double span(int nb,F f){ std::vector<double> v; for(int r=0;r<6;r++){ f(); check(); cudaMemcpy(hT,dT,nb*16,cudaMemcpyDeviceToHost); double s=0; for(int i=0;i<nb;i++) s+=hT[2*i+1]-hT[2*i]; if(r) v.push_back(s/nb); } std::sort(v.begin(),v.end()); return v[2]; }
template<int K> void loc(){ for(int w:{1,4,8,16,32}){ for(int lm:{1,2,4,8,16,32}) for(int ls:{1,32}){ if(ls==32&&lm!=32&&lm!=8) continue; double c=span(1,[&]{ local<K><<<1,w*32,65536>>>(dT,64,lm,ls,0,sink); }); printf("local,%s,waves=%d;lanes_mod=%d;words_apart=%d;random=0,%.2f,%.2f\n",AN[K],w,lm,ls,c/64,c/64/w); }
  for(u32 R:{4u,8u,16u,32u,64u,128u,256u,1024u,8192u}){ double c=span(1,[&]{ local<K><<<1,w*32,65536>>>(dT,64,1,1,R,sink); }); printf("local,%s,waves=%d;lanes_mod=0;words_apart=0;random=%u,%.2f,%.2f\n",AN[K],w,R,c/64,c/64/w); } } }
int main(){ cudaMalloc(&dT,1<<20); cudaMalloc(&sink,1<<16); std::vector<u32> t(16000); for(int i=0;i<16000;i++) t[i]=i; cudaMemcpyToSymbol(table,t.data(),64000);
  printf("name,op,params,cycles_an_iteration,cycles_an_access_of_the_unit\n");
  for(int g:{1,132}){ for(int r=0;r<3;r++){ first<<<g,32>>>(dT,0,sink); check(); cudaMemcpy(hT,dT,64*g,cudaMemcpyDeviceToHost); for(int b:{0,g/2}){ printf("first,ldc,blocks=%d;run=%d;block=%d,%lld,%lld,%lld,%lld,%lld,%lld\n",g,r,b,hT[8*b],hT[8*b+1],hT[8*b+2],hT[8*b+3],hT[8*b+4],hT[8*b+5]); if(g==1) break; } } }
  for(int w:{1,4,8,32}) for(int d:{1,2,3,4,8,16,32}) for(int s:{1,2,4,16,64}){ if(d==1&&s>1) continue; double a=span(1,[&]{ chain<<<1,w*32>>>(dT,256,d,s,0,sink); }), b=span(1,[&]{ rate<<<1,w*32>>>(dT,64,d,s,0,sink); });
    printf("chain,ldc,waves=%d;addresses=%d;words_apart=%d;random=0,%.2f,%.2f\n",w,d,s,a/256,a/256/w); printf("rate,ldc,waves=%d;addresses=%d;words_apart=%d;random=0,%.2f,%.2f\n",w,d,s,b/64,b/512/w); }
  for(int w:{1,8,32}) for(int d:{4,32,256,1024}){ double a=span(1,[&]{ chain<<<1,w*32>>>(dT,256,d,1,1,sink); }), b=span(1,[&]{ rate<<<1,w*32>>>(dT,64,d,1,1,sink); }); printf("chain,ldc,waves=%d;addresses=%d;words_apart=1;random=1,%.2f,%.2f\n",w,d,a/256,a/256/w); printf("rate,ldc,waves=%d;addresses=%d;words_apart=1;random=1,%.2f,%.2f\n",w,d,b/64,b/512/w); }
  { double b=span(132,[&]{ rate<<<132,1024>>>(dT,64,32,1,0,sink); }); printf("rate,ldc,waves=32;addresses=32;words_apart=1;random=0;blocks=132,%.2f,%.2f\n",b/64,b/512/32); }
  cudaFuncSetAttribute(local<A_COUNT>,cudaFuncAttributeMaxDynamicSharedMemorySize,65536);
#define L(K) cudaFuncSetAttribute(local<K>,cudaFuncAttributeMaxDynamicSharedMemorySize,65536); loc<K>();
  L(A_COUNT) L(A_ADD) L(A_ADDR) L(A_EXCH) L(A_MAX) L(A_CAS) L(A_F32) L(A_F32R) L(A_U64)
}
