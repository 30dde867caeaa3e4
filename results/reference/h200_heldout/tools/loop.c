/* Launches a function n times in a row, in clusters where cluster > 1; what the driver's structures look like stands in its header. */
#include <string.h>
typedef int (*launch_t)(void*, void*, void**, void**);
struct value { char bytes[64]; };
struct attribute { int id; int pad; struct value value; };
struct config { unsigned grid[3], block[3], shared; void* stream; struct attribute* attributes; unsigned count; };
int repeat(launch_t launch, void* f, const unsigned* grid, const unsigned* block, const unsigned* cluster, unsigned shared, void** params, int n) {
  struct attribute one = {4, 0, {{0}}};
  memcpy(one.value.bytes, cluster, 12);
  struct config c = {{grid[0], grid[1], grid[2]}, {block[0], block[1], block[2]}, shared, 0, &one, cluster[0] ? 1u : 0u};
  int e = 0;
  for (int i = 0; i < n && !e; i++) e = launch(&c, f, params, 0);
  return e;
}
