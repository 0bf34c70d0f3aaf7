// A graph whose memory was freed by the program cannot be launched again.
//
// Documentation: HIP's header has no words of its own; CUDA's programming guide, "Graph Memory Nodes": an allocation
// that is not freed in its graph can be freed by cudaFree or cudaFreeAsync, and launching again needs no more.
// What happens: hipErrorInvalidValue from the second hipGraphLaunch, after hipFree as after hipFreeAsync.
// Source: GraphExec::Run asks the graph's memory pool whether the node's memory is active, and what frees it outside of
// a graph does not tell the pool.
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
