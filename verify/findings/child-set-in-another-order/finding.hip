// hipGraphExecChildGraphNodeSetParams sets other nodes where the child was built in another order.
// The story: finding.toml.
#include "../check.h"

__global__ void store(int* out, int value) {
  *out = value;
}
__global__ void add(int* out, int value) {
  *out += value;
}

// Stores a number, and then adds another to it.
static hipGraph_t two_kernels(int* out, int stored, int added, bool add_first) {
  hipGraph_t graph = new_graph();
  if (!add_first) {
    const hipGraphNode_t first = kernel_node(graph, {}, store, out, stored);
    kernel_node(graph, {first}, add, out, added);
    return graph;
  }
  const hipGraphNode_t second = kernel_node(graph, {}, add, out, added);
  const hipGraphNode_t first = kernel_node(graph, {}, store, out, stored);
  MUST(hipGraphAddDependencies(graph, &first, &second, 1));
  return graph;
}

int main() {
  for (const bool turned : {false, true}) {
    int* out = device_ints(1);
    hipGraph_t graph = new_graph();
    hipGraphNode_t child = nullptr;
    MUST(hipGraphAddChildGraphNode(&child, graph, nullptr, 0, two_kernels(out, 1, 10, false)));
    hipGraphExec_t exec = instantiate(graph);
    const hipError_t set = hipGraphExecChildGraphNodeSetParams(exec, child, two_kernels(out, 2, 20, turned));
    run(exec);
    check(turned ? "the sum, built in another order" : "the sum", set == hipSuccess ? 22 : 11, read_int(out));
  }
  return verdict();
}
