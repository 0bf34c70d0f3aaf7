// A memset or copy of memory that a graph allocates cannot be added once the program has freed that memory.
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
  hipGraphNode_t allocation = nullptr, memset = nullptr, another = nullptr;
  void* memory = allocation_in(graph, &allocation);
  const hipMemsetParams params = filling(memory);
  MUST(hipGraphAddMemsetNode(&memset, graph, &allocation, 1, &params));
  hipGraphExec_t exec = instantiate(graph);
  check("adding another before the first launch", hipSuccess,
        hipGraphAddMemsetNode(&another, graph, &memset, 1, &params));
  run(exec);
  MUST(hipFree(memory));
  check("adding another after hipFree", hipSuccess, hipGraphAddMemsetNode(&another, graph, &memset, 1, &params));
  return verdict();
}
