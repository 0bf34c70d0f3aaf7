// A graph cannot be launched again after the program freed its memory.
// The story: finding.toml.
#include "../check.h"

void* allocation_in(hipGraph_t graph) {
  hipMemAllocNodeParams params{};
  params.poolProps.allocType = hipMemAllocationTypePinned;
  params.poolProps.location.type = hipMemLocationTypeDevice;
  params.bytesize = 256;
  hipGraphNode_t node = nullptr;
  MUST(hipGraphAddMemAllocNode(&node, graph, nullptr, 0, &params));
  return params.dptr;
}

int main() {
  for (const bool async : {false, true}) {
    hipGraph_t graph = new_graph();
    void* memory = allocation_in(graph);
    hipGraphExec_t exec = instantiate(graph);
    run(exec);
    if (async) {
      MUST(hipFreeAsync(memory, nullptr));
    } else {
      MUST(hipFree(memory));
    }
    MUST(hipDeviceSynchronize());
    check(async ? "launching again after hipFreeAsync" : "launching again after hipFree", hipSuccess,
          hipGraphLaunch(exec, nullptr));
    MUST(hipDeviceSynchronize());
  }
  return verdict();
}
