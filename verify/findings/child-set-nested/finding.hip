// hipGraphExecChildGraphNodeSetParams does not set the child graphs inside the child.
// The story: finding.toml.
#include "../check.h"

__global__ void store(int* out, int value) {
  *out = value;
}

hipGraph_t nested(int* memory, int value) {
  hipGraph_t outer = new_graph(), inner = new_graph();
  kernel_node(inner, {}, store, memory + 1, value);
  hipGraphNode_t before = kernel_node(outer, {}, store, memory, value), node = nullptr;
  MUST(hipGraphAddChildGraphNode(&node, outer, &before, 1, inner));
  return outer;
}

int main() {
  int* memory = device_ints(2);
  hipGraph_t graph = new_graph();
  hipGraphNode_t child = nullptr;
  MUST(hipGraphAddChildGraphNode(&child, graph, nullptr, 0, nested(memory, 1)));
  hipGraphExec_t exec = instantiate(graph);
  const hipError_t error = hipGraphExecChildGraphNodeSetParams(exec, child, nested(memory, 2));
  run(exec);
  const int expected = error == hipSuccess ? 2 : 1;
  check("what the child graph's kernel writes", expected, read_int(memory));
  check("what the kernel in its child graph writes", expected, read_int(memory + 1));
  return verdict();
}
