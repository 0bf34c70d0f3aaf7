// A launch whose allocation node gets no memory reports success.
// The story: finding.toml.
#include "../check.h"

int main() {
  size_t available = 0, total = 0;
  MUST(hipMemGetInfo(&available, &total));
  hipMemAllocNodeParams params{};
  params.poolProps.allocType = hipMemAllocationTypePinned;
  params.poolProps.location = {hipMemLocationTypeDevice, 0};
  params.bytesize = 2 * total;
  hipGraph_t graph = new_graph();
  hipGraphNode_t node = nullptr;
  hipGraphExec_t exec = nullptr;
  hipError_t error = hipGraphAddMemAllocNode(&node, graph, nullptr, 0, &params);
  if (error == hipSuccess) error = hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0);
  if (error == hipSuccess) error = hipGraphLaunch(exec, nullptr);
  if (error == hipSuccess) error = hipDeviceSynchronize();
  check("allocation of twice the device's memory", hipErrorOutOfMemory, error);
  return verdict();
}
