// A memset or copy of memory that its graph allocates cannot be set once the program has freed that memory.
// The story: finding.toml.
#include "../check.h"

void* allocation_in(hipGraph_t graph, hipGraphNode_t* node) {
  hipMemAllocNodeParams params{};
  params.poolProps.allocType = hipMemAllocationTypePinned;
  params.poolProps.location.type = hipMemLocationTypeDevice;
  params.bytesize = 256;
  MUST(hipGraphAddMemAllocNode(node, graph, nullptr, 0, &params));
  return params.dptr;
}

hipMemsetParams filling(void* memory) {
  hipMemsetParams params{};
  params.dst = memory;
  params.elementSize = 1;
  params.width = 256;
  params.height = 1;
  return params;
}

int main() {
  hipGraph_t graph = new_graph();
  hipGraphNode_t allocation = nullptr, memset = nullptr;
  void* memory = allocation_in(graph, &allocation);
  const hipMemsetParams params = filling(memory);
  MUST(hipGraphAddMemsetNode(&memset, graph, &allocation, 1, &params));
  hipGraphExec_t exec = instantiate(graph);
  check("setting it before the first launch", hipSuccess, hipGraphExecMemsetNodeSetParams(exec, memset, &params));
  run(exec);
  MUST(hipFree(memory));
  check("setting it after hipFree", hipSuccess, hipGraphExecMemsetNodeSetParams(exec, memset, &params));
  check("setting the graph's node after hipFree", hipSuccess, hipGraphMemsetNodeSetParams(memset, &params));
  return verdict();
}
