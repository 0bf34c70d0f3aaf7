// Launching a graph that allocates on a device without free memory crashes.
// The story: finding.toml.
#include "../full_device.h"

static void launch(bool full) {
  hipMemAllocNodeParams params{};
  params.poolProps.allocType = hipMemAllocationTypePinned;
  params.poolProps.location = {hipMemLocationTypeDevice, 0};
  params.bytesize = 1 << 20;
  hipGraph_t graph = new_graph();
  hipGraphNode_t allocation = nullptr, set = nullptr, freed = nullptr;
  MUST(hipGraphAddMemAllocNode(&allocation, graph, nullptr, 0, &params));
  hipMemsetParams memset{};
  memset.dst = params.dptr;
  memset.elementSize = 1;
  memset.width = 64;
  memset.height = 1;
  MUST(hipGraphAddMemsetNode(&set, graph, &allocation, 1, &memset));
  MUST(hipGraphAddMemFreeNode(&freed, graph, &set, 1, params.dptr));
  hipGraphExec_t exec = instantiate(graph);
  if (full) take_all_memory();
  hipError_t error = hipGraphLaunch(exec, nullptr);
  if (error == hipSuccess) error = hipDeviceSynchronize();
  check("launch", full ? hipErrorOutOfMemory : hipSuccess, error);
}

int main() {
  in_child("launch", [] { launch(false); });
  if (verdict() != 0) return 2;  // the case is about a full device
  in_child("launch on a full device", [] { launch(true); });
  return verdict();
}
