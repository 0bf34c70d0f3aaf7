// A graph that allocates memory can be instantiated only once.
// The story: finding.toml.
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
