// hipGraphInstantiateWithFlags and hipGraphInstantiateWithParams refuse two flags at once.
// The story: finding.toml.
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
