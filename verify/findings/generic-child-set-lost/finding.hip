// hipGraphExecNodeSetParams has no effect on a child graph node.
// The story: finding.toml.
#include "../check.h"

int main() {
  int* value = device_ints(1);
  hipGraph_t child = new_graph(), graph = new_graph();
  hipMemsetParams set{};
  set.dst = value;
  set.elementSize = 4;
  set.width = 1;
  set.height = 1;
  hipGraphNode_t inner = nullptr, node = nullptr;
  MUST(hipGraphAddMemsetNode(&inner, child, nullptr, 0, &set));
  MUST(hipGraphAddChildGraphNode(&node, graph, nullptr, 0, child));
  hipGraphExec_t exec = instantiate(graph);
  set.value = 13;
  MUST(hipGraphMemsetNodeSetParams(inner, &set));
  hipGraphNodeParams params{};
  params.type = hipGraphNodeTypeGraph;
  params.graph.graph = child;
  check("hipGraphExecNodeSetParams", hipSuccess, hipGraphExecNodeSetParams(exec, node, &params));
  run(exec);
  check("what the child wrote", 13, read_int(value));
  return verdict();
}
