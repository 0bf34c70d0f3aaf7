// Launching an executable graph with the auto-free flag frees memory of other graphs.
// The story: finding.toml.
#include "../check.h"

int main() {
  hipGraph_t allocating = new_graph(), other = new_graph();
  hipMemAllocNodeParams params{};
  params.poolProps.allocType = hipMemAllocationTypePinned;
  params.poolProps.location.type = hipMemLocationTypeDevice;
  params.bytesize = 256;
  hipGraphNode_t node = nullptr;
  MUST(hipGraphAddMemAllocNode(&node, allocating, nullptr, 0, &params));
  MUST(hipGraphAddEmptyNode(&node, other, nullptr, 0));
  run(instantiate(allocating));
  hipGraphExec_t frees_itself = nullptr;
  MUST(hipGraphInstantiateWithFlags(&frees_itself, other, hipGraphInstantiateFlagAutoFreeOnLaunch));
  run(frees_itself);
  check("freeing the first graph's memory", hipSuccess, hipFree(params.dptr));
  return verdict();
}
