// Atomics on global memory: operation, result or none, repeats in a wave, lines in use, distance of lines, random addresses, latency.
// CSV: name,op,params...,cycles a wave-operation of the device (and of one compute unit where blocks=1)
#include <cstdio>
#include <cstdint>
#include <vector>
#include <algorithm>
typedef long long ll; typedef unsigned u32; typedef unsigned long long u64;
__device__ __forceinline__ ll clk(){ ll t; asm volatile("mov.u64 %0,%%clock64;":"=l"(t)::"memory"); return t; }
enum { RED_ADD, ATOM_ADD, ATOM_MAX, ATOM_EXCH, ATOM_CAS, RED_F32, ATOM_F32, RED_MAX, RED_U64, ATOM_CAS64, STORE, LOAD, NOPS };
static const char* NAMES[] = {"red.add.u32","atom.add.u32","atom.max.s32","atom.exch.b32","atom.cas.b32","red.add.f32","atom.add.f32","red.max.s32","red.add.u64","atom.cas.b64","st.u32","ld.cg.u32"};
template<int K> __device__ __forceinline__ u32 op(char* p, u32 v){ u32 r=0;
  if(K==RED_ADD) asm volatile("red.global.add.u32 [%0],%1;"::"l"(p),"r"(v):"memory");
  if(K==ATOM_ADD) asm volatile("atom.global.add.u32 %0,[%1],%2;":"=r"(r):"l"(p),"r"(v):"memory");
  if(K==ATOM_MAX) asm volatile("atom.global.max.s32 %0,[%1],%2;":"=r"(r):"l"(p),"r"(v):"memory");
  if(K==ATOM_EXCH) asm volatile("atom.global.exch.b32 %0,[%1],%2;":"=r"(r):"l"(p),"r"(v):"memory");
  if(K==ATOM_CAS) asm volatile("atom.global.cas.b32 %0,[%1],%2,%3;":"=r"(r):"l"(p),"r"(v),"r"(v+1):"memory");
  if(K==RED_F32) asm volatile("red.global.add.f32 [%0],%1;"::"l"(p),"f"(1.0f):"memory");
  if(K==ATOM_F32){ float f; asm volatile("atom.global.add.f32 %0,[%1],%2;":"=f"(f):"l"(p),"f"(1.0f):"memory"); r=__float_as_uint(f); }
  if(K==RED_MAX) asm volatile("red.global.max.s32 [%0],%1;"::"l"(p),"r"(v):"memory");
  if(K==RED_U64) asm volatile("red.global.add.u64 [%0],%1;"::"l"((char*)((u64)p&~7ull)),"l"((u64)v):"memory");
  if(K==ATOM_CAS64){ u64 q; asm volatile("atom.global.cas.b64 %0,[%1],%2,%3;":"=l"(q):"l"((char*)((u64)p&~7ull)),"l"((u64)v),"l"((u64)v+1):"memory"); r=(u32)q; }
  if(K==STORE) asm volatile("st.global.u32 [%0],%1;"::"l"(p),"r"(v):"memory");
  if(K==LOAD) asm volatile("ld.global.cg.u32 %0,[%1];":"=r"(r):"l"(p):"memory");
  return r; }
__device__ __forceinline__ u32 mix(u32 x){ x^=x>>16; x*=0x7feb352du; x^=x>>15; x*=0x846ca68bu; x^=x>>16; return x; }
// random==0: lane%lm words of ls bytes in group (wave+i*step)%G, groups gs bytes apart; random>0: a random word (rs bytes apart) of `random`
template<int K> __global__ void __launch_bounds__(1024) k(ll* T, char* buf, int it, int lm, int ls, u32 G, int gs, int step, u32 random, u32 active, u32* sink){
  u32 lane=threadIdx.x&31, w=(blockIdx.x*blockDim.x+threadIdx.x)>>5, h=0; if(!((active>>lane)&1)) return;
  ll t0=clk(); u32 g=w%G; u32 s=step%G;
  char* mine=buf+(size_t)(lane%lm)*ls;
#pragma unroll 1
  for(int i=0;i<it;i+=4){
#pragma unroll
    for(int u=0;u<4;u++){
      char* p; if(random) p=buf+(size_t)(mix((w*32+lane)*1000003u+(i+u)*7919u)&(random-1))*ls; else { p=mine+(size_t)g*gs; g+=s; if(g>=G) g-=G; }
      h^=op<K>(p,lane+i); } }
  ll t1=clk(); if(lane==__ffs(active)-1 && (threadIdx.x>>5)==0){ T[2*blockIdx.x]=t0; T[2*blockIdx.x+1]=t1; }
  if(h==0x9e3779b9u) sink[0]=h; }
// dependent chain: the next address needs the result (which stays 0 or is cancelled); lanes lie ls bytes apart
template<int K> __global__ void lat(ll* T, char* buf, int it, int ls, u32 zero, u32* sink){
  u32 r=0; ll t0=clk();
#pragma unroll 1
  for(int i=0;i<it;i++) r=op<K>(buf+(size_t)threadIdx.x*ls+(r&zero)+(size_t)(i&63)*8192,0)&zero;
  ll t1=clk(); if(threadIdx.x==0){ T[0]=t0; T[1]=t1; } if(r==5) sink[0]=1; }
// compare-and-swap loop on random words
__global__ void casloop(float* out, u32 words, u64* tries, int n){ int i=blockIdx.x*blockDim.x+threadIdx.x; if(i>=n) return; u32* p=(u32*)out+(mix(i*2654435761u)&(words-1)); u32 c=0, old=*(volatile u32*)p, seen; do{ seen=old; old=atomicCAS(p,seen,__float_as_uint(__uint_as_float(seen)*0.5f+1.0f)); c++; }while(old!=seen); if(c>1) atomicAdd(tries,(u64)(c-1)); }
static ll* dT; static char* buf; static u32* sink; static ll hT[2*4096];
static void check(){ cudaError_t e=cudaDeviceSynchronize(); if(e){ printf("ERR %s\n",cudaGetErrorString(e)); exit(1);} }
template<class F> double ev(F f){ static cudaEvent_t a,b; static bool made=false; if(!made){ cudaEventCreate(&a); cudaEventCreate(&b); made=true; } std::vector<double> v; for(int r=0;r<4;r++){ cudaEventRecord(a); f(); cudaEventRecord(b); check(); float ms; cudaEventElapsedTime(&ms,a,b); if(r) v.push_back(ms); } std::sort(v.begin(),v.end()); return v[1]; }
template<class F> double span(int nb,F f){ std::vector<double> v; for(int r=0;r<4;r++){ f(); check(); cudaMemcpy(hT,dT,nb*16,cudaMemcpyDeviceToHost); double s=0; for(int i=0;i<nb;i++) s+=hT[2*i+1]-hT[2*i]; if(r) v.push_back(s/nb); } std::sort(v.begin(),v.end()); return v[1]; }
template<int K> void go(const char* name,int blocks,int warps,int it,int lm,int ls,u32 G,int gs,int step,u32 random,u32 active=~0u){
  double a=ev([&]{ k<K><<<blocks,warps*32>>>(dT,buf,it,lm,ls,G,gs,step,random,active,sink); }), b=ev([&]{ k<K><<<blocks,warps*32>>>(dT,buf,it*3,lm,ls,G,gs,step,random,active,sink); });
  double s=span(std::min(blocks,4096),[&]{ k<K><<<blocks,warps*32>>>(dT,buf,it*3,lm,ls,G,gs,step,random,active,sink); });
  double ops=(double)blocks*warps*it;
  printf("%s,%s,blocks=%d;warps=%d;lanes_mod=%d;lane_bytes=%d;groups=%u;group_bytes=%d;random=%u;active=%08x,%.4f,%.2f\n",name,NAMES[K],blocks,warps,lm,ls,G,gs,random,active,(b-a)*1e6*1.98/(2*ops),s/(3.0*it)); fflush(stdout); }
#define ALL(M) M(RED_ADD) M(ATOM_ADD) M(ATOM_MAX) M(ATOM_EXCH) M(ATOM_CAS) M(RED_F32) M(ATOM_F32) M(RED_U64)
int main(){ cudaMalloc(&dT,1<<20); cudaMalloc(&buf,1ull<<30); cudaMalloc(&sink,4096); cudaMemset(buf,0,1ull<<30);
  printf("name,op,params,cycles_a_wave_operation_of_the_device,cycles_an_iteration_of_a_wave\n");
  // 1 repeats within a wave: lanes_mod addresses in one line, each wave its own lines
#define M(K) for(int nb:{1,132}) for(int lm:{1,2,4,8,16,32}) go<K>("repeats",nb,32,lm<4?32:64,lm,4,nb*32*4,128,nb*32,0);
  ALL(M) M(STORE) M(LOAD)
#undef M
  // 2 sectors and lines of a wave
#define M(K) for(int nb:{1,132}) for(int ls:{8,16,32,64,128}) go<K>("spread",nb,32,32,32,ls,nb*32*2,ls*32,nb*32,0);
  ALL(M) M(STORE) M(LOAD)
#undef M
  // 3 how many lines are in use, all lanes in a row; then one address a wave
#define M(K) for(u32 G:{1u,2u,4u,8u,16u,32u,64u,128u,256u,1024u,4096u}) go<K>("lines",132,32,G<8?16:64,32,4,G,128,7,0); \
  for(u32 G:{1u,2u,8u,32u,128u,1024u}) for(int gs:{4,32,128}) go<K>("words",132,32,G<8?8:32,1,4,G,gs,7,0); \
  for(u32 G:{1u,8u,32u,1024u}) go<K>("one_lane",132,32,G<8?32:64,1,4,G,128,7,0,1u);
  M(RED_ADD) M(ATOM_ADD) M(ATOM_CAS) M(RED_F32)
#undef M
  // 4 two lines at a distance: as fast as one where they share a slice
  for(int d=1;d<=64;d++) go<RED_ADD>("distance",132,8,64,32,4,2,128*d,1,0);
  for(int d:{128,192,256,320,384,512,768,1024,1536,2048,4096,8192}) go<RED_ADD>("distance",132,8,64,32,4,2,128*d,1,0);
  for(int gs:{128,256,512,1024,2048,4096,8192,16384}) for(u32 G:{8u,32u}) go<RED_ADD>("stride",132,32,64,32,4,G,gs,1,0);
  // 5 random words
#define M(K) for(u32 R:{1u,8u,64u,256u,1024u,4096u,16384u,65536u,1u<<20,1u<<22,1u<<26}) go<K>("random",132,32,R<64?8:16,32,4,1,0,0,R); \
  for(u32 R:{1024u,65536u,1u<<22}) { go<K>("random",132,8,16,32,4,1,0,0,R); go<K>("random",264,32,16,32,4,1,0,0,R); go<K>("random",1,32,64,32,4,1,0,0,R); go<K>("random",1,4,64,32,4,1,0,0,R);  go<K>("random",16,32,64,32,4,1,0,0,R);}
  ALL(M) M(RED_MAX) M(ATOM_CAS64) M(STORE) M(LOAD)
#undef M
  // 6 latency of a chain
#define M(K) for(int th:{1,32}) for(int ls:{0,4,32,128}) { if(th==1&&ls) continue; double c=span(1,[&]{ lat<K><<<1,th>>>(dT,buf,256,ls,0,sink); }); printf("latency,%s,threads=%d;lane_bytes=%d,%.2f,\n",NAMES[K],th,ls,c/256); }
  M(ATOM_ADD) M(ATOM_MAX) M(ATOM_EXCH) M(ATOM_CAS) M(ATOM_F32) M(ATOM_CAS64) M(LOAD)
#undef M
  // 7 compare-and-swap loops
  u64* tries; cudaMalloc(&tries,8);
  for(u32 words:{256u,4096u,65536u,1u<<20,1u<<22}) for(int n:{131072,1048576}){ cudaMemset(tries,0,8); casloop<<<n/256,256>>>((float*)buf,words,tries,n); u64 h; cudaMemcpy(&h,tries,8,cudaMemcpyDeviceToHost); double ms=ev([&]{ casloop<<<n/256,256>>>((float*)buf,words,tries,n); }); printf("cas_loop,atom.cas.b32,words=%u;n=%d,%.0f,%llu\n",words,n,ms*1.98e6,h); }
}
