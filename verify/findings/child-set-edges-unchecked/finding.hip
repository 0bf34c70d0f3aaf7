// hipGraphExecChildGraphNodeSetParams accepts a child graph with other edges.
// The story: finding.toml.
#include "../check.h"

__global__ void store(int* out, int value) {
  *out = value;
}

hipGraph_t two_kernels(int* memory, bool ordered) {
  hipGraph_t graph = new_graph();
  hipGraphNode_t first = kernel_node(graph, {}, store, memory, 1);
  kernel_node(graph, ordered ? std::vector<hipGraphNode_t>{first} : std::vector<hipGraphNode_t>{}, store, memory + 1,
              1);
  return graph;
}

int main() {
  int* memory = device_ints(2);
  hipGraph_t graph = new_graph();
  hipGraphNode_t child = nullptr;
  MUST(hipGraphAddChildGraphNode(&child, graph, nullptr, 0, two_kernels(memory, true)));
  hipGraphExec_t exec = instantiate(graph);
  check("setting a child graph of another topology is refused", 1,
        hipGraphExecChildGraphNodeSetParams(exec, child, two_kernels(memory, false)) != hipSuccess);
  return verdict();
}
