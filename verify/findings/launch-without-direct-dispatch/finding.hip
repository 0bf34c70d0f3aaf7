// With direct dispatch off, a launch of a graph is not ordered with the work around it, nor in itself.
// The story: finding.toml.
#include "../check.h"

__global__ void copy(int* to, const int* from) {
  *to = *from;
}

int main() {
  MUST(setenv("AMD_DIRECT_DISPATCH", "0", 1) == 0 ? hipSuccess : hipErrorUnknown);
  int* const memory = device_ints(3);
  hipGraph_t graph = new_graph();
  kernel_node(graph, {}, copy, memory + 1, memory);
  const hipGraphExec_t exec = instantiate(graph);
  hipStream_t stream = nullptr;
  MUST(hipStreamCreate(&stream));
  int late = 0;
  for (int i = 1; i <= 50; ++i) {
    MUST(hipMemsetD32Async(memory, i, 1, stream));
    MUST(hipGraphLaunch(exec, nullptr));
    MUST(hipDeviceSynchronize());
    late += read_int(memory + 1) != i;
  }
  check("launches on the null stream that ran before the memset of a blocking stream, of 50", 0, late);
  return verdict();
}
