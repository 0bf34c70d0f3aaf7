// Instantiation refuses two flags at once.
//
// Documentation: hip_runtime_api.h, hipGraphInstantiateFlags: bits 1, 2, 4 and 8; hipGraphInstantiateWithParams
// takes them in `flags`, CUDA: "bitmask".
// What happens: the flags are compared with one enumerator at a time. AutoFreeOnLaunch and UseNodePriority, each
// accepted alone, are hipErrorInvalidValue together, in both functions.
// Source: hipGraphInstantiateWithFlags and hipGraphInstantiateWithParams.
#include "../check.h"

int main() {
  hipGraph_t graph = new_graph();
  hipGraphNode_t node = nullptr;
  MUST(hipGraphAddEmptyNode(&node, graph, nullptr, 0));
  constexpr unsigned long long kFree = hipGraphInstantiateFlagAutoFreeOnLaunch;
  constexpr unsigned long long kPriority = hipGraphInstantiateFlagUseNodePriority;
  hipGraphExec_t exec = nullptr;
  MUST(hipGraphInstantiateWithFlags(&exec, graph, kFree));
  MUST(hipGraphInstantiateWithFlags(&exec, graph, kPriority));
  check("hipGraphInstantiateWithFlags, both flags", hipSuccess,
        hipGraphInstantiateWithFlags(&exec, graph, kFree | kPriority));
  hipGraphInstantiateParams params{};
  params.flags = kFree | kPriority;
  check("hipGraphInstantiateWithParams, both flags", hipSuccess, hipGraphInstantiateWithParams(&exec, graph, &params));
  return verdict();
}
