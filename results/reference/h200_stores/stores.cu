// Stores posted from a compute unit: how many are taken before the issuer waits, what a load behind them sees; private memory under
// write traffic by compute unit; unaligned rows at the vector cache. CSV: name,params,value,unit
#include <cstdio>
#include <vector>
#include <algorithm>
typedef long long ll; typedef unsigned u32;
#define CK(x) do{ cudaError_t e=(x); if(e){ printf("error,%s %d,0,\n",cudaGetErrorString(e),__LINE__); return 1;} }while(0)
__device__ __forceinline__ u32 clk(){ u32 t; asm volatile("mov.u32 %0,%%clock;":"=r"(t)::"memory"); return t; }
__device__ __forceinline__ ll clk64(){ ll t; asm volatile("mov.u64 %0,%%clock64;":"=l"(t)::"memory"); return t; }
__device__ __forceinline__ u32 smid(){ u32 t; asm volatile("mov.u32 %0,%%smid;":"=r"(t)); return t; }
// A: N stores in a row by each wave; clock after every one. KIND 0: 16 B a lane in a row (16 sectors); 1: 4 B in a row (4 sectors); 2: 4 B, a line a lane (32 parts of sectors)
template<int N,int KIND> __global__ void burst(u32*T,char*buf,size_t per){
  int w=threadIdx.x>>5,l=threadIdx.x&31; u32 t[N+1]; char*p=buf+(size_t)blockIdx.x*per+(size_t)w*N*4096+(KIND==0?l*16:KIND==1?l*4:l*128);
  __syncthreads(); t[0]=clk();
#pragma unroll
  for(int k=0;k<N;k++){ char*q=p+(KIND==0?k*512:KIND==1?k*128:k*4096);
    if(KIND==0) asm volatile("st.global.v4.u32 [%0],{%1,%1,%1,%1};"::"l"(q),"r"(k):"memory"); else asm volatile("st.global.u32 [%0],%1;"::"l"(q),"r"(k):"memory");
    t[k+1]=clk(); }
  if(l==0) for(int k=0;k<=N;k++) T[((size_t)blockIdx.x*(blockDim.x>>5)+w)*(N+1)+k]=t[k];
}
// B: a load behind N stores: hit in the vector cache (mode 0) or in the L2 (mode 1): cycles of the load
template<int N> __global__ void behind(u32*T,char*buf,char*other,int mode){
  int l=threadIdx.x; u32 x,y; volatile u32*o=(volatile u32*)other; asm volatile("ld.global.ca.u32 %0,[%1];":"=r"(x):"l"(other+l*4):"memory");
  if(mode==1) asm volatile("ld.global.cg.u32 %0,[%1];":"=r"(y):"l"(other+65536+l*4):"memory"); else y=x;
  if(x+y==77) buf[0]=1; __syncthreads(); u32 t0=clk();
#pragma unroll
  for(int k=0;k<N;k++) asm volatile("st.global.v4.u32 [%0],{%1,%1,%1,%1};"::"l"(buf+k*512+l*16),"r"(k):"memory");
  u32 t1=clk(); if(mode==0) asm volatile("ld.global.ca.u32 %0,[%1];":"=r"(x):"l"(other+l*4):"memory"); else asm volatile("ld.global.cg.u32 %0,[%1];":"=r"(x):"l"(other+65536+l*4):"memory");
  u32 t2=x==12345?0:clk(); if(l==0){T[0]=t1-t0;T[1]=t2-t1;}
  (void)o;
}
// C: private memory as a spilling loop uses it (same shape as many registers under a tight bound)
template<int ACC,int MINB> __global__ void __launch_bounds__(256,MINB) live(const float*__restrict__ a,float*__restrict__ c,int n,int iters,ll*T){
  float acc[ACC]; int t=blockIdx.x*blockDim.x+threadIdx.x;
#pragma unroll
  for(int j=0;j<ACC;j++) acc[j]=a[(t+j*512)&(n-1)];
  __syncthreads(); ll t0=clk64();
#pragma unroll 1
  for(int i=0;i<iters;i++){ float k=1.0f+i*1e-3f;
#pragma unroll
    for(int j=0;j<ACC;j++) acc[j]=fmaf(acc[(j+11)%ACC],k,acc[j]); }
  float s=0;
#pragma unroll
  for(int j=0;j<ACC;j++) s+=acc[j]; c[t&(n-1)]=s; __syncthreads(); ll t1=clk64();
  if(threadIdx.x==0){T[3*blockIdx.x]=t0;T[3*blockIdx.x+1]=t1;T[3*blockIdx.x+2]=smid();}
}
// D: stores of a line a wave to SLOTS own lines again and again, lines in a row or scattered at random; rates of compute units
__global__ void lines(ll*T,char*buf,int slots,int spread,int it){
  int w=threadIdx.x>>5,l=threadIdx.x&31,nw=blockDim.x>>5; u32 id=(blockIdx.x*nw+w)*slots; __syncthreads(); ll t0=clk64();
  for(int i=0;i<it;i+=4){
#pragma unroll
    for(int u=0;u<4;u++){ u32 k=id+((i+u)&(slots-1)); if(spread){ k*=2654435761u; k^=k>>15; k*=2246822519u; k^=k>>13; k&=(1u<<17)-1; } *(volatile u32*)(buf+(size_t)k*128+l*4)=i; } }
  __syncthreads(); ll t1=clk64(); if(threadIdx.x==0){T[3*blockIdx.x]=t0;T[3*blockIdx.x+1]=t1;T[3*blockIdx.x+2]=smid();}
}
// E: rows read from the vector cache at an offset from the line
template<int V> __global__ void rows(ll*T,char*buf,int off,int it,float*sink){
  int w=threadIdx.x>>5,l=threadIdx.x&31; char*p=buf+w*2048+off+l*4*V; u32 s=0; for(int k=0;k<16384;k+=128) s+=*(volatile u32*)(buf+k); __syncthreads(); ll t0=clk64();
  for(int i=0;i<it;i++){
#pragma unroll
    for(int u=0;u<4;u++){ u32 a,b,c,d; char*q=p+u*256; if(V==1) { asm volatile("ld.global.ca.u32 %0,[%1];":"=r"(a):"l"(q):"memory"); s+=a; } else if(V==2){ asm volatile("ld.global.ca.v2.u32 {%0,%1},[%2];":"=r"(a),"=r"(b):"l"(q):"memory"); s+=a^b; } else { asm volatile("ld.global.ca.v4.u32 {%0,%1,%2,%3},[%4];":"=r"(a),"=r"(b),"=r"(c),"=r"(d):"l"(q):"memory"); s+=a^b^c^d; } } }
  __syncthreads(); ll t1=clk64(); if(threadIdx.x==0){T[0]=t0;T[1]=t1;} if(s==0x12345) sink[0]=s;
}
ll*dT; u32*dU; char*buf;
template<int N,int KIND> int runburst(const char*name){
  for(int g:{1,132}) for(int w:{1,4,16,32}){ if((size_t)g*w*N*4096>(900u<<20)) continue; std::vector<u32> h((size_t)g*w*(N+1)); for(int r=0;r<3;r++){ burst<N,KIND><<<g,w*32>>>(dU,buf,(size_t)w*N*4096); CK(cudaDeviceSynchronize()); }
    CK(cudaMemcpy(h.data(),dU,h.size()*4,cudaMemcpyDeviceToHost));
    // all waves of a compute unit share the clock: time of the k-th store of all, in order of issue, mean over compute units
    std::vector<double> at((size_t)w*N,0); for(int b=0;b<g;b++){ std::vector<u32> e; u32 t0=h[(size_t)b*w*(N+1)]; for(int v=0;v<w;v++) t0=std::min(t0,h[((size_t)b*w+v)*(N+1)]); for(int v=0;v<w;v++) for(int k=1;k<=N;k++) e.push_back(h[((size_t)b*w+v)*(N+1)+k]-t0); std::sort(e.begin(),e.end()); for(size_t k=0;k<e.size();k++) at[k]+=(double)e[k]/g; }
    for(size_t k=0;k<at.size();k=k<8?k+1:k+std::max<size_t>(1,k/6)) printf("store_burst,kind=%s;sms=%d;waves=%d;store=%zu,%.1f,cycles\n",name,g,w,k+1,at[k]);
    printf("store_burst,kind=%s;sms=%d;waves=%d;store=%zu,%.1f,cycles\n",name,g,w,at.size(),at.back()); }
  return 0; }
template<int N> int runbehind(){ for(int m:{0,1}){ u32 h[2]; for(int r=0;r<3;r++){ behind<N><<<1,32>>>(dU,buf,buf+(512u<<20),m); CK(cudaDeviceSynchronize()); } CK(cudaMemcpy(h,dU,8,cudaMemcpyDeviceToHost)); printf("load_behind_stores,stores=%d;hit=%s,%u,cycles\nstores_before,stores=%d,%u,cycles\n",N,m?"l2":"vector_cache",h[1],N,h[0]); } return 0; }
int stat(const char*name,const char*par,int g,double work){ std::vector<ll> h(3*g); CK(cudaMemcpy(h.data(),dT,24*g,cudaMemcpyDeviceToHost)); double s=0,mx=0,mn=1e18; for(int i=0;i<g;i++){ double d=h[3*i+1]-h[3*i]; s+=d; mx=std::max(mx,d); mn=std::min(mn,d);} printf("%s,%s,%.3f,mean cycles\n%s_least,%s,%.3f,cycles\n%s_most,%s,%.3f,cycles\n",name,par,s/g/work,name,par,mn/work,name,par,mx/work); return 0; }
template<int ACC,int MINB> int runlive(){ char p[200]; for(int it:{64,256}) for(int g:{1,2,32,66,132,264}){ for(int r=0;r<3;r++){ live<ACC,MINB><<<g,256>>>((float*)buf,(float*)(buf+(256u<<20)),1<<20,it,dT); CK(cudaDeviceSynchronize()); } snprintf(p,200,"accumulators=%d;blocks=%d;min_blocks=%d;iters=%d",ACC,g,MINB,it); stat("live_iteration",p,g,it);} return 0; }
template<int V> int runrows(){ for(int off:{0,4,16,32,64,100,124}){ if(off%(4*V)) continue; for(int r=0;r<3;r++){ rows<V><<<1,1024>>>(dT,buf,off,200,(float*)buf); CK(cudaDeviceSynchronize()); } ll h[2]; CK(cudaMemcpy(h,dT,16,cudaMemcpyDeviceToHost)); printf("row_at_offset,bytes=%d;offset=%d,%.3f,cycles an access\n",4*V,off,(double)(h[1]-h[0])/(200*4*32)); } return 0; }
int main(){ CK(cudaMalloc(&dT,1<<20)); CK(cudaMalloc(&dU,32<<20)); CK(cudaMalloc(&buf,1ull<<30)); CK(cudaMemset(buf,0,1ull<<30)); printf("name,params,value,unit\n");
  runburst<32,0>("row16"); runburst<32,1>("row4"); runburst<16,2>("line_a_lane");
  runbehind<0>(); runbehind<1>(); runbehind<2>(); runbehind<4>(); runbehind<8>(); runbehind<16>(); runbehind<32>(); runbehind<64>(); runbehind<128>();
  runlive<32,8>(); runlive<64,4>();
  char p[200]; for(int sp:{0,1}) for(int sl:{16,64}) for(int g:{1,16,66,132}) for(int w:{8,16,32}){ for(int r=0;r<3;r++){ lines<<<g,w*32>>>(dT,buf,sl,sp,512); CK(cudaDeviceSynchronize()); } snprintf(p,200,"slots=%d;lines=%s;sms=%d;waves=%d",sl,sp?"random":"row",g,w); stat("line_stores",p,g,512.0*w); }
  runrows<1>(); runrows<2>(); runrows<4>();
  return 0; }
