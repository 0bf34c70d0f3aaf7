// Launching a graph of 16 or more nodes with a child graph node crashes.
// The story: finding.toml.
#include "../check.h"

__global__ void store(int* out, int value) {
  *out = value;
}

void launch_with_child(int nodes) {
  int* memory = device_ints(64);
  hipGraph_t graph = new_graph(), child = new_graph();
  kernel_node(child, {}, store, memory, 7);
  hipGraphNode_t node = nullptr;
  MUST(hipGraphAddChildGraphNode(&node, graph, nullptr, 0, child));
  for (int i = 1; i < nodes; i++) kernel_node(graph, {node}, store, memory + i, 1);
  run(instantiate(graph));
  check("what the child graph wrote, " + std::to_string(nodes) + " nodes", 7, read_int(memory));
}

int main() {
  in_child("launching 15 nodes, one of them a child graph", [] { launch_with_child(15); });
  in_child("launching 16 nodes, one of them a child graph", [] { launch_with_child(16); });
  return verdict();
}
