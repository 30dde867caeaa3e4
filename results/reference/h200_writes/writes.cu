#include <cstdio>
#include <vector>
#include <algorithm>
typedef long long ll; typedef unsigned u32;
__device__ ll clk(){ ll t; asm volatile("mov.u64 %0,%%clock64;":"=l"(t)); return t; }
// P: private memory, uniform slots
template<int PAT,int SL> __global__ void kp(ll*T,int it,int mask,float*sink){
  volatile float b[SL]; for(int i=0;i<SL;i++) b[i]=i; float x=threadIdx.x, s=0; __syncthreads(); ll t0=clk();
  for(int i=0;i<it;i++){
#pragma unroll
    for(int u=0;u<8;u++){ int j=(i*8+u)&mask;
      if(PAT==0) b[j]=x;
      if(PAT==1) { b[j]=x; s+=b[(j+3)&mask]; }
      if(PAT==2) { b[j]=x; x=b[j]+1.f; }
      if(PAT==3) s+=b[j];
      if(PAT==4) { x=b[j]+x; b[(j+5)&mask]=x; }
      if(PAT==5) { b[j]=x; s+=b[(j+3)&mask]; s+=b[(j+6)&mask]; s+=b[(j+9)&mask]; s+=b[(j+12)&mask];}
    } }
  __syncthreads(); ll t1=clk(); if(threadIdx.x==0){T[2*blockIdx.x]=t0;T[2*blockIdx.x+1]=t1;} if(s+x==1.2345f) sink[0]=s;
}
// S: stores to global, L2 resident. mode: 0 line a lane 4B, 1 line a lane 16B, 2 full sector (8 lanes) line each, 3 coalesced 4B, 4 two lanes x16B = full sector, line each; 5 rewriting the same 32 lines; 6 row stride 16K
__global__ void ks(ll*T,int it,char*buf,size_t per,int mode,int rows){
  int w=threadIdx.x/32, l=threadIdx.x&31, nw=blockDim.x/32; char*base=buf+blockIdx.x*per; __syncthreads(); ll t0=clk();
  for(int i=0;i<it;i++){ size_t k=(size_t)(i*nw+w);
    if(mode==0) *(float*)(base+((k*32+l)*128+(k/(per/4096)%4)*32)%per)=i;
    if(mode==1) *(float4*)(base+((k*32+l)*128)%per)=make_float4(i,i,i,i);
    if(mode==2) *(float*)(base+((k*4+l/8)*128+(l&7)*4)%per)=i;
    if(mode==3) *(float*)(base+(k*128+l*4)%per)=i;
    if(mode==4) *(float4*)(base+((k*16+l/2)*128+(l&1)*16)%per)=make_float4(i,i,i,i);
    if(mode==5) *(float*)(base+(w*4096+l*128)%per)=i;
    if(mode==6) *(float*)(buf+((size_t)l*rows*32 + (size_t)(i%rows)*32 + (size_t)(blockIdx.x*nw+w)*rows*32*32 ))=i;
    if(mode==7) *(float4*)(base+(k*512+l*16)%per)=make_float4(i,i,i,i);
  }
  __syncthreads(); ll t1=clk(); if(threadIdx.x==0){T[2*blockIdx.x]=t0;T[2*blockIdx.x+1]=t1;}
}
// A: reductions, spread lines
__global__ void ka(ll*T,int it,char*buf,size_t per,int mode){
  int w=threadIdx.x/32, l=threadIdx.x&31, nw=blockDim.x/32; char*base=buf+blockIdx.x*per; float s=0; __syncthreads(); ll t0=clk();
  for(int i=0;i<it;i++){ size_t k=(size_t)(i*nw+w);
    if(mode==0) atomicAdd((float*)(base+((k*32+l)*128)%per),1.f);
    if(mode==1) atomicAdd((float*)(base+((k*32+l)*32)%per),1.f);
    if(mode==2) atomicAdd((float*)(base+((k*32+l)*4)%per),1.f);
    if(mode==3) s+=atomicAdd((float*)(base+((k*32+l)*128)%per),1.f);
    if(mode==4) atomicAdd((float*)(base+((k*32+l)*8)%per),1.f);
    if(mode==5) atomicAdd((float*)(base+((k*32+l)*16)%per),1.f);
  }
  __syncthreads(); ll t1=clk(); if(threadIdx.x==0){T[2*blockIdx.x]=t0;T[2*blockIdx.x+1]=t1;} if(s==1.2345f) *(float*)buf=s;
}
ll*dT; ll hT[2*2048];
template<class F> double span(int nb,F f){ std::vector<double> v; for(int r=0;r<4;r++){ f(); cudaError_t e=cudaDeviceSynchronize(); if(e){printf("ERR %s\n",cudaGetErrorString(e));exit(1);} cudaMemcpy(hT,dT,nb*16,cudaMemcpyDeviceToHost); double m=0,sum=0; for(int i=0;i<nb;i++){ m=std::max(m,(double)(hT[2*i+1]-hT[2*i])); sum+=hT[2*i+1]-hT[2*i];} if(r) v.push_back(sum/nb); } std::sort(v.begin(),v.end()); return v[1]; }
int main(){ cudaMalloc(&dT,1<<20); char*buf; cudaMalloc(&buf,1ull<<30); cudaMemset(buf,0,1ull<<30); float*sink=(float*)buf;
#define P(PAT,SL) for(int g:{1,132}) for(int w:{1,4,8,16,32}){ int it=100; double c=span(g,[&]{kp<PAT,SL><<<g,w*32>>>(dT,it,SL-1,sink);}); printf("P pat=%d slots=%d sms=%d warps=%d cyc/step/warp %.2f cyc/step/SM %.2f\n",PAT,SL,g,w,c/(it*8),c/(it*8*w)); }
 P(0,16) P(1,16) P(2,16) P(3,16) P(4,16) P(5,16) P(0,64) P(1,64) P(4,64)
 for(int m=0;m<8;m++) for(int g:{1,16,66,132}) for(int w:{8,32}){ int it=200; double c=span(g,[&]{ks<<<g,w*32>>>(dT,it,buf,131072,m,32);}); double x=c/(it*w); printf("S mode=%d sms=%d warps=%d cyc/inst/SM %.2f\n",m,g,w,x); }
 for(int m=0;m<6;m++) for(int g:{1,16,132}) for(int w:{8,32}){ int it=200; double c=span(g,[&]{ka<<<g,w*32>>>(dT,it,buf,131072,m);}); double x=c/(it*w); printf("A mode=%d sms=%d warps=%d cyc/inst/SM %.2f\n",m,g,w,x); }
}
