typedef int (*launch_t)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**, void**);
int repeat(launch_t launch, void* f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, void** params, int n) {
  int e = 0;
  for (int i = 0; i < n && !e; i++) e = launch(f, gx, gy, gz, bx, by, bz, shared, 0, params, 0);
  return e;
}
