// hipGraphMemsetNodeSetParams refuses every 2D memset, even with the node's own parameters.
// The story: finding.toml.
#include "../check.h"

int main() {
  int* memory = device_ints(64);
  hipMemsetParams params{};
  params.dst = memory;
  params.value = 1;
  params.elementSize = 1;
  params.width = 8;
  params.height = 4;
  params.pitch = 16;
  hipGraph_t child = new_graph(), graph = new_graph();
  hipGraphNode_t node = nullptr, child_node = nullptr;
  MUST(hipGraphAddMemsetNode(&node, child, nullptr, 0, &params));
  check("setting a 2D memset's own parameters", hipSuccess, hipGraphMemsetNodeSetParams(node, &params));
  check("the same in an executable graph", hipSuccess,
        hipGraphExecMemsetNodeSetParams(instantiate(child), node, &params));
  MUST(hipGraphAddChildGraphNode(&child_node, graph, nullptr, 0, child));
  check("setting a child graph to itself", hipSuccess,
        hipGraphExecChildGraphNodeSetParams(instantiate(graph), child_node, child));
  return verdict();
}
