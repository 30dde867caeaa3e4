// What the vector cache keeps of a footprint walked again and again, access by access: hits by pass, and whether the same lines hit each time.
// Stores: do they allocate, do they evict. CSV: name,params,value,unit
#include <cstdio>
#include <vector>
#include <algorithm>
#include <random>
typedef unsigned u32;
#define CK(x) do{ cudaError_t e=(x); if(e){ printf("error,%s %d,0,\n",cudaGetErrorString(e),__LINE__); return 1;} }while(0)
__device__ __forceinline__ u32 clk(){ u32 t; asm volatile("mov.u32 %0,%%clock;":"=r"(t)::"memory"); return t; }
__device__ __forceinline__ u32 probe(const char*p){ u32 x,t0=clk(); asm volatile("ld.global.ca.u32 %0,[%1];":"=r"(x):"l"(p):"memory"); u32 t1=x==77u?0:clk(); return t1-t0; }
// order[] is read past the vector cache. result: hits a pass, lines that hit in this pass and the one before
__global__ void walk(const u32*order,const char*buf,int lines,int passes,u32*R){
  __shared__ u32 old[256],now[256]; for(int i=0;i<256;i++) old[i]=now[i]=0;
  for(int p=0;p<passes;p++){ u32 hits=0,both=0; for(int i=0;i<lines;i++){ u32 k; asm volatile("ld.global.cg.u32 %0,[%1];":"=r"(k):"l"(order+i):"memory"); u32 t=probe(buf+(size_t)k*128); if(t<130){ hits++; now[i>>5]|=1u<<(i&31); if(old[i>>5]>>(i&31)&1) both++; } }
    R[2*p]=hits; R[2*p+1]=both; for(int i=0;i<256;i++){ old[i]=now[i]; now[i]=0; } }
}
// several waves, each walks its own `own` lines in turn, one line (128 B a wave) an access; counts hits by time
__global__ void waves(const char*buf,int own,size_t apart,int rounds,u32*R){
  int w=(blockIdx.x*blockDim.x+threadIdx.x)>>5,l=threadIdx.x&31; u32 hits=0; for(int r=0;r<rounds;r++) for(int k=0;k<own;k++){ u32 t=probe(buf+(size_t)k*apart+(size_t)w*128+l*4); if(r>=rounds/2) hits+=t<200; }
  if(l==0) R[w]=hits; }
// load F lines, store G others (whole lines by a wave, or a word each), load the F again: hits; then load the G: hits
__global__ void evict(char*buf,int f,int g,int whole,u32*R){ int l=threadIdx.x; u32 h=0,k=0; for(int i=0;i<f;i++) probe(buf+(size_t)i*128+l*4); for(int i=0;i<f;i++) h+=probe(buf+(size_t)i*128+l*4)<130; R[0]=h; h=0;
  char*o=buf+(64u<<20); for(int i=0;i<g;i++){ if(whole==1) *(volatile u32*)(o+(size_t)i*128+l*4)=i; else if(whole==0){ if(l==0) *(volatile u32*)(o+(size_t)i*128)=i; } else if(l<8) *(volatile u32*)(o+(size_t)i*128+l*4)=i; }
  u32 t0=clk(); while(clk()-t0<20000); for(int i=0;i<f;i++) h+=probe(buf+(size_t)i*128+l*4)<130; for(int i=g-1;i>=0;i--) k+=probe(o+(size_t)i*128+(whole==1?l*4:0))<130; if(l==0){R[1]=h;R[2]=k;} }
int main(){ u32*R,*O; char*buf; CK(cudaMalloc(&R,1<<20)); CK(cudaMalloc(&O,1<<20)); CK(cudaMalloc(&buf,1ull<<30)); CK(cudaMemset(buf,0,1ull<<30)); printf("name,params,value,unit\n");
  std::mt19937 rng(1); u32 h[64];
  for(int carve:{-1,0}) { cudaFuncSetAttribute(walk,cudaFuncAttributePreferredSharedMemoryCarveout,carve);
  for(int kind=0;kind<4;kind++) for(int kib:{128,160,176,192,200,204,208,212,216,220,224,228,232,236,240,244,248,252,256,272,288,320,384}){ int n=kib*8; std::vector<u32> o(n);
    for(int i=0;i<n;i++) o[i]=kind==0||kind==1?i:kind==2?rng()%(1u<<22):(i%34)*32768+i/34; // in a row, in a row shuffled, random lines of 512 MiB, columns 4 MiB apart
    if(kind==2){ std::sort(o.begin(),o.end()); o.erase(std::unique(o.begin(),o.end()),o.end()); while((int)o.size()<n) o.push_back(rng()%(1u<<22)); }
    if(kind==1||kind==2) std::shuffle(o.begin(),o.end(),rng);
    CK(cudaMemcpy(O,o.data(),n*4,cudaMemcpyHostToDevice)); walk<<<1,1>>>(O,buf,n,8,R); CK(cudaDeviceSynchronize()); CK(cudaMemcpy(h,R,64,cudaMemcpyDeviceToHost));
    const char*names[]={"row","row_shuffled","random","columns"}; for(int p=1;p<8;p+=2) printf("vector_cache_walk,order=%s;carve_out=%d;kib=%d;pass=%d,%.4f,share of hits\nvector_cache_walk_same,order=%s;carve_out=%d;kib=%d;pass=%d,%.4f,share that hit in both passes\n",names[kind],carve,kib,p+1,(double)h[2*p]/n,names[kind],carve,kib,p+1,(double)h[2*p+1]/n); } }
  for(size_t apart:{(size_t)4096,(size_t)8192,(size_t)4<<20}) for(int own:{8,16,32,44,48,50,52,54,56,58,60,62,64,68,72,80,96}) for(int nw:{32}){ std::vector<u32> v(nw); waves<<<1,32*nw>>>(buf,own,apart,8,R); CK(cudaDeviceSynchronize()); CK(cudaMemcpy(v.data(),R,nw*4,cudaMemcpyDeviceToHost)); double s=0; for(u32 x:v) s+=x; if(nw<=32||1) printf("vector_cache_waves,lines=%d;waves=%d;apart=%zu,%.4f,share of hits\n",own,nw,apart,s/(nw*4.0*own)); }
  for(int f:{256,1024}) for(int g:{0,64,256,512,1024,1536,2048}) for(int whole:{0,1,2}){ evict<<<1,32>>>(buf,f,g,whole,R); CK(cudaDeviceSynchronize()); CK(cudaMemcpy(h,R,12,cudaMemcpyDeviceToHost)); const char*n[]={"word","line","sector"}; printf("stores_evict,loaded=%d;stored=%d;each=%s,%.4f,share of loaded that still hit\nstores_stay,loaded=%d;stored=%d;each=%s,%.4f,share of stored that hit\n",f,g,n[whole],(double)h[1]/f,f,g,n[whole],g?(double)h[2]/g:0.0); }
  return 0; }
