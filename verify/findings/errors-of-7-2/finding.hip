// 7.2 accepts some invalid arguments, returns other errors for them or crashes.
// The story: finding.toml.
#include "../check.h"

int main() {
  hipGraph_t inner = new_graph(), outer = new_graph();
  hipGraphNode_t first = nullptr, second = nullptr, child = nullptr;
  MUST(hipGraphAddEmptyNode(&first, inner, nullptr, 0));
  MUST(hipGraphAddEmptyNode(&second, inner, &first, 1));
  MUST(hipGraphAddDependencies(inner, &second, &first, 1));
  MUST(hipGraphAddChildGraphNode(&child, outer, nullptr, 0, inner));
  hipGraphExec_t exec = nullptr;
  check("hipGraphInstantiate, a child with a cycle", hipErrorInvalidValue,
        hipGraphInstantiate(&exec, outer, nullptr, nullptr, 0));
  hipMemAllocNodeParams params{};
  params.poolProps.allocType = hipMemAllocationTypePinned;
  params.poolProps.location.type = hipMemLocationTypeDevice;
  params.bytesize = ~size_t{0};
  check("hipGraphAddMemAllocNode of all bytes that a size_t counts", hipErrorOutOfMemory,
        hipGraphAddMemAllocNode(&first, new_graph(), nullptr, 0, &params));
  return verdict();
}
