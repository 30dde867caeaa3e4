#include <cstdio>
#include <vector>
#include <algorithm>
#include <cstdint>
__device__ __forceinline__ unsigned long long gt(){unsigned long long t; asm volatile("mov.u64 %0, %globaltimer;":"=l"(t)::"memory"); return t;}
template<int MODE,int NL> __global__ void k(const float4* __restrict__ a,const float4* __restrict__ b,float4* __restrict__ c,unsigned long long* ts,size_t n){
  size_t i=blockIdx.x*(size_t)blockDim.x+threadIdx.x; if(i>=n) return; unsigned long long t0=clock64(), g0=gt(); float4 x=make_float4(1,2,3,4);
  if(MODE!=1){ x=__ldcg(a+i); if(NL==2){float4 y=__ldcg(b+i); x.x+=y.x;x.y+=y.y;x.z+=y.z;x.w+=y.w;} }
  float s=x.x+x.y+x.z+x.w; unsigned long long t1,g1; if(s==123.456f) c[0]=x; asm volatile("":: "f"(s):"memory"); t1=clock64(); g1=gt();
  if(MODE!=0) c[i]=x;
  if((threadIdx.x&31)==0){ size_t w=i/32; unsigned sm; asm("mov.u32 %0,%smid;":"=r"(sm)); ts[w*4]=g0; ts[w*4+1]=g1; ts[w*4+2]=t1-t0; ts[w*4+3]=sm; }
}
__global__ void rd(const float4* a,size_t n,float4*o){float4 s=make_float4(0,0,0,0);for(size_t i=blockIdx.x*(size_t)blockDim.x+threadIdx.x;i<n;i+=gridDim.x*(size_t)blockDim.x){float4 v=__ldcg(a+i);s.x+=v.x+v.y+v.z+v.w;} if(s.x==1.2345f)o[0]=s;}
int main(){ size_t B=1ull<<30; float4*a,*b,*c,*f; unsigned long long*ts; cudaMalloc(&a,B);cudaMalloc(&b,B);cudaMalloc(&c,B);cudaMalloc(&f,B);cudaMalloc(&ts,1<<26);cudaMemset(a,0,B);cudaMemset(b,0,B);cudaMemset(c,0,B);cudaMemset(f,0,B);
 std::vector<unsigned long long> h(1<<23);
 auto go=[&](const char*nm,auto kern,size_t mb){ size_t n=mb*(1<<20)/16; double best[12]={0}; std::vector<std::vector<double>> all;
  for(int r=0;r<7;r++){ rd<<<1056,256>>>(f,B/16,c); cudaDeviceSynchronize(); cudaEvent_t e0,e1; cudaEventCreate(&e0);cudaEventCreate(&e1); cudaEventRecord(e0); kern<<<(n+255)/256,256>>>(a,b,c,ts,n); cudaEventRecord(e1); cudaDeviceSynchronize(); float ms; cudaEventElapsedTime(&ms,e0,e1);
   size_t nw=n/32; cudaMemcpy(h.data(),ts,nw*32,cudaMemcpyDeviceToHost); std::vector<double> s,e,l; double T0=1e30; for(size_t w=0;w<nw;w++)T0=std::min(T0,(double)h[w*4]); for(size_t w=0;w<nw;w++){s.push_back(h[w*4]-T0);e.push_back(h[w*4+1]-T0);l.push_back(h[w*4+2]);}
   std::sort(s.begin(),s.end());std::sort(e.begin(),e.end());std::sort(l.begin(),l.end()); auto q=[&](std::vector<double>&v,double p){return v[std::min(v.size()-1,(size_t)(p*v.size()))];};
   all.push_back({q(s,.5),q(s,1),q(e,.01),q(e,.1),q(e,.25),q(e,.5),q(e,.75),q(e,.9),q(e,1),q(l,.1),q(l,.5),q(l,.9),q(l,1),ms*1e6});}
  printf("%-8s %4zuMB ns: start50 %.0f start100 %.0f | ",nm,mb,0.,0.); for(int j=0;j<14;j++){std::vector<double> v; for(auto&x:all)v.push_back(x[j]); std::sort(v.begin(),v.end()); printf("%.0f ",v[v.size()/2]);} printf("\n"); };
 printf("cols: s50 s100 | e1 e10 e25 e50 e75 e90 e100 | lat cycles 10 50 90 100 | event ns\n");
 for(size_t mb: {1,2,4,8,16,32,64}){ go("read",k<0,1>,mb); go("write",k<1,1>,mb); go("copy",k<2,1>,mb); go("triad",k<2,2>,mb); }
}
