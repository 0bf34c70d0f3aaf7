// hipGraphExecUpdate and hipGraphExecChildGraphNodeSetParams refuse every graph with a copy to a symbol.
// The story: finding.toml.
#include "../check.h"

__device__ int symbol;

int main() {
  int* source = device_ints(1);
  hipGraph_t graph = new_graph();
  hipGraphNode_t node = nullptr;
  MUST(hipGraphAddMemcpyNodeToSymbol(&node, graph, nullptr, 0, reinterpret_cast<const void*>(&symbol), source,
                                     sizeof(int), 0, hipMemcpyDeviceToDevice));
  hipGraphExec_t exec = instantiate(graph);
  run(exec);
  hipGraphNode_t error_node = nullptr;
  hipGraphExecUpdateResult result = hipGraphExecUpdateSuccess;
  check("update with the same graph", hipSuccess, hipGraphExecUpdate(exec, graph, &error_node, &result));
  check("result", hipGraphExecUpdateSuccess, result);
  hipGraph_t outer = new_graph();
  hipGraphNode_t child = nullptr;
  MUST(hipGraphAddChildGraphNode(&child, outer, nullptr, 0, graph));
  hipGraphExec_t outer_exec = instantiate(outer);
  check("setting a child to the same graph", hipSuccess, hipGraphExecChildGraphNodeSetParams(outer_exec, child, graph));
  return verdict();
}
