// A graph with a memory allocation node is instantiated once, also when its executable graph is gone.
//
// Documentation: CUDA, graph memory nodes: "the number of executable graphs of such a graph is at most one at any
// time"; hip_runtime_api.h, hipGraphInstantiate, names no restriction. What happens: hipErrorNotSupported for the
// second one, though the first was destroyed. Source: ihipGraphInstantiate looks at a mark that the first instantiation
// leaves and that nothing takes back.
#include "../check.h"

int main() {
  hipMemAllocNodeParams params{};
  params.poolProps.allocType = hipMemAllocationTypePinned;
  params.poolProps.location = {hipMemLocationTypeDevice, 0};
  params.bytesize = 64;
  hipGraph_t graph = new_graph();
  hipGraphNode_t allocation = nullptr, release = nullptr;
  MUST(hipGraphAddMemAllocNode(&allocation, graph, nullptr, 0, &params));
  MUST(hipGraphAddMemFreeNode(&release, graph, &allocation, 1, params.dptr));
  hipGraphExec_t first = nullptr, second = nullptr;
  MUST(hipGraphInstantiate(&first, graph, nullptr, nullptr, 0));
  MUST(hipGraphExecDestroy(first));
  check("instantiating again", hipSuccess, hipGraphInstantiate(&second, graph, nullptr, nullptr, 0));
  return verdict();
}
