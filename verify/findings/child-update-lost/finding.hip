// hipGraphExecUpdate does not update child graphs.
// The story: finding.toml.
#include "../check.h"

__global__ void store(int* out, int value) {
  *out = value;
}

hipGraph_t graph_with_child(int* memory, int value) {
  hipGraph_t graph = new_graph(), child = new_graph();
  kernel_node(child, {}, store, memory, value);
  hipGraphNode_t node = nullptr;
  MUST(hipGraphAddChildGraphNode(&node, graph, nullptr, 0, child));
  return graph;
}

int main() {
  int* memory = device_ints(1);
  hipGraphExec_t exec = instantiate(graph_with_child(memory, 1));
  hipGraphNode_t error_node = nullptr;
  hipGraphExecUpdateResult result = hipGraphExecUpdateSuccess;
  const hipError_t error = hipGraphExecUpdate(exec, graph_with_child(memory, 2), &error_node, &result);
  run(exec);
  check("what the child graph writes", error == hipSuccess ? 2 : 1, read_int(memory));
  return verdict();
}
