// hipGraphExecUpdate refuses a graph with a 2D memset, even the graph that was instantiated.
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
  hipGraph_t graph = new_graph();
  hipGraphNode_t node = nullptr, error_node = nullptr;
  MUST(hipGraphAddMemsetNode(&node, graph, nullptr, 0, &params));
  hipGraphExec_t exec = instantiate(graph);
  hipGraphExecUpdateResult result = hipGraphExecUpdateSuccess;
  check("update with the same graph", hipSuccess, hipGraphExecUpdate(exec, graph, &error_node, &result));
  check("result", hipGraphExecUpdateSuccess, result);
  return verdict();
}
