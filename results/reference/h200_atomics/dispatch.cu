// Workgroups that do little: how long a launch takes by their number and size; how long the end takes where all end together.
// A graph of pairs (the launch in question, a stamp of one thread); the stamps' distance less that of an empty pair.
#include <cstdio>
#include <vector>
#include <algorithm>
#include <functional>
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
typedef long long ll; typedef unsigned u32;
__device__ __forceinline__ ll gt(){ ll t; asm volatile("mov.u64 %0,%%globaltimer;":"=l"(t)::"memory"); return t; }
__device__ __forceinline__ ll clk(){ ll t; asm volatile("mov.u64 %0,%%clock64;":"=l"(t)::"memory"); return t; }
struct Many { int v[64]; };
__global__ void stamp(ll* T, int ahead){ ll t=gt(); ll n=T[0]; T[2+2*n]=t; T[1]=t+ahead; T[3+2*n]=t+ahead; T[0]=n+1; }
__global__ void empty(int* c, int v){}
__global__ void store1(int* c, int v){ c[(blockIdx.x*blockDim.x+threadIdx.x)&0xfffff]=threadIdx.x+v; }
__global__ void store_far(int* c, int v){ c[(size_t)blockIdx.x*blockDim.x+threadIdx.x]=threadIdx.x+v; }
__global__ void leader(int* c, int v){ if(threadIdx.x==0) c[blockIdx.x&0xfffff]=blockIdx.x^v; }
__global__ void load1(int* c, int v){ int x=c[(blockIdx.x*blockDim.x+threadIdx.x)&0xfffff]; if(x==v+123456) c[0]=1; }
__global__ void red1(int* c, int v){ if(threadIdx.x==0) atomicAdd(c+((blockIdx.x*32)&0xfffff),v); }
__global__ void spin200(int* c, int v){ ll t=clk(); while(clk()-t<200); }
__global__ void spin1000(int* c, int v){ ll t=clk(); while(clk()-t<1000); }
__global__ void params(int* c, Many m){ int s=0; for(int i=0;i<64;i+=4) s+=m.v[i]; if(s==-77) c[0]=s; }
__global__ void barrier(int* c, int v){ __syncthreads(); }
__global__ void clustered(int* c, int v){}
__global__ void clusync(int* c, int v){ cg::this_cluster().sync(); }
// every workgroup goes on until one moment
__global__ void together(ll* T){ ll until=*(volatile ll*)(T+1); while(gt()<until); }
static ll* T; static int* c; static std::vector<ll> h(1<<16);
static void check(const char* w){ cudaError_t e=cudaGetLastError(); if(!e) e=cudaDeviceSynchronize(); if(e){ printf("ERR %s %s\n",w,cudaGetErrorString(e)); exit(1);} }
// (median distance of stamps, median of stamp less the moment announced before)
static void pairs(const char* name,int grid,int block,int cluster,int ahead,std::function<void(cudaStream_t)> launch){
  static cudaStream_t st=nullptr; if(!st) cudaStreamCreateWithFlags(&st,cudaStreamNonBlocking);
  int n=grid>=32768?6:grid>=4096?16:24; cudaGraph_t g; cudaGraphExec_t x; cudaStreamBeginCapture(st,cudaStreamCaptureModeGlobal);
  stamp<<<1,1,0,st>>>(T,ahead); for(int i=0;i<n;i++){ launch(st); stamp<<<1,1,0,st>>>(T,ahead); }
  cudaStreamEndCapture(st,&g); if(cudaGraphInstantiate(&x,g,0)!=cudaSuccess){ printf("ERR graph %s\n",name); cudaGetLastError(); return; }
  std::vector<double> d,e; for(int r=0;r<3;r++){ cudaMemsetAsync(T,0,16,st); cudaGraphLaunch(x,st); cudaStreamSynchronize(st); check(name); cudaMemcpy(h.data(),T,(2+2*(n+1))*8,cudaMemcpyDeviceToHost); if(r) for(int i=1;i<=n;i++){ d.push_back(h[2+2*i]-h[2*i]); e.push_back(h[2+2*i]-h[1+2*i]); } }
  std::sort(d.begin(),d.end()); std::sort(e.begin(),e.end()); printf("%s,grid=%d;block=%d;cluster=%d,%.0f,%.0f,%.0f\n",name,grid,block,cluster,d[d.size()/2],d[d.size()/10],ahead?e[e.size()/2]:0.0); fflush(stdout); cudaGraphExecDestroy(x); cudaGraphDestroy(g); }
template<class K> void run(const char* name,K k,std::vector<int> grids,std::vector<int> blocks){ for(int b:blocks) for(int g:grids) pairs(name,g,b,1,0,[&](cudaStream_t s){ k<<<g,b,0,s>>>(c,1); }); }
template<class K> void clusters(const char* name,K k,int n,std::vector<int> grids,int b){ cudaFuncSetAttribute(k,cudaFuncAttributeNonPortableClusterSizeAllowed,1);
  for(int g:grids){ g=g/n*n; if(!g) continue; pairs(name,g,b,n,0,[&](cudaStream_t s){ cudaLaunchConfig_t q={}; q.gridDim=dim3(g); q.blockDim=dim3(b); q.stream=s; cudaLaunchAttribute at[1]; at[0].id=cudaLaunchAttributeClusterDimension; at[0].val.clusterDim={(unsigned)n,1,1}; q.attrs=at; q.numAttrs=1; cudaLaunchKernelEx(&q,k,c,1); }); } }
__global__ void starts(ll* S){ ll t=clk(), g=gt(); u32 sm; asm volatile("mov.u32 %0,%%smid;":"=r"(sm)); if(threadIdx.x==0){ S[4*blockIdx.x]=t; S[4*blockIdx.x+1]=g; S[4*blockIdx.x+2]=sm; S[4*blockIdx.x+3]=clk(); } }
int main(){ cudaMalloc(&T,1<<20); cudaMalloc(&c,1ull<<30); cudaMemset(c,0,1<<24);
  printf("name,params,ns_between_stamps,ns_tenth_percentile,ns_stamp_after_moment\n");
  std::vector<int> G{1,33,66,132,264,528,1056,2112,4224,8448,16896,67584,262144}, few{1,132,1056,4224,16896,131072};
  run("empty",empty,G,{32,64,128,256,512,1024}); run("store",store1,G,{32,256}); run("store",store1,few,{64,128,512,1024}); run("store_far",store_far,few,{32,256}); run("leader",leader,few,{32,64,256,1024}); run("load",load1,few,{32,256}); run("red",red1,few,{32,256});
  run("spin200",spin200,few,{32,256}); run("spin1000",spin1000,few,{32,256,1024}); run("barrier",barrier,few,{64,256,1024});
  for(int b:{32,256}) for(int g:few) pairs("params",g,b,1,0,[&](cudaStream_t s){ Many m={}; params<<<g,b,0,s>>>(c,m); });
  for(int n:{1,2,4,8,16}) { clusters("clustered",clustered,n,few,32); clusters("clustered",clustered,n,few,256); clusters("clusync",clusync,n,few,256); }
  for(int b:{32,64,128,256,512,1024}) for(int g:{1,33,66,132,264,528,1056,2112,4224}){ if((size_t)g*b>132*2048||g>132*32) continue; pairs("together",g,b,1,12000,[&](cudaStream_t s){ together<<<g,b,0,s>>>(T); }); }
  // starts and ends one by one: of workgroups that end at once, when each starts
  for(int b:{32,256,1024}) for(int g:{1056,8448}){ ll* S; cudaMalloc(&S,g*32); std::vector<ll> v(4*g); for(int r=0;r<3;r++){ starts<<<g,b>>>(S); check("starts"); } cudaMemcpy(v.data(),S,g*32,cudaMemcpyDeviceToHost); ll g0=v[1]; for(int i=0;i<g;i++) g0=std::min(g0,v[4*i+1]); std::vector<ll> q; for(int i=0;i<g;i++) q.push_back(v[4*i+1]-g0); std::sort(q.begin(),q.end()); printf("starts,grid=%d;block=%d,",g,b); for(int k=0;k<=16;k++) printf("%lld%s",q[std::min<size_t>(g-1,(size_t)g*k/16)],k<16?";":"\n"); cudaFree(S); }
}
