// With mapped pools off, a graph is launched again while its memory is not freed.
// The story: finding.toml.
#include "../check.h"

int main() {
  MUST(setenv("HIP_MEM_POOL_USE_VM", "0", 1) == 0 ? hipSuccess : hipErrorUnknown);
  hipGraph_t graph = new_graph();
  hipMemAllocNodeParams params{};
  params.poolProps.allocType = hipMemAllocationTypePinned;
  params.poolProps.location = {hipMemLocationTypeDevice, 0};
  params.bytesize = 256;
  hipGraphNode_t made = nullptr;
  MUST(hipGraphAddMemAllocNode(&made, graph, nullptr, 0, &params));
  const hipGraphExec_t exec = instantiate(graph);
  MUST(hipGraphLaunch(exec, nullptr));
  MUST(hipDeviceSynchronize());
  check("a launch while the memory of the last one is not freed", hipErrorInvalidValue, hipGraphLaunch(exec, nullptr));
  return verdict();
}
