// A free node is refused once the graph that allocated the memory is destroyed.
// The story: finding.toml.
#include "../check.h"

static hipError_t free_by_node(bool destroyed) {
  hipMemAllocNodeParams params{};
  params.poolProps.allocType = hipMemAllocationTypePinned;
  params.poolProps.location = {hipMemLocationTypeDevice, 0};
  params.bytesize = 256;
  hipGraph_t graph = new_graph(), other = new_graph();
  hipGraphNode_t node = nullptr;
  MUST(hipGraphAddMemAllocNode(&node, graph, nullptr, 0, &params));
  hipGraphExec_t exec = instantiate(graph);
  run(exec);
  if (destroyed) {
    MUST(hipGraphExecDestroy(exec));
    MUST(hipGraphDestroy(graph));
  }
  return hipGraphAddMemFreeNode(&node, other, nullptr, 0, params.dptr);
}

int main() {
  check("a free node while the graph lives", hipSuccess, free_by_node(false));
  if (verdict() != 0) return 2;  // the case is about a graph that is gone
  check("a free node behind the graph's end", hipSuccess, free_by_node(true));
  return verdict();
}
