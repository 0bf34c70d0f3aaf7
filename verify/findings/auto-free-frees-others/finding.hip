// Launching an executable graph with the auto-free flag frees what other graphs have allocated.
//
// Documentation: hip_runtime_api.h, hipGraphInstantiateFlagAutoFreeOnLaunch: "Automatically free memory allocated in a
// graph before relaunching": a graph's own.
// What happens: a graph of one empty node, instantiated with the flag, is launched; the memory that another graph has
// allocated, and that nobody has freed, is gone: hipFree answers hipErrorInvalidValue.
// Source: GraphExec::Run calls Graph::FreeAllMemory, which releases all of the device's graph memory pool.
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
